//! The control socket: for the owner alone, and never kept busy by one client.

use std::io::{Read, Write};
use std::os::unix::fs::PermissionsExt;
use std::os::unix::net::UnixStream;
use std::path::PathBuf;
use std::time::Duration;

use keywright_clock::Clock;
use keywright_home::control::{SOCKET, send};
use keywright_home::pki::Pki;
use keywright_home::{
    Answer, CONFIG_FILE, Contents, HomeError, MemoryPlan, Node, Order, Profile, Serving, create,
};
use keywright_tls::Older;
use keywright_types::{BindingKind, Code, KeySpec, Name};
use tempfile::TempDir;

struct Running {
    folder: TempDir,
    serving: Serving,
}

impl Running {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let home = folder.path().join("h");
        create(&home, Contents::Empty, Profile::Fast, &Clock::system()).unwrap();
        let serving = serve(&home);
        Self { folder, serving }
    }

    fn home(&self) -> PathBuf {
        self.folder.path().join("h")
    }

    fn raw(&self, bytes: &[u8]) -> String {
        let mut stream = UnixStream::connect(self.home().join(SOCKET)).unwrap();
        stream
            .set_read_timeout(Some(Duration::from_secs(20)))
            .unwrap();
        stream.write_all(bytes).unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).unwrap();
        answer
    }
}

fn serve(home: &std::path::Path) -> Serving {
    let node = Node::open(
        &home.join(CONFIG_FILE),
        Clock::system(),
        MemoryPlan::LeaveAlone,
    )
    .unwrap();
    node.serve(Some(([127, 0, 0, 1], 0).into())).unwrap()
}

fn context(name: &str) -> Order {
    let (tenant, name) = (Name::default_tenant(), name.parse().unwrap());
    Order::ContextCreate {
        tenant,
        name,
        binding: BindingKind::None,
        spec: KeySpec::seal(),
        rules: keywright_custody::Rules::default(),
        detail: None,
        secret: None,
    }
}

#[test]
fn an_order_reaches_a_running_node_and_no_socket_means_none() {
    let running = Running::new();
    let home = running.home();
    let made = send(&home, &context("new")).unwrap().unwrap();
    assert!(matches!(made, Answer::ContextCreated { .. }));
    let again = send(&home, &context("NEW"));
    assert!(matches!(
        again,
        Err(HomeError::Refused {
            code: Some(Code::NameTaken),
            ..
        })
    ));
    running.serving.stop().unwrap();
    assert!(!home.join(SOCKET).exists());
    assert!(send(&home, &context("other")).unwrap().is_none());
}

#[test]
fn only_the_owner_may_use_the_socket() {
    let running = Running::new();
    let mode = std::fs::metadata(running.home().join(SOCKET))
        .unwrap()
        .permissions()
        .mode();
    assert_eq!(mode & 0o777, 0o600);
}

#[test]
fn what_is_no_order_gets_an_answer_and_the_next_client_its_turn() {
    let running = Running::new();
    for wrong in [
        &b"\n"[..],
        b"hello\n",
        b"{\"order\":\"destroy-everything\"}\n",
        b"{\"order\":\"contexts\",\"tenant\":\"default\",\"more\":1}\n",
        b"\xFF\xFE\xFD\n",
        b"{\"order\":\"policy-show\"}{\"order\":\"policy-show\"}\n",
    ] {
        let answer = running.raw(wrong);
        assert!(answer.contains("\"request_malformed\""), "{answer}");
    }
    assert!(
        running
            .raw(b"{\"order\":\"policy-show\"}\n")
            .contains("\"policy\"")
    );
    assert!(send(&running.home(), &Order::PolicyShow).unwrap().is_some());
}

#[test]
fn a_client_that_says_nothing_does_not_keep_the_others_out() {
    let running = Running::new();
    let silent = UnixStream::connect(running.home().join(SOCKET)).unwrap();
    let mut hasty = UnixStream::connect(running.home().join(SOCKET)).unwrap();
    hasty.write_all(b"{\"order\":").unwrap();
    drop(hasty);
    assert!(send(&running.home(), &Order::PolicyShow).unwrap().is_some());
    drop(silent);
}

#[test]
fn a_revocation_list_that_changed_while_the_node_was_down_is_adopted_and_an_older_one_refused() {
    let Running { folder, serving } = Running::new();
    serving.stop().unwrap();
    let home = folder.path().join("h");
    let old = std::fs::read(home.join("crl.pem")).unwrap();
    let pki = Pki::open(&home).unwrap();
    let clock = Clock::system();
    let clients = home.join("clients");
    pki.issue_client(&clients, ("c", Some("Unit")), None, clock.wall())
        .unwrap();
    let reason = keywright_tls::issue::Reason::KeyCompromise;
    pki.revoke(&clients.join("c.pem"), reason, clock.wall())
        .unwrap();
    let open = || {
        Node::open(
            &home.join(CONFIG_FILE),
            clock.clone(),
            MemoryPlan::LeaveAlone,
        )
    };
    let epoch = |node: &Node| node.admin().shared().snapshot().epoch;
    let node = open().unwrap();
    let adopted = epoch(&node);
    node.shutdown().unwrap();
    drop(node);
    let node = open().unwrap();
    assert_eq!(epoch(&node), adopted, "the same list is no news");
    node.shutdown().unwrap();
    drop(node);
    std::fs::write(home.join("crl.pem"), &old).unwrap();
    assert!(matches!(
        open(),
        Err(HomeError::OlderTrust(Older::RevocationList))
    ));
    // One more authority does not make the others' lists incomparable.
    let other = tempfile::tempdir().unwrap();
    Pki::init(other.path(), clock.wall()).unwrap();
    let both = |name: &str, ours: &[u8]| {
        let theirs = std::fs::read(other.path().join(name)).unwrap();
        std::fs::write(home.join(name), [ours, &theirs].concat()).unwrap();
    };
    both("crl.pem", &old);
    both("ca.pem", &std::fs::read(home.join("ca.pem")).unwrap());
    assert!(matches!(
        open(),
        Err(HomeError::OlderTrust(Older::RevocationList))
    ));
}
