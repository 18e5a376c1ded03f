//! How many connections a worker holds, and for how long.

use std::time::Duration;

use selvedge_memory::MemoryBudget;

/// How many connections a worker holds, and for how long requests wait.
#[derive(Debug, Clone)]
pub struct RequestPoolConfig {
    /// Connections that each worker keeps open. Default 2: the fewer there are, the more requests share a system call.
    pub connections_per_worker: usize,
    /// Connections that each worker may open when statements run long. Default 16.
    pub max_connections_per_worker: usize,
    /// A request does not queue behind a statement that has run for longer than this. Default 10 ms.
    pub max_wait_behind: Duration,
    /// A statement that took this long or longer counts as slow: while others can be opened, it leaves the kept connections
    /// to fast ones. Default 30 ms.
    pub slow_statement: Duration,
    /// How long a request waits for a connection. Default 10 s.
    pub acquire_timeout: Duration,
    /// Prepared statements per connection. Default 256. 0 prepares none and keeps nothing in sessions, which may be those
    /// of a transaction pooler.
    pub cached_statements: usize,
    /// An additional connection is closed after this time without work. Default 30 s.
    pub idle_timeout: Duration,
    /// Transactions that take longer are logged with the text of their statement. Default: none.
    pub slow_query: Option<Duration>,
    /// Any connection is closed when it has no work after this time. Default 30 min.
    pub max_lifetime: Duration,
    /// Where large results are counted until they are dropped. Those of reads that do not fit are refused with
    /// [`crate::RequestError::OutOfMemory`]. Default unlimited.
    pub memory: MemoryBudget,
}

impl Default for RequestPoolConfig {
    fn default() -> Self {
        Self {
            connections_per_worker: 2,
            max_connections_per_worker: 16,
            max_wait_behind: Duration::from_millis(10),
            slow_statement: Duration::from_millis(30),
            acquire_timeout: Duration::from_secs(10),
            cached_statements: 256,
            idle_timeout: Duration::from_secs(30),
            slow_query: None,
            max_lifetime: Duration::from_secs(30 * 60),
            memory: MemoryBudget::unlimited(),
        }
    }
}
