//! Many children of one parent.

use keywright_hdkey::{Batch, PrivateNode, Scheme, Seed};
use keywright_measure::{Fault, TargetError, Worker};
use keywright_secret::Secret;

use super::super::output::Output;
use super::super::row::{Row, refused};
use super::super::worker::{Act, Ring, rotating};
use super::answers::{hardened, made, path};

/// Keys in a batch of siblings.
pub(super) const SIBLINGS: u32 = 1_000;

/// A parent and the private keys of its first children.
struct Family {
    parent: Box<PrivateNode>,
    answers: Vec<Secret<32>>,
}

#[derive(Default)]
struct Made {
    batch: Option<Batch>,
    #[cfg(test)]
    spoilt: bool,
}

impl Output for Made {
    fn equals(&self, _: &Self) -> bool {
        false
    }

    #[cfg(test)]
    fn spoil(&mut self) {
        self.spoilt = true;
    }
}

struct Multiplying;

impl Act for Multiplying {
    type Input = Family;
    type Output = Made;

    #[inline]
    fn act(&mut self, family: &Family, output: &mut Made) -> Result<(), Fault> {
        let siblings = family.parent.siblings().map_err(refused)?;
        output.batch = Some(siblings.derive((0..SIBLINGS).map(hardened)));
        Ok(())
    }

    fn is_right(&mut self, family: &Family, output: &Made) -> bool {
        #[cfg(test)]
        if output.spoilt {
            return false;
        }
        let Some(batch) = &output.batch else {
            return false;
        };
        let mut pairs = batch.iter().zip(&family.answers);
        batch.len() == family.answers.len()
            && pairs.all(|(node, answer)| {
                let key = node.and_then(PrivateNode::export);
                key.is_ok_and(|key| key.key.expose() == answer.expose())
            })
    }
}

/// A thousand children of one parent.
pub(in super::super) fn siblings(row: &Row<'_>) -> Result<Box<dyn Worker>, TargetError> {
    let mut seeded = row.seeded();
    let scheme = Scheme::Bip32Secp256k1;
    let ring = Ring::fill(1, || {
        let seed = seeded.array::<64>();
        let at = path(row, &[29, 29, 0, 1])?;
        let parent = made(&seed, scheme, &at).map_err(|error| row.fails(error))?;
        let answers = (0..SIBLINGS).map(|number| {
            let mut level = parent.copy();
            level.step(scheme, hardened(number)).map(|()| level.key)
        });
        let answers: Result<Vec<_>, _> = answers.collect();
        let seed = Seed::raw(&seed).map_err(|error| row.fails(error))?;
        let parent = PrivateNode::derive_from(&seed, scheme, &at);
        Ok(Family {
            parent: parent.map_err(|error| row.fails(error))?,
            answers: answers.map_err(|error| row.fails(error))?,
        })
    })?;
    Ok(rotating(Multiplying, ring, Made::default()))
}
