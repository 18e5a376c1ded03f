//! The stream itself: slot, copy mode, keepalives and confirmations.

use std::io;
use std::pin::Pin;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use bytes::{Buf, BufMut, Bytes};
use tokio::time::{Instant, timeout_at};

use super::error::ReplicationError;
use super::login::Walsender;
use super::pgoutput::LogicalMessage;
use crate::hosts::{ServerIdentity, identity_query};
use crate::wire::{connect_host, try_hosts};
use crate::{Database, Login};

/// The position is confirmed at least this often. PostgreSQL disconnects a client that is silent for
/// `wal_sender_timeout` (60 s).
const CONFIRM_INTERVAL: Duration = Duration::from_secs(10);

/// Seconds between 1970-01-01 and 2000-01-01, the epoch of PostgreSQL's timestamps.
const POSTGRES_EPOCH_S: u64 = 946_684_800;

/// A running stream of logical changes. It belongs to the thread that started it.
pub struct ReplicationStream {
    walsender: Walsender,
    /// Completes when another host has become the primary.
    moved: Pin<Box<dyn Future<Output = ()> + Send>>,
    /// The end of the WAL that PostgreSQL has told us about.
    server_lsn: u64,
    /// Everything before this position has been handed on.
    confirmed_lsn: u64,
    confirm_at: Instant,
    /// When PostgreSQL sent its latest message, by its own clock, in microseconds since 2000-01-01 UTC.
    last_message_at_us: i64,
}

impl ReplicationStream {
    /// Logs in, creates a temporary slot and starts streaming the changes of `publications`, which must exist.
    ///
    /// # Errors
    /// When PostgreSQL cannot be reached or refuses; see [`ReplicationError::Refused`].
    pub async fn start(database: &Database, publications: &[&str]) -> Result<Self, ReplicationError> {
        let config = database.login_config(Login::Replication);
        let log_in = async |index| {
            let stream = connect_host(&config, database.tls(), index).await?;
            let mut walsender = Walsender::log_in(stream, &config).await?;
            let server = match identity_query(&config, database.last_host()) {
                Some(query) => walsender.read_identity(query).await?,
                None => ServerIdentity::default(),
            };
            let moved = database.last_host().moved_from(index, server);
            Ok::<_, ReplicationError>(((walsender, moved), server))
        };
        let (mut walsender, moved) = try_hosts(&config, database.last_host(), log_in).await?;
        // Slot names are unique in a cluster, and several nodes may stream from the same database, so the name is
        // random.
        let slot = format!("selvedge_{}", uuid::Uuid::new_v4().simple());
        walsender
            .execute(&format!(
                "CREATE_REPLICATION_SLOT {slot} TEMPORARY LOGICAL pgoutput NOEXPORT_SNAPSHOT"
            ))
            .await?;
        // Quoted twice, because the option is a list of identifiers inside a string literal.
        let names = publications
            .iter()
            .map(|name| format!("\"{}\"", name.replace('"', "\"\"")))
            .collect::<Vec<_>>()
            .join(",")
            .replace('\'', "''");
        walsender
            .start_copy(&format!(
                "START_REPLICATION SLOT {slot} LOGICAL 0/0 (proto_version '1', publication_names '{names}')"
            ))
            .await?;
        Ok(Self {
            walsender,
            moved: Box::pin(moved),
            server_lsn: 0,
            confirmed_lsn: 0,
            confirm_at: Instant::now() + CONFIRM_INTERVAL,
            last_message_at_us: now_us(),
        })
    }

    /// The next message. Keepalives are answered here. Cancelling the future loses nothing.
    ///
    /// # Errors
    /// When the connection breaks or PostgreSQL ends the stream.
    pub async fn next(&mut self) -> Result<LogicalMessage, ReplicationError> {
        loop {
            self.walsender.send_queued().await?;
            let received = tokio::select! {
                received = timeout_at(self.confirm_at, self.walsender.read()) => received,
                () = &mut self.moved => return Err(io::Error::from(io::ErrorKind::ConnectionAborted).into()),
            };
            match received {
                Err(_elapsed) => self.queue_confirmation(),
                Ok(message) => {
                    let (tag, body) = message?;
                    if let Some(message) = self.decode_message(tag, body)? {
                        return Ok(message);
                    }
                }
            }
        }
    }

    /// The next message if it has been received already, so that a reader can gather a batch without waiting.
    ///
    /// # Errors
    /// As [`ReplicationStream::next`].
    pub fn next_buffered(&mut self) -> Result<Option<LogicalMessage>, ReplicationError> {
        while let Some((tag, body)) = self.walsender.take_buffered()? {
            if let Some(message) = self.decode_message(tag, body)? {
                return Ok(Some(message));
            }
        }
        Ok(None)
    }

    /// Notes that all changes before `lsn` have been handed on. PostgreSQL is told with the next confirmation.
    pub fn confirm(&mut self, lsn: u64) {
        self.confirmed_lsn = self.confirmed_lsn.max(lsn);
    }

    /// Bytes of WAL between what PostgreSQL has written and what has been handed on.
    pub fn lag_bytes(&self) -> u64 {
        self.server_lsn.saturating_sub(self.confirmed_lsn)
    }

    /// When PostgreSQL sent the latest message that was read, by its own clock, in microseconds since 2000-01-01 UTC.
    /// Before the first message it is this machine's time at the start.
    pub fn last_message_at_us(&self) -> i64 {
        self.last_message_at_us
    }

    fn decode_message(
        &mut self,
        tag: u8,
        mut body: Bytes,
    ) -> Result<Option<LogicalMessage>, ReplicationError> {
        match tag {
            b'd' => {}
            b'E' => return Err(ReplicationError::refused(&body)),
            b'c' => return Err(io::Error::from(io::ErrorKind::UnexpectedEof).into()),
            _ => return Ok(None),
        }
        let malformed = || ReplicationError::malformed("a copy message is cut short");
        match body.try_get_u8().map_err(|_| malformed())? {
            b'w' if body.len() >= 24 => {
                let _start_lsn = body.get_u64();
                self.server_lsn = self.server_lsn.max(body.get_u64());
                self.last_message_at_us = body.get_i64();
                LogicalMessage::decode(body).map(Some).ok_or_else(malformed)
            }
            b'k' if body.len() >= 17 => {
                let end_lsn = body.get_u64();
                // WAL of unpublished tables is announced only by keepalives. If it were not confirmed, a slot whose
                // published tables do not change would retain all WAL of a busy database.
                if self.confirmed_lsn >= self.server_lsn {
                    self.confirmed_lsn = self.confirmed_lsn.max(end_lsn);
                }
                self.server_lsn = self.server_lsn.max(end_lsn);
                self.last_message_at_us = body.get_i64();
                if body.get_u8() == 1 {
                    self.queue_confirmation();
                }
                Ok(None)
            }
            _ => Err(malformed()),
        }
    }

    /// Queues a status update. It is written by [`ReplicationStream::next`], which may be cancelled between any two
    /// bytes.
    fn queue_confirmation(&mut self) {
        self.confirm_at = Instant::now() + CONFIRM_INTERVAL;
        let message = self.walsender.queue();
        message.put_u8(b'd');
        // `CopyData` with a standby status update: tag, three positions, time, and a flag that requests no reply.
        message.put_u32(4 + 34);
        message.put_u8(b'r');
        for _written_flushed_applied in 0..3 {
            message.put_u64(self.confirmed_lsn);
        }
        message.put_i64(now_us());
        message.put_u8(0);
    }
}

/// The time in microseconds since 2000-01-01 UTC.
fn now_us() -> i64 {
    let since_1970 = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    let since_2000 = since_1970.saturating_sub(Duration::from_secs(POSTGRES_EPOCH_S));
    i64::try_from(since_2000.as_micros()).unwrap_or(i64::MAX)
}
