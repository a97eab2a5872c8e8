//! A home is made whole or not at all, where it was asked for and nowhere else.

use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::Path;

use keywright_clock::{Clock, WallTime};
use keywright_home::{CONFIG_FILE, Contents, HomeError, MemoryPlan, Node, Profile, create};

fn make(folder: &Path) -> Result<(), HomeError> {
    create(folder, Contents::Empty, Profile::Fast, &Clock::system())
}

fn opens(folder: &Path) {
    let node = Node::open(
        &folder.join(CONFIG_FILE),
        Clock::system(),
        MemoryPlan::LeaveAlone,
    )
    .unwrap();
    node.shutdown().unwrap();
}

fn names(folder: &Path) -> Vec<String> {
    let entries = std::fs::read_dir(folder).unwrap();
    entries
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect()
}

#[test]
fn a_home_is_private_to_its_owner_and_its_secrets_twice() {
    let folder = tempfile::tempdir().unwrap();
    let home = folder.path().join("home");
    make(&home).unwrap();
    let mode = |path: &Path| std::fs::metadata(path).unwrap().permissions().mode() & 0o777;
    assert_eq!(mode(&home), 0o700);
    for secret in ["root.kwf", "root.password", "server.key", "ca.key"] {
        assert_eq!(mode(&home.join(secret)), 0o600, "{secret}");
    }
    assert_eq!(names(folder.path()), ["home"], "nothing is left beside it");
    opens(&home);
}

#[test]
fn what_is_there_is_never_touched() {
    let folder = tempfile::tempdir().unwrap();
    let full = folder.path().join("full");
    std::fs::create_dir(&full).unwrap();
    std::fs::write(full.join("mine"), "x").unwrap();
    let file = folder.path().join("file");
    std::fs::write(&file, "x").unwrap();
    for place in [&full, &file] {
        assert!(
            matches!(make(place), Err(HomeError::Occupied(_))),
            "{}",
            place.display()
        );
    }
    assert_eq!(names(&full), ["mine"]);
    assert_eq!(names(folder.path()).len(), 2);
}

#[test]
fn an_empty_folder_a_trailing_slash_and_missing_parents_are_no_obstacle() {
    let folder = tempfile::tempdir().unwrap();
    let empty = folder.path().join("empty");
    std::fs::create_dir(&empty).unwrap();
    let slash = format!("{}/slash/", folder.path().display());
    let deep = folder.path().join("a/b/home");
    for place in [&*empty, Path::new(&slash), &deep] {
        make(place).unwrap();
        opens(place);
    }
}

#[test]
fn behind_a_link_the_home_is_made_where_the_link_leads() {
    let folder = tempfile::tempdir().unwrap();
    let (real, link) = (folder.path().join("real"), folder.path().join("link"));
    std::fs::create_dir(&real).unwrap();
    symlink(&real, &link).unwrap();
    make(&link).unwrap();
    assert!(std::fs::symlink_metadata(&link).unwrap().is_symlink());
    assert!(real.join(CONFIG_FILE).exists());
    opens(&link);
    let dangling = folder.path().join("dangling");
    symlink(folder.path().join("nowhere"), &dangling).unwrap();
    assert!(matches!(make(&dangling), Err(HomeError::File { .. })));
    assert!(!folder.path().join("nowhere").exists());
    assert_eq!(names(folder.path()).len(), 3);
}

#[test]
fn places_without_a_name_of_their_own_are_refused() {
    for place in [".", "..", "/", ""] {
        let made = make(Path::new(place));
        let refused = matches!(made, Err(HomeError::File { .. } | HomeError::Occupied(_)));
        assert!(refused, "{place:?}: {made:?}");
    }
}

#[test]
fn a_creation_that_fails_leaves_the_place_as_it_was() {
    let folder = tempfile::tempdir().unwrap();
    // A clock so far ahead that no certificate can be written for it.
    let (clock, _) = Clock::simulated(WallTime::from_unix_nanos(u64::MAX));
    let place = folder.path().join("a/b/home");
    let made = create(&place, Contents::Demo, Profile::Fast, &clock);
    assert!(made.is_err());
    assert!(
        names(folder.path()).is_empty(),
        "{:?}",
        names(folder.path())
    );
    let locked = folder.path().join("file/home");
    std::fs::write(folder.path().join("file"), "x").unwrap();
    assert!(make(&locked).is_err());
    assert!(folder.path().join("file").is_file());
}

#[test]
fn a_password_file_that_others_can_read_keeps_the_node_shut() {
    let folder = tempfile::tempdir().unwrap();
    let home = folder.path().join("home");
    make(&home).unwrap();
    let password = home.join("root.password");
    std::fs::set_permissions(&password, std::fs::Permissions::from_mode(0o640)).unwrap();
    let config = home.join(CONFIG_FILE);
    let opened = Node::open(&config, Clock::system(), MemoryPlan::LeaveAlone);
    assert!(matches!(opened, Err(HomeError::PasswordExposed(_))));
}
