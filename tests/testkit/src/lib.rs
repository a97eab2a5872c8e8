//! What tests share.
//!
//! * [`ca`]: a throw-away certificate authority, with clients to let in and clients to refuse.
//! * [`collector`]: a collector of OpenTelemetry, with good manners or bad ones.
//! * [`forgery`]: audit logs continued without their keys.
//! * [`frames`]: HTTP/2 by hand, for what no client sends.
//! * [`holder`]: a real key holder behind a known capacity, a wait, or a fault.
//! * [`mutate`]: damaged inputs by the thousand.
//! * [`schema`]: documents held against a JSON Schema.
//! * [`token`]: PKCS#11 tokens in software, each test in a process of its own.
#![forbid(unsafe_code)]

pub mod ca;
pub mod collector;
pub mod forgery;
pub mod frames;
pub mod holder;
pub mod mutate;
pub mod schema;
pub mod token;
