//! Commands on PKCS#11 tokens: which module, token and PIN are meant, what is asked and heard at the terminal, where
//! data comes from and goes to, and the one document or text that a command prints.

pub mod answer;
pub mod asked;
pub mod environment;
pub mod files;
pub mod heard;
pub mod interrupt;
pub mod pin;
pub mod place;
pub mod prompt;
pub mod sarif;
