//! What tests start as a child: this program again, in a role.

use std::fs::File;
use std::io::{IoSliceMut, Read, Write as _};
use std::mem::MaybeUninit;
use std::os::fd::{AsFd as _, OwnedFd};
use std::os::unix::net::UnixStream;

use keywright_token_process::Program;
use keywright_types::{Algorithm, Purpose};
use rustix::net::{RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags, recvmsg};

/// This program in the role of a test below.
pub(crate) fn program(role: &str) -> Program {
    let test = format!("child::{role}");
    let words = ["--exact", &test, "--include-ignored", "--nocapture"];
    Program {
        file: std::env::current_exe().unwrap(),
        words: words.map(Into::into).to_vec(),
    }
}

#[test]
#[ignore = "a role: other tests start it, with a socket as its input"]
fn token_process() {
    // Started by hand it has no service, and says so.
    drop(keywright_token_process::run());
}

fn control() -> UnixStream {
    let input = std::io::stdin().as_fd().try_clone_to_owned().unwrap();
    UnixStream::from(input)
}

/// The next frame; `None` at the end.
fn frame(stream: &mut impl Read) -> Option<Vec<u8>> {
    let mut length = [0; 4];
    stream.read_exact(&mut length).ok()?;
    let mut body = vec![0; u32::from_be_bytes(length) as usize];
    stream.read_exact(&mut body).ok()?;
    Some(body)
}

/// Answers a hello with so many bytes of nonsense, and goes on with it.
fn nonsense(answer: &[u8]) {
    let mut control = control();
    if frame(&mut control).is_none() {
        return;
    }
    drop(control.write_all(answer));
    // Until the service has had enough.
    drop(control.read_to_end(&mut Vec::new()));
}

#[test]
#[ignore = "a role: other tests start it, with a socket as its input"]
fn says_nothing_that_is_meant() {
    nonsense(&[0, 0, 0, 3, 1, 2, 3]);
}

#[test]
#[ignore = "a role: other tests start it, with a socket as its input"]
fn says_more_than_there_can_be() {
    nonsense(&[0xFF; 64]);
}

#[test]
#[ignore = "a role: other tests start it, with a socket as its input"]
fn says_nothing_at_all() {
    nonsense(&[]);
}

#[test]
#[ignore = "a role: other tests start it, with a socket as its input"]
fn is_of_another_version() {
    nonsense(b"\0\0\0\x0bKWTOKEN1\0\x02\0");
}

#[test]
#[ignore = "a role: other tests start it, with a socket as its input"]
fn ends_at_once() {}

/// What stands in a message in front of the bytes that this child is to answer it with, and their number.
pub(crate) const ANSWER: &[u8] = b"answer with: ";

/// Opens any token, and answers an order with the bytes that stand in its message.
#[test]
#[ignore = "a role: other tests start it, with a socket as its input"]
fn answers_what_it_is_told() {
    let mut control = control();
    if frame(&mut control).is_none() {
        return;
    }
    let mut opened = b"KWTOKEN1\0\x01\0\0\0\x01".to_vec();
    opened.push(Purpose::Seal.number());
    opened.extend(Algorithm::TokenGcm12.number().to_be_bytes());
    opened.extend([0xFF; 4]);
    let length = u32::try_from(opened.len()).unwrap().to_be_bytes();
    drop(control.write_all(&[&length[..], &opened].concat()));
    while let Some([from, to]) = handed_over(&control) {
        std::thread::spawn(move || parrot(File::from(from), File::from(to)));
    }
}

fn parrot(mut from: File, mut to: File) {
    while let Some(order) = frame(&mut from) {
        let place = order.windows(ANSWER.len()).position(|part| part == ANSWER);
        let Some((length, rest)) =
            place.and_then(|place| order[place + ANSWER.len()..].split_first_chunk::<4>())
        else {
            return;
        };
        let answer = &rest[..u32::from_be_bytes(*length) as usize];
        if answer.is_empty() || to.write_all(answer).is_err() {
            return;
        }
    }
}

fn handed_over(control: &UnixStream) -> Option<[OwnedFd; 2]> {
    let mut byte = [0];
    let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(2))];
    let mut message = RecvAncillaryBuffer::new(&mut space);
    let mut parts = [IoSliceMut::new(&mut byte)];
    recvmsg(control, &mut parts, &mut message, RecvFlags::empty()).ok()?;
    message.drain().find_map(|part| match part {
        RecvAncillaryMessage::ScmRights(mut ends) => Some([ends.next()?, ends.next()?]),
        _ => None,
    })
}
