//! Writing frames to a connection: many with one system call, none of them copied.

use std::io::{self, IoSlice};
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use bytes::{Buf, Bytes};
use selvedge_gateway::UpgradedStream;
use tokio::io::AsyncWrite;

use crate::fanout::Outbox;

/// Most buffers that one system call writes.
const MOST_BUFFERS: usize = 64;
/// Control frames beyond this many bytes are dropped: a client that sends pings and does not read the pongs must not fill
/// the memory.
const MOST_CONTROL_BYTES: usize = 4096;

/// Messages to be written to a connection that are not in its outbox.
#[derive(Debug, Default)]
pub(super) struct FrameWriter {
    /// The end of a frame whose beginning has been written. It is kept here because an outbox that overflows is emptied,
    /// and what follows half a frame must be its other half.
    rest: Bytes,
    /// Pongs and the closing frame.
    control: Vec<u8>,
    /// Whether the stream may hold bytes that it has accepted and not passed on, as one with TLS does.
    is_dirty: bool,
}

impl FrameWriter {
    /// Queues a whole control frame. It is written at the next frame boundary, before what the outbox holds.
    pub(super) fn push_control(&mut self, frame: &[u8]) {
        if self.control.len() + frame.len() <= MOST_CONTROL_BYTES {
            self.control.extend_from_slice(frame);
        }
    }

    /// Writes as far as the stream accepts it. Ready when everything is written, or with the stream's error.
    pub(super) fn poll_write(
        &mut self,
        cx: &mut Context<'_>,
        stream: &mut UpgradedStream,
        outbox: &Outbox,
    ) -> Poll<io::Result<()>> {
        while let Some(written) = self.poll_write_some(cx, stream, outbox) {
            let written = ready!(written)?;
            if written == 0 {
                return Poll::Ready(Err(io::ErrorKind::WriteZero.into()));
            }
            self.is_dirty = true;
            self.remove_written(written, outbox);
        }
        if self.is_dirty {
            ready!(Pin::new(stream).poll_flush(cx))?;
            self.is_dirty = false;
        }
        Poll::Ready(Ok(()))
    }

    /// One system call; the number of bytes that it has written. `None` when there is nothing to write.
    fn poll_write_some(
        &self,
        cx: &mut Context<'_>,
        stream: &mut UpgradedStream,
        outbox: &Outbox,
    ) -> Option<Poll<io::Result<usize>>> {
        let frames = outbox.frames();
        let unfinished = [&*self.rest, &*self.control];
        let unfinished = unfinished.into_iter().filter(|bytes| !bytes.is_empty());
        let buffers = unfinished.chain(frames.iter().map(|frame| &**frame.as_bytes()));
        let mut slices = [IoSlice::new(&[]); MOST_BUFFERS];
        let mut count = 0;
        for (slice, buffer) in slices.iter_mut().zip(buffers) {
            *slice = IoSlice::new(buffer);
            count += 1;
        }
        let stream = Pin::new(stream);
        match &slices[..count] {
            [] => None,
            [only] => Some(stream.poll_write(cx, only)),
            several => Some(stream.poll_write_vectored(cx, several)),
        }
    }

    /// Removes this many bytes, in the order in which they were passed to the stream.
    fn remove_written(&mut self, mut written: usize, outbox: &Outbox) {
        if !self.rest.is_empty() {
            let of_rest = written.min(self.rest.len());
            self.rest.advance(of_rest);
            written -= of_rest;
            if self.rest.is_empty() {
                // Frees the frame, which may be large.
                self.rest = Bytes::new();
            }
        }
        if written > 0 && !self.control.is_empty() {
            let control = Bytes::from(std::mem::take(&mut self.control));
            written = self.keep_rest(control, written);
        }
        while written > 0
            && let Some(frame) = outbox.pop()
        {
            written = self.keep_rest(frame.as_bytes().clone(), written);
        }
    }

    /// Keeps what is left of a frame after this many bytes; returns how many of them belong to later frames.
    fn keep_rest(&mut self, frame: Bytes, written: usize) -> usize {
        if written < frame.len() {
            self.rest = frame.slice(written..);
        }
        written.saturating_sub(frame.len())
    }
}

#[cfg(test)]
mod tests {
    use std::cell::RefCell;
    use std::rc::Rc;

    use selvedge_memory::MemoryBudget;
    use tokio::io::{AsyncRead, ReadBuf};

    use super::*;
    use crate::fanout::{QueueLimits, outbox_for_tests};
    use crate::frame::EncodedFrame;

    /// A client that accepts so many bytes at a time, and between two times nothing.
    struct SlowStream {
        at_a_time: usize,
        is_blocked: bool,
        accepted: Rc<RefCell<Vec<u8>>>,
    }

    impl AsyncRead for SlowStream {
        fn poll_read(self: Pin<&mut Self>, _: &mut Context<'_>, _: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
            Poll::Pending
        }
    }

    impl AsyncWrite for SlowStream {
        fn poll_write(
            mut self: Pin<&mut Self>,
            _: &mut Context<'_>,
            bytes: &[u8],
        ) -> Poll<io::Result<usize>> {
            self.is_blocked = !self.is_blocked;
            if self.is_blocked {
                return Poll::Pending;
            }
            let count = bytes.len().min(self.at_a_time);
            self.accepted.borrow_mut().extend_from_slice(&bytes[..count]);
            Poll::Ready(Ok(count))
        }

        fn poll_write_vectored(
            self: Pin<&mut Self>,
            cx: &mut Context<'_>,
            buffers: &[IoSlice<'_>],
        ) -> Poll<io::Result<usize>> {
            let bytes: Vec<u8> = buffers.iter().flat_map(|buffer| buffer.to_vec()).collect();
            self.poll_write(cx, &bytes)
        }

        fn is_write_vectored(&self) -> bool {
            true
        }

        fn poll_flush(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
            Poll::Ready(Ok(()))
        }

        fn poll_shutdown(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
            Poll::Ready(Ok(()))
        }
    }

    fn frame(index: usize) -> EncodedFrame {
        EncodedFrame::text(&[&index.to_string().repeat(index % 7)])
    }

    fn outbox() -> Outbox {
        let limits = QueueLimits {
            messages: 1000,
            bytes: 1 << 20,
        };
        outbox_for_tests(limits, MemoryBudget::unlimited())
    }

    fn stream(at_a_time: usize) -> (UpgradedStream, Rc<RefCell<Vec<u8>>>) {
        let accepted = Rc::default();
        let stream = SlowStream {
            at_a_time,
            is_blocked: false,
            accepted: Rc::clone(&accepted),
        };
        (UpgradedStream::new(stream), accepted)
    }

    #[test]
    fn realtime_062_frames_are_written_whole_and_in_order_whatever_the_client_accepts() {
        for at_a_time in [1, 2, 3, 7, 64, 100_000] {
            let (mut stream, accepted) = stream(at_a_time);
            let (mut writer, outbox) = (FrameWriter::default(), outbox());
            let frames: Vec<EncodedFrame> = (0..200).map(frame).collect();
            for frame in &frames {
                outbox.push(frame.clone());
            }
            let mut cx = Context::from_waker(std::task::Waker::noop());

            while writer.poll_write(&mut cx, &mut stream, &outbox).is_pending() {}

            let expected: Vec<u8> = frames
                .iter()
                .flat_map(|frame| frame.as_bytes().to_vec())
                .collect();
            assert_eq!(*accepted.borrow(), expected, "{at_a_time} bytes at a time");
        }
    }

    #[test]
    fn realtime_052_half_a_frame_is_finished_after_the_outbox_was_emptied() {
        let (mut stream, accepted) = stream(3);
        let (mut writer, outbox) = (FrameWriter::default(), outbox());
        let long = EncodedFrame::text(&["0123456789"]);
        outbox.push(long.clone());
        outbox.push(long.clone());
        let mut cx = Context::from_waker(std::task::Waker::noop());
        while accepted.borrow().is_empty() {
            assert!(writer.poll_write(&mut cx, &mut stream, &outbox).is_pending());
        }

        while outbox.pop().is_some() {}
        writer.push_control(b"close");
        while writer.poll_write(&mut cx, &mut stream, &outbox).is_pending() {}

        let expected = [&**long.as_bytes(), b"close"].concat();
        assert_eq!(*accepted.borrow(), expected);
    }

    #[test]
    fn realtime_052_pongs_that_are_not_read_are_bounded() {
        let mut writer = FrameWriter::default();
        for _ in 0..10_000 {
            writer.push_control(&[0; 127]);
        }
        assert!(writer.control.len() <= MOST_CONTROL_BYTES);
        assert_eq!(writer.control.len() % 127, 0, "only whole frames");
    }
}
