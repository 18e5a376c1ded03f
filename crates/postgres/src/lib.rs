//! Everything between a service and PostgreSQL.
//!
//! In: where the database is, statements with parameters, and the role and claims under which they run. Out: rows, or an
//! error with PostgreSQL's own message. The crate holds connections ([`Database`], [`RequestPool`]), runs the request
//! transaction in one network round trip ([`RequestTransaction`]), reads on replicas ([`Replicas`]), listens for notifications, brings schemas up to
//! date and runs an embedded cluster. It knows neither HTTP nor what a statement means.

mod citus;
mod clock;
mod database;
mod disk;
mod extensions;
mod hosts;
mod identifier;
mod json;
mod listen;
mod pools;
mod privileged;
mod replicas;
mod request;
mod role_settings;
mod run_login;
mod template;
mod text_session;
mod tls;
mod view_columns;
mod wire;

pub use clock::Moment;
pub use database::{Database, Login, Logins, connect};
pub use disk::{DiskLevel, DiskRoom, DiskState};
pub use extensions::{SHIPPED, ShippedExtension};
pub use hosts::{ExaminedHost, HostRole, examine_hosts, find_primary};
pub use identifier::{TableName, push_identifier, quote_identifier, quote_literal};
pub use json::{ByteChunks, JsonDocument, JsonForm, JsonType, write_json_string};
pub use listen::ListenEvent;
pub use pools::{PoolMetrics, PoolMetricsSnapshot};
pub use privileged::{
    DATABASE_NUMBER, DROPPED_DATABASE, PrivilegedLogin, PrivilegedSession, REPLACED_DATABASE,
    disable_event_triggers, enable_event_triggers,
};
pub use replicas::{Reader, ReplicaConfig, ReplicaPools, Replicas, ReplicasConfig, Writer};
pub use request::{
    AccessMode, DatabaseError, Isolation, JsonRead, JsonReadResult, Param, RequestContext, RequestError,
    RequestPool, RequestPoolConfig, RequestTrace, RequestTransaction, SqlStatement, TracedStage,
    TracedStatement, TransactionEnd, TransactionResult, TransactionStage, become_caller, begin_as_caller,
    end_traced_stage, is_outage, is_outage_code, set_traced_rows, statements_for_workers, trace_request,
    trace_statement, trace_statements,
};
pub use role_settings::RoleSettings;
pub use run_login::{RunLogin, become_postgres, finish_run_logins};
pub use template::ensure_template;
pub use text_session::{
    CONSOLE_READERS, NoticeObject, StatementCanceller, TextCell, TextColumn, TextEvent, TextNotice,
    TextSession, TextSessionError, TransactionStatus,
};
pub use view_columns::{ViewColumns, trace_views};
pub use wire::{ColumnIndex, NamedColumns, Row, RowError};

// Modules of the embedded cluster, of migrations, of scripts for psql and of logical replication.
pub mod cluster;
pub mod migrate;
pub mod psql;
pub mod replication;
