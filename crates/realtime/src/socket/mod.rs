//! One socket: the handshake, then one task that reads frames, passes them to channels, and writes what its outbox
//! holds.
//!
//! The task and everything it owns stay on the worker thread that accepted the connection, so channels need no locks.

mod closing;
mod connection;
mod frame_writer;
mod session;
mod slot;
mod steps;
mod upgrade;

pub(crate) use upgrade::{Upgrades, refuse_plain_request};
