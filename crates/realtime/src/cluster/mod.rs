//! Several nodes: broadcasts and presence of the sockets of other nodes, exchanged through a message broker.
//!
//! Every node publishes what its own channels send and track, and delivers what others publish to its own sockets.
//! Database changes and broadcasts from the database need no broker, because every node reads the replication stream
//! itself. A node without `[selvedge.nats]` has no cluster, and none of this runs.
//!
//! Delivery between nodes is at most once: while the broker is away, a broadcast reaches the sockets of its own node
//! only. Presence is repaired afterwards: a node that notices a gap asks for the whole state.

mod broker;
mod config;
mod handle;
mod interest;
mod nats;
mod node_table;
mod publisher;
mod receiver;
mod sealed;
mod wire;

pub use config::{BrokerCredentials, ClusterConfig};
pub(crate) use handle::{Cluster, JoinedTopic};
