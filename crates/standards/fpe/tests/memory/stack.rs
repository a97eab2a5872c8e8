//! Calls on a stack of their own, which stays where it is when they return.
#![expect(unsafe_code, reason = "another stack pointer")]

use std::ffi::c_void;

const BYTES: usize = 1 << 20;
/// What the stack is painted with.
const PAINT: u8 = 0xA5;

extern "C" fn trampoline<F: FnOnce()>(call: *mut c_void) {
    // SAFETY: `leftovers` passes the address of an `Option<F>` of its own, which outlives the call.
    let call = unsafe { &mut *call.cast::<Option<F>>() };
    if let Some(call) = call.take() {
        call();
    }
}

/// Runs the call on a painted stack and returns the whole stack as the call left it. A panic in the call
/// ends the process.
pub(crate) fn leftovers<F: FnOnce()>(call: F) -> Vec<u8> {
    let mut stack = vec![PAINT; BYTES];
    let mut call = Some(call);
    let top = stack.as_mut_ptr_range().end.addr() & !63;
    let target: extern "C" fn(*mut c_void) = trampoline::<F>;
    // SAFETY: r12 is kept by the called function and holds the stack pointer meanwhile; the new stack is
    // aligned, large, and nobody else's; everything that a C function may change is listed.
    unsafe {
        core::arch::asm!(
            "mov r12, rsp",
            "mov rsp, {top}",
            "call {target}",
            "mov rsp, r12",
            top = in(reg) top,
            target = in(reg) target,
            in("rdi") (&raw mut call).cast::<c_void>(),
            out("r12") _,
            clobber_abi("sysv64"),
        );
    }
    stack
}

/// How deep the call went, in bytes.
pub(crate) fn depth(stack: &[u8]) -> usize {
    let untouched = stack.iter().take_while(|byte| **byte == PAINT).count();
    stack.len() - untouched
}
