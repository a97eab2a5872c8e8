//! Handing open descriptors to the other process (`SCM_RIGHTS`), two at a time.

use std::io::{IoSlice, IoSliceMut};
use std::mem::MaybeUninit;
use std::os::fd::{BorrowedFd, OwnedFd};
use std::os::unix::net::UnixStream;

use rustix::net::{
    RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags, SendAncillaryBuffer,
    SendAncillaryMessage, SendFlags, recvmsg, sendmsg,
};

/// Sends two descriptors along with one byte.
pub(crate) fn send(control: &UnixStream, descriptors: [BorrowedFd<'_>; 2]) -> std::io::Result<()> {
    let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(2))];
    let mut message = SendAncillaryBuffer::new(&mut space);
    // There is room for two.
    message.push(SendAncillaryMessage::ScmRights(&descriptors));
    sendmsg(
        control,
        &[IoSlice::new(&[0])],
        &mut message,
        SendFlags::NOSIGNAL,
    )?;
    Ok(())
}

/// Waits for the next two; `None` at the end. Fewer are closed and passed over.
pub(crate) fn receive(control: &UnixStream) -> std::io::Result<Option<[OwnedFd; 2]>> {
    loop {
        let mut byte = [0];
        let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(2))];
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
        let descriptors = message.drain().find_map(|part| match part {
            RecvAncillaryMessage::ScmRights(mut descriptors) => {
                Some([descriptors.next()?, descriptors.next()?])
            }
            _ => None,
        });
        if descriptors.is_some() {
            return Ok(descriptors);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::io::{Read as _, Write as _};
    use std::os::fd::AsFd as _;

    use super::*;

    #[test]
    fn sockets_that_were_handed_over_are_the_same_sockets() {
        let (ours, theirs) = UnixStream::pair().unwrap();
        let (mut near, far) = UnixStream::pair().unwrap();
        let (mut other, beyond) = UnixStream::pair().unwrap();
        send(&ours, [far.as_fd(), beyond.as_fd()]).unwrap();
        drop((ours, far, beyond));
        let got = receive(&theirs).unwrap().unwrap();
        near.write_all(b"hello").unwrap();
        other.write_all(b"world").unwrap();
        for (got, expected) in got.into_iter().zip([b"hello", b"world"]) {
            let mut text = [0; 5];
            UnixStream::from(got).read_exact(&mut text).unwrap();
            assert_eq!(&text, expected);
        }
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
