//! What the embedded holder and its root file promise.

#[cfg(test)]
mod formats;
#[cfg(test)]
mod holder;
#[cfg(test)]
mod old;
#[cfg(test)]
mod placement;
#[cfg(test)]
mod root;
#[cfg(test)]
mod scene;
#[cfg(test)]
mod streams;
