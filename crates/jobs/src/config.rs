//! The configuration of the workers, which the server fills in.

use std::time::Duration;

use chrono::{DateTime, Utc};

/// Configuration of all workers.
#[derive(Debug, Clone)]
pub struct JobsConfig {
    /// HTTP requests of pg_net.
    pub net: NetConfig,
    /// Jobs of pg_cron.
    pub cron: CronConfig,
    /// Called with the name of a worker that has panicked, before it is started again.
    pub on_panic: fn(&'static str),
}

impl Default for JobsConfig {
    fn default() -> Self {
        Self {
            net: NetConfig::default(),
            cron: CronConfig::default(),
            on_panic: |worker| tracing::error!(worker, "a worker panicked and is started again"),
        }
    }
}

/// Limits of the requests that SQL sends through pg_net.
#[derive(Debug, Clone)]
pub struct NetConfig {
    /// Whether addresses of this machine and of private networks may be called. False in production, because SQL could
    /// otherwise reach servers that only this machine can.
    pub calls_private: bool,
    /// Hosts that may be called although they are private.
    pub allowed_hosts: Vec<String>,
    /// Ports that are called neither on this machine nor in private networks, whatever the two keys above say: those of the server's own
    /// console and inbox, which may trust whoever reaches them.
    pub refused_ports: Vec<u16>,
    /// How many requests are sent at the same time.
    pub max_parallel: usize,
    /// The longest time of a request; `timeout_milliseconds` may only be shorter.
    pub max_timeout: Duration,
    /// Longest response body in bytes.
    pub max_response_bytes: usize,
    /// How long responses are kept by default; the setting `pg_net.ttl` overrides it.
    pub ttl: Duration,
}

impl Default for NetConfig {
    fn default() -> Self {
        Self {
            calls_private: false,
            allowed_hosts: Vec::new(),
            refused_ports: Vec::new(),
            max_parallel: 50,
            max_timeout: Duration::from_secs(60),
            max_response_bytes: 10 << 20,
            ttl: Duration::from_secs(6 * 3600),
        }
    }
}

/// Limits of the jobs of pg_cron.
#[derive(Debug, Clone)]
pub struct CronConfig {
    /// How many jobs run at the same time; each has its own connection.
    pub max_running: usize,
    /// The clock that decides when a job is due. Start and end of its runs are recorded by it, too.
    pub now: fn() -> DateTime<Utc>,
}

impl Default for CronConfig {
    fn default() -> Self {
        Self {
            max_running: 32,
            now: Utc::now,
        }
    }
}
