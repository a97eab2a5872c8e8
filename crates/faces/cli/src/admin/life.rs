//! Orders about the life of keys: what a version may do, when it is destroyed, what rotates it.

use keywright_home::{Answer, CampaignOrder, Life, Moved, Order, Rotation, RuleChanges};
use keywright_types::{KeyVersion, Name};
use serde::Serialize;

use super::order::{give, unexpected};
use super::{EpochDocument, OneContext};
use crate::exit::Failure;
use crate::output::{self, Format};
use crate::place::Home;

/// Which versions an order is about.
#[derive(Debug, clap::Args)]
pub(super) struct Versions {
    #[command(flatten)]
    context: OneContext,
    /// The version.
    // The name `version` is that of the flag which tells the program's.
    #[arg(
        id = "key_version",
        value_name = "VERSION",
        required_unless_present = "all",
        conflicts_with = "all"
    )]
    version: Option<u32>,
    /// Every version that the order concerns: the context as a whole.
    #[arg(long)]
    all: bool,
}

/// A destruction.
#[derive(Debug, clap::Args)]
pub(super) struct Destroy {
    #[command(flatten)]
    versions: Versions,
    /// Although it was used or asked for lately, or its campaign is open.
    #[arg(long)]
    despite_use: bool,
    /// Yes, for ever.
    #[arg(long, required = true)]
    yes: bool,
}

/// Changes of the rules of a context; what is not named stays.
#[derive(Debug, clap::Args)]
pub(super) struct ContextSet {
    #[command(flatten)]
    context: OneContext,
    /// Destruction needs the approval of two principals. This is never taken back.
    #[arg(long)]
    two_approvals: bool,
    /// Days from the order to a destruction, 7 to 365.
    #[arg(long, value_name = "DAYS")]
    destroy_after: Option<u16>,
    /// Days without use that a destruction needs, 0 to 365.
    #[arg(long, value_name = "DAYS")]
    quiet: Option<u16>,
    /// Rotate the key when its active version is so many days old, 1 to 3650.
    #[arg(long, value_name = "DAYS", conflicts_with = "rotate_by_hand")]
    rotate_every: Option<u16>,
    /// Rotate the key by hand alone.
    #[arg(long)]
    rotate_by_hand: bool,
    /// Rotate the key when its active version has made so many seals, signatures, codes or tokens; 0 for never.
    #[arg(long, value_name = "USES")]
    rotate_after_uses: Option<u64>,
    /// Have a version make nothing new once it was used so often; 0 for never.
    #[arg(long, value_name = "USES")]
    refuse_after_uses: Option<u64>,
    /// The least version that opens.
    #[arg(long, value_name = "VERSION")]
    min_open: Option<u32>,
    /// Begin a campaign that moves so many ciphertexts to the newest version; until it is done nothing is destroyed.
    #[arg(long, value_name = "TOTAL", conflicts_with = "end_campaign")]
    campaign: Option<u64>,
    /// End the campaign, done or not.
    #[arg(long)]
    end_campaign: bool,
}

impl ContextSet {
    fn changes(&self) -> RuleChanges {
        let rotation = self.rotate_every.map(Rotation::EveryDays);
        let by_hand = self.rotate_by_hand.then_some(Rotation::ByHand);
        let campaign = self.campaign.map(CampaignOrder::Open);
        let ended = self.end_campaign.then_some(CampaignOrder::Close);
        RuleChanges {
            two_approvals: self.two_approvals.then_some(true),
            destroy_after_days: self.destroy_after,
            quiet_days: self.quiet,
            rotation: rotation.or(by_hand),
            rotate_after_uses: self.rotate_after_uses,
            refuse_after_uses: self.refuse_after_uses,
            min_open: self.min_open.map(KeyVersion::from_number),
            campaign: campaign.or(ended),
        }
    }
}

#[derive(Serialize)]
struct ChangedDocument<'a> {
    name: &'a Name,
    versions: &'a [Moved],
}

/// Gives an order about versions of a key.
pub(super) fn change(
    home: &Home,
    life: Life,
    versions: Versions,
    format: Format,
) -> Result<(), Failure> {
    carry_out(home, (life, false), versions, format)
}

/// Destroys versions whose day has come.
pub(super) fn destroy(home: &Home, destroy: Destroy, format: Format) -> Result<(), Failure> {
    let order = (Life::Destroy, destroy.despite_use && destroy.yes);
    carry_out(home, order, destroy.versions, format)
}

fn carry_out(
    home: &Home,
    (life, despite_use): (Life, bool),
    versions: Versions,
    format: Format,
) -> Result<(), Failure> {
    let OneContext { name, tenant } = versions.context;
    let order = Order::KeyLife {
        tenant: tenant.tenant,
        name: name.clone(),
        life,
        version: versions.version.map(KeyVersion::from_number),
        despite_use,
    };
    let Answer::KeyChanged { versions } = give(home, order)? else {
        return Err(unexpected());
    };
    let document = ChangedDocument {
        name: &name,
        versions: &versions,
    };
    output::document(format, &document, || {
        let heading = ["version", "state"].map(str::to_owned).to_vec();
        let rows = versions
            .iter()
            .map(|moved| vec![moved.version.to_string(), moved.state.name().to_owned()]);
        output::table(&std::iter::once(heading).chain(rows).collect::<Vec<_>>())
    })
}

/// Changes the rules of a context.
pub(super) fn set(home: &Home, set: ContextSet, format: Format) -> Result<(), Failure> {
    let rules = set.changes();
    let OneContext { name, tenant } = set.context;
    let order = Order::ContextSet {
        tenant: tenant.tenant,
        name,
        rules,
    };
    in_force(give(home, order)?, format)
}

/// Says that the clock is right.
pub(super) fn confirm_clock(home: &Home, format: Format) -> Result<(), Failure> {
    in_force(give(home, Order::ClockConfirm)?, format)
}

fn in_force(answer: Answer, format: Format) -> Result<(), Failure> {
    let Answer::InForce { epoch } = answer else {
        return Err(unexpected());
    };
    output::document(format, &EpochDocument { epoch }, || {
        output::fields(&[("epoch", epoch.to_string())])
    })
}
