//! Plans, and what keeps one from being whole.

use keywright_custody::reader::{FormerName, NonceLen};
use keywright_policy::{Fact, Fingerprint, PolicyDocument};
use keywright_seed_service::files::{Config, Metadata, Revocations};
use keywright_seed_service::{Error, Given, Manifest, Plan, Warning, merged};
use keywright_types::{BindingKind, Name, Operation};

const CONFIG: &str = "hsm:\n  keys:\n    exchange-key: {type: aes, mode: shared}\n    2fa: {mode: private}\n\
                      acl:\n  mappings:\n    Trading: [exchange-key]\n    2FA: [2fa]\n    Database: []\n";
const METADATA: &str = "rotation:\n  exchange-key: {current: kek-exchange-key-v1, versions: [{label: kek-exchange-key-v1, checksum: 1}]}\n\
                        \x20 2fa: {versions: [{label: kek-2fa-v1}, {label: kek-2fa-v2}]}\n";
const REVOKED: &str = "revoked: [{cn: gone, serial: '01'}]";
const CLIENTS: &str = "version = 1\n\
    [[client]]\nname = \"trading-1\"\ncommon_name = \"t1\"\norganizational_unit = \"Trading\"\nformer_common_names = [\"t0\"]\n\
    [[client]]\nname = \"web\"\ncommon_name = \"f1\"\norganizational_unit = \"2FA\"\nformer_organizational_units = [\"Web\"]\n\
    [[client]]\nname = \"gone\"\ncommon_name = \"gone\"\norganizational_unit = \"2FA\"\n";

fn plan(config: &str, metadata: &str, revoked: &str, clients: &str) -> Result<Plan, Error> {
    let tenant: Name = "default".parse().unwrap();
    Plan::make(&Given {
        config: &Config::parse(config)?,
        metadata: &Metadata::parse(metadata)?,
        revocations: &Revocations::parse(revoked)?,
        manifest: &Manifest::parse(clients)?,
        anchors: &[Fingerprint::from_bytes([1; 32])],
        nonce: NonceLen::Sixteen,
        tenant: &tenant,
    })
}

fn whole() -> Plan {
    plan(CONFIG, METADATA, REVOKED, CLIENTS).unwrap()
}

#[test]
fn contexts_bind_as_their_modes_did_and_read_every_key() {
    let plan = whole();
    let told: Vec<_> = plan
        .contexts
        .iter()
        .map(|context| {
            (
                context.name.as_str(),
                context.binding,
                context.readers.len(),
            )
        })
        .collect();
    assert_eq!(
        told,
        [
            ("exchange-key", BindingKind::Group, 1),
            ("2fa", BindingKind::Principal, 2)
        ]
    );
    let reader = &plan.contexts[1].readers[0];
    assert_eq!(
        (reader.label.as_str(), reader.context.as_str()),
        ("kek-2fa-v1", "2fa")
    );
    assert_eq!(
        (reader.name, reader.nonce),
        (FormerName::CommonName, NonceLen::Sixteen)
    );
}

#[test]
fn units_become_groups_with_their_rights_and_clients_principals_with_their_names() {
    let plan = whole();
    let groups: Vec<_> = plan
        .policy
        .groups
        .iter()
        .map(|group| group.name.as_str())
        .collect();
    assert_eq!(groups, ["Trading", "2FA", "Database"]);
    assert_eq!(plan.policy.grants.len(), 2);
    for grant in &plan.policy.grants {
        assert_eq!(
            grant.operations,
            [Operation::Encrypt, Operation::Decrypt, Operation::Rewrap]
        );
    }
    let [trader, web] = plan.policy.principals.as_slice() else {
        panic!("{:?}", plan.policy.principals)
    };
    assert_eq!(
        (trader.legacy_cn.0.as_slice(), trader.legacy_ou.0.len()),
        (&["t0".to_owned()][..], 0)
    );
    assert_eq!(web.legacy_ou.0, ["Web"]);
    let fact = Fact::Subject {
        common_name: "t1".to_owned(),
        organizational_unit: "Trading".to_owned(),
    };
    assert_eq!(trader.rules[0].fact, fact);
}

#[test]
fn a_revoked_client_is_no_principal_and_what_is_not_as_it_looks_is_said() {
    let plan = whole();
    let expected = [
        Warning::Checksums,
        Warning::NoClients("Database".to_owned()),
        Warning::Revoked("gone".to_owned()),
    ];
    assert_eq!(plan.warnings, expected);
    assert_eq!(plan.revoked[0].serial.as_deref(), Some(&[1][..]));
    let config = "hsm: {keys: {a: {type: rsa}, b: }}\nacl: {mappings: {U: [a, c, b]}}";
    let revoked = "revoked: [{cn: x, serial: y}]";
    let plan = self::plan(config, "rotation:", revoked, "version = 1").unwrap();
    let told: Vec<_> = plan.warnings.iter().map(ToString::to_string).collect();
    assert_eq!(told.len(), 6, "{told:#?}");
    assert_eq!(plan.policy.grants[0].contexts.len(), 1);
    assert_eq!(plan.contexts.len(), 1);
}

#[test]
#[expect(clippy::too_many_lines, reason = "a table")]
fn what_is_not_whole_is_refused() {
    let with = |more: &str| plan(CONFIG, METADATA, REVOKED, &format!("{CLIENTS}{more}"));
    let client = |cn: &str, unit: &str| {
        format!(
            "[[client]]\nname = \"n\"\ncommon_name = \"{cn}\"\norganizational_unit = \"{unit}\"\n"
        )
    };
    assert!(matches!(
        with(&client("t9", "Nobody")),
        Err(Error::Unknown(_))
    ));
    assert!(matches!(
        with(&client("t1", "Trading")),
        Err(Error::Twice { .. })
    ));
    assert!(matches!(
        with("[[context]]\nformer = \"x\"\nname = \"y\""),
        Err(Error::Unknown(_))
    ));
    assert!(matches!(
        with("[[unit]]\nformer = \"x\"\nname = \"y\""),
        Err(Error::Unknown(_))
    ));
    assert!(matches!(
        with("[[unit]]\nformer = 7"),
        Err(Error::Manifest { .. })
    ));
    assert!(matches!(
        plan(CONFIG, METADATA, REVOKED, "version = 2"),
        Err(Error::Manifest { .. })
    ));
    assert!(matches!(
        plan(CONFIG, METADATA, REVOKED, ""),
        Err(Error::Manifest { .. })
    ));
    let more = format!("{METADATA}  other: {{versions: [{{label: l}}]}}\n");
    assert!(matches!(
        plan(CONFIG, &more, REVOKED, CLIENTS),
        Err(Error::KeyWithoutMode(_))
    ));
    let own = METADATA.replace("kek-2fa-v1", "kw1.x");
    assert!(matches!(
        plan(CONFIG, &own, REVOKED, CLIENTS),
        Err(Error::Label(..))
    ));
    let names = CONFIG.replace("exchange-key", "exchange key");
    let metadata = METADATA.replace("  exchange-key:", "  exchange key:");
    assert!(matches!(
        plan(&names, &metadata, REVOKED, CLIENTS),
        Err(Error::Name(_))
    ));
    let renamed = format!("{CLIENTS}[[context]]\nformer = \"exchange key\"\nname = \"exchange\"\n");
    let made = plan(&names, &metadata, REVOKED, &renamed).unwrap();
    assert_eq!(made.contexts[0].name.as_str(), "exchange");
    assert_eq!(made.contexts[0].readers[0].context, "exchange key");
    let folded = CONFIG.replace("    2fa: {mode: private}\n", "    2fa: {}\n    2FA: {}\n");
    assert!(matches!(
        plan(&folded, METADATA, REVOKED, CLIENTS),
        Err(Error::SameName(_))
    ));
    let eight = CLIENTS.replace(
        "[\"t0\"]",
        "[\"1\",\"2\",\"3\",\"4\",\"5\",\"6\",\"7\",\"8\"]",
    );
    assert!(matches!(
        plan(CONFIG, METADATA, REVOKED, &eight),
        Err(Error::Policy(_))
    ));
}

#[test]
fn merging_twice_changes_nothing_and_another_principal_of_the_name_is_refused() {
    let plan = whole();
    let once = merged(PolicyDocument::default(), &plan.policy).unwrap();
    let mut known = once.clone();
    known.complete(|| [7; 16]);
    // Ids are those of the policy in force.
    known.principals[0].id = Some(keywright_types::PrincipalId::from_bytes([8; 16]));
    known.groups[0].id = None;
    let again = merged(once.clone(), &plan.policy).unwrap();
    assert_eq!(again, once);
    let mut other = once;
    other.principals[0].legacy_cn.0.clear();
    let refused = merged(other, &plan.policy);
    assert!(matches!(refused, Err(Error::Differs { .. })));
}
