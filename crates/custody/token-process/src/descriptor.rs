//! Handing an open descriptor to the other process (`SCM_RIGHTS`).

use std::io::{IoSlice, IoSliceMut};
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::net::UnixStream;

use rustix::net::{
    RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags, SendAncillaryBuffer,
    SendAncillaryMessage, SendFlags, recvmsg, sendmsg,
};

/// Sends `descriptor` along with one byte.
pub(crate) fn send(control: &UnixStream, descriptor: impl AsFd) -> std::io::Result<()> {
    let descriptors = [descriptor.as_fd()];
    let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(1))];
    let mut message = SendAncillaryBuffer::new(&mut space);
    // There is room for one.
    message.push(SendAncillaryMessage::ScmRights(&descriptors));
    sendmsg(
        control,
        &[IoSlice::new(&[0])],
        &mut message,
        SendFlags::NOSIGNAL,
    )?;
    Ok(())
}

/// Waits for the next one; `None` at the end.
pub(crate) fn receive(control: &UnixStream) -> std::io::Result<Option<OwnedFd>> {
    loop {
        let mut byte = [0];
        let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(1))];
        let mut message = RecvAncillaryBuffer::new(&mut space);
        let got = recvmsg(
            control,
            &mut [IoSliceMut::new(&mut byte)],
            &mut message,
            RecvFlags::CMSG_CLOEXEC,
        );
        match got {
            Err(rustix::io::Errno::INTR) => continue,
            Err(error) => return Err(error.into()),
            Ok(got) if got.bytes == 0 => return Ok(None),
            Ok(_) => {}
        }
        let descriptor = message.drain().find_map(|part| match part {
            RecvAncillaryMessage::ScmRights(mut descriptors) => descriptors.next(),
            _ => None,
        });
        if descriptor.is_some() {
            return Ok(descriptor);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::io::{Read as _, Write as _};

    use super::*;

    #[test]
    fn a_socket_that_was_handed_over_is_the_same_socket() {
        let (ours, theirs) = UnixStream::pair().unwrap();
        let (mut near, far) = UnixStream::pair().unwrap();
        send(&ours, &far).unwrap();
        drop((ours, far));
        let mut got = UnixStream::from(receive(&theirs).unwrap().unwrap());
        near.write_all(b"hello").unwrap();
        let mut text = [0; 5];
        got.read_exact(&mut text).unwrap();
        assert_eq!(&text, b"hello");
        assert!(receive(&theirs).unwrap().is_none());
    }

    #[test]
    fn bytes_without_a_descriptor_are_passed_over() {
        let (mut ours, theirs) = UnixStream::pair().unwrap();
        ours.write_all(b"xxx").unwrap();
        drop(ours);
        assert!(receive(&theirs).unwrap().is_none());
    }
}
