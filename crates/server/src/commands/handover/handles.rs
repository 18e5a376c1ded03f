//! Handles of files and sockets that one process passes to another over a unix socket (`SCM_RIGHTS`).

use std::io::{self, IoSlice, IoSliceMut};
use std::mem::MaybeUninit;
use std::os::fd::{BorrowedFd, OwnedFd};
use std::os::unix::net::UnixStream;

use rustix::net::{
    RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags, SendAncillaryBuffer, SendAncillaryMessage,
    SendFlags, recvmsg, sendmsg,
};

/// The most handles in one message; the kernel allows 253.
const MAX_HANDLES: usize = 64;

/// Close-on-exec, so that programs which the receiver starts do not inherit the handles.
#[cfg(target_os = "linux")]
const RECEIVE_FLAGS: RecvFlags = RecvFlags::CMSG_CLOEXEC;
#[cfg(not(target_os = "linux"))]
const RECEIVE_FLAGS: RecvFlags = RecvFlags::empty();

/// Sends handles together with a byte that says what they are.
///
/// # Errors
/// When there are more than [`MAX_HANDLES`], or the other side is gone.
pub(super) fn send_handles(socket: &UnixStream, kind: u8, handles: &[BorrowedFd<'_>]) -> io::Result<()> {
    if handles.len() > MAX_HANDLES {
        return Err(io::Error::other("too many handles for one message"));
    }
    let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(MAX_HANDLES))];
    let mut message = SendAncillaryBuffer::new(&mut space);
    if !handles.is_empty() && !message.push(SendAncillaryMessage::ScmRights(handles)) {
        return Err(io::Error::other("the handles do not fit into a message"));
    }
    sendmsg(socket, &[IoSlice::new(&[kind])], &mut message, SendFlags::empty())?;
    Ok(())
}

/// Receives what [`send_handles`] sends.
///
/// # Errors
/// When the other side is gone.
pub(super) fn receive_handles(socket: &UnixStream) -> io::Result<(u8, Vec<OwnedFd>)> {
    let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(MAX_HANDLES))];
    let mut message = RecvAncillaryBuffer::new(&mut space);
    let mut kind = [0];
    let received = recvmsg(
        socket,
        &mut [IoSliceMut::new(&mut kind)],
        &mut message,
        RECEIVE_FLAGS,
    )?;
    if received.bytes == 0 {
        return Err(io::ErrorKind::UnexpectedEof.into());
    }
    let mut handles = Vec::new();
    for part in message.drain() {
        if let RecvAncillaryMessage::ScmRights(received) = part {
            handles.extend(received);
        }
    }
    Ok((kind[0], handles))
}

#[cfg(test)]
mod tests {
    use std::net::{TcpListener, TcpStream};
    use std::os::fd::AsFd as _;

    use super::*;

    #[test]
    fn prod_004_a_listener_that_was_passed_on_accepts_what_came_before() {
        let (one, other) = UnixStream::pair().expect("a pair");
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
        let client = TcpStream::connect(listener.local_addr().expect("bound")).expect("connected");

        send_handles(&one, b'x', &[listener.as_fd()]).expect("sent");
        let (kind, handles) = receive_handles(&other).expect("received");
        drop(listener);

        assert_eq!((kind, handles.len()), (b'x', 1));
        let passed = TcpListener::from(handles.into_iter().next().expect("one"));
        let (_, from) = passed.accept().expect("it waits");
        assert_eq!(from, client.local_addr().expect("connected"));
        drop(one);
        let ended = receive_handles(&other).expect_err("nobody sends");
        assert_eq!(ended.kind(), io::ErrorKind::UnexpectedEof);
    }
}
