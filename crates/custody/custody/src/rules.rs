//! What the owner of a context may change: what rotates its key, what its versions need to be destroyed.
//!
//! Rules stand in the key's row, so that a change of them is a change of state like any other: recorded, under
//! the row's MAC, at a new epoch.

use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::budget::SealLimits;

/// The rules of one context.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
#[expect(
    clippy::exhaustive_structs,
    reason = "a new rule must be faced wherever rules are checked"
)]
pub struct Rules {
    /// Whether scheduling a destruction, and destroying despite use, need two approvals. Once said it stays: what
    /// one hand could take away would protect nothing.
    #[serde(skip_serializing_if = "is_false")]
    pub two_approvals: bool,
    /// Days from the order to the destruction, 7 to 365.
    pub destroy_after_days: u16,
    /// Days without a use that a destruction needs, 0 to 365.
    pub quiet_days: u16,
    /// Days after which an active version is rotated, 1 to 3650; never if this is missing.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rotate_after_days: Option<u16>,
    /// Uses of a version that make something new (seals, signatures, codes, tokens) after which it is rotated; never
    /// if this is missing.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rotate_after_uses: Option<u64>,
    /// Such uses after which a version makes nothing new any more; never if this is missing.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub refuse_after_uses: Option<u64>,
    /// The campaign that is open: until it is done no version is destroyed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub campaign: Option<Campaign>,
}

/// A campaign that moves ciphertexts to the newest version.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[expect(clippy::exhaustive_structs, reason = "the three numbers of a campaign")]
pub struct Campaign {
    /// How many ciphertexts are to be moved, as the owner says: nobody here can know.
    pub total: u64,
    /// How many had been moved from all versions when it began.
    pub moved_before: u64,
    /// When it began, milliseconds since 1970.
    pub opened_ms: u64,
}

/// A rule is outside its limits.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum BadRule {
    /// The delay of a destruction.
    #[error("a destruction waits 7 to 365 days")]
    Delay,
    /// The quiet time.
    #[error("the time without use is 0 to 365 days")]
    Quiet,
    /// The rotation.
    #[error("a key is rotated after 1 to 3650 days")]
    Rotation,
    /// A number of uses.
    #[error(
        "a version is rotated after 1 use or more, and before the number of uses at which it is refused"
    )]
    Uses,
    /// Somebody wants to take two approvals away.
    #[error("two approvals, once asked for, are never taken back")]
    Approvals,
}

impl Default for Rules {
    /// 30 days to a destruction, 7 without use, no rotation by itself.
    fn default() -> Self {
        Self {
            two_approvals: false,
            destroy_after_days: 30,
            quiet_days: 7,
            rotate_after_days: None,
            rotate_after_uses: None,
            refuse_after_uses: None,
            campaign: None,
        }
    }
}

impl Rules {
    /// Whether these are the rules of a context of which nothing was said.
    #[must_use]
    pub fn is_default(&self) -> bool {
        *self == Self::default()
    }

    /// Refuses rules outside their limits, and what may not follow on `before`.
    ///
    /// # Errors
    /// [`BadRule`].
    pub fn check(&self, before: &Self) -> Result<(), BadRule> {
        if before.two_approvals && !self.two_approvals {
            return Err(BadRule::Approvals);
        }
        if !(7..=365).contains(&self.destroy_after_days) {
            return Err(BadRule::Delay);
        }
        if self.quiet_days > 365 {
            return Err(BadRule::Quiet);
        }
        match (self.rotate_after_uses, self.refuse_after_uses) {
            (Some(0), _) | (_, Some(0)) => return Err(BadRule::Uses),
            (Some(soft), Some(hard)) if soft >= hard => return Err(BadRule::Uses),
            _ => {}
        }
        match self.rotate_after_days {
            Some(days) if !(1..=3650).contains(&days) => Err(BadRule::Rotation),
            _ => Ok(()),
        }
    }

    /// How often a version may be used, where the owner has said it.
    #[must_use]
    pub fn use_limits(&self) -> Option<SealLimits> {
        SealLimits::said(self.rotate_after_uses, self.refuse_after_uses)
    }

    /// From the order to the destruction.
    #[must_use]
    pub const fn destroy_after(&self) -> Duration {
        days(self.destroy_after_days)
    }

    /// Without a use before a destruction.
    #[must_use]
    pub const fn quiet(&self) -> Duration {
        days(self.quiet_days)
    }

    /// After which an active version is rotated.
    #[must_use]
    pub fn rotate_after(&self) -> Option<Duration> {
        self.rotate_after_days.map(days)
    }
}

impl Campaign {
    /// How many were moved since it began, if so many have been moved from all versions by now.
    #[must_use]
    pub const fn moved(&self, rewrapped: u64) -> u64 {
        rewrapped.saturating_sub(self.moved_before)
    }

    /// Whether as many were moved as the owner said there are.
    #[must_use]
    pub const fn is_done(&self, rewrapped: u64) -> bool {
        self.moved(rewrapped) >= self.total
    }
}

const fn days(count: u16) -> Duration {
    Duration::from_secs(count as u64 * 86_400)
}

const fn is_false(value: &bool) -> bool {
    !*value
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn limits_are_kept_and_two_approvals_stay() {
        let standard = Rules::default();
        assert_eq!(standard.check(&standard), Ok(()));
        let with = |edit: fn(&mut Rules)| {
            let mut rules = Rules::default();
            edit(&mut rules);
            rules
        };
        for (rules, bad) in [
            (with(|rules| rules.destroy_after_days = 6), BadRule::Delay),
            (with(|rules| rules.destroy_after_days = 366), BadRule::Delay),
            (with(|rules| rules.quiet_days = 366), BadRule::Quiet),
            (
                with(|rules| rules.rotate_after_days = Some(0)),
                BadRule::Rotation,
            ),
            (
                with(|rules| rules.rotate_after_days = Some(3651)),
                BadRule::Rotation,
            ),
        ] {
            assert_eq!(rules.check(&standard), Err(bad));
        }
        let strict = with(|rules| rules.two_approvals = true);
        assert_eq!(strict.check(&standard), Ok(()));
        assert_eq!(standard.check(&strict), Err(BadRule::Approvals));
    }

    #[test]
    fn a_campaign_counts_from_its_beginning() {
        let campaign = Campaign {
            total: 10,
            moved_before: 100,
            opened_ms: 0,
        };
        assert_eq!(campaign.moved(50), 0);
        assert!(!campaign.is_done(109));
        assert!(campaign.is_done(110));
    }
}
