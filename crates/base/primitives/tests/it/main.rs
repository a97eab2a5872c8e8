//! The primitives against foreign vectors, against another implementation, and against what is not right.

#[cfg(test)]
mod blake3;
#[cfg(test)]
mod der;
#[cfg(test)]
mod keys;
#[cfg(test)]
mod openssl;
#[cfg(test)]
mod printing;
#[cfg(test)]
mod refusals;
#[cfg(test)]
mod wycheproof;
