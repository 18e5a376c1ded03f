//! Rows in the form in which the server sent them, and access to their values by name or position.

use std::error::Error;
use std::ops::Range;
use std::sync::Arc;

use bytes::Bytes;
use postgres_types::{FromSql, Type};
use smallvec::SmallVec;

/// A column of a result.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Column {
    pub(crate) name: String,
    /// The type's oid; that of the base type for a domain.
    pub(crate) type_oid: u32,
}

/// One row of a result, not yet decoded.
#[derive(Debug, Clone)]
pub struct Row {
    columns: Arc<[Column]>,
    data: Bytes,
    /// Byte range of each column's value in `data`; `None` for null.
    values: SmallVec<[Option<Range<u32>>; 6]>,
}

/// A value could not be read, because the SQL does not return what the code expects.
#[derive(Debug, thiserror::Error)]
#[error("column {column}: {cause}")]
pub struct RowError {
    column: String,
    cause: Box<dyn Error + Sync + Send>,
}

/// Reads columns by name from rows of this crate and of `tokio_postgres`, for code that gets both.
pub trait NamedColumns {
    /// Returns the value of the column `name`.
    ///
    /// # Errors
    /// When there is no such column, or it has another type.
    fn column<'a, T: FromSql<'a>>(&'a self, name: &str) -> Result<T, RowError>;
}

impl NamedColumns for Row {
    fn column<'a, T: FromSql<'a>>(&'a self, name: &str) -> Result<T, RowError> {
        self.try_get(name)
    }
}

impl NamedColumns for tokio_postgres::Row {
    fn column<'a, T: FromSql<'a>>(&'a self, name: &str) -> Result<T, RowError> {
        self.try_get(name).map_err(|cause| RowError {
            column: name.to_owned(),
            cause: Box::new(cause),
        })
    }
}

/// Position or name of a column.
pub trait ColumnIndex: std::fmt::Display {
    /// Position of the column in `row`, from 0, or None if there is none.
    fn position(&self, row: &Row) -> Option<usize>;
}

impl ColumnIndex for usize {
    fn position(&self, row: &Row) -> Option<usize> {
        (*self < row.values.len()).then_some(*self)
    }
}

impl ColumnIndex for &str {
    fn position(&self, row: &Row) -> Option<usize> {
        row.columns.iter().position(|column| column.name == *self)
    }
}

impl Row {
    /// Parses the body of a `DataRow`. `None` when it is malformed.
    pub(crate) fn parse(columns: Arc<[Column]>, data: Bytes) -> Option<Self> {
        let mut values = SmallVec::new();
        for value in Values::parse(&data)? {
            values.push(value?.map(|value| {
                let start = value.start as u32;
                start..value.end as u32
            }));
        }
        Some(Self {
            columns,
            data,
            values,
        })
    }

    /// How many columns there are.
    pub fn len(&self) -> usize {
        self.values.len()
    }

    /// Whether there are no columns.
    pub fn is_empty(&self) -> bool {
        self.values.is_empty()
    }

    /// Returns the value of a column.
    ///
    /// # Errors
    /// When there is no such column, or it has another type.
    pub fn try_get<'a, I: ColumnIndex, T: FromSql<'a>>(&'a self, index: I) -> Result<T, RowError> {
        let fail = |cause| RowError {
            column: index.to_string(),
            cause,
        };
        let position = index
            .position(self)
            .ok_or_else(|| fail("there is no such column".into()))?;
        let oid = self.columns.get(position).map_or(0, |column| column.type_oid);
        // User-defined types are unknown here; their values can be read as text.
        let r#type = Type::from_oid(oid).unwrap_or(Type::UNKNOWN);
        if !T::accepts(&r#type) {
            return Err(fail(format!("it has type {type}").into()));
        }
        T::from_sql_nullable(&r#type, self.raw(position)).map_err(fail)
    }

    /// Returns the value of a column that the statement is known to return.
    ///
    /// # Panics
    /// When there is no such column, or it has another type. Only for statements that are part of this program.
    pub fn get<'a, I: ColumnIndex, T: FromSql<'a>>(&'a self, index: I) -> T {
        self.try_get(index).expect("our own SQL returns this column")
    }

    /// A value's bytes without a copy. `None` for null.
    pub fn bytes(&self, index: usize) -> Option<Bytes> {
        let range = self.values.get(index)?.as_ref()?;
        Some(self.data.slice(range.start as usize..range.end as usize))
    }

    fn raw(&self, position: usize) -> Option<&[u8]> {
        let range = self.values.get(position)?.as_ref()?;
        self.data.get(range.start as usize..range.end as usize)
    }
}

/// Iterates over the byte ranges of a `DataRow`'s values.
pub(crate) struct Values<'a> {
    data: &'a [u8],
    at: usize,
    left: usize,
}

impl<'a> Values<'a> {
    pub(crate) fn parse(data: &'a [u8]) -> Option<Self> {
        let (count, _) = data.split_first_chunk()?;
        Some(Self {
            data,
            at: 2,
            left: usize::from(u16::from_be_bytes(*count)),
        })
    }
}

impl Iterator for Values<'_> {
    /// `None` for a malformed message, `Some(None)` for null.
    type Item = Option<Option<Range<usize>>>;

    fn next(&mut self) -> Option<Self::Item> {
        self.left = self.left.checked_sub(1)?;
        let Some((length, _)) = self.data.get(self.at..).and_then(<[u8]>::split_first_chunk) else {
            self.left = 0;
            return Some(None);
        };
        self.at += 4;
        // The length -1 means null.
        let Ok(length) = usize::try_from(i32::from_be_bytes(*length)) else {
            return Some(Some(None));
        };
        let range = self.at..self.at.saturating_add(length);
        if range.end > self.data.len() {
            self.left = 0;
            return Some(None);
        }
        self.at = range.end;
        Some(Some(Some(range)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn message(values: &[Option<&[u8]>]) -> Bytes {
        let mut out = (values.len() as u16).to_be_bytes().to_vec();
        for value in values {
            match value {
                Some(value) => {
                    out.extend((value.len() as i32).to_be_bytes());
                    out.extend(*value);
                }
                None => out.extend((-1_i32).to_be_bytes()),
            }
        }
        out.into()
    }

    fn columns(columns: &[(&str, Type)]) -> Arc<[Column]> {
        let column = |(name, r#type): &(&str, Type)| Column {
            name: (*name).to_owned(),
            type_oid: r#type.oid(),
        };
        columns.iter().map(column).collect()
    }

    #[test]
    fn values_are_found_by_name_and_position() {
        let row = Row::parse(
            columns(&[("a", Type::INT8), ("b", Type::TEXT), ("c", Type::TEXT)]),
            message(&[Some(&7_i64.to_be_bytes()), None, Some(b"x")]),
        )
        .expect("well formed");

        assert_eq!(row.get::<_, i64>("a"), 7);
        assert_eq!(row.get::<_, Option<&str>>(1), None);
        assert_eq!(row.bytes(2).as_deref(), Some(&b"x"[..]));
        assert!(row.try_get::<_, i64>("c").is_err());
        assert!(row.try_get::<_, i64>("d").is_err());
    }

    #[test]
    fn a_truncated_message_is_not_a_row() {
        let whole = message(&[Some(b"abc"), Some(b"def")]);
        for length in 0..whole.len() {
            assert!(
                Row::parse(columns(&[]), whole.slice(..length)).is_none(),
                "{length}"
            );
        }
    }
}
