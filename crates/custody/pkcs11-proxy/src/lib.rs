//! The recorder: a drop-in PKCS#11 module that forwards every call to the real module and writes down what was
//! called, what came back and how long it took.
//!
//! * `boundary`: everything that touches C. The exported functions, the tables of functions that applications
//!   get, the real module behind them, and the reading of arguments. The only unsafe code.
//! * `recorder`, `ring`, `words`: takes events of calls and puts them where a thread that writes finds them; never
//!   waits for it.
//! * `writer`, `context`, `render`, `stamp`, `ticks`, `form`, `line`, `sink`, `collector`: that thread. Operations and sessions are
//!   followed, an event becomes a line of JSON (`keywright_pkcs11_names::CallRecord`, or a span of OpenTelemetry),
//!   lines go to a file, a socket, a collector or standard error.
//! * `heap`: what all of this allocates lies apart from the heap of the application.
//! * `settings`: what the environment says. A program that runs with another user's rights is not listened to.
//!
//! What an application sees is what the real module does: codes, outputs, tables, absent functions. No call is
//! added, repeated or held back. A fault in here is caught and costs a record, never a call.
//!
//! Secrets: PINs and data are not read at all. Attribute values are read only where
//! `AttributeType::disclosure` lets them be shown or tagged; labels, ids and IVs leave a tag under a random key
//! of this log. Not here: the reading of logs.

mod boundary;

mod collector;
mod context;
mod event;
mod form;
mod heap;
mod line;
mod recorder;
mod render;
mod ring;
mod settings;
mod sink;
mod stamp;
mod ticks;
mod words;
mod writer;
