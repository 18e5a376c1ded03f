//! One SQL statement with its parameters, as [`DbSession`](super::session::DbSession) runs it.

use bytes::Bytes;
use selvedge_postgres::{Param, SqlStatement};

use crate::error::UniqueKey;

/// A statement and its parameters. All parameters travel as text; PostgreSQL infers their types from the statement.
#[derive(Clone)]
pub(crate) struct Statement {
    pub(super) text: &'static str,
    pub(super) params: Vec<Param>,
    pub(super) unique_key: UniqueKey,
}

impl Statement {
    /// A statement without parameters yet.
    pub(crate) fn new(text: &'static str) -> Self {
        Self {
            text,
            params: Vec::new(),
            unique_key: UniqueKey::Other,
        }
    }

    /// Sets the error that a unique violation (23505) of this statement is reported as.
    pub(crate) fn unique_violation_means(mut self, key: UniqueKey) -> Self {
        self.unique_key = key;
        self
    }

    /// Converts the statement to the type that a worker's connections run.
    pub(super) fn into_sql(self) -> SqlStatement {
        SqlStatement {
            text: self.text.to_owned(),
            params: self.params,
            force_custom_plan: false,
        }
    }

    /// Appends the next parameter.
    pub(crate) fn bind(mut self, value: impl Into<String>) -> Self {
        self.params.push(Param::Text(Bytes::from(value.into())));
        self
    }

    /// Appends the next parameter; `None` becomes null.
    pub(crate) fn bind_optional(mut self, value: Option<impl Into<String>>) -> Self {
        self.params
            .push(value.map_or(Param::Null, |value| Param::Text(Bytes::from(value.into()))));
        self
    }
}
