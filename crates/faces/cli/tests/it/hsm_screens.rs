//! Whole screens of the menu at a terminal on real tokens, and what is on them that changes by itself.

use std::io::Write as _;
use std::time::Duration;

use keywright_tokens::{USER_PIN, on_each};

use crate::hsm::Scene;
use crate::hsm_menu::{DOWN, ENTER, ESC, Menu, restored, words};

/// The beginning, whatever the token is; above it are the title and how many entries there are.
const BEGIN: &str = "\
│Look                                                                          │
│  objects             browse the objects of the token                         │
│  mechanisms          what the token can do, as a matrix                      │
│  calls               the calls of a program, while its log is written        │
│Information                                                                   │
│  info                What the module says about itself                       │
│  list-slots          All slots and the tokens in them                        │
│  list-mechanisms     What a token can do                                     │
│  list-objects        The objects of a token                                  │
│  capabilities        What a token really does: each thing is tried once, w...│
│Token                                                                         │
│  init-token          Initialise a blank token                                │
│  init-pin            Set the user's PIN as security officer                  │
│  change-pin          Change the user's or the security officer's PIN         │
│  delete-token        Initialise a token again: everything in it is gone      │
│Key                                                                           │
│  gen-keypair         Make a key pair                                         │
│  export-pubkey       Show a public key                                       │
│  inspect-key         Every attribute of a key                                │
│  delete-key          Destroy a key                                           │
│  gen-csr             Make a certificate request                              │
└──────────────────────────────────────────────────────────────────────────────┘
Up/Down choose  Enter open  h help  q quit";

const HELP: &str = "\
┌ help ────────────────────────────────────────────────────────────────────────┐
│Every entry is a command of `keywright hsm` with the same name; its form has  │
│the words of that command, and shows the line that does the same.             │
│                                                                              │
│Up, Down            choose an entry or a field, or scroll                     │
│PgUp, PgDn          five at a time                                            │
│Left, Right         what is wider than the screen                             │
│Enter               open, or run                                              │
│Space, Left, Right  switch a flag, go through choices                         │
│Delete              empty a field                                             │
│Esc                 back                                                      │
│q                   leave the menu                                            │
│                                                                              │
│Fields with * are to be filled in. A PIN is asked for when the token wants it;│
│it is not shown, not written anywhere, kept for this token only, and forgotten│
│when nothing is typed for a while, when a command fails with it, and at the   │
│end. Nothing is destroyed before its id or serial number is typed.            │
│                                                                              │
│                                                                              │
│                                                                              │
│                                                                              │
│                                                                              │
└──────────────────────────────────────────────────────────────────────────────┘
Up/Down scroll  Esc back";

const PIN: &str = "    ┌ Enter: go on   Esc: leave it ────────────────────────────────────────┐
    │PIN                                                                   │
    │                                                                      │
    │What you type is not shown.                                           │
    │>                                                                     │
    └──────────────────────────────────────────────────────────────────────┘";

/// What is on the screen, without blanks at the ends of lines.
fn shown(menu: &Menu) -> String {
    let screen = menu.screen();
    let lines = screen.lines().map(str::trim_end);
    lines
        .collect::<Vec<_>>()
        .join("\n")
        .trim_matches('\n')
        .to_owned()
}

#[track_caller]
fn same(seen: &str, expected: &str) {
    assert!(seen == expected, "seen:\n{seen}\nexpected:\n{expected}");
}

#[test]
fn the_screens_are_these_on_every_token() {
    on_each(|store| {
        let scene = Scene::new(store);
        let Some(mut menu) = Menu::open(store, (80, 24), &words(&scene)) else {
            return;
        };
        menu.until(&["keywright hsm", "q quit"]);
        let begin = shown(&menu);
        let (title, below) = begin.split_once('\n').unwrap();
        assert!(
            title.starts_with("┌ keywright hsm ─") && title.contains("─ 1 of "),
            "{title}"
        );
        same(below, BEGIN);
        menu.keys("h");
        menu.until(&["help", "serial number is typed"]);
        same(&shown(&menu), HELP);
        menu.keys(ESC);
        menu.until(&["q quit"]);
        menu.keys(ENTER);
        menu.until(&["PIN", "not shown"]);
        let dialog = shown(&menu);
        let dialog: Vec<&str> = dialog
            .lines()
            .skip_while(|line| !line.contains("Enter: go on"))
            .take(6)
            .collect();
        same(&dialog.join("\n"), PIN);
        menu.keys(&format!("not-the-pin{ENTER}"));
        menu.until(&["CKR_PIN_INCORRECT", "The same as"]);
        let told = shown(&menu);
        let lines: Vec<&str> = told.lines().collect();
        assert!(lines[0].starts_with("┌ list-objects ─"), "{told}");
        assert!(
            lines.iter().any(|line| line.starts_with("│error: ")),
            "{told}"
        );
        assert!(
            lines.iter().all(|line| line.chars().count() <= 80),
            "{told}"
        );
        menu.keys(ESC);
        menu.until(&["q quit"]);
        restored(&menu.leave("q"));
    });
}

#[test]
fn the_pin_is_forgotten_when_nobody_types() {
    on_each(|store| {
        let scene = Scene::new(store);
        let idle = format!("{} --idle 4", words(&scene));
        let Some(mut menu) = Menu::open(store, (80, 24), &idle) else {
            return;
        };
        menu.until(&["q quit"]);
        menu.keys(ENTER);
        menu.until(&["not shown"]);
        menu.keys(&format!("{USER_PIN}{ENTER}"));
        menu.until(&["of keywright", "Esc back"]);
        menu.keys(ESC);
        menu.until(&["q quit"]);
        // Nothing is typed from here on.
        for _ in 0..600 {
            if !menu.screen().contains("PIN kept") {
                break;
            }
            menu.take(Duration::from_millis(50));
        }
        assert!(!menu.screen().contains("PIN kept"), "{}", menu.screen());
        menu.keys(ENTER);
        menu.until(&["not shown"]);
        menu.keys(ESC);
        menu.until(&["no PIN was typed"]);
        menu.keys(ESC);
        menu.until(&["q quit"]);
        let seen = menu.leave("q");
        assert!(!seen.contains(USER_PIN), "{seen}");
        restored(&seen);
    });
}

/// A call as the recorder writes it.
fn call(func: &str, rv: u64, second: u64) -> String {
    format!(
        "{{\"v\":\"1.0\",\"ts\":\"2026-11-21T02:41:{second:02}.7Z\",\"pid\":1,\"func\":\"{func}\",\"rv\":{rv},\"dur_ns\":900,\"slot_id\":7,\"session\":1}}\n"
    )
}

#[test]
fn calls_of_a_program_are_shown_while_its_log_is_written() {
    on_each(|store| {
        let scene = Scene::new(store);
        let log = scene.file("calls.jsonl", call("C_OpenSession", 0, 10));
        let Some(mut menu) = Menu::open(store, (80, 24), &words(&scene)) else {
            return;
        };
        menu.until(&["q quit"]);
        menu.keys(&format!("{DOWN}{DOWN}{ENTER}"));
        // No log was named: it is asked for.
        menu.until(&["Which log?"]);
        menu.keys(&format!("{log}{ENTER}"));
        menu.until(&[
            "1 calls",
            "0 failed",
            "02:41:10.700",
            "C_OpenSession",
            "900 ns",
        ]);
        let mut file = std::fs::OpenOptions::new().append(true).open(&log).unwrap();
        let more = call("C_Login", 0xa0, 11) + &call("C_Login", 0, 12);
        file.write_all(more.as_bytes()).unwrap();
        menu.until(&[
            "3 calls",
            "1 failed",
            "PIN_INCORRECT",
            "HIGH retry-after-wrong-pin",
        ]);
        menu.keys("r");
        menu.until(&["Functions", "r calls"]);
        menu.keys("r");
        menu.until(&["took", "p hold"]);
        // Held, nothing new is shown until it goes on.
        menu.keys("p");
        menu.until(&["held"]);
        file.write_all(call("C_Logout", 0, 13).as_bytes()).unwrap();
        menu.keys("p");
        menu.until(&["4 calls", "C_Logout"]);
        menu.keys(ESC);
        menu.until(&["q quit"]);
        restored(&menu.leave("q"));
    });
}
