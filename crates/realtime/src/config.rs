//! Limits and timeouts of the service. The defaults suit a self-hosted server; 0 means "no limit" only where a field
//! documents it.

use std::time::Duration;

use selvedge_limits::ShareLimit;
use selvedge_memory::MemoryBudget;
use selvedge_telemetry::Telemetry;

use crate::cluster::ClusterConfig;

/// Configuration of [`crate::Realtime`].
#[derive(Debug, Clone)]
pub struct RealtimeConfig {
    /// Most open sockets of this process; more upgrades are refused with 429. Default 10 000; 0: any number.
    pub max_sockets: usize,
    /// Most channels of one socket. Default 100.
    pub max_channels_per_socket: usize,
    /// Most subscriptions to database changes of one client address (an IPv6 client's /64 network); a join beyond it is refused.
    /// Default 2 000; 0: any number.
    pub max_bindings_per_address: usize,
    /// Most open sockets of one client address behind proxies. Without proxies the listener counts connections. Default: any number.
    pub max_sockets_per_address: Option<ShareLimit>,
    /// The number of proxies in front of the server whose `X-Forwarded-For` is trusted. Default 0.
    pub trusted_proxies: usize,
    /// What messages, presence and answers above 64 KiB are reserved from. Default: no limit.
    pub memory: MemoryBudget,
    /// Joins per second, averaged over at most a minute, before joins are refused. Default 0: any number.
    pub max_joins_per_second: u32,
    /// Messages received and delivered per second, averaged over at most a minute, before receiving channels are closed.
    /// Default 0: any number.
    pub max_events_per_second: u32,
    /// Presence messages per second, averaged over at most a minute. Default 0: any number.
    pub max_presence_events_per_second: u32,
    /// How long events are collected before they count in the three rates above; the averages cover 12 of these.
    /// Default 5 s, as upstream, so that limits trip after the same bursts.
    pub rate_interval: Duration,
    /// Presence pushes that one channel may send within [`RealtimeConfig::presence_window`]. Default 5; 0: any number.
    pub max_presence_pushes: u32,
    /// The window of `max_presence_pushes`. Default 30 s.
    pub presence_window: Duration,
    /// Longest payload of a broadcast or presence push in bytes. Default 3 000 000.
    pub max_payload_bytes: usize,
    /// Longest frame that a client may send in bytes; a longer one closes the socket with 1009. Default 5 000 000.
    pub max_frame_bytes: usize,
    /// A socket that sends nothing for this long is closed with 1000. Default 60 s.
    pub idle_timeout: Duration,
    /// A socket that had channels and has none any more is closed after this long. Default 10 min.
    pub no_channel_timeout: Duration,
    /// How often a channel's token is verified again before it expires. Default 5 min.
    pub token_check_interval: Duration,
    /// Most messages that wait for one slow reader before its socket is closed. Default 8 192.
    pub max_queued_messages: usize,
    /// Most bytes that wait for one slow reader before its socket is closed. Default 16 MiB.
    pub max_queued_bytes: usize,
    /// How long a large transaction waits after each batch of changes for sockets whose queues are half full. A client
    /// that reads a batch (512 changes) in this time is not closed as a slow reader; one that does not read at all delays
    /// the others by a few times this long, until its queue is full. Default 100 ms.
    pub reader_grace: Duration,
    /// Whether public channels are refused. Default false.
    pub private_only: bool,
    /// Database connections for policy checks and replays. Default 4.
    pub database_connections: usize,
    /// How long one policy check or replay may take. Default 5 s.
    pub database_timeout: Duration,
    /// Shortest time between two presence diffs of one topic; changes in between are merged. Default 50 ms.
    pub presence_interval: Duration,
    /// The period over which a shutdown spreads the closing of its sockets, so that clients do not reconnect at the same
    /// time. Default 2 s.
    pub drain_duration: Duration,
    /// The message broker through which the nodes of a project reach each other. Default: none, a node alone.
    pub cluster: Option<ClusterConfig>,
    /// Where the spans of messages go. Default: none are made.
    pub telemetry: Option<Telemetry>,
}

impl Default for RealtimeConfig {
    fn default() -> Self {
        Self {
            max_sockets: 10_000,
            max_channels_per_socket: 100,
            max_bindings_per_address: 2000,
            max_sockets_per_address: None,
            trusted_proxies: 0,
            memory: MemoryBudget::unlimited(),
            max_joins_per_second: 0,
            max_events_per_second: 0,
            max_presence_events_per_second: 0,
            rate_interval: Duration::from_secs(5),
            max_presence_pushes: 5,
            presence_window: Duration::from_secs(30),
            max_payload_bytes: 3_000_000,
            max_frame_bytes: 5_000_000,
            idle_timeout: Duration::from_secs(60),
            no_channel_timeout: Duration::from_secs(600),
            token_check_interval: Duration::from_secs(300),
            max_queued_messages: 8192,
            max_queued_bytes: 16 * 1024 * 1024,
            reader_grace: Duration::from_millis(100),
            private_only: false,
            database_connections: 4,
            database_timeout: Duration::from_secs(5),
            presence_interval: Duration::from_millis(50),
            drain_duration: Duration::from_secs(2),
            cluster: None,
            telemetry: None,
        }
    }
}

/// Bytes that the upstream service adds to the payload limit for the JSON around a payload.
const ENVELOPE_BYTES: usize = 500;

/// A batch of the HTTP API may be this many times as long as one payload. Every message in it is held to the limit for
/// single payloads as well.
const BATCH_FACTOR: usize = 4;

impl RealtimeConfig {
    /// Longest body of `POST /api/broadcast`, in bytes.
    pub(crate) fn max_batch_bytes(&self) -> usize {
        self.max_payload_bytes.saturating_mul(BATCH_FACTOR)
    }

    /// Whether a payload of this many bytes is over the limit.
    pub(crate) fn is_too_large(&self, payload_bytes: usize) -> bool {
        payload_bytes > self.max_payload_bytes + ENVELOPE_BYTES
    }
}
