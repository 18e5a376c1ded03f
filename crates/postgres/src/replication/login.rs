//! Logs in to PostgreSQL as a walsender: startup message with `replication=database`, then authentication.

use std::io;

use bytes::{Buf, Bytes, BytesMut};
use postgres_protocol::authentication::md5_hash;
use postgres_protocol::authentication::sasl::{ChannelBinding, SCRAM_SHA_256, ScramSha256};
use postgres_protocol::message::frontend;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio_postgres::Config;

use super::error::ReplicationError;
use crate::hosts::{ServerIdentity, parse_identity};
use crate::wire::{STANDBY_ERROR, Stream, is_unwanted_standby};

/// Session settings that fix how values are written as text, whatever the database or the role is set to.
const TEXT_FORMAT_SETTINGS: [(&str, &str); 6] = [
    ("client_encoding", "UTF8"),
    ("TimeZone", "UTC"),
    ("DateStyle", "ISO"),
    ("IntervalStyle", "postgres"),
    ("bytea_output", "hex"),
    ("extra_float_digits", "3"),
];

/// The largest message that is accepted. A row cannot be larger than 1 GiB in PostgreSQL.
const MAX_MESSAGE_BYTES: usize = 1 << 30;

/// Capacity of the receive buffer in bytes.
const BUFFER_BYTES: usize = 64 * 1024;

/// The buffer keeps its memory after messages up to this length. Longer ones are rare, and would otherwise occupy memory
/// until the connection ends.
const MAX_KEPT_BYTES: usize = 1 << 20;

/// Code of the message that ends authentication.
const AUTHENTICATION_OK: i32 = 0;

/// The value of `in_hot_standby`, if a `ParameterStatus` is about it.
fn parse_in_hot_standby(body: &[u8]) -> Option<&str> {
    let value = body.strip_prefix(b"in_hot_standby\0")?.strip_suffix(b"\0")?;
    std::str::from_utf8(value).ok()
}

/// The value of a `DataRow` with one column, as text; `None` for null.
fn parse_only_value(body: &[u8]) -> Option<&str> {
    // Two bytes say the number of columns, four the length of the first value, which is -1 for null.
    let (length, value) = body.get(2..)?.split_first_chunk()?;
    let length = usize::try_from(i32::from_be_bytes(*length)).ok()?;
    std::str::from_utf8(value.get(..length)?).ok()
}

/// A connection to a walsender, which reads and writes whole messages.
pub(super) struct Walsender {
    stream: Box<dyn Stream>,
    received: BytesMut,
    /// Bytes that are still to be written.
    queued: BytesMut,
}

impl Walsender {
    /// Sends the startup message and authenticates; returns when the server is ready for replication commands.
    pub(super) async fn log_in(stream: Box<dyn Stream>, config: &Config) -> Result<Self, ReplicationError> {
        let user = config.get_user().unwrap_or_default();
        let mut params = vec![
            ("user", user),
            ("replication", "database"),
            ("application_name", "selvedge"),
            // A project may let every login load a library, and a login fails where it is missing.
            ("local_preload_libraries", ""),
        ];
        params.extend(config.get_dbname().map(|name| ("database", name)));
        params.extend(TEXT_FORMAT_SETTINGS);
        let mut request = BytesMut::new();
        // Settings in the startup message override those of `alter role` and `alter database`.
        frontend::startup_message(params, &mut request)?;
        let mut walsender = Self {
            stream,
            received: BytesMut::with_capacity(BUFFER_BYTES),
            queued: BytesMut::new(),
        };
        walsender.write(&request).await?;
        walsender
            .authenticate(user, config.get_password().unwrap_or_default())
            .await?;
        loop {
            match walsender.read().await? {
                (b'Z', _) => return Ok(walsender),
                (b'E', body) => return Err(ReplicationError::refused(&body)),
                // A standby would stream as well, from version 16 on, but late, and with a slot that a failover removes.
                (b'S', body) if is_unwanted_standby(config, parse_in_hot_standby(&body)) => {
                    return Err(ReplicationError::Connect(STANDBY_ERROR.to_owned()));
                }
                _ => {}
            }
        }
    }

    async fn authenticate(&mut self, user: &str, password: &[u8]) -> Result<(), ReplicationError> {
        let mut scram = None;
        loop {
            let (tag, mut request) = self.read().await?;
            match tag {
                b'R' if request.len() >= 4 => {}
                b'E' => return Err(ReplicationError::refused(&request)),
                b'N' => continue,
                _ => {
                    return Err(ReplicationError::malformed(
                        "an unexpected message during authentication",
                    ));
                }
            }
            let method = request.get_i32();
            if method == AUTHENTICATION_OK {
                return Ok(());
            }
            let reply = answer_challenge(method, &request, user, password, &mut scram)?;
            if !reply.is_empty() {
                self.write(&reply).await?;
            }
        }
    }

    /// Writes bytes and flushes them.
    pub(super) async fn write(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.stream.write_all(bytes).await?;
        self.stream.flush().await
    }

    /// Where messages are put that [`Walsender::send_queued`] writes.
    pub(super) fn queue(&mut self) -> &mut BytesMut {
        &mut self.queued
    }

    /// Writes what is queued. Cancelling the future loses nothing, since what is not written stays queued.
    pub(super) async fn send_queued(&mut self) -> io::Result<()> {
        if self.queued.is_empty() {
            return Ok(());
        }
        while !self.queued.is_empty() {
            self.stream.write_buf(&mut self.queued).await?;
        }
        self.stream.flush().await
    }

    /// The next message: its tag and body. Cancelling the future loses nothing, since partial messages stay buffered.
    pub(super) async fn read(&mut self) -> Result<(u8, Bytes), ReplicationError> {
        loop {
            if let Some(message) = self.take_buffered()? {
                return Ok(message);
            }
            if self.stream.read_buf(&mut self.received).await? == 0 {
                return Err(io::Error::from(io::ErrorKind::UnexpectedEof).into());
            }
        }
    }

    /// A message that has been received completely, if there is one.
    pub(super) fn take_buffered(&mut self) -> Result<Option<(u8, Bytes)>, ReplicationError> {
        let Some((tag, rest)) = self.received.split_first() else {
            return Ok(None);
        };
        let Some(length) = rest
            .first_chunk()
            .map(|length| u32::from_be_bytes(*length) as usize)
        else {
            return Ok(None);
        };
        if !(4..=MAX_MESSAGE_BYTES).contains(&length) {
            return Err(ReplicationError::malformed("a message with an impossible length"));
        }
        let tag = *tag;
        if self.received.len() <= length {
            self.received.reserve(length + 1 - self.received.len());
            return Ok(None);
        }
        let mut message = self.received.split_to(length + 1).freeze();
        message.advance(5);
        if length > MAX_KEPT_BYTES {
            // The bytes after the message are copied, so that the message's memory can be freed after it was read.
            let mut following = BytesMut::with_capacity(BUFFER_BYTES.max(self.received.len()));
            following.extend_from_slice(&self.received);
            self.received = following;
        }
        Ok(Some((tag, message)))
    }

    /// Runs a replication command that returns no rows that matter.
    pub(super) async fn execute(&mut self, command: &str) -> Result<(), ReplicationError> {
        let mut request = BytesMut::new();
        frontend::query(command, &mut request)?;
        self.write(&request).await?;
        let mut refusal = None;
        loop {
            match self.read().await? {
                (b'Z', _) => return refusal.map_or(Ok(()), Err),
                (b'E', body) => refusal = Some(ReplicationError::refused(&body)),
                _ => {}
            }
        }
    }

    /// Asks what tells the server from others.
    pub(super) async fn read_identity(&mut self, query: &str) -> Result<ServerIdentity, ReplicationError> {
        let mut request = BytesMut::new();
        frontend::query(query, &mut request)?;
        self.write(&request).await?;
        let mut server = ServerIdentity::default();
        loop {
            match self.read().await? {
                (b'Z', _) => return Ok(server),
                (b'D', body) => server = parse_only_value(&body).map(parse_identity).unwrap_or_default(),
                _ => {}
            }
        }
    }

    /// Runs `START_REPLICATION`, which switches the connection to copying in both directions.
    pub(super) async fn start_copy(&mut self, command: &str) -> Result<(), ReplicationError> {
        let mut request = BytesMut::new();
        frontend::query(command, &mut request)?;
        self.write(&request).await?;
        loop {
            match self.read().await? {
                (b'W', _) => return Ok(()),
                (b'E', body) => return Err(ReplicationError::refused(&body)),
                _ => {}
            }
        }
    }
}

/// Returns the reply to an authentication request; empty if the server expects none.
///
/// Codes of `method`: 3 requests the password in clear text, 5 an MD5 hash, 10 to 12 are the steps of SASL (PostgreSQL
/// documentation, "Message Formats").
fn answer_challenge(
    method: i32,
    request: &[u8],
    user: &str,
    password: &[u8],
    scram: &mut Option<ScramSha256>,
) -> Result<BytesMut, ReplicationError> {
    let out_of_turn = || ReplicationError::malformed("SASL out of turn");
    let mut reply = BytesMut::new();
    match method {
        3 => frontend::password_message(password, &mut reply)?,
        5 => {
            let salt = request
                .first_chunk()
                .ok_or_else(|| ReplicationError::malformed("an MD5 request without salt"))?;
            let hash = md5_hash(user.as_bytes(), password, *salt);
            frontend::password_message(hash.as_bytes(), &mut reply)?;
        }
        10 => {
            let exchange = ScramSha256::new(password, ChannelBinding::unsupported());
            frontend::sasl_initial_response(SCRAM_SHA_256, exchange.message(), &mut reply)?;
            *scram = Some(exchange);
        }
        11 => {
            let exchange = scram.as_mut().ok_or_else(out_of_turn)?;
            exchange.update(request)?;
            frontend::sasl_response(exchange.message(), &mut reply)?;
        }
        // The server's last message proves that it has the password's verifier, too.
        12 => scram.as_mut().ok_or_else(out_of_turn)?.finish(request)?,
        _ => {
            return Err(ReplicationError::malformed(
                "the server asks for a kind of authentication that replication does not support here",
            ));
        }
    }
    Ok(reply)
}

#[cfg(test)]
mod tests {
    use tokio::io::duplex;

    use super::*;

    #[test]
    fn the_only_value_of_a_row_is_a_text_or_null() {
        assert_eq!(parse_only_value(b"\0\x01\0\0\0\x0800000002"), Some("00000002"));
        assert_eq!(parse_only_value(b"\0\x01\xff\xff\xff\xff"), None);
        assert_eq!(parse_only_value(b"\0\x01\0\0\0\x08000"), None);
    }

    #[tokio::test]
    async fn the_memory_of_a_large_message_is_not_kept() {
        const LARGE: usize = 8 * MAX_KEPT_BYTES;
        let (ours, mut theirs) = duplex(BUFFER_BYTES);
        let mut walsender = Walsender {
            stream: Box::new(ours),
            received: BytesMut::new(),
            queued: BytesMut::new(),
        };
        tokio::spawn(async move {
            for length in [LARGE, 3] {
                let head = [
                    &b"d"[..],
                    &u32::try_from(length + 4).expect("it fits").to_be_bytes(),
                ]
                .concat();
                theirs.write_all(&head).await.expect("it is read");
                theirs.write_all(&vec![7; length]).await.expect("it is read");
            }
        });

        let (_, large) = walsender.read().await.expect("a message");
        assert_eq!(large.len(), LARGE);
        assert!(walsender.received.capacity() <= MAX_KEPT_BYTES);
        let (tag, small) = walsender.read().await.expect("a message");
        assert_eq!((tag, &small[..]), (b'd', &[7, 7, 7][..]));
    }
}
