//! `FPE_CTX`: a policy and, after initialisation, a key.
//!
//! A context without a key is to be changed by one thread alone. With a key it is only read, until
//! it is initialised again or freed, so any number of threads may use it.
#![expect(unsafe_code, reason = "the entries of a C library")]

use std::alloc::Layout;
use std::ffi::{c_char, c_int, c_uint};
use std::mem::MaybeUninit;
use std::{ptr, slice};

use keywright_fpe::{Algorithm, Backend, Error, Key, Mode, Options, Radix};
use zeroize::Zeroize;

use crate::backends;
use crate::boundary;
use crate::failure::Failure;
use crate::pointers;
use crate::rules::{self, Rules};

/// `struct fpe_ctx_st`.
pub(crate) struct Context {
    /// What the context was told, else the process decides when it is initialised.
    rules: Option<Rules>,
    key: Option<Key>,
}

impl Context {
    /// The key.
    ///
    /// # Errors
    /// [`Failure::NotInitialised`].
    pub(crate) fn key(&self) -> Result<&Key, Failure> {
        self.key.as_ref().ok_or(Failure::NotInitialised)
    }
}

/// The context of a call that uses its key.
///
/// # Safety
/// `ctx` is NULL or comes from `FPE_CTX_new`, has not been freed, and is only read while `'a` lasts.
pub(crate) unsafe fn of<'a>(ctx: *const Context) -> Result<&'a Context, Failure> {
    // SAFETY: the duty of this function is that of `object`.
    unsafe { pointers::object("ctx", ctx) }
}

/// # Errors
/// [`Failure::Mode`].
pub(crate) const fn mode(number: c_uint) -> Result<Mode, Failure> {
    match number {
        0 => Ok(Mode::Ff1),
        1 => Ok(Mode::Ff3),
        2 => Ok(Mode::Ff31),
        0x102 => Ok(Mode::FpecFf31),
        _ => Err(Failure::Mode(number)),
    }
}

const fn algorithm(number: c_uint) -> Result<Algorithm, Failure> {
    match number {
        0 => Ok(Algorithm::Aes),
        1 => Ok(Algorithm::Sm4),
        _ => Err(Failure::Algorithm(number)),
    }
}

/// What a key is made of, all but the secret, as C gives it.
#[derive(Clone, Copy)]
pub(crate) struct Kind {
    pub(crate) mode: c_uint,
    pub(crate) algorithm: c_uint,
    pub(crate) radix: u32,
}

/// A secret as C gives it.
#[derive(Clone, Copy)]
pub(crate) struct Secret {
    start: *const u8,
    bytes: usize,
}

impl Secret {
    pub(crate) const fn of_bytes(start: *const u8, bytes: usize) -> Self {
        Self { start, bytes }
    }

    /// # Errors
    /// [`Error::KeySize`] unless the bits are whole bytes.
    pub(crate) fn of_bits(start: *const u8, bits: c_uint, kind: Kind) -> Result<Self, Failure> {
        let bytes = usize::try_from(bits / 8).map_err(|_| Failure::Size)?;
        if !bits.is_multiple_of(8) {
            let algorithm = algorithm(kind.algorithm)?;
            return Err(Error::KeySize { algorithm, bytes }.into());
        }
        Ok(Self { start, bytes })
    }
}

/// Makes a key. Numbers are judged before the secret is read, and no more of it is read than the
/// longest key has.
///
/// # Safety
/// The start of `secret` is NULL or points at its bytes, which nobody writes meanwhile.
///
/// # Errors
/// Whatever [`Key::new`] refuses, unknown numbers, NULL.
pub(crate) unsafe fn key(
    kind: Kind,
    secret: Secret,
    rules: Rules,
    backend: Option<Backend>,
) -> Result<Key, Failure> {
    let mode = mode(kind.mode)?;
    let algorithm = algorithm(kind.algorithm)?;
    let mut options =
        Options::new(mode, algorithm, Radix::new(kind.radix)?).with_policy(rules.policy());
    let backend = match backend {
        Some(backend) => Some(backend),
        None => backends::of_environment()?.filter(|backend| backend.serves(algorithm)),
    };
    if let Some(backend) = backend {
        options = options.with_backend(backend);
    }
    if secret.start.is_null() {
        return Err(Failure::Null("key"));
    }
    if ![16, 24, 32].contains(&secret.bytes) {
        let bytes = secret.bytes;
        return Err(Error::KeySize { algorithm, bytes }.into());
    }
    // SAFETY: the duty of this function is that of `read`.
    let secret = unsafe { pointers::read("key", secret.start, secret.bytes) }?;
    Ok(Key::new(options, secret)?)
}

// === Entries ===

/// `FPE_CTX_new`.
#[unsafe(export_name = "FPE_CTX_new")]
pub(crate) extern "C" fn new() -> *mut Context {
    let made = boundary::value(|| {
        let layout = Layout::new::<Context>();
        // SAFETY: a context is not of size zero.
        let place = unsafe { std::alloc::alloc(layout) }.cast::<Context>();
        if place.is_null() {
            return Err(Failure::Memory);
        }
        let empty = Context {
            rules: None,
            key: None,
        };
        // SAFETY: the place has just been allocated with the layout of what is written.
        unsafe { place.write(empty) };
        Ok(place)
    });
    made.unwrap_or(ptr::null_mut())
}

/// `FPE_CTX_free`.
///
/// # Safety
/// `ctx` is NULL or comes from [`new`], has not been freed, and nobody else uses it.
#[unsafe(export_name = "FPE_CTX_free")]
pub(crate) unsafe extern "C" fn free(ctx: *mut Context) {
    boundary::call_with_secrets::<{ boundary::KEY }>(|_| {
        if ctx.is_null() {
            return Ok(());
        }
        // SAFETY: the block comes from `new`, which gave it this layout, and nobody else uses it, by
        // the duty of the caller. After the drop it is bytes.
        unsafe {
            ptr::drop_in_place(ctx);
            // A key wipes what it holds. A smaller kind of key does not reach to the end of its
            // place, where moving may have put anything.
            slice::from_raw_parts_mut(ctx.cast::<MaybeUninit<u8>>(), size_of::<Context>())
                .zeroize();
            std::alloc::dealloc(ctx.cast(), Layout::new::<Context>());
        }
        Ok(())
    });
}

/// `FPE_CTX_init`.
///
/// # Safety
/// `ctx` as for [`free`]; `key` is NULL or points at `bits` / 8 bytes.
#[unsafe(export_name = "FPE_CTX_init")]
pub(crate) unsafe extern "C" fn init(
    ctx: *mut Context,
    mode: c_uint,
    algorithm: c_uint,
    key: *const u8,
    bits: c_uint,
    radix: c_uint,
) -> c_int {
    let kind = Kind {
        mode,
        algorithm,
        radix,
    };
    // SAFETY: the duty of this function is that of `initialise`.
    boundary::call_with_secrets::<{ boundary::KEY }>(|_| unsafe {
        initialise(ctx, kind, || Secret::of_bits(key, bits, kind), None)
    })
}

/// `FPE_CTX_init_ex`.
///
/// # Safety
/// `ctx` as for [`free`]; `key` is NULL or points at `key_len` bytes; `name` is NULL or a string.
#[unsafe(export_name = "FPE_CTX_init_ex")]
pub(crate) unsafe extern "C" fn init_ex(
    ctx: *mut Context,
    mode: c_uint,
    algorithm: c_uint,
    key: *const u8,
    key_len: usize,
    radix: c_uint,
    name: *const c_char,
) -> c_int {
    let kind = Kind {
        mode,
        algorithm,
        radix,
    };
    let secret = || Ok(Secret::of_bytes(key, key_len));
    // SAFETY: the duty of this function is that of `initialise`.
    boundary::call_with_secrets::<{ boundary::KEY }>(|_| unsafe {
        initialise(ctx, kind, secret, Some(name))
    })
}

/// Whatever goes wrong, the context has no key then, also if it had one.
///
/// # Safety
/// `ctx` as for [`free`]; the secret as for [`key`]; the name is NULL or a string.
unsafe fn initialise(
    ctx: *mut Context,
    kind: Kind,
    secret: impl FnOnce() -> Result<Secret, Failure>,
    name: Option<*const c_char>,
) -> Result<(), Failure> {
    // SAFETY: nobody else uses the context, by the duty of the caller.
    let context = unsafe { pointers::object_mut("ctx", ctx) }?;
    context.key = None;
    let named = match name {
        Some(name) if !name.is_null() => {
            // SAFETY: a string, by the duty of the caller.
            Some(backends::named(unsafe {
                pointers::string("backend", name)
            }?)?)
        }
        _ => None,
    };
    let rules = context.rules.unwrap_or_else(rules::of_process);
    // SAFETY: the secret is as `key` demands, by the duty of the caller.
    context.key = Some(unsafe { key(kind, secret()?, rules, named) }?);
    Ok(())
}

/// `FPE_CTX_set_policy`.
///
/// # Safety
/// `ctx` as for [`free`].
#[unsafe(export_name = "FPE_CTX_set_policy")]
pub(crate) unsafe extern "C" fn set_policy(ctx: *mut Context, flags: c_uint) -> c_int {
    boundary::call(|| {
        // SAFETY: nobody else uses the context, by the duty of the caller.
        let context = unsafe { pointers::object_mut("ctx", ctx) }?;
        let rules = Rules::new(flags)?;
        if context.key.is_some() {
            return Err(Failure::Initialised);
        }
        context.rules = Some(rules);
        Ok(())
    })
}

/// `FPE_CTX_is_partly_in_clear`.
///
/// # Safety
/// `ctx` as for [`of`].
#[unsafe(export_name = "FPE_CTX_is_partly_in_clear")]
pub(crate) unsafe extern "C" fn is_partly_in_clear(ctx: *const Context, len: usize) -> c_int {
    let answer = boundary::value(|| {
        // SAFETY: the duty of this function is that of `of`.
        let key = unsafe { of(ctx) }?.key()?;
        Ok(c_int::from(key.is_partly_in_clear(len)))
    });
    answer.unwrap_or(boundary::FAILED)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_context_may_be_shared_between_threads() {
        fn shared<T: Send + Sync>() {}
        shared::<Context>();
    }
}
