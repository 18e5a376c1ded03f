//! The request transaction: one statement under the caller's rights, in one network round trip.
//!
//! One `select set_config(…)` and the statement are written to the socket together, before one `Sync`: for PostgreSQL that
//! is a transaction, which commits at the `Sync` or, after an error, does not. Only transactions that end in a rollback, or
//! are isolated in a particular way, have a `BEGIN`. This is the only code that becomes a caller's role.

mod answer;
mod begin;
mod context;
mod error;
mod lane;
mod pace;
mod pool;
mod statement;

pub use answer::{Answer, Listed, Listing, column_bytes};
pub use begin::begin_as;
pub use context::RequestContext;
pub use error::{DatabaseError, RequestError, Stage};
pub use pool::{RequestPool, RequestPoolConfig};
pub use statement::{Param, SqlStatement};

/// What the transaction may do.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Access {
    ReadOnly,
    ReadWrite,
}

/// How concurrent transactions are kept apart.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Isolation {
    #[default]
    ReadCommitted,
    RepeatableRead,
    Serializable,
}

/// How the transaction ends when nothing fails.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum End {
    Commit,
    /// A dry run: deferred constraints are checked first, then everything is undone.
    Rollback,
}

/// One request's work.
#[derive(Debug, Clone, Copy)]
pub struct RequestTransaction<'a> {
    pub access: Access,
    /// `None`: what the caller's role asks for, else read committed.
    pub isolation: Option<Isolation>,
    pub context: RequestContext<'a>,
    /// Text of a statement without parameters that runs before the main one, under the same rights.
    pub pre_request: Option<&'a str>,
    pub statement: &'a SqlStatement,
    /// Runs after the main statement: the `EXPLAIN` of an estimated count.
    pub explain: Option<&'a SqlStatement>,
    pub end: End,
}

impl Isolation {
    pub(crate) fn parse(value: &str) -> Option<Self> {
        match value {
            "read committed" | "read uncommitted" => Some(Self::ReadCommitted),
            "repeatable read" => Some(Self::RepeatableRead),
            "serializable" => Some(Self::Serializable),
            _ => None,
        }
    }
}

/// The text that begins a transaction.
fn begin_text(access: Access, isolation: Isolation) -> &'static str {
    match (access, isolation) {
        (Access::ReadOnly, Isolation::ReadCommitted) => "begin isolation level read committed read only",
        (Access::ReadOnly, Isolation::RepeatableRead) => "begin isolation level repeatable read read only",
        (Access::ReadOnly, Isolation::Serializable) => "begin isolation level serializable read only",
        (Access::ReadWrite, Isolation::ReadCommitted) => "begin isolation level read committed read write",
        (Access::ReadWrite, Isolation::RepeatableRead) => "begin isolation level repeatable read read write",
        (Access::ReadWrite, Isolation::Serializable) => "begin isolation level serializable read write",
    }
}
