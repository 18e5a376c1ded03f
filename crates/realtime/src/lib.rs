//! `/realtime/v1`: channels over WebSockets, with broadcast, presence and database changes.
//!
//! In: upgraded connections and HTTP requests that the gateway passes on. Out: frames of the Phoenix protocol,
//! versions 1.0.0 and 2.0.0. A frame passes `socket` (one task per connection) → `frame` (bytes to typed messages) →
//! `channel` (membership in a topic) → `fanout` (one message to each worker thread, then a loop without locks) → the
//! outboxes of the receiving sockets.
//!
//! Policies on `realtime.messages` decide who may use a private channel, and row-level security decides who sees a
//! changed row. Both are evaluated by PostgreSQL under the caller's role; this crate does not re-implement them.
//!
//! Source of all behaviour: the realtime contract.

mod api;
mod authorization;
mod broadcast;
pub mod changes;
mod channel;
mod cluster;
mod config;
mod delivery;
mod ended_users;
mod fanout;
mod frame;
mod limits;
mod metrics;
mod partitions;
mod presence;
mod service;
mod socket;
mod state;
mod token;
mod topic;

pub use cluster::{BrokerCredentials, ClusterConfig};
pub use config::RealtimeConfig;
pub use service::{Realtime, RealtimeWorker};
