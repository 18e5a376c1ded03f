//! Which transactions a read of the catalog has seen.

use tokio_postgres::{Client, Error};

/// A snapshot of PostgreSQL, as `pg_current_snapshot()` describes it.
///
/// A position in the WAL would not do: the commit of a transaction is written, and streamed, a moment before other
/// sessions see it, and a catalog that was read in that moment lacks what the transaction changed.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Snapshot {
    /// The next id that was not given yet: transactions from here on are not seen.
    next_xid: u64,
    /// Transactions below `next_xid` that had not ended, and so are not seen either.
    in_progress: Vec<u64>,
}

impl Snapshot {
    /// Takes a snapshot. Statements that follow on this connection see at least as much.
    ///
    /// # Errors
    /// When the query fails.
    pub(crate) async fn take(client: &Client) -> Result<Self, Error> {
        let row = client
            .query_one(
                "select pg_catalog.pg_snapshot_xmax(taken)::text::bigint,
                    array(select pg_catalog.pg_snapshot_xip(taken)::text::bigint)
                 from pg_catalog.pg_current_snapshot() as taken",
                &[],
            )
            .await?;
        let next_xid: i64 = row.try_get(0)?;
        let in_progress: Vec<i64> = row.try_get(1)?;
        Ok(Self {
            next_xid: next_xid.cast_unsigned(),
            in_progress: in_progress.into_iter().map(i64::cast_unsigned).collect(),
        })
    }

    /// Whether the snapshot sees a committed transaction. The stream gives its id without the epoch, which is that of
    /// the next id or the one before.
    pub(crate) fn sees(&self, xid: u32) -> bool {
        #[expect(
            clippy::cast_possible_truncation,
            reason = "ids are compared around the circle of 2^32"
        )]
        let age = (self.next_xid as u32).wrapping_sub(xid);
        if age == 0 || age >= 1 << 31 {
            return false;
        }
        let full_xid = self.next_xid.checked_sub(u64::from(age));
        full_xid.is_some_and(|id| !self.in_progress.contains(&id))
    }
}

#[cfg(test)]
mod tests {
    use super::Snapshot;

    #[test]
    fn transactions_in_progress_and_later_ones_are_not_seen() {
        let snapshot = Snapshot {
            next_xid: 1000,
            in_progress: vec![990, 995],
        };

        let seen = [989, 990, 994, 995, 999, 1000, 1001].map(|xid| snapshot.sees(xid));

        assert_eq!(seen, [true, false, true, false, true, false, false]);
    }

    #[test]
    fn ids_are_compared_across_the_end_of_an_epoch() {
        let epoch = 1_u64 << 32;
        let snapshot = Snapshot {
            next_xid: epoch + 10,
            in_progress: vec![epoch - 1],
        };

        let seen = [u32::MAX - 1, u32::MAX, 9, 10].map(|xid| snapshot.sees(xid));

        assert_eq!(seen, [true, false, true, false]);
    }
}
