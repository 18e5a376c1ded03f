//! The shapes of `POST /api/simulate`: subject, request and unsaved policies.

use std::collections::BTreeMap;
use std::error::Error;

use serde::{Deserialize, Serialize};
use serde_json::Value;
use tokio_postgres::types::private::BytesMut;
use tokio_postgres::types::{Format, IsNull, ToSql, Type};

use super::page::Page;
use crate::catalog::Command;

/// The database role and the claims of the caller, as the gateway would set them for the request.
#[derive(Debug, Clone, Serialize)]
pub struct Subject {
    pub role: String,
    pub claims: Value,
}

/// The request that is simulated.
#[derive(Debug, Clone, Deserialize)]
#[serde(tag = "kind", rename_all = "lowercase")]
pub enum Request {
    Verb(VerbRequest),
    /// One statement, which is run and rolled back.
    Sql {
        text: String,
    },
    /// A request to `/rest/v1`, for example one of the log.
    Rest {
        method: String,
        /// With or without `/rest/v1`, and with its query.
        path: String,
        #[serde(default)]
        headers: BTreeMap<String, String>,
        #[serde(default)]
        body: Option<String>,
    },
}

/// A request that reads or writes one table.
#[derive(Debug, Clone, Deserialize)]
pub struct VerbRequest {
    pub verb: Verb,
    /// The oid of the table as text.
    pub table: String,
    /// The only row to read, change or delete; without it those that match `filters`.
    #[serde(default)]
    pub row: Option<RowId>,
    #[serde(default)]
    pub filters: Vec<Filter>,
    /// The values that the request writes, as text by column.
    #[serde(default)]
    pub values: BTreeMap<String, Option<String>>,
    /// The columns that the answer shows; empty means all.
    #[serde(default)]
    pub columns: Vec<String>,
    /// The part of the matching rows that a read returns; writes have none.
    #[serde(default)]
    pub page: Page,
    /// Whether a write returns its rows (`return=representation`), for which PostgreSQL also requires SELECT.
    #[serde(default)]
    pub returning: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Verb {
    Select,
    Insert,
    Update,
    /// `insert … on conflict (primary key) do update`.
    Upsert,
    Delete,
}

/// How a row is addressed: by its primary key, or by its place.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, Serialize)]
#[serde(untagged)]
pub enum RowId {
    Key {
        key: Vec<String>,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        xmin: Option<String>,
    },
    Place {
        tableoid: String,
        ctid: String,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        xmin: Option<String>,
    },
}

/// A condition on one column, with an operator of the REST service.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub struct Filter {
    pub column: String,
    /// The operator, such as `eq`, `in` or `not.is`.
    pub operator: String,
    pub value: String,
    /// The keys that lead from a JSON column to the value that is compared, from the outside in.
    #[serde(default)]
    pub path: Vec<String>,
}

/// A policy that is being written. It replaces the saved one of its name.
#[derive(Debug, Clone, Deserialize)]
pub struct UnsavedPolicy {
    pub name: String,
    pub command: Command,
    #[serde(default = "is_permissive_by_default")]
    pub permissive: bool,
    /// The roles that the policy is for; an empty list means public.
    #[serde(default)]
    pub roles: Vec<String>,
    #[serde(default)]
    pub using: Option<String>,
    #[serde(default)]
    pub check: Option<String>,
}

fn is_permissive_by_default() -> bool {
    true
}

/// A parameter that is sent in text form whatever its type is, so that PostgreSQL's input function of the column's own
/// type reads it.
#[derive(Debug, Clone)]
pub(crate) struct TextParam(pub(crate) Option<String>);

impl ToSql for TextParam {
    fn to_sql(&self, _: &Type, out: &mut BytesMut) -> Result<IsNull, Box<dyn Error + Sync + Send>> {
        match &self.0 {
            Some(text) => {
                out.extend_from_slice(text.as_bytes());
                Ok(IsNull::No)
            }
            None => Ok(IsNull::Yes),
        }
    }

    fn accepts(_: &Type) -> bool {
        true
    }

    fn encode_format(&self, _: &Type) -> Format {
        Format::Text
    }

    tokio_postgres::types::to_sql_checked!();
}
