//! Logical replication: the changes of published tables, streamed by PostgreSQL as they are committed.
//!
//! [`ReplicationStream::start`] logs in to a walsender, makes a temporary slot for the `pgoutput` plugin and begins to
//! stream; [`ReplicationStream::next`] returns one decoded [`LogicalMessage`] after the other. A temporary slot
//! vanishes with its connection, so a server that crashes never leaves a slot behind that keeps WAL and fills the disk.
//! The disadvantage is that changes committed while the connection is down are lost, so the reader of the stream must
//! tell its subscribers.
//!
//! `tokio-postgres` cannot speak the replication protocol (no `replication` startup parameter, no `CopyBoth`), so login
//! and framing are written here on top of `postgres-protocol`.

mod error;
mod login;
mod pgoutput;
mod stream;

pub use error::ReplicationError;
pub use pgoutput::{LogicalMessage, Relation, RelationColumn, ReplicaIdentity, Tuple, TupleValue};
pub use stream::ReplicationStream;
