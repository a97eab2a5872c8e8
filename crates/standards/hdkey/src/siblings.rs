//! Many children of one parent.
//!
//! The pads of the parent's chain code are hashed once, which halves the work of a hardened child, and its
//! public key is computed once for all children that are not hardened.

use keywright_primitives::mac::Sha512Pads;

use crate::Error;
use crate::derive;
use crate::node::{PrivateNode, SoftChildren};
use crate::path::ChildIndex;

/// A parent that is ready to make children.
pub struct Siblings<'a> {
    parent: &'a PrivateNode,
    pads: Sha512Pads,
    public: Option<[u8; 33]>,
}

/// Children in the order they were asked for. One that does not exist fails alone.
#[derive(Debug)]
pub struct Batch {
    /// In one piece of memory, filled in place.
    nodes: Vec<PrivateNode>,
    /// By place, rising.
    failed: Vec<(usize, Error)>,
}

impl PrivateNode {
    /// Prepares this node for many children.
    ///
    /// # Errors
    /// [`Error::Backend`] if the backend refuses.
    pub fn siblings(&self) -> Result<Siblings<'_>, Error> {
        // Needed for soft children only, and those must be switched on.
        let public = match self.soft_children() {
            SoftChildren::Allow => Some(*self.public_key()?.serialized()),
            SoftChildren::Refuse => None,
        };
        Ok(Siblings {
            parent: self,
            pads: Sha512Pads::new(&self.chain),
            public,
        })
    }
}

impl Siblings<'_> {
    /// One child.
    ///
    /// # Errors
    /// Those of [`PrivateNode::derive`].
    pub fn child(&self, child: ChildIndex) -> Result<Box<PrivateNode>, Error> {
        let mut node = self.parent.duplicate();
        derive::step(&mut node, &self.pads, child, self.public.as_ref())?;
        Ok(node)
    }

    /// These children. One allocation for all of them.
    pub fn derive(&self, children: impl IntoIterator<Item = ChildIndex>) -> Batch {
        let children = children.into_iter();
        let mut batch = Batch {
            nodes: Vec::with_capacity(children.size_hint().0),
            failed: Vec::new(),
        };
        for child in children {
            batch.push(self, child);
        }
        batch
    }
}

impl Batch {
    fn push(&mut self, parent: &Siblings<'_>, child: ChildIndex) {
        if self.nodes.len() == self.nodes.capacity() {
            self.grow();
        }
        self.nodes
            .push(PrivateNode::empty(parent.parent.scheme, parent.parent.seed));
        let place = self.nodes.len() - 1;
        let Some(node) = self.nodes.last_mut() else {
            return;
        };
        node.copy_from(parent.parent);
        if let Err(error) = derive::step(node, &parent.pads, child, parent.public.as_ref()) {
            self.failed.push((place, error));
        }
    }

    /// An iterator that does not know its length: the old memory is wiped before it is given back, which a
    /// growing vector would not do.
    fn grow(&mut self) {
        let mut larger = Vec::with_capacity((self.nodes.len() * 2).max(16));
        for old in &self.nodes {
            larger.push(PrivateNode::empty(old.scheme, old.seed));
            if let Some(node) = larger.last_mut() {
                node.copy_from(old);
            }
        }
        self.nodes = larger;
    }

    /// How many children were asked for.
    #[must_use]
    pub const fn len(&self) -> usize {
        self.nodes.len()
    }

    /// Whether none was asked for.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.nodes.is_empty()
    }

    /// The child at a place.
    ///
    /// # Errors
    /// Why there is none.
    #[must_use]
    pub fn get(&self, place: usize) -> Option<Result<&PrivateNode, Error>> {
        let node = self.nodes.get(place)?;
        let failed = self
            .failed
            .binary_search_by_key(&place, |(place, _)| *place);
        match failed.ok().and_then(|found| self.failed.get(found)) {
            Some((_, error)) => Some(Err(*error)),
            None => Some(Ok(node)),
        }
    }

    /// The children in order.
    pub fn iter(&self) -> impl Iterator<Item = Result<&PrivateNode, Error>> {
        let mut failed = self.failed.iter().peekable();
        self.nodes.iter().enumerate().map(move |(place, node)| {
            match failed.next_if(|(of, _)| *of == place) {
                Some((_, error)) => Err(*error),
                None => Ok(node),
            }
        })
    }
}

impl std::fmt::Debug for Siblings<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Siblings({:?})", self.parent)
    }
}
