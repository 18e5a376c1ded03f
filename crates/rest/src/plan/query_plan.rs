//! The types of a plan, which this stage hands to the SQL writer, the executor and the responder.

use std::sync::Arc;

use super::call::CallPlan;
use super::mutate::MutatePlan;
use super::negotiate::Handler;
use super::row_checks::RowChecks;
use super::tree::ReadNode;
use crate::catalog::{Function, Relation};
use crate::request::Mutation;
use crate::request::media::MediaType;
use crate::request::preferences::Preferences;

/// What is executed for a request.
#[derive(Debug)]
pub enum Plan {
    /// One statement in one transaction.
    Query(Box<QueryPlan>),
    /// OPTIONS: answered from the catalog alone, by the value of the `Allow` header.
    Describe { allow: String },
    /// The OpenAPI document of a schema.
    Root(RootPlan),
}

/// A read, write or call, with the shape of its response.
#[derive(Debug)]
pub struct QueryPlan {
    /// Whether the statement reads, writes or calls, and what.
    pub kind: QueryKind,
    /// What is selected for the response: from the relation for reads, from the result for writes and calls.
    pub read: ReadNode,
    /// How PostgreSQL renders the rows.
    pub handler: Handler,
    /// Media type of the response.
    pub media: MediaType,
    /// Whether the transaction is `READ ONLY`.
    pub read_only: bool,
    /// Whether the transaction ends with ROLLBACK even if everything went well (`Prefer: tx=rollback`).
    pub rolls_back: bool,
    /// How the total for `Content-Range` is found.
    pub total: Total,
    /// `db-max-rows`: up to here an estimated count is counted exactly.
    pub max_rows: Option<u64>,
    /// Numbers of rows that turn the request into an error.
    pub row_checks: RowChecks,
    /// The settings by which SQL reads the request.
    pub session: SessionSettings,
    /// Parts of the request that the response repeats.
    pub response: ResponsePlan,
    /// Whether statements are written in the form that Citus supports.
    pub for_citus: bool,
}

/// The part of the statement before its rows are selected for the response.
#[derive(Debug)]
pub enum QueryKind {
    /// The rows are read from the relation.
    Read(Arc<Relation>),
    /// An INSERT, UPDATE or DELETE whose `RETURNING` rows are selected from.
    Mutate {
        relation: Arc<Relation>,
        mutation: Mutation,
        plan: MutatePlan,
    },
    /// A function call whose result is selected from.
    Call(CallPlan),
}

/// How the total number of rows for `Content-Range` is found.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Total {
    /// No count was requested; Content-Range ends with `*`.
    Unknown,
    /// No limit applies, so the page contains all rows.
    OfPage,
    /// By a separate `count(*)` (`count=exact`).
    Counted,
    /// The planner's estimate (`count=planned`).
    Planned,
    /// Counted up to `max_rows`, the planner's estimate above that (`count=estimated`).
    Estimated,
}

/// The settings by which SQL reads the request, except the caller's claims, headers and cookies.
#[derive(Debug)]
pub struct SessionSettings {
    /// Active schema: the first of `search_path`.
    pub schema: String,
    /// `request.method`.
    pub method: String,
    /// `request.path`: below the service's prefix, not decoded.
    pub path: String,
    /// `Prefer: timezone=`, which becomes the setting `timezone`.
    pub timezone: Option<String>,
}

/// Parts of the request that the response repeats.
#[derive(Debug)]
pub struct ResponsePlan {
    /// The client's preferences, for `Preference-Applied`; the time zone is in [`SessionSettings`].
    pub preferences: Preferences,
    /// Whether `Content-Profile` names the active schema.
    pub names_schema: bool,
    /// The query string sorted and encoded again, for `Content-Location`.
    pub canonical_query: String,
    /// Offset of the first row, for `Content-Range`.
    pub first_row: i64,
    /// Whether only headers are wanted (HEAD).
    pub headers_only: bool,
}

/// The OpenAPI document of the active schema.
#[derive(Debug)]
pub struct RootPlan {
    /// Whether only headers are wanted (HEAD).
    pub headers_only: bool,
    /// Whether `Content-Profile` names the active schema.
    pub names_schema: bool,
    /// The settings by which SQL reads the request, for the query of the caller's privileges.
    pub session: SessionSettings,
}

impl QueryPlan {
    /// Whether the planner's estimate of the count query is needed.
    pub fn explains_count(&self) -> bool {
        matches!(self.total, Total::Planned | Total::Estimated)
    }

    /// Whether the response is the query's `EXPLAIN` instead of its rows.
    pub fn is_explain(&self) -> bool {
        matches!(self.media, MediaType::Plan { .. })
    }

    /// Whether `max-affected` limits a write whose number of rows is not returned, because the response is its `EXPLAIN`. Such a
    /// write is rolled back: one that affects too many rows must not be kept.
    pub fn counts_unseen_rows(&self) -> bool {
        self.is_explain() && !self.read_only && self.row_checks.max_affected.is_some()
    }

    /// Whether the number of rows decides between COMMIT and ROLLBACK, which costs a second round trip.
    pub fn rows_decide_commit(&self) -> bool {
        !self.read_only && !self.row_checks.is_empty()
    }

    /// The function that is called, if this is a call.
    pub fn function(&self) -> Option<&Function> {
        match &self.kind {
            QueryKind::Call(call) => Some(&call.function),
            QueryKind::Read(_) | QueryKind::Mutate { .. } => None,
        }
    }
}
