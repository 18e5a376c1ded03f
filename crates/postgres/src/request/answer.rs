//! What a request transaction answers.

use std::error::Error;

use bytes::Bytes;
use postgres_types::{FromSql, Type};
use tokio_postgres::Row;

/// Rows of the statements of a transaction that has ended.
#[derive(Debug)]
pub struct Answer {
    pub rows: Vec<Row>,
    /// Rows of [`crate::RequestTransaction::explain`].
    pub explain: Vec<Row>,
    /// Whether the changes stayed.
    pub committed: bool,
}

/// A column's bytes as PostgreSQL sent them, without a copy: text, json and bytea are their own binary form.
pub fn column_bytes(row: Row, index: usize) -> Option<Bytes> {
    if matches!(row.try_get::<_, Option<Raw<'_>>>(index), Ok(Some(_))) {
        Some(Bytes::from_owner(Column { row, index }))
    } else {
        None
    }
}

struct Column {
    row: Row,
    index: usize,
}

impl AsRef<[u8]> for Column {
    fn as_ref(&self) -> &[u8] {
        self.row
            .try_get::<_, Raw<'_>>(self.index)
            .map_or(&[], |raw| raw.0)
    }
}

struct Raw<'a>(&'a [u8]);

impl<'a> FromSql<'a> for Raw<'a> {
    fn from_sql(_: &Type, raw: &'a [u8]) -> Result<Self, Box<dyn Error + Sync + Send>> {
        Ok(Self(raw))
    }

    fn accepts(_: &Type) -> bool {
        true
    }
}
