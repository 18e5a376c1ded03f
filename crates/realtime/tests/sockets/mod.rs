//! The service over real sockets, on a real PostgreSQL.

mod broadcast;
mod connections;
mod database_broadcasts;
mod failed_checks;
mod faults;
mod latency;
mod live_subscriptions;
mod nats_server;
mod presence;
mod private_channels;
mod project_code;
mod rates;
mod refreshed_tokens;
mod refused_persistence;
mod schema;
mod several_nodes;
mod shares;
mod shutdown;
mod support;
