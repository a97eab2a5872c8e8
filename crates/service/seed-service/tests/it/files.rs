//! YAML within its bounds, and the three files.

use keywright_custody::reader::FormerName;
use keywright_seed_service::Error;
use keywright_seed_service::files::{Config, Metadata, Revocations};
use keywright_seed_service::yaml::{BadYaml, Node, read};

fn text(text: &str) -> Node {
    Node::Text(text.to_owned())
}

#[test]
fn scalars_are_texts_as_they_are_written() {
    let read =
        read("a: 2fa\nb: 0x10\nc: yes\nd: '~'\ne: ~\nf:\ng: \"\"\nh: |\n  two\n  lines\n").unwrap();
    let Node::Table(entries) = read else { panic!() };
    let values: Vec<_> = entries.into_iter().map(|(_, node)| node).collect();
    let expected = [
        text("2fa"),
        text("0x10"),
        text("yes"),
        text("~"),
        Node::Empty,
        Node::Empty,
        text(""),
        text("two\nlines\n"),
    ];
    assert_eq!(values, expected);
}

#[test]
fn what_refers_to_something_else_or_stands_twice_is_refused_with_its_line() {
    let line = |number| number;
    for (given, bad) in [
        ("a: 1\nb: &x 2", BadYaml::Reference { line: line(2) }),
        ("a: &x [1]", BadYaml::Reference { line: line(1) }),
        ("a: &x {b: 1}", BadYaml::Reference { line: line(1) }),
        ("a: !!int 1", BadYaml::Reference { line: line(1) }),
        ("a: !x [1]", BadYaml::Reference { line: line(1) }),
        ("a: 1\na: 2", BadYaml::Key { line: line(2) }),
        ("? [1]\n: 2", BadYaml::Key { line: line(1) }),
        ("~: 2", BadYaml::Key { line: line(1) }),
        ("a: 1\n---\nb: 2", BadYaml::Documents),
    ] {
        let refused = read(given).unwrap_err();
        assert_eq!(
            std::mem::discriminant(&refused),
            std::mem::discriminant(&bad),
            "{given}: {refused:?}"
        );
        if let (BadYaml::Reference { line: told }, BadYaml::Reference { line })
        | (BadYaml::Key { line: told }, BadYaml::Key { line }) = (refused, bad)
        {
            assert!(told.abs_diff(line) <= 1, "{given}: {refused:?}");
        }
    }
    assert!(matches!(read("a: [1"), Err(BadYaml::Syntax { .. })));
    assert!(matches!(
        read("a: *x"),
        Err(BadYaml::Syntax { .. } | BadYaml::Reference { .. })
    ));
    let deep = format!("{}{}", "[".repeat(17), "]".repeat(17));
    assert!(matches!(read(&deep), Err(BadYaml::Deep { .. })));
    let good = format!("{}{}", "[".repeat(16), "]".repeat(16));
    assert!(read(&good).is_ok());
    assert_eq!(read(&" ".repeat((1 << 20) + 1)), Err(BadYaml::TooLong));
    assert_eq!(read(""), Ok(Node::Empty));
}

#[test]
fn the_configuration_says_contexts_their_modes_and_who_may_use_them() {
    let config = Config::parse(
        "hsm:\n  slot_id: t\n  keys:\n    a: {mode: shared}\n    b: {type: aes}\n    c:\n    d: {type: rsa}\n\
         acl:\n  mappings:\n    U: [a, b]\n    V:\n",
    )
    .unwrap();
    let keys: Vec<_> = config
        .keys
        .iter()
        .map(|key| (key.context.as_str(), key.name, key.is_aes))
        .collect();
    let private = FormerName::CommonName;
    assert_eq!(
        keys,
        [
            ("a", FormerName::OrganizationalUnit, true),
            ("b", private, true),
            ("c", private, true),
            ("d", private, false)
        ]
    );
    assert_eq!(config.mappings.len(), 2);
    assert!(config.mappings[1].1.is_empty());
    for (wrong, place) in [
        ("hsm: 1", "hsm"),
        ("hsm: {keys: [a]}", "hsm.keys"),
        ("hsm: {keys: {a: {mode: public}}}", "hsm.keys.a.mode"),
        ("hsm: {keys: {a: {type: des}}}", "hsm.keys.a.type"),
        ("hsm: {keys: {a: {mode: [shared]}}}", "hsm.keys.a.mode"),
        ("acl: {mappings: {U: a}}", "acl.mappings.U"),
        ("acl: {mappings: {U: [[a]]}}", "acl.mappings.U.1"),
        ("[]", "the document"),
    ] {
        match Config::parse(wrong) {
            Err(Error::Shape { place: told, .. }) => assert_eq!(told, place, "{wrong}"),
            other => panic!("{wrong}: {other:?}"),
        }
    }
}

#[test]
fn the_key_metadata_say_labels_and_no_label_twice() {
    let good = "rotation:\n  a:\n    current: l2\n    versions:\n    - {label: l1, checksum: 00}\n    - {label: l2}\n  b:\n";
    let metadata = Metadata::parse(good).unwrap();
    assert_eq!(metadata.contexts[0].labels, ["l1", "l2"]);
    assert!(metadata.contexts[0].has_checksums && metadata.contexts[1].labels.is_empty());
    let twice = "rotation: {a: {versions: [{label: l}]}, b: {versions: [{label: l}]}}";
    assert!(matches!(Metadata::parse(twice), Err(Error::Twice { .. })));
    let gone = "rotation: {a: {current: l2, versions: [{label: l1}]}}";
    assert!(matches!(
        Metadata::parse(gone),
        Err(Error::CurrentMissing(_))
    ));
    for wrong in [
        "rotation: {a: {versions: {label: l}}}",
        "rotation: {a: {versions: [l]}}",
        "rotation: {a: {versions: [{version: 1}]}}",
        "rotation: [a]",
    ] {
        assert!(
            matches!(Metadata::parse(wrong), Err(Error::Shape { .. })),
            "{wrong}"
        );
    }
}

#[test]
fn the_list_of_revoked_clients_must_say_itself_that_it_is_empty() {
    let list = Revocations::parse(
        "revoked:\n- {cn: a, serial: '0A:1B', reason: compromised}\n- {cn: b, serial: none}\n- {cn: c}\n- {cn: d, serial: 0x00ff}\n",
    )
    .unwrap();
    let serials: Vec<_> = list
        .revoked
        .iter()
        .map(|one| (one.serial.as_deref(), one.odd_serial))
        .collect();
    assert_eq!(
        serials,
        [
            (Some(&[0x0a, 0x1b][..]), false),
            (None, true),
            (None, false),
            (Some(&[0xff]), false)
        ]
    );
    assert!(
        Revocations::parse("revoked: []")
            .unwrap()
            .revoked
            .is_empty()
    );
    assert!(Revocations::parse("revoked:").unwrap().revoked.is_empty());
    // A missing or an empty file means that nobody is revoked there (D18), and nothing here.
    for wrong in [
        "",
        "{}",
        "revoke: []",
        "revoked: {cn: a}",
        "revoked: [a]",
        "revoked: [{serial: 1}]",
        "revoked: [{cn: ''}]",
    ] {
        assert!(
            matches!(Revocations::parse(wrong), Err(Error::Shape { .. })),
            "{wrong}"
        );
    }
    let twice = "revoked: [{cn: a}, {cn: a}]";
    assert!(matches!(
        Revocations::parse(twice),
        Err(Error::Twice { .. })
    ));
}
