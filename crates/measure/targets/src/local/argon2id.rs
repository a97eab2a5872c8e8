//! Argon2id (RFC 9106) with the costs of the password containers' profiles: from a password of 28 bytes
//! and a salt of 16 to 32 bytes.
//!
//! The answers are those of the reference implementation (phc-winner-argon2 20190702, through argon2-cffi
//! 25.1), so that a fast answer is not taken for a right one. The inputs are fixed for that reason; the seed
//! says with which of them a run begins.

use std::sync::atomic::{AtomicU32, Ordering};

use keywright_encoding::hex;
use keywright_measure::{TargetError, Worker};
use keywright_password::{Cost, Profile, budget, hazmat};
use keywright_secret::Secret;

use super::memory;
use super::row::{Row, refused};
use super::worker::{Ring, answered};

pub(super) const PASSWORD: &[u8] = b"correct horse battery staple";

/// The answers for salts of sixteen bytes 00, 01, 02 and 03.
type Answers = [&'static str; 4];

const FAST: Answers = [
    "029b0ef360e711efd202f2d1325203d490d3df2d71864e1443a3f4258e51c3a2",
    "4d5ec0448ba4e3d729b4ea5146ffc329e1c8abf9ea3cfd1707535c991c500b77",
    "87068dc45f61ddd85e1795b180fc7fc9b6a426c332aff433bf9f3df7e52314c8",
    "8420239fd48d0c5667699e641dde1e3223abb5d1612ee9f348c198cc4b394cf7",
];
const BALANCED: Answers = [
    "f6e68574da1a78411739dabc805829fa928ff1897a2112733d92a94664214305",
    "e1256262b4a3ad91568c8c2222ab3e139753d7b32a6f87bdbb1e54687f35c297",
    "8884716d371c945e36d6b83ce6497917697e41f92ec7595f6e42988661e860b3",
    "9bc7c3fcec11ff2b16d306923c9489c10c05ebc2c700bbe66647315cf316c893",
];
const STRONG: Answers = [
    "4241ce04d8cbb934763bc0d4cda2a426d23e62bb4b2da22a1183b06e12b7478f",
    "21351b1d48a72c8c5833edc36557ddfaace3d3ecd0f27cb204acc909119fe0ea",
    "b2cf9ad9f61341ef2cb9bd2b0f625ae17c3a839a0a376cf4c2fef34bba1f0478",
    "9b4a3f8e4f495b834b969ba23dcc3551a1d57f745dc3e3c9eabb8da9262a6dd4",
];

/// 64 MiB, 3 passes, 2 lanes.
pub(super) fn fast(row: &Row<'_>) -> Result<Box<dyn Worker>, TargetError> {
    make(row, Profile::Fast)
}

/// 256 MiB, 3 passes, 4 lanes.
pub(super) fn balanced(row: &Row<'_>) -> Result<Box<dyn Worker>, TargetError> {
    make(row, Profile::Balanced)
}

/// 1 GiB, 3 passes, 8 lanes.
pub(super) fn strong(row: &Row<'_>) -> Result<Box<dyn Worker>, TargetError> {
    make(row, Profile::Strong)
}

fn make(row: &Row<'_>, profile: Profile) -> Result<Box<dyn Worker>, TargetError> {
    let (ring, cost) = inputs(row, profile)?;
    let first = Secret::from_fill(|_| ());
    Ok(answered(ring, first, move |salt: &[u8; 16], out| {
        *out = hazmat::stretch(PASSWORD, salt, cost).map_err(refused)?;
        Ok(())
    }))
}

/// A salt, and the key that it leads to.
type Salted = ([u8; 16], Secret<32>);

/// The salts with their answers, and the cost, where there is memory for it.
pub(super) fn inputs(row: &Row<'_>, profile: Profile) -> Result<(Ring<Salted>, Cost), TargetError> {
    let answers = match profile {
        Profile::Fast => &FAST,
        Profile::Balanced => &BALANCED,
        Profile::Strong => &STRONG,
        _ => return Err(row.lacks("there are no answers for this profile")),
    };
    let cost = profile.cost();
    // Workers are made one after the other and work at the same time, so each counts those before it.
    let together = cost
        .memory_kib
        .saturating_mul(row.setting.index.saturating_add(1));
    memory::available()
        .require(together)
        .map_err(|short| row.lacks(short))?;
    allow(together);
    let [start] = row.seeded().array();
    let mut salts = (start % 4..).map(|place| place % 4);
    let ring = Ring::fill(2, || {
        let salt = salts.next().unwrap_or_default();
        let answer = hex::decode_array(answers[usize::from(salt)]);
        let answer: [u8; 32] = answer.map_err(|error| row.fails(error))?;
        Ok(([salt; 16], Secret::from_fill(|out| *out = answer)))
    })?;
    Ok((ring, cost))
}

/// Lets the process's password operations hold this much together; it would otherwise be 1 GiB, and
/// workers would be measured waiting for each other.
fn allow(kib: u32) {
    static ALLOWED: AtomicU32 = AtomicU32::new(1 << 20);
    let before = ALLOWED.fetch_max(kib, Ordering::Relaxed);
    budget::set(before.max(kib));
}
