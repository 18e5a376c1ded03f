//! Starts the replication stream, and starts it again after it broke.

use std::sync::atomic::Ordering;

use selvedge_postgres::replication::{LogicalMessage, ReplicationError, ReplicationStream};
use tokio::time::{Instant, timeout};

use super::missed_broadcasts::{CATCH_UP_TIMEOUT, read_missed};
use super::state::{FIRST_RETRY, Feed, LONGEST_RETRY};
use crate::changes::catalog::PUBLICATION;

/// The publication of `realtime.messages`: inserted rows are broadcasts from the database.
const MESSAGES_PUBLICATION: &str = "supabase_realtime_messages_publication";
/// After how many broadcasts that are caught up the sockets get time to take them over.
const CATCH_UP_BATCH: u64 = 64;
/// SQLSTATE of the replication commands when, among other things, `wal_level` is below `logical`.
const NOT_IN_PREREQUISITE_STATE: &str = "55000";

impl Feed {
    /// Starts the stream, delivers the broadcasts that were missed without one, and informs the subscribed channels that
    /// their changes arrive.
    pub(super) async fn start_stream(&mut self) {
        if self.catalog.is_none() {
            self.reload_catalog().await;
        }
        // A publication that does not exist would end the stream at the first change of any table, so only existing ones are
        // read. If a project drops its own for a moment, broadcasts from the database must still arrive.
        let publications = match self.existing_publications().await {
            Ok(publications) if publications.is_empty() => {
                self.retry_after(&"there is no publication to read");
                return;
            }
            Ok(publications) => publications,
            Err(error) => {
                self.retry_after(&error);
                return;
            }
        };
        match ReplicationStream::start(&self.database, &publications).await {
            Ok(stream) => {
                // Channels may have left and others joined while PostgreSQL was asked: these were not there in the gap.
                self.handle_waiting_commands().await;
                self.stream = Some(stream);
                self.publications = publications;
                self.streams_shards = self.captures_shards();
                // A new stream describes every relation again before its first change.
                self.relations.clear();
                self.refused.clear();
                self.retry_pause = FIRST_RETRY;
                self.report_gap();
                self.catch_up_broadcasts().await;
                self.is_streaming.store(true, Ordering::Relaxed);
                self.sink.broadcasts_ready(true);
                for (channel, _) in self.subscriptions.channels() {
                    self.confirm(channel);
                }
            }
            Err(error) => {
                self.report_wal_level(&error).await;
                self.retry_after(&error);
            }
        }
    }

    /// Says in the log that changes were missed: a new slot begins at the present, and only broadcasts are also in a table.
    fn report_gap(&self) {
        if let Some(since) = self.delivered.gap_began()
            && self.subscriptions.channels().next().is_some()
        {
            tracing::warn!(
                code = "ChangesMissed",
                %since,
                "the replication stream has begun anew: changes of tables since its end are not delivered"
            );
        }
    }

    /// The publications that the stream can read.
    async fn existing_publications(&mut self) -> Result<Vec<&'static str>, tokio_postgres::Error> {
        self.checks
            .existing_publications(&[PUBLICATION, MESSAGES_PUBLICATION])
            .await
    }

    /// Starts the stream anew when a publication was dropped or made.
    pub(super) async fn follow_publications(&mut self) {
        let existing = self.existing_publications().await;
        if existing.is_ok_and(|existing| existing != self.publications) {
            self.restart_stream();
        }
    }

    /// Starts the stream anew when Citus has begun or ceased to capture changes of shards: the output plugin of a stream is
    /// chosen when it starts.
    pub(super) fn follow_shard_capture(&mut self) {
        if self.captures_shards() != self.streams_shards {
            self.restart_stream();
        }
    }

    fn captures_shards(&self) -> bool {
        self.catalog
            .as_ref()
            .is_some_and(|catalog| catalog.captures_shards())
    }

    /// Ends a running stream, so that the loop starts another one.
    fn restart_stream(&mut self) {
        if let Some(stream) = &self.stream {
            self.delivered.begin_gap(stream.last_message_at_us());
            self.drop_stream();
            self.retry_at = Instant::now();
        }
    }

    /// Ends the stream, whose changes and broadcasts are then missed.
    pub(super) fn drop_stream(&mut self) {
        self.stream = None;
        self.publications.clear();
        self.is_streaming.store(false, Ordering::Relaxed);
        self.sink.broadcasts_ready(false);
    }

    /// Records that the stream broke, and plans its start.
    pub(super) fn note_broken_stream(&mut self, error: &ReplicationError) {
        if let Some(stream) = &self.stream {
            self.delivered.begin_gap(stream.last_message_at_us());
            self.drop_stream();
        }
        self.retry_after(error);
    }

    /// Plans the next attempt to start the stream.
    fn retry_after(&mut self, error: &impl std::fmt::Display) {
        tracing::warn!(code = "StartReplicationFailed", %error, "the replication stream is down");
        self.retry_at = Instant::now() + self.retry_pause;
        self.retry_pause = (self.retry_pause * 2).min(LONGEST_RETRY);
    }

    /// Tells subscribed channels, once, that PostgreSQL is not configured for logical replication.
    async fn report_wal_level(&mut self, error: &ReplicationError) {
        // The code has other meanings, such as a database that accepts no connections, so the setting itself is read.
        let may_be_wal_level =
            matches!(error, ReplicationError::Refused { code, .. } if code == NOT_IN_PREREQUISITE_STATE);
        if !may_be_wal_level || self.checks.is_wal_level_logical().await.unwrap_or(true) {
            return;
        }
        for (channel, _) in self.subscriptions.channels() {
            if self.refused.insert(channel) {
                let message =
                    "Database changes are not available: PostgreSQL runs with a wal_level below \"logical\"";
                self.sink.notify(channel, false, message);
            }
        }
    }

    /// Delivers the broadcasts that were committed between the stream before and this one. The slot of this one exists
    /// already, so nothing can fall between the two; what both contain is left out by its id.
    async fn catch_up_broadcasts(&mut self) {
        let Some(since) = self.delivered.missing_since() else {
            if let Some(stream) = &self.stream {
                self.delivered.begin_stream(stream.last_message_at_us());
            }
            return;
        };
        let (delivered, sink) = (&mut self.delivered, &self.sink);
        let mut caught_up = 0_u64;
        let reading = read_missed(&self.database, since, async |row| {
            if delivered.insert(&row, None) {
                caught_up += 1;
                sink.broadcast(row);
                if caught_up.is_multiple_of(CATCH_UP_BATCH) {
                    sink.settled(true).await;
                }
            }
        });
        let outcome = timeout(CATCH_UP_TIMEOUT, reading).await;
        match outcome {
            Ok(Ok(false)) => tracing::info!(caught_up, "broadcasts from the database were caught up"),
            Ok(Ok(true)) | Err(_) => tracing::warn!(
                code = "ReplicationRecoveryWindowExceeded",
                caught_up,
                "there were more broadcasts from the database than can be caught up"
            ),
            Ok(Err(error)) => tracing::warn!(
                code = "ReplicationConnectionRecoveryFailed", caught_up, %error,
                "broadcasts from the database could not be caught up"
            ),
        }
        self.delivered.end_gap();
    }
}

/// Returns the next message of the stream; never ready without a stream, so that its `select!` branch waits.
pub(super) async fn next_message(
    stream: &mut Option<ReplicationStream>,
) -> Result<LogicalMessage, ReplicationError> {
    match stream {
        Some(stream) => stream.next().await,
        None => std::future::pending().await,
    }
}
