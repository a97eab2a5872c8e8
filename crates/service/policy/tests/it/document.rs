//! What a person may write, and what the answer names when it is something else.

use keywright_policy::{Entry, Error, Policy, PolicyDocument, Problem, Scope};
use keywright_types::{GroupId, Name, Operation, Plane, PrincipalId};

use crate::setting::{document, tenants};

const FULL: &str = r#"version = 1

[[group]]
id = "0000000000000000000000000000000a"
name = "Trading"
tenant = "default"

[[principal]]
id = "0000000000000000000000000000000b"
name = "trading-1"
tenant = "default"
group = "Trading"
heirs = ["trading-2"]
legacy_cn = "old-trading"
legacy_ou = ["Trade", "Trades"]

[[principal.rule]]
anchors = ["abababababababababababababababababababababababababababababababab"]
san_uri = "keywright:principal:0000000000000000000000000000000b"

[[principal.rule]]
anchors = ["abababababababababababababababababababababababababababababababab"]
common_name = "trading-1"
organizational_unit = "Trading"

[[principal]]
name = "trading-2"

[[principal.rule]]
anchors = ["abababababababababababababababababababababababababababababababab", "cdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcd"]
leaf_key = "efefefefefefefefefefefefefefefefefefefefefefefefefefefefefefefef"

[[grant]]
principals = ["trading-1"]
groups = ["Trading"]
operations = ["encrypt", "decrypt", "rewrap", "datakey", "datakey-open"]
contexts = ["exchange-key"]

[[grant]]
principals = ["trading-2"]
effect = "deny"
operations = ["random", "metrics-read", "context-list"]
"#;

/// A document with one principal and the given rest.
fn with(rest: &str) -> String {
    format!("version = 1\n[[principal]]\nname = \"a\"\n{rest}")
}

fn refusal(text: &str) -> String {
    PolicyDocument::parse(text)
        .map_or_else(|error| error.to_string(), |_| panic!("accepted: {text}"))
}

#[test]
fn both_forms_give_back_the_same_document() {
    let mut document = PolicyDocument::parse(FULL).unwrap();
    let again = |document: &PolicyDocument| {
        let toml = document.to_toml().unwrap();
        assert_eq!(&PolicyDocument::parse(&toml).unwrap(), document, "{toml}");
        let json = document.to_json().unwrap();
        assert_eq!(&PolicyDocument::from_json(&json).unwrap(), document);
    };
    again(&document);
    document.complete(|| [9; 16]);
    again(&document);
    again(&PolicyDocument::default());
}

#[test]
fn tables_stay_tables_for_people() {
    let toml = PolicyDocument::parse(FULL).unwrap().to_toml().unwrap();
    for header in [
        "[[group]]",
        "[[principal]]",
        "[[principal.rule]]",
        "[[grant]]",
    ] {
        assert!(toml.contains(header), "{toml}");
    }
}

#[test]
fn defaults_are_the_default_tenant_and_allow() {
    let document = PolicyDocument::parse(&with(
        "[[grant]]\nprincipals = [\"a\"]\noperations = [\"random\"]\n",
    ))
    .unwrap();
    assert_eq!(document.principals[0].tenant, Name::default_tenant());
    assert_eq!(document.grants[0].tenant, Name::default_tenant());
    assert_eq!(document.grants[0].effect, keywright_policy::Effect::Allow);
}

#[test]
#[expect(clippy::too_many_lines, reason = "a table")]
fn what_is_not_the_form_is_refused_with_line_and_key() {
    let anchors = format!("anchors = [\"{}\"]", "ab".repeat(32));
    let rule = |facts: &str| with(&format!("[[principal.rule]]\n{anchors}\n{facts}\n"));
    let cases: Vec<(String, &str)> = vec![
        (String::new(), "line 1, document: missing field `version`"),
        ("version = 2".into(), "line 1, key `version`"),
        ("version = \"1\"".into(), "line 1, key `version`"),
        ("version = 1\nversion = 1".into(), "line 2, key `version`"),
        (
            "version = 1\nunknown = 1".into(),
            "line 2, key `unknown`: unknown field `unknown`",
        ),
        (
            "version = 1\n[unknown]".into(),
            "line 2, table [unknown]: unknown field `unknown`",
        ),
        (
            "version = 1\n[[group]]".into(),
            "line 2, table [[group]]: missing field `name`",
        ),
        (
            with("grup = \"x\""),
            "line 4, key `grup`: unknown field `grup`",
        ),
        (with("group = 5"), "line 4, key `group`: invalid type"),
        (with("heirs = \"b\""), "line 4, key `heirs`: invalid type"),
        (with("id = \"AB\""), "line 4, key `id`: an id is 32"),
        (with("tenant = \"a b\""), "line 4, key `tenant`: a name has"),
        (
            with("legacy_cn = 4"),
            "line 4, key `legacy_cn`: invalid type",
        ),
        (
            with("[[grant]]\neffect = \"permit\""),
            "line 5, key `effect`: unknown variant",
        ),
        (
            with("[[grant]]\nprincipals = [\"a\"]"),
            "line 4, table [[grant]]: missing field `operations`",
        ),
        (
            with("[[grant]]\noperations = [\n  \"encrypt\",\n  \"Encrypt\",\n]"),
            "line 5, key `operations`: unknown operation `Encrypt`; there are encrypt, decrypt",
        ),
        (
            with("[[grant]]\ncontexts = [\"exchange*\"]"),
            "line 5, key `contexts`: a context is an exact name",
        ),
        (
            with("[[grant]]\ncontexts = [\"a/b\"]"),
            "line 5, key `contexts`",
        ),
        (
            with("[[grant]]\ncontexts = [\"**\"]"),
            "line 5, key `contexts`",
        ),
        (
            with("[[grant]]\ncontexts = [\"\"]"),
            "line 5, key `contexts`",
        ),
        (rule(""), "exactly one of"),
        (rule("san_uri = \"u\"\nsan_dns = \"d\""), "exactly one of"),
        (
            rule(
                "san_dns = \"d\"\nleaf_key = \"abababababababababababababababababababababababababababababababab\"",
            ),
            "exactly one of",
        ),
        (
            rule("common_name = \"c\"\norganizational_unit = \"o\"\nsan_uri = \"u\""),
            "exactly one of",
        ),
        (rule("common_name = \"c\""), "give both"),
        (rule("organizational_unit = \"o\""), "give both"),
        (
            rule("leaf_key = \"AB\""),
            "line 6, key `leaf_key`: a SHA-256 fingerprint",
        ),
        (
            rule("issuer = \"x\""),
            "line 6, key `issuer`: unknown field",
        ),
        (
            with("[[principal.rule]]\nsan_uri = \"u\""),
            "missing field `anchors`",
        ),
        (
            with("[[principal.rule]]\nanchors = [\"zz\"]"),
            "line 5, key `anchors`",
        ),
        ("version = 1\n[[principal]\n".into(), "line 2"),
        ("version = 1\nname = \"\u{1}\"".into(), "line 2"),
    ];
    for (text, expected) in cases {
        let refusal = refusal(&text);
        assert!(refusal.contains(expected), "{text}\n -> {refusal}");
        assert!(refusal.starts_with("line "), "{refusal}");
        assert!(!refusal.contains('\n'), "{refusal}");
    }
}

#[test]
#[expect(clippy::too_many_lines, reason = "a table")]
fn entries_that_do_not_fit_are_refused_with_line_and_key() {
    let ab = "ab".repeat(32);
    let rule = |facts: &str| with(&format!("[[principal.rule]]\n{facts}\n"));
    let grant = |lines: &str| with(&format!("[[grant]]\n{lines}\n"));
    let second = |lines: &str| with(&format!("[[principal]]\n{lines}\n"));
    let cases: Vec<(String, &str)> = vec![
        (
            rule("anchors = []\nsan_uri = \"u\""),
            "line 5, principal 1, rule 1, key `anchors`: a rule names at least one",
        ),
        (
            rule(&format!("anchors = [\"{ab}\", \"{ab}\"]\nsan_uri = \"u\"")),
            "line 5, principal 1, rule 1, key `anchors`: an anchor stands here twice",
        ),
        (
            rule(&format!("anchors = [\"{ab}\"]\nsan_uri = \"\"")),
            "line 6, principal 1, rule 1, key `san_uri`: an empty text",
        ),
        (
            rule(&format!("anchors = [\"{ab}\"]\nsan_dns = \"*.example\"")),
            "line 6, principal 1, rule 1, key `san_dns`: `*` is not expanded",
        ),
        (
            rule(&format!(
                "anchors = [\"{ab}\"]\ncommon_name = \"a\\u0000b\"\norganizational_unit = \"o\""
            )),
            "line 6, principal 1, rule 1, key `common_name`: a control character",
        ),
        (
            rule(&format!(
                "anchors = [\"{ab}\"]\ncommon_name = \"a\"\norganizational_unit = \"\\n\""
            )),
            "line 7, principal 1, rule 1, key `organizational_unit`: a control character",
        ),
        (
            rule(&format!(
                "anchors = [\"{ab}\"]\nsan_uri = \"{}\"",
                "x".repeat(1025)
            )),
            "key `san_uri`: at most 1024 bytes",
        ),
        (
            with("group = \"Trading\""),
            "line 4, principal 1, key `group`: tenant `default` has no group `Trading`",
        ),
        (
            with("heirs = [\"b\"]"),
            "line 4, principal 1, key `heirs`: tenant `default` has no principal `b`",
        ),
        (
            with("heirs = [\"a\"]"),
            "line 4, principal 1, key `heirs`: a principal is not its own heir",
        ),
        (
            second("name = \"b\"\nheirs = [\"a\", \"a\"]"),
            "line 6, principal 2, key `heirs`: heir `a` stands here twice",
        ),
        (
            second("name = \"b\"\ntenant = \"other\"\nheirs = [\"a\"]"),
            "tenant `other` has no principal `a`",
        ),
        (
            second("name = \"a\""),
            "line 5, principal 2, key `name`: `a` differs from another name",
        ),
        (
            second("name = \"A\""),
            "line 5, principal 2, key `name`: `A` differs from another name",
        ),
        (
            with("id = \"00000000000000000000000000000000\""),
            "line 4, principal 1, key `id`: an id of zeros",
        ),
        (
            with("legacy_cn = [\"1\",\"2\",\"3\",\"4\",\"5\",\"6\",\"7\",\"8\"]"),
            "line 4, principal 1, key `legacy_cn`: at most 7",
        ),
        (
            with("legacy_ou = \"a\\u0007\""),
            "line 4, principal 1, key `legacy_ou`: a former name",
        ),
        (
            with("legacy_ou = \"\""),
            "line 4, principal 1, key `legacy_ou`: a former name",
        ),
        (
            grant("operations = [\"random\"]"),
            "line 4, grant 1, key `principals`: a grant needs at least one of",
        ),
        (
            grant("principals = [\"b\"]\noperations = [\"random\"]"),
            "line 5, grant 1, key `principals`: tenant `default` has no principal `b`",
        ),
        (
            grant("groups = [\"a\"]\noperations = [\"random\"]"),
            "line 5, grant 1, key `groups`: tenant `default` has no group `a`",
        ),
        (
            grant("tenant = \"other\"\nprincipals = [\"a\"]\noperations = [\"random\"]"),
            "line 6, grant 1, key `principals`: tenant `other` has no principal `a`",
        ),
        (
            grant("principals = [\"a\"]\noperations = []"),
            "line 6, grant 1, key `operations`: a grant needs at least one operation",
        ),
        (
            grant("principals = [\"a\"]\noperations = [\"random\", \"random\"]"),
            "line 6, grant 1, key `operations`: `random` stands here twice",
        ),
        (
            grant(
                "principals = [\"a\"]\noperations = [\"random\", \"encrypt\"]\ncontexts = [\"c\"]",
            ),
            "line 6, grant 1, key `operations`: `encrypt` concerns a context and `random` does not; write two grants",
        ),
        (
            grant("principals = [\"a\"]\noperations = [\"encrypt\"]"),
            "line 4, grant 1, key `contexts`: `encrypt` concerns a context; name contexts",
        ),
        (
            grant("principals = [\"a\"]\noperations = [\"encrypt\"]\ncontexts = []"),
            "line 7, grant 1, key `contexts`: `encrypt` concerns a context",
        ),
        (
            grant("principals = [\"a\"]\noperations = [\"random\"]\ncontexts = [\"c\"]"),
            "line 7, grant 1, key `contexts`: `random` concerns no context; leave `contexts` out",
        ),
        (
            grant("principals = [\"a\"]\noperations = [\"encrypt\"]\ncontexts = [\"*\", \"c\"]"),
            "line 7, grant 1, key `contexts`: `*` is every context",
        ),
        (
            grant("principals = [\"a\"]\noperations = [\"encrypt\"]\ncontexts = [\"c\", \"c\"]"),
            "line 7, grant 1, key `contexts`: context `c` stands here twice",
        ),
        (
            grant("principals = [\"a\"]\noperations = [\"policy-apply\"]"),
            "line 6, grant 1, key `operations`: `policy-apply` belongs to the owner",
        ),
        (
            grant("principals = [\"a\"]\noperations = [\"pki-revoke\"]\ncontexts = [\"*\"]"),
            "`pki-revoke` belongs to the owner",
        ),
    ];
    for (text, expected) in cases {
        let refusal = refusal(&text);
        assert!(refusal.contains(expected), "{text}\n -> {refusal}");
    }
}

#[test]
fn a_document_from_the_store_is_checked_like_a_written_one() {
    let text =
        with("[[grant]]\nprincipals = [\"a\"]\noperations = [\"encrypt\"]\ncontexts = [\"c\"]");
    let good = PolicyDocument::parse(&text).unwrap().to_json().unwrap();
    let good = String::from_utf8(good).unwrap();
    for (from, to) in [
        ("\"principals\":[\"a\"]", "\"principals\":[\"b\"]"),
        ("\"version\":1", "\"version\":2"),
        ("\"version\":1", "\"version\":1,\"extra\":0"),
        ("\"encrypt\"", "\"random\""),
        ("[\"c\"]", "[\"c*\"]"),
        ("]}]}", "]}]} "),
    ] {
        let bad = good.replacen(from, to, 1);
        assert_ne!(bad, good, "{from}");
        let read = PolicyDocument::from_json(bad.as_bytes());
        // The last case is white space, which JSON allows; it shows that the others fail for their reason.
        assert_eq!(read.is_ok(), to.ends_with(' '), "{bad}");
    }
}

#[test]
fn a_document_without_ids_or_with_an_unknown_tenant_does_not_compile() {
    let compile = |text: &str| Policy::compile(&document(text), tenants, 1).map(drop);
    assert!(compile("[[principal]]\nname = \"a\"").is_ok());
    for text in [
        "[[principal]]\nname = \"a\"\ntenant = \"nowhere\"",
        "[[group]]\nname = \"a\"\ntenant = \"Default\"",
    ] {
        assert!(
            matches!(
                compile(text),
                Err(Error::Content {
                    problem: Problem::UnknownTenant { .. },
                    ..
                })
            ),
            "{text}"
        );
    }
    let without_ids = PolicyDocument::parse(&with("")).unwrap();
    assert!(matches!(
        Policy::compile(&without_ids, tenants, 1),
        Err(Error::Content {
            entry: Entry::Principal(0),
            problem: Problem::NoId,
            ..
        })
    ));
    let mut same_ids = PolicyDocument::parse(&with("[[principal]]\nname = \"b\"")).unwrap();
    same_ids.complete(|| [1; 16]);
    assert!(matches!(
        Policy::compile(&same_ids, tenants, 1),
        Err(Error::Content {
            entry: Entry::Principal(1),
            problem: Problem::IdTwice,
            ..
        })
    ));
}

#[test]
fn two_principals_cannot_claim_the_same_certificate() {
    let ab = "ab".repeat(32);
    let cd = "cd".repeat(32);
    let text = format!(
        "version = 1\n[[principal]]\nname = \"a\"\n[[principal.rule]]\nanchors = [\"{ab}\"]\nsan_dns = \"x\"\n\
         [[principal]]\nname = \"b\"\n[[principal.rule]]\nanchors = [\"{cd}\", \"{ab}\"]\nsan_dns = \"x\"\n"
    );
    assert_eq!(
        refusal(&text),
        "line 11, principal 2, rule 1, key `san_dns`: principal `a` has the same anchor and fact; \
         exactly one may match a certificate"
    );
    assert!(PolicyDocument::parse(&text.replace(&format!(", \"{ab}\""), "")).is_ok());
}

#[test]
fn applying_a_text_again_keeps_every_id() {
    let text = "[[group]]\nname = \"g\"\n[[principal]]\nname = \"a\"\n[[principal]]\nname = \"b\"";
    let current = document(text);
    let mut again = PolicyDocument::parse(&format!("version = 1\n{text}")).unwrap();
    again.adopt_ids(&current).unwrap();
    assert_eq!(again, current);
    let mut more =
        PolicyDocument::parse(&format!("version = 1\n{text}\n[[principal]]\nname = \"c\""))
            .unwrap();
    more.adopt_ids(&current).unwrap();
    assert_eq!(more.principals[2].id, None);
}

#[test]
fn a_name_keeps_its_id_and_an_id_its_name() {
    let current = document(
        "[[group]]\nname = \"g\"\n[[principal]]\nname = \"a\"\n[[principal]]\nname = \"b\"",
    );
    let problem = |change: &dyn Fn(&mut PolicyDocument)| {
        let mut next = current.clone();
        change(&mut next);
        match next.adopt_ids(&current) {
            Err(Error::Content { problem, .. }) => problem,
            other => panic!("{other:?}"),
        }
    };
    let name = |text: &str| text.parse::<Name>().unwrap();
    let changed = problem(&|d| d.principals[0].id = Some(PrincipalId::from_bytes([99; 16])));
    assert_eq!(changed, Problem::IdChanged { name: name("a") });
    let changed = problem(&|d| d.groups[0].id = Some(GroupId::from_bytes([99; 16])));
    assert_eq!(changed, Problem::IdChanged { name: name("g") });
    let moved = problem(&|d| d.principals[0].name = name("c"));
    assert_eq!(moved, Problem::IdMoved { name: name("a") });
    let moved = problem(&|d| d.principals[0].tenant = name("other"));
    assert_eq!(moved, Problem::IdMoved { name: name("a") });
    let swapped = problem(&|d| {
        let (a, b) = (d.principals[0].id, d.principals[1].id);
        (d.principals[0].id, d.principals[1].id) = (b, a);
    });
    assert_eq!(swapped, Problem::IdChanged { name: name("a") });
}

#[test]
fn a_document_without_end_is_refused_before_it_is_read() {
    let long = "#".repeat(keywright_policy::MAX_DOCUMENT + 1);
    assert!(matches!(PolicyDocument::parse(&long), Err(Error::TooLong)));
    assert!(matches!(
        PolicyDocument::from_json(long.as_bytes()),
        Err(Error::TooLong)
    ));
}

#[test]
fn grants_that_multiply_beyond_measure_are_refused() {
    let mut text = String::from("version = 1\n");
    for index in 0..1001 {
        text += &format!("[[principal]]\nname = \"p{index}\"\ngroup = \"g\"\n");
    }
    let names: Vec<_> = (0..1000).map(|index| format!("\"c{index}\"")).collect();
    text += &format!(
        "[[group]]\nname = \"g\"\n[[grant]]\ngroups = [\"g\"]\noperations = [\"encrypt\"]\ncontexts = [{}]\n",
        names.join(",")
    );
    let mut document = PolicyDocument::parse(&text).unwrap();
    let mut next = 0_u128;
    document.complete(|| {
        next += 1;
        next.to_be_bytes()
    });
    assert!(matches!(
        Policy::compile(&document, tenants, 1),
        Err(Error::Content {
            problem: Problem::TooManyRights,
            ..
        })
    ));
    document.principals.truncate(1000);
    assert!(Policy::compile(&document, tenants, 1).is_ok());
}

#[test]
fn each_operation_has_the_scope_that_was_decided_for_it() {
    let of = |scope| -> Vec<&str> {
        let all = Operation::ALL
            .iter()
            .filter(|&&one| Scope::of(one) == scope);
        all.map(|one| one.name()).collect()
    };
    assert_eq!(
        of(Scope::Context),
        [
            "encrypt",
            "decrypt",
            "rewrap",
            "datakey",
            "datakey-open",
            "context-describe",
            "key-rotate",
            "key-list",
            "tokenize",
            "detokenize",
            "mask",
            "sign",
            "verify",
            "agree",
            "public-key",
            "xpub",
            "key-export",
            "mac",
            "mac-verify",
            "key-suspend",
            "key-resume",
            "key-retire",
            "key-schedule-destroy",
            "key-cancel-destroy",
            "key-destroy",
            "key-approve",
            "deterministic-encrypt",
            "deterministic-decrypt",
        ]
    );
    assert_eq!(
        of(Scope::Tenant),
        [
            "random",
            "context-create",
            "context-list",
            "metrics-read",
            "health-read",
            "api-read"
        ]
    );
}

#[test]
fn a_principal_is_of_one_plane_and_of_that_of_work_where_nothing_is_said() {
    let plane = |text: &str| {
        let document = PolicyDocument::parse(text).unwrap();
        let written = document.to_toml().unwrap();
        let again = PolicyDocument::parse(&written).unwrap();
        assert_eq!(again, document);
        let stored = PolicyDocument::from_json(&document.to_json().unwrap()).unwrap();
        assert_eq!(stored, document);
        (document.principals[0].plane, written.contains("plane"))
    };
    assert_eq!(plane(&with("")), (Plane::Data, false));
    assert_eq!(plane(&with("plane = \"data\"\n")), (Plane::Data, false));
    assert_eq!(plane(&with("plane = \"admin\"\n")), (Plane::Admin, true));
    for wrong in ["Admin", "both", "", "*"] {
        let told = refusal(&with(&format!("plane = \"{wrong}\"\n")));
        assert!(
            told.starts_with("line 4, key `plane`: unknown variant"),
            "{told}"
        );
    }
    for wrong in ["plane = [\"admin\"]\n", "plane = 1\n", "plane = true\n"] {
        let told = refusal(&with(wrong));
        assert!(told.starts_with("line 4, key `plane`"), "{told}");
    }
}
