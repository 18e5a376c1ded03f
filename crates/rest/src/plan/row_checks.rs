//! Numbers of affected or returned rows that turn a request into an error, and a write into a rollback.

use crate::error::RequestError;
use crate::request::Mutation;

/// Checks of the number of rows. All fields are independent; the default checks nothing.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct RowChecks {
    /// PUT must write exactly the row that its filters name, else PGRST115.
    pub single_upsert: bool,
    /// `application/vnd.pgrst.object` demands exactly one row, else PGRST116.
    pub singular: bool,
    /// `Prefer: handling=strict, max-affected=`: more rows are PGRST124.
    pub max_affected: Option<i64>,
}

impl RowChecks {
    /// The checks of a read.
    pub(super) fn of_read(singular: bool) -> Self {
        Self {
            singular,
            ..Self::default()
        }
    }

    /// The checks of a call; `max_affected` counts the rows of its result.
    pub(super) fn of_call(singular: bool, max_affected: Option<i64>) -> Self {
        Self {
            singular,
            max_affected,
            ..Self::default()
        }
    }

    /// The checks of a write. `max-affected` limits only writes that choose their rows by filters.
    pub(super) fn of_mutation(mutation: Mutation, singular: bool, max_affected: Option<i64>) -> Self {
        let single_upsert = mutation == Mutation::SingleUpsert;
        let chooses_rows = matches!(mutation, Mutation::Update | Mutation::Delete);
        Self {
            single_upsert,
            // For a PUT the error is PGRST115, which is more specific than PGRST116.
            singular: singular && !single_upsert,
            max_affected: max_affected.filter(|_| chooses_rows),
        }
    }

    /// Whether no check applies.
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    /// Checks the number of rows.
    ///
    /// # Errors
    /// PGRST115, PGRST116, PGRST124; the first that applies.
    pub fn check(&self, rows: i64) -> Result<(), RequestError> {
        if self.single_upsert && rows != 1 {
            return Err(RequestError::PutPayload);
        }
        if self.singular && rows != 1 {
            return Err(RequestError::NotSingular(rows));
        }
        match self.max_affected {
            Some(max_affected) if rows > max_affected => Err(RequestError::MaxAffected(rows)),
            _ => Ok(()),
        }
    }
}
