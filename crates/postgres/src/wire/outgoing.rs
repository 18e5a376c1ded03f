//! Messages that wait to be written. Large values among them are not copied: they are written from where they are.

use std::collections::VecDeque;
use std::io;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use bytes::{Buf, Bytes, BytesMut};
use tokio::io::AsyncWrite;

/// A value of this size is not copied.
const LARGE_VALUE: usize = 64 * 1024;
/// A buffer with more capacity than this is freed when it is empty.
const KEPT_BUFFER: usize = 64 * 1024;

/// What is to be written to the server, in order.
#[derive(Debug, Default)]
pub(super) struct Outgoing {
    /// The messages without large values.
    pub(super) messages: BytesMut,
    /// Bytes of messages that were written.
    written: usize,
    values: VecDeque<LargeValue>,
}

/// A value that stands between bytes of the messages.
#[derive(Debug)]
struct LargeValue {
    /// The bytes of messages before it, those that were written included.
    after: usize,
    value: Bytes,
}

/// A place in what is to be written.
#[derive(Debug, Clone, Copy)]
pub(super) struct Place {
    message_bytes: usize,
    values: usize,
}

impl Outgoing {
    pub(super) fn is_large(value: &Bytes) -> bool {
        value.len() >= LARGE_VALUE
    }

    /// Where the next message begins.
    pub(super) fn end(&self) -> Place {
        Place {
            message_bytes: self.messages.len(),
            values: self.values.len(),
        }
    }

    /// Removes everything behind a place. Nothing may have been written since.
    pub(super) fn truncate(&mut self, place: Place) {
        self.messages.truncate(place.message_bytes);
        self.values.truncate(place.values);
    }

    /// Puts large values into the message `Bind` that begins at `place`, which was written as if they were empty. Each is given with the place
    /// behind its length.
    ///
    /// # Errors
    /// When the message becomes longer than the protocol allows.
    pub(super) fn insert(
        &mut self,
        place: Place,
        values: impl IntoIterator<Item = (usize, Bytes)>,
    ) -> Result<(), io::Error> {
        let mut added = 0;
        for (at, value) in values {
            self.set_length(at - size_of::<i32>(), value.len())?;
            added += value.len();
            let after = self.written + at;
            self.values.push_back(LargeValue { after, value });
        }
        // Behind the letter of the message, and counted in itself.
        let length = self.messages.len() - place.message_bytes - 1;
        self.set_length(place.message_bytes + 1, length.saturating_add(added))
    }

    fn set_length(&mut self, at: usize, length: usize) -> Result<(), io::Error> {
        let too_long = || io::Error::new(io::ErrorKind::InvalidInput, "value too large to transmit");
        let length = i32::try_from(length).map_err(|_| too_long())?;
        let place = self.messages.get_mut(at..at + size_of::<i32>());
        place.ok_or_else(too_long)?.copy_from_slice(&length.to_be_bytes());
        Ok(())
    }

    pub(super) fn is_empty(&self) -> bool {
        self.messages.is_empty() && self.values.is_empty()
    }

    /// Writes everything.
    pub(super) fn poll_write(
        &mut self,
        stream: &mut (impl AsyncWrite + Unpin + ?Sized),
        cx: &mut Context<'_>,
    ) -> Poll<io::Result<()>> {
        while !self.is_empty() {
            // None of the values is empty.
            let until_value = self.values.front().map(|value| value.after - self.written);
            let written = match (until_value, self.values.front_mut()) {
                (Some(0), Some(next)) => {
                    let written = ready!(Pin::new(&mut *stream).poll_write(cx, &next.value))?;
                    next.value.advance(written);
                    if next.value.is_empty() {
                        self.values.pop_front();
                    }
                    written
                }
                _ => {
                    let end = until_value
                        .unwrap_or(self.messages.len())
                        .min(self.messages.len());
                    let next = self.messages.get(..end).unwrap_or_default();
                    let written = ready!(Pin::new(&mut *stream).poll_write(cx, next))?;
                    self.messages.advance(written);
                    self.written += written;
                    written
                }
            };
            if written == 0 {
                return Poll::Ready(Err(io::ErrorKind::WriteZero.into()));
            }
        }
        self.written = 0;
        if self.messages.capacity() > KEPT_BUFFER {
            self.messages = BytesMut::new();
        }
        Poll::Ready(Ok(()))
    }
}

#[cfg(test)]
mod tests {
    use std::task::Waker;

    use super::*;

    /// Takes a few bytes at a time.
    struct SlowSocket {
        taken: Vec<u8>,
        most: usize,
    }

    impl AsyncWrite for SlowSocket {
        fn poll_write(
            mut self: Pin<&mut Self>,
            _: &mut Context<'_>,
            bytes: &[u8],
        ) -> Poll<io::Result<usize>> {
            let taken = bytes.len().min(self.most);
            self.taken.extend_from_slice(&bytes[..taken]);
            Poll::Ready(Ok(taken))
        }

        fn poll_flush(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
            Poll::Ready(Ok(()))
        }

        fn poll_shutdown(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
            Poll::Ready(Ok(()))
        }
    }

    /// A message with a value that is put in later, between two others.
    fn queue(outgoing: &mut Outgoing, value: &[u8]) {
        outgoing.messages.extend_from_slice(b"before");
        let begin = outgoing.end();
        outgoing.messages.extend_from_slice(b"B\0\0\0\0name\0\0\0\0");
        let at = outgoing.messages.len();
        outgoing.messages.extend_from_slice(b"end");
        let value = Bytes::copy_from_slice(value);
        outgoing.insert(begin, [(at, value)]).expect("it is short");
        outgoing.messages.extend_from_slice(b"after");
    }

    #[test]
    fn gw_049_large_values_are_written_where_they_belong_without_being_copied() {
        for most in [1, 3, 7, 1000] {
            let mut outgoing = Outgoing::default();
            queue(&mut outgoing, b"first");
            queue(&mut outgoing, b"x");
            queue(&mut outgoing, b"a third one");
            let mut socket = SlowSocket {
                taken: Vec::new(),
                most,
            };
            let mut cx = Context::from_waker(Waker::noop());

            let written = outgoing.poll_write(&mut socket, &mut cx);

            assert!(matches!(written, Poll::Ready(Ok(()))));
            assert!(outgoing.is_empty());
            let expected = [
                &b"beforeB\0\0\0\x14name\0\0\0\x05firstendafter"[..],
                b"beforeB\0\0\0\x10name\0\0\0\x01xendafter",
                b"beforeB\0\0\0\x1aname\0\0\0\x0ba third oneendafter",
            ];
            assert_eq!(
                socket.taken.escape_ascii().to_string(),
                expected.concat().escape_ascii().to_string()
            );
        }
    }

    #[test]
    fn gw_049_what_is_taken_back_leaves_no_value_behind() {
        let mut outgoing = Outgoing::default();
        queue(&mut outgoing, b"stays");
        let begin = outgoing.end();
        let bytes = outgoing.messages.len();
        queue(&mut outgoing, b"goes");

        outgoing.truncate(begin);

        assert_eq!((outgoing.messages.len(), outgoing.values.len()), (bytes, 1));
    }
}
