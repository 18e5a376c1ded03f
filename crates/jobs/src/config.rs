//! What the server's configuration decides about the workers.

use std::time::Duration;

/// Configuration of all workers.
#[derive(Debug, Clone, Default)]
pub struct JobsConfig {
    /// HTTP requests of pg_net.
    pub net: NetConfig,
    /// Jobs of pg_cron.
    pub cron: CronConfig,
}

/// Limits of the requests that SQL sends through pg_net.
#[derive(Debug, Clone)]
pub struct NetConfig {
    /// Whether addresses of this machine and of private networks may be called. False in production, where whoever may
    /// write SQL could otherwise reach what only the server can.
    pub calls_private: bool,
    /// Hosts that may be called although they are private.
    pub allowed_hosts: Vec<String>,
    /// Requests in progress at once.
    pub max_parallel: usize,
    /// Longest time of one request, whatever `timeout_milliseconds` says.
    pub max_timeout: Duration,
    /// Longest response body in bytes.
    pub max_response_bytes: usize,
    /// How long responses are kept, unless the setting `pg_net.ttl` says otherwise.
    pub ttl: Duration,
}

impl Default for NetConfig {
    fn default() -> Self {
        Self {
            calls_private: false,
            allowed_hosts: Vec::new(),
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
    /// Jobs that run at once, each over a connection of its own.
    pub max_running: usize,
}

impl Default for CronConfig {
    fn default() -> Self {
        Self { max_running: 32 }
    }
}
