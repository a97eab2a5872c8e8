//! Clients with a certificate that attack, and strangers without one, beside clients in earnest: every good
//! answer is right and soon, the server's memory keeps its ceiling, and the attacker's connections end (W15).
//!
//! The service runs in a process of its own, so that its memory is its own; attackers write frames and heads by
//! hand. What a limit does alone is tested beside it in `keywright-server`; here is what all of them come to.

mod beside;
mod flood_of_connections;
mod floods;
mod line;
mod memory;
mod smuggling;
mod strangers;
mod windows;
