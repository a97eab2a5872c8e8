//! Masks that the compiler cannot see through.
//!
//! A mask is all ones or zero. Where the compiler knows that, it may choose between two ways by a branch
//! instead of masking, and does: in the long arithmetic and in the waves with 128-bit halves. A mask that
//! went through here is a number like any other to it.
#![cfg_attr(
    any(target_arch = "x86_64", target_arch = "aarch64"),
    expect(
        unsafe_code,
        reason = "an empty assembly, of which the compiler assumes nothing"
    )
)]

/// The same number.
#[inline(always)]
pub(crate) fn opaque(mask: u64) -> u64 {
    #[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
    {
        let mut mask = mask;
        // SAFETY: there is no instruction; the register keeps what it has.
        unsafe {
            core::arch::asm!(
                "/* {0} */",
                inout(reg) mask,
                options(pure, nomem, nostack, preserves_flags)
            );
        }
        mask
    }
    #[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
    core::hint::black_box(mask)
}
