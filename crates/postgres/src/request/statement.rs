//! A statement and its parameters.

use std::error::Error;

use bytes::{Bytes, BytesMut};
use postgres_types::{Format, IsNull, ToSql, Type, to_sql_checked};

/// A statement. Its text depends on the shape of a request only, never on values, so that it can be prepared.
#[derive(Debug, Clone, PartialEq)]
pub struct SqlStatement {
    pub text: String,
    /// Values of `$1`, `$2`, … PostgreSQL infers their types.
    pub params: Vec<Param>,
    /// Plan for these values on each execution, because a generic plan would be bad (`= any($1)`, `like $1`).
    pub force_custom_plan: bool,
}

/// The value of one statement parameter.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Param {
    Null,
    /// The value in the type's text format.
    Text(Bytes),
    /// The type's binary form, for example the raw bytes of a `bytea`.
    Binary(Bytes),
}

impl SqlStatement {
    /// A statement without parameters.
    pub fn plain(text: impl Into<String>) -> Self {
        Self {
            text: text.into(),
            params: Vec::new(),
            force_custom_plan: false,
        }
    }
}

impl Param {
    /// A parameter from text.
    pub fn text(value: &str) -> Self {
        Self::Text(Bytes::copy_from_slice(value.as_bytes()))
    }
}

impl ToSql for Param {
    fn to_sql(&self, _: &Type, out: &mut BytesMut) -> Result<IsNull, Box<dyn Error + Sync + Send>> {
        match self {
            Self::Null => Ok(IsNull::Yes),
            Self::Text(value) | Self::Binary(value) => {
                out.extend_from_slice(value);
                Ok(IsNull::No)
            }
        }
    }

    fn accepts(_: &Type) -> bool {
        true
    }

    fn encode_format(&self, _: &Type) -> Format {
        match self {
            Self::Binary(_) => Format::Binary,
            Self::Null | Self::Text(_) => Format::Text,
        }
    }

    to_sql_checked!();
}
