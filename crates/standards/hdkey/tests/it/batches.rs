//! Siblings are what single derivations give, in order, and one that does not exist fails alone.

use keywright_hdkey::{ChildIndex, Error, Path, PrivateNode, Scheme};

use crate::scene::{INDEXED, exported, path, root, seed};

#[test]
fn a_batch_is_what_single_derivations_give() {
    for scheme in INDEXED {
        let parent = root(scheme).derive(&path("m/29'/29'/3'")).unwrap();
        let siblings = parent.siblings().unwrap();
        let children: Vec<ChildIndex> = (0..50)
            .flat_map(|number| [ChildIndex::hardened(number), ChildIndex::soft(number)])
            .flatten()
            .filter(|child| child.is_hardened() || scheme.has_soft_children())
            .collect();
        let batch = siblings.derive(children.iter().copied());
        // An iterator that hides its length takes the other way through memory.
        let hidden = siblings.derive(children.iter().copied().filter(|_| true));
        assert_eq!(
            (batch.len(), hidden.len()),
            (children.len(), children.len())
        );
        for (place, (node, child)) in batch.iter().zip(&children).enumerate() {
            let node = node.unwrap();
            let single = parent.derive(&Path::new(vec![*child]).unwrap()).unwrap();
            for other in [
                &*single,
                hidden.get(place).unwrap().unwrap(),
                &siblings.child(*child).unwrap(),
            ] {
                assert_eq!(exported(node), exported(other), "{scheme} {child}");
                let below = path("m/7'");
                assert_eq!(
                    exported(&node.derive(&below).unwrap()),
                    exported(&other.derive(&below).unwrap())
                );
                assert_eq!((node.depth(), node.index()), (other.depth(), other.index()));
                assert_eq!(node.scheme(), scheme);
            }
        }
        assert!(batch.get(children.len()).is_none());
        assert!(siblings.derive([]).is_empty());
    }
}

#[test]
fn one_that_does_not_exist_fails_alone() {
    let parent = PrivateNode::root(&seed(), Scheme::Bip32Secp256k1).unwrap();
    let children = [1 << 31, 5, 1 | 1 << 31, 6].map(ChildIndex::from_raw);
    let batch = parent.siblings().unwrap().derive(children);
    let soft = Some(Error::SoftChild { position: 1 });
    let failed: Vec<Option<Error>> = batch.iter().map(Result::err).collect();
    assert_eq!(failed, [None, soft, None, soft]);
    for (place, expected) in failed.into_iter().enumerate() {
        assert_eq!(batch.get(place).unwrap().err(), expected);
    }
}
