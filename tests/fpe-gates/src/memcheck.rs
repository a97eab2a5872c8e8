//! Messages to valgrind's memcheck.
//!
//! Memcheck reports every conditional jump and every address that depends on undefined memory. A secret that
//! is marked as undefined therefore must reach neither. The messages are valgrind's client requests: four
//! rotations that cancel each other and an exchange of a register with itself, which do nothing on a
//! processor and which valgrind takes as a call. The numbers are those of its public headers.
#![expect(unsafe_code, reason = "the instructions that valgrind listens to")]

const RUNNING_ON_VALGRIND: u64 = 0x1001;
const COUNT_ERRORS: u64 = 0x1201;
/// 'M', 'C' in the upper half word, as memcheck's own requests begin.
const MEMCHECK: u64 = 0x4D43_0000;
const MAKE_UNDEFINED: u64 = MEMCHECK + 1;
const MAKE_DEFINED: u64 = MEMCHECK + 2;

#[cfg(target_arch = "x86_64")]
fn request(number: u64, first: u64, second: u64) -> u64 {
    let message = [number, first, second, 0, 0, 0];
    let answer;
    // SAFETY: outside valgrind the rotations of rdi add up to 128 bits and rbx is exchanged with itself, so
    // nothing but the flags changes; inside, valgrind reads the six words and writes rdx.
    unsafe {
        core::arch::asm!(
            "rol rdi, 3",
            "rol rdi, 13",
            "rol rdi, 61",
            "rol rdi, 51",
            "xchg rbx, rbx",
            in("rax") message.as_ptr(),
            inout("rdx") 0_u64 => answer,
            options(nostack),
        );
    }
    answer
}

#[cfg(not(target_arch = "x86_64"))]
fn request(_: u64, _: u64, _: u64) -> u64 {
    0
}

fn about<T>(number: u64, values: &[T]) {
    let address = values.as_ptr().addr();
    request(number, address as u64, size_of_val(values) as u64);
}

/// Whether valgrind runs this program.
#[must_use]
pub fn is_running() -> bool {
    request(RUNNING_ON_VALGRIND, 0, 0) != 0
}

/// How many errors memcheck has reported so far, those that its file of suppressions names not among them.
#[must_use]
pub fn errors() -> u64 {
    request(COUNT_ERRORS, 0, 0)
}

/// Marks the values as secret.
pub fn secret<T>(values: &[T]) {
    about(MAKE_UNDEFINED, values);
}

/// Marks the values as public.
pub fn public<T>(values: &[T]) {
    about(MAKE_DEFINED, values);
}
