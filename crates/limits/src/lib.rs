//! Shares of what all clients use together: connections, subscriptions, memory, turns at a few database connections.
//!
//! In: who a client is ([`ClientId`]) and how much it is about to take. Out: a [`Share`] of it, or a refusal; a [`Turn`] to wait
//! for, or a place in a [`FairQueue`]; or whether a refusal is logged ([`LogGate`]), or so many bytes ([`LogRate`]).
//! A limit for all clients together protects the server. Only a share for each of them protects the others: without it, one client
//! takes everything and the limit then refuses everybody else.

mod client;
mod log_gate;
mod log_rate;
mod queue;
mod share;

pub use client::{ClientId, network_of};
pub use log_gate::LogGate;
pub use log_rate::LogRate;
pub use queue::{FairQueue, FairQueueLimits, Slot, Turn, Turns, Waiter};
pub use share::{Share, ShareExceeded, ShareLimit, Shares};
