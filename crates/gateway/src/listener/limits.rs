//! Limits of the connections of a listener.

use std::sync::Arc;
use std::time::Duration;

use selvedge_limits::ShareLimit;
use selvedge_memory::MemoryBudget;

use super::local_hosts::LocalHosts;
use crate::ContinueCheck;

/// Checks on a connection before the application sees a request: limits against clients that hold many connections or send
/// slowly, and hosts and keys.
#[derive(Debug, Clone)]
pub struct ConnectionLimits {
    /// How long a request's head may take to arrive, and a connection to be used.
    pub head_timeout: Duration,
    /// How slowly a body may arrive and a response may be read.
    pub transfer: TransferLimits,
    /// Most open connections of one address, for each listener; any number if `None`.
    pub per_address: Option<ShareLimit>,
    /// What heads above 8 KiB are reserved from while they arrive.
    pub memory: MemoryBudget,
    /// The only host names to which requests may be sent; any if `None`.
    pub hosts: Option<Arc<LocalHosts>>,
    /// Decides whether a client that sends `Expect: 100-continue` gets `100 Continue`. `None` always sends it.
    pub continue_check: Option<ContinueCheck>,
}

/// How slowly a client may send a body and read a response before its connection is closed.
///
/// A client that sends one byte a minute would otherwise hold a request for days, and one that reads as slowly the
/// whole response in memory.
#[derive(Debug, Clone, Copy)]
pub struct TransferLimits {
    /// How long a transfer may stall in total. Only time spent waiting for the client counts, and transferred bytes restore
    /// it at `bytes_per_second`. Default 60 s.
    pub stall: Duration,
    /// The rate at which a transfer never runs into `stall`, in bytes per second; at least 1. Default 1024.
    pub bytes_per_second: u32,
}

impl Default for TransferLimits {
    fn default() -> Self {
        Self {
            stall: Duration::from_secs(60),
            bytes_per_second: 1024,
        }
    }
}

impl From<Duration> for ConnectionLimits {
    fn from(head_timeout: Duration) -> Self {
        Self {
            head_timeout,
            transfer: TransferLimits::default(),
            per_address: None,
            memory: MemoryBudget::unlimited(),
            hosts: None,
            continue_check: None,
        }
    }
}
