//! A home of two tenants, with contexts of every kind in every state.

use std::sync::Arc;
use std::time::Duration;

use keywright_api::route::ROUTES;
use keywright_clock::Clock;
use keywright_custody::Rules;
use keywright_encoding::hex;
use keywright_home::{Answer, Imported, Life, MemoryPlan, Node, Order};
use keywright_policy::{ContextPattern, Effect, Grant, PolicyDocument};
use keywright_primitives::rsa::RsaSize;
use keywright_primitives::signature::rsa::RsaSigningKey;
use keywright_secret::SecretBytes;
use keywright_tls::Protocol;
use keywright_types::{BindingKind, KeyVersion, Operation, State};

use super::cases::{Case, Kind, Made, Stand};
use super::tables::{Who, has_namesake};
use super::text;
use crate::fixture::*;

const TENANT: &str = "default";
const MIRROR: &str = "mirror";

/// Makes the four clients.
fn admit(home: &Home) -> PolicyDocument {
    let pki = home.pki();
    let anchor = hex::encode(&pki.authority().spki_sha256());
    let now = Clock::system().wall();
    let mut text = String::from("version = 1\n");
    for who in Who::ALL {
        let (client, clients) = (who.name(), home.path().join("clients"));
        pki.issue_client(&clients, (client, Some("Cases")), None, now)
            .unwrap();
        let tenant = if who == Who::Stranger { MIRROR } else { TENANT };
        text.push_str(&format!(
            "[[principal]]\nname = \"{client}\"\ntenant = \"{tenant}\"\n[[principal.rule]]\n\
             anchors = [\"{anchor}\"]\ncommon_name = \"{client}\"\norganizational_unit = \"Cases\"\n"
        ));
    }
    PolicyDocument::parse(&text).unwrap()
}

/// Has everybody's rights be what [`Who`] says, of a route of this operation.
pub(super) fn set_rights(site: &Site, asked: Operation) {
    let free = [
        Operation::HealthRead,
        Operation::ContextList,
        Operation::ApiRead,
    ];
    let mut grants = Vec::new();
    for who in [Who::Holder, Who::Beside, Who::Stranger] {
        for in_context in [true, false] {
            let routes = ROUTES
                .iter()
                .filter(|one| one.takes_context() == in_context);
            let mut operations: Vec<_> = routes.map(|route| route.operation).collect();
            operations.sort_unstable();
            operations.dedup();
            operations.retain(|one| !free.contains(one));
            operations.retain(|one| who != Who::Beside || *one != asked);
            grants.push(Grant {
                tenant: name(if who == Who::Stranger { MIRROR } else { TENANT }),
                principals: vec![name(who.name())],
                groups: Vec::new(),
                effect: Effect::Allow,
                operations,
                contexts: in_context
                    .then_some(ContextPattern::Any)
                    .into_iter()
                    .collect(),
                paths: Vec::new(),
            });
        }
    }
    site.change_policy(|document| document.grants = grants);
}

fn make(node: &Arc<Node>, tenant: &str, context: &str, kind: Kind, rsa: &SecretBytes) {
    let order = Order::ContextCreate {
        tenant: name(tenant),
        name: name(context),
        binding: BindingKind::None,
        spec: kind.spec(),
        rules: Rules::default(),
        detail: kind.detail(),
        secret: kind.is_rsa().then(|| Imported::new(rsa)),
    };
    let made = node.carry_out(order);
    assert!(
        matches!(made, Ok(Answer::ContextCreated { .. })),
        "{context}: {made:?}"
    );
}

/// Makes every context, with its first version active, and what that makes.
fn make_all(site: &Site) -> Vec<Case> {
    let rsa = RsaSigningKey::generate(RsaSize::Rsa2048).unwrap();
    let rsa = rsa.to_pkcs8().unwrap();
    let mut wire = site.wire(Who::Holder.name(), Protocol::Http2);
    let (mut cases, mut sealed) = (Vec::new(), None);
    for kind in Kind::all() {
        let stands = Stand::ALL.into_iter();
        for stand in stands.filter(|one| kind.rotates() || matches!(one, Stand::Alone(_))) {
            let side = match stand {
                Stand::Alone(_) => "alone",
                Stand::Behind(_) => "behind",
            };
            let (soft, state) = (if kind.soft { "-soft" } else { "" }, stand.state());
            let context = format!("{}{soft}.{side}.{state}", kind.algorithm);
            make(site.node(), TENANT, &context, kind, &rsa);
            let made = Made::of(&mut wire, kind, &context, sealed.as_ref());
            sealed.get_or_insert_with(|| made.clone());
            let case = Case {
                kind,
                stand,
                name: context,
                made,
            };
            if has_namesake(&case) {
                make(site.node(), MIRROR, &case.name, kind, &rsa);
            }
            cases.push(case);
        }
    }
    cases
}

fn life(node: &Arc<Node>, context: &str, life: Life) {
    let order = Order::KeyLife {
        tenant: name(TENANT),
        name: name(context),
        life,
        version: Some(KeyVersion::FIRST),
        despite_use: matches!(life, Life::Destroy),
    };
    let done = node.carry_out(order);
    assert!(
        matches!(done, Ok(Answer::KeyChanged { .. })),
        "{context}: {done:?}"
    );
}

/// Brings first versions to where they are to stand.
fn bring(node: &Arc<Node>, cases: &[&Case]) {
    for case in cases {
        if matches!(case.stand, Stand::Behind(_)) {
            let order = Order::KeyRotate {
                tenant: name(TENANT),
                name: name(&case.name),
            };
            node.carry_out(order).unwrap();
        }
        for order in case.stand.orders() {
            life(node, &case.name, order);
        }
    }
}

/// Destroys what is to be destroyed, on its day.
fn destroy(home: &Home, cases: &[Case]) {
    let day = Clock::system()
        .wall()
        .plus(Duration::from_secs(40 * 86_400));
    let (clock, _) = Clock::simulated(day);
    let node = Node::open(&home.config(), clock, MemoryPlan::LeaveAlone).unwrap();
    node.carry_out(Order::ClockConfirm).unwrap();
    for case in cases
        .iter()
        .filter(|case| case.stand.state() == State::Destroyed)
    {
        life(&node, &case.name, Life::Destroy);
    }
    node.shutdown().unwrap();
}

/// A site with two tenants and the four clients, who have no rights yet.
pub(super) fn two_tenants() -> Site {
    let home = Home::demo();
    let principals = admit(&home).principals;
    let site = Site::over(home);
    site.node().admin().create_tenant(&name(MIRROR)).unwrap();
    site.change_policy(|document| document.principals.extend(principals));
    site
}

/// A site with two tenants, and the contexts of the first in all their states.
pub(super) fn site() -> (Site, Vec<Case>) {
    let site = two_tenants();
    set_rights(&site, Operation::HealthRead);
    let cases = make_all(&site);
    let (doomed, others): (Vec<_>, Vec<_>) = cases
        .iter()
        .partition(|case| case.stand.state() == State::Destroyed);
    bring(site.node(), &doomed);
    let home = site.stop();
    destroy(&home, &cases);
    // What is scheduled from here on is not due.
    let site = Site::over(home);
    bring(site.node(), &others);
    check_states(&site, &cases);
    (site, cases)
}

/// The contexts stand where the cases say.
fn check_states(site: &Site, cases: &[Case]) {
    let mut wire = site.wire(Who::Holder.name(), Protocol::Http2);
    for case in cases {
        let listed = wire.get(&path(&case.name, "key/versions")).json();
        let states: Vec<_> = listed["versions"].as_array().unwrap().iter().collect();
        let states: Vec<_> = states.iter().map(|one| text(one, "state")).collect();
        let mut wanted = vec![case.stand.state().name()];
        wanted.extend(matches!(case.stand, Stand::Behind(_)).then_some(State::Active.name()));
        assert_eq!(states, wanted, "{case}");
    }
}
