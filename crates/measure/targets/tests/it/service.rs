//! Our own service, served in this process over real TLS, as a target.

use std::fs;
use std::num::NonZeroU32;
use std::path::Path;
use std::process::Command;
use std::time::Duration;

use keywright_clock::Clock;
use keywright_home::{CONFIG_FILE, MemoryPlan, Node, serve_null};
use keywright_measure::carry::Verify;
use keywright_measure::{Assignment, Carried, Carrier as _, Load, Stop, TargetError, Window};
use keywright_targets::operation::{Make, Setting};
use keywright_targets::service::{self, Access, Kind, Launch, OPERATIONS, Role, Server, Shape};

const LOOPBACK: ([u8; 4], u16) = ([127, 0, 0, 1], 0);

/// How many requests a run makes: few of those with many items or long bodies.
const fn operations(shape: Shape) -> u64 {
    match shape {
        _ if shape.items > 1 => 6,
        _ if shape.bytes >= 64 << 10 => 12,
        _ => 300,
    }
}

fn run(shape: Shape, access: &Access, verify: Verify) -> Result<Carried, TargetError> {
    let mut carrier = service::carrier(shape, access, 11)?;
    let load = Load::Closed {
        workers: NonZeroU32::new(shape.places()).unwrap(),
    };
    let assignment = Assignment {
        load: &load,
        window: Window::Operations(operations(shape)),
        seed: 3,
        verify,
        timeout: Duration::from_secs(60),
        drain: Duration::from_secs(60),
        block: Duration::from_millis(100),
        clock: &Clock::system(),
        stop: &Stop::new(),
    };
    let carried = carrier.carry(&assignment, &mut |_, _| {})?;
    assert!(carried.ledger.counts.balance(), "{shape:?}");
    let names: Vec<_> = carrier.parts().into_iter().map(|(name, _)| name).collect();
    assert_eq!(names.len(), carried.parts.len(), "{shape:?}");
    Ok(carried)
}

fn shapes() -> impl Iterator<Item = (&'static str, Shape)> {
    OPERATIONS
        .iter()
        .filter_map(|operation| match operation.make {
            Make::Service(shape) => Some((operation.name, shape)),
            _ => None,
        })
}

fn access(address: impl std::fmt::Display, home: &Path) -> Access {
    Access::of_demonstration(&format!("https://{address}"), home).unwrap()
}

#[test]
fn every_operation_answers_and_every_output_is_right() {
    let folder = tempfile::tempdir().unwrap();
    let home = service::home(folder.path()).unwrap();
    let node = Node::open(
        &home.join(CONFIG_FILE),
        Clock::system(),
        MemoryPlan::LeaveAlone,
    );
    let serving = node.unwrap().serve(Some(LOOPBACK.into())).unwrap();
    let access = access(serving.local_addr(), &home);
    for (name, shape) in shapes().filter(|(_, shape)| shape.role() == Role::Keys) {
        for verify in [Verify::All, Verify::Sample] {
            let carried = run(shape, &access, verify).unwrap();
            let counts = &carried.ledger.counts;
            let (sent, good) = (counts.sent, counts.verified + counts.unverified);
            assert_eq!(sent, good, "{name}: {counts:?} {:?}", carried.ledger.faults);
            match (shape.kind, verify) {
                // There is nothing to compare it with.
                (Kind::Health, _) => assert_eq!(counts.verified, 0),
                (_, Verify::All) => assert_eq!(counts.verified, sent, "{name}: {counts:?}"),
                _ => assert!(counts.verified > 0, "{name}: {counts:?}"),
            }
        }
    }
    serving.stop().unwrap();
}

#[test]
fn signatures_and_tokens_of_values_are_right_over_a_home_with_contexts_for_them() {
    let folder = tempfile::tempdir().unwrap();
    let home = service::home(folder.path()).unwrap();
    let node = Node::open(
        &home.join(CONFIG_FILE),
        Clock::system(),
        MemoryPlan::LeaveAlone,
    );
    let node = node.unwrap();
    let made = service::add_contexts(&node);
    made.unwrap();
    let serving = node.serve(Some(LOOPBACK.into())).unwrap();
    let access = access(serving.local_addr(), &home);
    for (name, shape) in shapes().filter(|(_, shape)| shape.role() == Role::Uses) {
        for verify in [Verify::All, Verify::Sample] {
            let carried = run(shape, &access, verify).unwrap();
            let counts = &carried.ledger.counts;
            let (sent, good) = (counts.sent, counts.verified + counts.unverified);
            assert_eq!(sent, good, "{name}: {counts:?} {:?}", carried.ledger.faults);
            match verify {
                Verify::All => assert_eq!(counts.verified, sent, "{name}: {counts:?}"),
                _ => assert!(counts.verified > 0, "{name}: {counts:?}"),
            }
        }
    }
    serving.stop().unwrap();
}

#[test]
fn the_null_mode_answers_as_it_did_at_first_and_its_process_is_looked_at() {
    let folder = tempfile::tempdir().unwrap();
    let home = service::home(folder.path()).unwrap();
    let running = serve_null(
        &home.join(CONFIG_FILE),
        &Clock::system(),
        Some(LOOPBACK.into()),
    );
    let running = running.unwrap();
    let own = keywright_targets::http::Process::own();
    let access = access(running.local_addr(), &home).with_process(own);
    // Its processor time is counted in ticks, of which one short run may have none.
    let mut spent = 0;
    for (name, shape) in shapes().filter(|(_, shape)| shape.role() == Role::Null) {
        let carried = run(shape, &access, Verify::All).unwrap();
        let verified = carried.ledger.counts.verified;
        assert_eq!(verified, operations(shape), "{name}");
        spent += carried.cpu_ns.unwrap();
    }
    assert!(spent > 0);
    // It has no keys, so what needs ciphertexts cannot be done.
    let decrypt = Shape {
        kind: Kind::Decrypt,
        ..Shape::MANY
    };
    let refused = run(decrypt, &access, Verify::Off);
    if let Ok(carried) = refused {
        assert_eq!(carried.ledger.counts.error, carried.ledger.counts.sent);
    }
    running.stop();
}

#[test]
fn parts_are_named_after_operations_legs_and_tenants() {
    let folder = tempfile::tempdir().unwrap();
    let home = service::home(folder.path()).unwrap();
    let node = Node::open(
        &home.join(CONFIG_FILE),
        Clock::system(),
        MemoryPlan::LeaveAlone,
    );
    let serving = node.unwrap().serve(Some(LOOPBACK.into())).unwrap();
    let access = access(serving.local_addr(), &home);
    for (kind, names) in [
        (Kind::Mixed, ["encrypt", "decrypt"]),
        (Kind::RoundTrip, ["encrypt", "decrypt"]),
        (Kind::TwoTenants, ["trading-1", "web-2fa-1"]),
    ] {
        let shape = Shape {
            kind,
            ..Shape::MANY
        };
        let carrier = service::carrier(shape, &access, 1).unwrap();
        let parts = carrier.parts();
        assert_eq!(
            parts
                .iter()
                .map(|(name, _)| name.as_str())
                .collect::<Vec<_>>(),
            names
        );
        let carried = run(shape, &access, Verify::Sample).unwrap();
        assert!(carried.parts.iter().all(|part| part.counts.sent > 0));
    }
    serving.stop().unwrap();
}

#[test]
fn a_context_that_is_not_the_callers_is_a_matter_of_authentication() {
    let folder = tempfile::tempdir().unwrap();
    let home = service::home(folder.path()).unwrap();
    let node = Node::open(
        &home.join(CONFIG_FILE),
        Clock::system(),
        MemoryPlan::LeaveAlone,
    );
    let serving = node.unwrap().serve(Some(LOOPBACK.into())).unwrap();
    let file = |name: &str| home.join("clients").join(name);
    let (certificate, key) = (file("trading-1.pem"), file("trading-1.key"));
    let foreign = service::Tenant::read("trading-1", "2fa", &certificate, &key).unwrap();
    let url = format!("https://{}", serving.local_addr());
    let access = Access::read(&url, &home.join("ca.pem"), vec![foreign]).unwrap();
    let decrypt = Shape {
        kind: Kind::Decrypt,
        ..Shape::MANY
    };
    let refused = service::carrier(decrypt, &access, 1).map(drop);
    assert!(
        matches!(refused, Err(TargetError::Authentication { .. })),
        "{refused:?}"
    );
    // An encryption needs no preparation; its refusals are in the books under the service's code.
    let carried = run(Shape::MANY, &access, Verify::Sample).unwrap();
    assert_eq!(carried.ledger.counts.error, 300);
    let codes: Vec<_> = carried
        .ledger
        .faults
        .keys()
        .map(ToString::to_string)
        .collect();
    assert!(
        codes.iter().all(|code| code.starts_with("service: ")),
        "{codes:?}"
    );
    // Two tenants need two certificates.
    let two = Shape {
        kind: Kind::TwoTenants,
        ..Shape::MANY
    };
    let refused = service::carrier(two, &access, 1).map(drop);
    assert!(
        matches!(refused, Err(TargetError::Unsupported { .. })),
        "{refused:?}"
    );
    serving.stop().unwrap();
}

#[test]
fn a_program_that_is_no_server_is_told_from_one_that_is_missing() {
    let folder = tempfile::tempdir().unwrap();
    let start = |program: &str, role| {
        let launch = Launch {
            program: Path::new(program),
            cpu: None,
        };
        Server::start(launch, role, folder.path()).map(drop)
    };
    for role in [Role::Keys, Role::Null, Role::Floor] {
        let ended = start("true", role);
        assert!(
            matches!(ended, Err(TargetError::Unreachable { .. })),
            "{ended:?}"
        );
        let missing = start("/nonexistent/keywright", role);
        assert!(
            matches!(missing, Err(TargetError::System(_))),
            "{missing:?}"
        );
    }
}

/// Says more than a pipe holds, in one line and in many, and then why it ends.
const TALKS: &str = "#!/bin/sh
head -c 1000000 /dev/zero >&2
yes warning | head -c 1000000 >&2
printf '\\nerror: the reason\\nerror: another\\n' >&2
exit 1
";

#[test]
fn what_a_server_says_before_it_listens_is_read_however_much_it_is() {
    let folder = tempfile::tempdir().unwrap();
    let [text, program] = ["text", "program"].map(|name| folder.path().join(name));
    fs::write(&text, TALKS).unwrap();
    // Written by another process: one that a neighbour starts at this moment would hold our file open, and what is open
    // for writing cannot be run.
    let mut install = Command::new("install");
    install.args(["-m", "700"]).args([&text, &program]);
    assert!(install.status().unwrap().success());
    let launch = Launch {
        program: &program,
        cpu: None,
    };
    let refused = Server::start(launch, Role::Keys, folder.path()).map(drop);
    let Err(TargetError::Unreachable { reason, .. }) = refused else {
        panic!("{refused:?}");
    };
    assert_eq!(reason, "it ended before it listened: the reason");
}

#[test]
fn memory_of_an_idle_server_needs_a_program() {
    let folder = tempfile::tempdir().unwrap();
    let setting = Setting {
        seed: 0,
        index: 0,
        bytes: None,
        folder: folder.path(),
        program: None,
        server_cpu: None,
        fpe_backend: None,
    };
    let mut looked = 0;
    for operation in OPERATIONS
        .iter()
        .filter(|row| row.name.contains("idle-memory"))
    {
        let Make::Figure(figure) = operation.make else {
            panic!("{} is a figure", operation.name);
        };
        let refused = figure(&setting);
        assert!(matches!(refused, Err(TargetError::Program)), "{refused:?}");
        looked += 1;
    }
    assert_eq!(looked, 2);
}
