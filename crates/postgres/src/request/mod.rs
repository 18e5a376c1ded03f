//! The request transaction: one statement under the caller's role and claims, in one network round trip.
//!
//! One `select set_config(…)` and the statement are written to the socket together, before one `Sync`: for PostgreSQL
//! that is one transaction, which commits at the `Sync`, and rolls back after an error. An explicit `BEGIN` is sent only for
//! transactions that end in a rollback or need another isolation level than read committed, and always with Citus, whose
//! workers take part in explicit transactions only. No other code sets a caller's role.

mod client_turns;
mod context;
mod error;
mod failure;
mod interactive;
mod latency;
mod outage;
mod pipeline;
mod pipeline_needs;
mod pool;
mod pool_config;
mod result;
mod running;
mod slow_query;
mod stage;
mod statement;
mod statement_trace;
mod time_limit;
mod transaction_statements;
mod wait_queues;

use postgres_types::PgLsn;
use selvedge_limits::ClientId;
use selvedge_memory::DatabaseTurn;

pub use context::{RequestContext, statements_for_workers};
pub use error::{DatabaseError, RequestError};
pub use interactive::{become_caller, begin_as_caller};
pub use outage::{is_outage, is_outage_code};
pub use pool::RequestPool;
pub use pool_config::RequestPoolConfig;
pub use result::{JsonRead, JsonReadResult, TransactionResult};
pub use stage::TransactionStage;
pub use statement::{Param, SqlStatement};
pub use statement_trace::{
    RequestTrace, TracedStage, TracedStatement, end_traced_stage, set_traced_rows, trace_request,
    trace_statement, trace_statements,
};

/// The transaction's access mode, as `BEGIN READ ONLY` and `READ WRITE` have it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AccessMode {
    ReadOnly,
    ReadWrite,
}

/// The transaction's isolation level.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Isolation {
    #[default]
    ReadCommitted,
    RepeatableRead,
    Serializable,
}

/// How a transaction without errors ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TransactionEnd {
    Commit,
    /// A dry run (`Prefer: tx=rollback`): deferred constraints are checked, then everything is undone.
    Rollback,
}

/// One request's statements, and the rights under which they run.
#[derive(Debug, Clone, Copy)]
pub struct RequestTransaction<'a> {
    pub access: AccessMode,
    /// `None`: the `default_transaction_isolation` of the caller's role, else read committed.
    pub isolation: Option<Isolation>,
    pub context: RequestContext<'a>,
    /// Text of a statement without parameters that runs before the main one, under the same role.
    pub pre_request: Option<&'a str>,
    pub statement: &'a SqlStatement,
    /// Whether the statement calls a function of the project, which may change settings of the session.
    pub calls_function: bool,
    /// For a read on a replica: what it must have replayed. If it has not, the transaction fails at
    /// [`TransactionStage::ReplicaCheck`].
    pub replayed_to: Option<PgLsn>,
    /// A second statement that runs after the main one, for example the `EXPLAIN` of an estimated count.
    pub explain: Option<&'a SqlStatement>,
    pub end: TransactionEnd,
    /// Who has sent the request. While there are several clients, only a few fast transactions of each run at a time. `None` for work of the server's
    /// own.
    pub client: Option<&'a ClientId>,
    /// What the database may take for the statement, where that is limited: kept until it has answered.
    pub turn: Option<&'a DatabaseTurn>,
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

/// The `BEGIN` of a transaction.
fn begin_text(access: AccessMode, isolation: Isolation) -> &'static str {
    match (access, isolation) {
        (AccessMode::ReadOnly, Isolation::ReadCommitted) => "begin isolation level read committed read only",
        (AccessMode::ReadOnly, Isolation::RepeatableRead) => {
            "begin isolation level repeatable read read only"
        }
        (AccessMode::ReadOnly, Isolation::Serializable) => "begin isolation level serializable read only",
        (AccessMode::ReadWrite, Isolation::ReadCommitted) => {
            "begin isolation level read committed read write"
        }
        (AccessMode::ReadWrite, Isolation::RepeatableRead) => {
            "begin isolation level repeatable read read write"
        }
        (AccessMode::ReadWrite, Isolation::Serializable) => "begin isolation level serializable read write",
    }
}
