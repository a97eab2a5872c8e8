//! What the use cases promise, with a real log, a real holder and a clock that moves when told.

#[cfg(test)]
mod history;
#[cfg(test)]
mod house;
#[cfg(test)]
mod life;
#[cfg(test)]
mod orders;
#[cfg(test)]
mod placement;
#[cfg(test)]
mod requests;
