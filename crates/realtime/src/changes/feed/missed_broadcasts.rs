//! Broadcasts from the database that were committed while there was no replication stream.
//!
//! The slot is temporary, so a broken stream begins anew behind the gap. What was committed in the gap is read from the
//! table `realtime.messages` itself. The times there are those at which transactions began, and say nothing about the
//! order of commits; the table is therefore read from some time before the gap, and rows that have been delivered are
//! left out by their ids.

use std::collections::{HashSet, VecDeque};
use std::pin::pin;
use std::time::Duration;

use bytes::Bytes;
use chrono::{DateTime, NaiveDateTime, TimeDelta};
use futures_util::TryStreamExt;
use selvedge_postgres::{Database, Login};
use tokio_postgres::{Error, Row};

use super::broadcast_row::BroadcastRow;

/// How long before the gap a transaction may have begun that was committed in it.
const LOOKBACK: TimeDelta = TimeDelta::seconds(60);
/// Rows dated further ahead than this are not caught up: `inserted_at` can be set freely, and such a row would be
/// newer than every gap.
const LARGEST_CLOCK_ERROR: TimeDelta = TimeDelta::seconds(60);
/// Ids that are remembered at most. At higher rates than this number in [`LOOKBACK`], less than that time is looked
/// back, so that nothing is delivered twice.
const MOST_IDS: usize = 65_536;
/// Most broadcasts that are caught up after one gap.
const MOST_MISSED: usize = 10_000;
/// How long catching up may take. It must be over before PostgreSQL ends the new stream, which is not read meanwhile
/// (`wal_sender_timeout`, 60 s).
pub(super) const CATCH_UP_TIMEOUT: Duration = Duration::from_secs(20);

/// Microseconds from 1970-01-01 to 2000-01-01, the epoch of PostgreSQL's timestamps.
const POSTGRES_EPOCH_US: i64 = 946_684_800_000_000;

/// Begins a transaction as a role that no policy restricts. It ends with the connection.
const BEGIN: &str = "begin; set local role service_role; set local statement_timeout = 0";

const SELECT_MISSED: &str = "select id::text, topic, event, extension, coalesce(private, false), payload::text, \
       binary_payload, inserted_at from realtime.messages \
     where inserted_at > $1 and inserted_at < (now() at time zone 'utc') + interval '1 minute' \
     order by inserted_at, id limit $2";

/// The primary key of `realtime.messages`: two rows may have the same id.
type RowKey = (String, NaiveDateTime);

/// The broadcasts of the last minutes that have been delivered, and the beginning of the gap, if there is one.
#[derive(Debug, Default)]
pub(super) struct DeliveredBroadcasts {
    ids: HashSet<RowKey>,
    /// The same in the order of delivery.
    in_order: VecDeque<RowKey>,
    newest: NaiveDateTime,
    /// The newest time among the ids that were forgotten, or when the stream began. Rows up to then may have been delivered,
    /// or were inserted without subscribers.
    forgotten_until: NaiveDateTime,
    /// When the stream was last heard of, by PostgreSQL's clock. `None` while nothing is missing.
    gap_began: Option<NaiveDateTime>,
}

impl DeliveredBroadcasts {
    /// Notes that a broadcast is about to be delivered. False when it has been delivered before. `last_message_at_us`
    /// is PostgreSQL's time, in microseconds since 2000-01-01 UTC; `None` for a row that was read from the table.
    pub(super) fn insert(&mut self, row: &BroadcastRow, last_message_at_us: Option<i64>) -> bool {
        // Such a row is never caught up, so it need not be remembered; its time would make all others look old.
        if last_message_at_us
            .is_some_and(|heard_at| row.inserted_at > postgres_time(heard_at) + LARGEST_CLOCK_ERROR)
        {
            return true;
        }
        let key = (row.id.clone(), row.inserted_at);
        if !self.ids.insert(key.clone()) {
            return false;
        }
        self.newest = self.newest.max(row.inserted_at);
        self.in_order.push_back(key);
        while self.in_order.front().is_some_and(|(_, inserted_at)| {
            self.in_order.len() > MOST_IDS || *inserted_at < self.newest - LOOKBACK * 2
        }) {
            if let Some(key) = self.in_order.pop_front() {
                self.ids.remove(&key);
                self.forgotten_until = self.forgotten_until.max(key.1);
            }
        }
        true
    }

    /// Notes that the stream broke. `last_message_at_us` is when PostgreSQL was last heard of, in microseconds since
    /// 2000-01-01 UTC. While a gap lasts, further attempts to start do not move its beginning.
    pub(super) fn begin_gap(&mut self, last_message_at_us: i64) {
        self.gap_began.get_or_insert(postgres_time(last_message_at_us));
    }

    /// Records that a stream started without a gap before it: broadcasts from before are not delivered after a later gap.
    /// `started_at_us` is in microseconds since 2000-01-01 UTC.
    pub(super) fn begin_stream(&mut self, started_at_us: i64) {
        self.forgotten_until = self.forgotten_until.max(postgres_time(started_at_us));
    }

    /// Records that nothing is missing: the gap was closed, or there were no subscribers.
    pub(super) fn end_gap(&mut self) {
        self.gap_began = None;
    }

    /// When the stream ended, if there is a gap.
    pub(super) fn gap_began(&self) -> Option<NaiveDateTime> {
        self.gap_began
    }

    /// From which time on rows are missing, if any.
    pub(super) fn missing_since(&self) -> Option<NaiveDateTime> {
        Some((self.gap_began? - LOOKBACK).max(self.forgotten_until))
    }
}

/// A time of the replication stream: microseconds since 2000-01-01 UTC.
fn postgres_time(microseconds: i64) -> NaiveDateTime {
    DateTime::from_timestamp_micros(microseconds.saturating_add(POSTGRES_EPOCH_US))
        .unwrap_or_default()
        .naive_utc()
}

/// Reads the broadcasts since a time, oldest first, and hands each one to `deliver`. Returns whether there were more
/// than are caught up.
///
/// # Errors
/// When the database cannot be asked.
pub(super) async fn read_missed(
    database: &Database,
    since: NaiveDateTime,
    mut deliver: impl AsyncFnMut(BroadcastRow),
) -> Result<bool, Error> {
    let client = database.client(Login::Authenticator).await?;
    client.batch_execute(BEGIN).await?;
    let limit = i64::try_from(MOST_MISSED).unwrap_or(i64::MAX);
    let rows = client.query_raw(
        SELECT_MISSED,
        [&since as &(dyn tokio_postgres::types::ToSql + Sync), &limit],
    );
    let mut rows = pin!(rows.await?);
    let mut count = 0;
    // Streamed, because ten thousand broadcasts of the largest size would not fit into memory.
    while let Some(row) = rows.try_next().await? {
        count += 1;
        deliver(read_row(&row)?).await;
    }
    Ok(count >= MOST_MISSED)
}

fn read_row(row: &Row) -> Result<BroadcastRow, Error> {
    Ok(BroadcastRow {
        id: row.try_get(0)?,
        topic: row.try_get(1)?,
        event: row.try_get(2)?,
        extension: row.try_get(3)?,
        is_private: row.try_get(4)?,
        payload: row.try_get::<_, Option<String>>(5)?.map(Bytes::from),
        binary_payload: row.try_get::<_, Option<Vec<u8>>>(6)?.map(Bytes::from),
        inserted_at: row.try_get(7)?,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn time(second: i64) -> NaiveDateTime {
        postgres_time(820_000_000_000_000) + TimeDelta::seconds(second)
    }

    fn row(id: usize, second: i64) -> BroadcastRow {
        BroadcastRow {
            id: id.to_string(),
            topic: "room".to_owned(),
            event: None,
            extension: "broadcast".to_owned(),
            is_private: false,
            payload: None,
            binary_payload: None,
            inserted_at: time(second),
        }
    }

    fn last_message_at_us(second: i64) -> i64 {
        time(second).and_utc().timestamp_micros() - POSTGRES_EPOCH_US
    }

    #[test]
    fn realtime_057_a_gap_is_read_from_a_minute_before_it_and_delivered_ids_are_left_out() {
        let mut delivered = DeliveredBroadcasts::default();
        assert!(delivered.insert(&row(1, 0), Some(last_message_at_us(1))));
        assert_eq!(delivered.missing_since(), None);

        delivered.begin_gap(last_message_at_us(5));
        delivered.begin_gap(last_message_at_us(9));

        assert_eq!(delivered.missing_since(), Some(time(5) - LOOKBACK));
        assert!(
            !delivered.insert(&row(1, 0), Some(last_message_at_us(9))),
            "delivered before the gap"
        );
        assert!(delivered.insert(&row(2, 4), None));
        assert!(
            delivered.insert(&row(1, 4), None),
            "another row with the id of one"
        );
        delivered.end_gap();
        assert_eq!(delivered.missing_since(), None);
    }

    #[test]
    fn realtime_057_what_was_sent_before_the_stream_began_is_not_missed() {
        let mut delivered = DeliveredBroadcasts::default();
        delivered.begin_stream(last_message_at_us(3));

        delivered.begin_gap(last_message_at_us(5));

        assert_eq!(delivered.missing_since(), Some(time(3)));
    }

    #[test]
    fn realtime_057_at_high_rates_less_is_looked_back_rather_than_delivered_twice() {
        let mut delivered = DeliveredBroadcasts::default();
        for id in 0..=MOST_IDS {
            delivered.insert(&row(id, if id == 0 { 3 } else { 4 }), Some(last_message_at_us(4)));
        }

        delivered.begin_gap(last_message_at_us(5));

        assert_eq!(delivered.in_order.len(), MOST_IDS);
        assert_eq!(delivered.missing_since(), Some(time(3)));
    }

    #[test]
    fn realtime_057_a_row_dated_far_ahead_does_not_hide_a_gap() {
        let mut delivered = DeliveredBroadcasts::default();
        delivered.insert(&row(1, 0), Some(last_message_at_us(0)));
        assert!(delivered.insert(&row(2, 86_400), Some(last_message_at_us(0))));

        delivered.begin_gap(last_message_at_us(5));

        assert_eq!(delivered.missing_since(), Some(time(5) - LOOKBACK));
        assert_eq!(delivered.in_order.len(), 1);
    }
}
