//! The recorder: a drop-in PKCS#11 module that forwards every call to the real module and writes down what was
//! called, what came back and how long it took.
//!
//! * `boundary`: everything that touches C. The exported functions, the tables of functions that applications
//!   get, the real module behind them, and the reading of arguments. The only unsafe code.
//! * `recorder`: takes events of calls and hands them to a thread that writes; never waits for it.
//! * `writer`, `context`, `render`, `sink`: that thread. Operations and sessions are followed, an event
//!   becomes a line of JSON (`keywright_pkcs11_names::CallRecord`), lines go to a file, a socket or standard error.
//! * `settings`: what the environment says. A program that runs with another user's rights is not listened to.
//!
//! What an application sees is what the real module does: codes, outputs, tables, absent functions. No call is
//! added, repeated or held back. A fault in here is caught and costs a record, never a call.
//!
//! Secrets: PINs and data are not read at all. Attribute values are read only where
//! `AttributeType::disclosure` lets them be shown or tagged; labels, ids and IVs leave a tag under a random key
//! of this log. Not here: the reading of logs.

mod boundary;

mod context;
mod event;
mod recorder;
mod render;
mod settings;
mod sink;
mod writer;
