//! The WebSocket of one client. Reading and writing are polled separately, so that a client that does not read cannot
//! keep its own frames from being processed.
//!
//! tungstenite parses what the client sends and answers its pings and closings. Messages are written by
//! [`FrameWriter`]: the library would copy each of them into a buffer of every receiver and keep that buffer at the size of
//! the longest message (docs/decisions.md).

use std::future::poll_fn;
use std::io::{self, Read, Write};
use std::pin::Pin;
use std::rc::Rc;
use std::task::{Context, Poll, Waker};
use std::time::Duration;

use bytes::Bytes;
use selvedge_gateway::UpgradedStream;
use tokio::io::{AsyncRead, AsyncReadExt, ReadBuf};
use tokio::time::{Instant, timeout, timeout_at};
use tokio_tungstenite::tungstenite::protocol::frame::coding::CloseCode;
use tokio_tungstenite::tungstenite::protocol::{CloseFrame, Role, WebSocketConfig, WebSocketContext};
use tokio_tungstenite::tungstenite::{Error, Message};

use super::frame_writer::FrameWriter;
use crate::channel::SocketContext;
use crate::fanout::Outbox;
use crate::limits::IncomingMessage;

/// Read buffer of each socket in bytes. Small, because most sockets are idle and there may be ten thousand of them; a larger
/// frame gets a separate buffer while it arrives.
const READ_BUFFER_BYTES: usize = 2048;
/// How long a client may take to answer a closing handshake.
const CLOSE_TIMEOUT: Duration = Duration::from_secs(3);
/// How many bytes behind an overlong or malformed frame are still read and dropped, so that the sender gets to see the
/// close code.
const DRAINED_BYTES: usize = 16 * 1024 * 1024;

/// An open WebSocket.
pub(super) struct Connection {
    stream: UpgradedStream,
    protocol: WebSocketContext,
    writer: FrameWriter,
    /// The memory of the message that is being read.
    incoming: IncomingMessage,
    context: Rc<SocketContext>,
}

impl Connection {
    /// Starts the WebSocket protocol on a connection whose HTTP handshake is done. Bytes that arrived behind the
    /// handshake are read first.
    pub(super) fn open(mut stream: UpgradedStream, context: &Rc<SocketContext>) -> Self {
        let max_frame_bytes = context.worker.shared.config.max_frame_bytes;
        let config = WebSocketConfig::default()
            .read_buffer_size(READ_BUFFER_BYTES)
            // The library passes on each control frame as soon as it is made.
            .write_buffer_size(0)
            .max_message_size(Some(max_frame_bytes))
            .max_frame_size(Some(max_frame_bytes));
        let unread = stream.take_unread();
        Self {
            stream,
            protocol: WebSocketContext::from_partially_read(unread, Role::Server, Some(config)),
            writer: FrameWriter::default(),
            incoming: IncomingMessage::default(),
            context: Rc::clone(context),
        }
    }

    /// Moves frames from the outbox to the socket as far as the client accepts them. Ready only with an error;
    /// otherwise pending, and woken by new frames or by room in the socket.
    pub(super) fn poll_write(&mut self, cx: &mut Context<'_>, outbox: &Outbox) -> Poll<io::Error> {
        // Registered before the queue is checked, so that no frame can slip in between without waking the task.
        outbox.register(cx);
        match self.writer.poll_write(cx, &mut self.stream, outbox) {
            Poll::Ready(Err(error)) => Poll::Ready(error),
            Poll::Ready(Ok(())) | Poll::Pending => Poll::Pending,
        }
    }

    /// Reads the next message; `None` when the client has closed the connection. A ping or closing leaves its answer to the
    /// next [`Connection::poll_write`].
    pub(super) fn poll_read(&mut self, cx: &mut Context<'_>) -> Poll<Option<Result<Message, Error>>> {
        let message = self.with_library(cx, |protocol, transport| {
            let message = protocol.read(transport);
            if let Ok(Message::Ping(_) | Message::Close(_)) = message {
                // The error after a closing means that the connection is closed, which the next read reports, too.
                protocol.flush(transport).ok();
            }
            message
        });
        match message {
            Ok(message) => Poll::Ready(Some(Ok(message))),
            Err(Error::ConnectionClosed | Error::AlreadyClosed) => Poll::Ready(None),
            Err(Error::Io(error)) if error.kind() == io::ErrorKind::WouldBlock => Poll::Pending,
            Err(error) => Poll::Ready(Some(Err(error))),
        }
    }

    /// Ties the memory that was reserved for a message while it was read to its bytes.
    pub(super) fn hold_message(&mut self, bytes: Bytes) -> Bytes {
        self.incoming.finish(bytes)
    }

    /// Writes what the outbox still holds, then performs the closing handshake, all within [`CLOSE_TIMEOUT`].
    pub(super) async fn close(mut self, outbox: &Outbox, code: CloseCode, reason: &'static str) {
        let frame = CloseFrame {
            code,
            reason: reason.into(),
        };
        let deadline = Instant::now() + CLOSE_TIMEOUT;
        let sent = timeout_at(deadline, async {
            poll_fn(|cx| self.writer.poll_write(cx, &mut self.stream, outbox)).await?;
            let mut cx = Context::from_waker(Waker::noop());
            self.with_library(&mut cx, |protocol, transport| {
                protocol.close(transport, Some(frame))
            })
            .map_err(io::Error::other)?;
            poll_fn(|cx| self.writer.poll_write(cx, &mut self.stream, outbox)).await
        });
        if !matches!(sent.await, Ok(Ok(()))) {
            return;
        }
        // The rest of the stream cannot be parsed as frames.
        if matches!(code, CloseCode::Size | CloseCode::Protocol | CloseCode::Again) {
            self.drain().await;
            return;
        }
        timeout_at(deadline, async {
            while let Some(Ok(_)) = poll_fn(|cx| self.poll_read(cx)).await {}
        })
        .await
        .ok();
    }

    /// Reads and drops what the client still sends. Closing a TCP connection with unread bytes sends a reset, which
    /// may discard the close frame before the client has read it.
    async fn drain(&mut self) {
        let mut buffer = vec![0; 16 * 1024];
        let mut left = DRAINED_BYTES;
        let drained = timeout(CLOSE_TIMEOUT, async {
            while let Ok(length @ 1..) = self.stream.read(&mut buffer).await {
                left = left.saturating_sub(length);
                if left == 0 {
                    break;
                }
            }
        });
        drained.await.ok();
    }

    /// Calls the WebSocket library with the connection as it expects it.
    fn with_library<T>(
        &mut self,
        cx: &mut Context<'_>,
        call: impl FnOnce(&mut WebSocketContext, &mut Transport<'_, '_>) -> T,
    ) -> T {
        let mut transport = Transport {
            stream: &mut self.stream,
            writer: &mut self.writer,
            incoming: &mut self.incoming,
            context: &self.context,
            cx,
        };
        call(&mut self.protocol, &mut transport)
    }
}

/// The connection as tungstenite reads and writes it: reads that would wait are errors, and what it writes, whole control
/// frames only, goes to the writer.
struct Transport<'a, 'cx> {
    stream: &'a mut UpgradedStream,
    writer: &'a mut FrameWriter,
    incoming: &'a mut IncomingMessage,
    context: &'a SocketContext,
    cx: &'a mut Context<'cx>,
}

impl Read for Transport<'_, '_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let mut buffer = ReadBuf::new(buffer);
        match Pin::new(&mut *self.stream).poll_read(self.cx, &mut buffer) {
            Poll::Ready(Ok(())) => {
                let length = buffer.filled().len();
                let memory = &self.context.worker.shared.config.memory;
                // A message in several frames, and one behind it, are counted together, which is what the library keeps.
                if !self.incoming.grow(length, memory, self.context.client) {
                    return Err(io::ErrorKind::OutOfMemory.into());
                }
                Ok(length)
            }
            Poll::Ready(Err(error)) => Err(error),
            Poll::Pending => Err(io::ErrorKind::WouldBlock.into()),
        }
    }
}

impl Write for Transport<'_, '_> {
    fn write(&mut self, frame: &[u8]) -> io::Result<usize> {
        self.writer.push_control(frame);
        Ok(frame.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
