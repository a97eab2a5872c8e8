//! `fpe.h`: format-preserving encryption for C, as a shared and a static library.
//!
//! The header, `include/fpe.h`, is the documentation for users; it says what each call does, which
//! errors there are, and what may run at once. This crate is the other side of it.
//!
//! The 11 functions of the library fpe-c stand here under their names with their arguments in
//! their order, so that a program written for it is compiled anew and gets the values of the
//! standard. They accept all that the standard of 2016 allows and return 0 or -1. Everything else
//! in the header is new.
//!
//! | module | what |
//! |---|---|
//! | `boundary` | no panic and no half result leaves; an error becomes -1 |
//! | `failure` | the numbers and texts of errors, and the last one of each thread |
//! | `pointers` | foreign pointers become slices, or an error |
//! | `rules` | policy flags |
//! | `context`, `backends` | `FPE_CTX`, and what its key runs on |
//! | `digits`, `text`, `batch` | the work |
//! | `alphabets` | an alphabet is judged once, not with every call |
//! | `facts` | limits, version, error text |
//! | `exercise` | calls as arbitrary bytes say, for a fuzzer |
//!
//! Symbols keep their C names by `export_name`; nothing else is exported from the shared library.
//!
//! Not here: the algorithms (`keywright-fpe`), formats, and key management.

mod alphabets;
mod backends;
mod batch;
mod boundary;
mod context;
mod digits;
mod exercise;
mod facts;
mod failure;
mod pointers;
mod rules;
mod text;

#[doc(hidden)]
pub use exercise::exercise;
