//! The interface that the cluster needs of a message broker.

use async_trait::async_trait;
use bytes::Bytes;
use futures_util::stream::BoxStream;

/// A connection to a publish-subscribe broker that delivers at most once, in order per publisher and subscriber. It
/// reconnects by itself, and its subscriptions survive that.
#[async_trait]
pub(super) trait Broker: Send + Sync {
    /// Whether the connection is up.
    fn is_connected(&self) -> bool;

    /// Longest message in bytes that the broker accepts.
    fn max_message_bytes(&self) -> usize;

    /// Sends a message to every other node that has subscribed to the subject.
    async fn publish(&self, subject: String, message: Bytes) -> Result<(), BrokerError>;

    /// The messages that other nodes publish under the subject from now on. The subscription ends when the stream is
    /// dropped.
    async fn subscribe(&self, subject: String) -> Result<BoxStream<'static, Bytes>, BrokerError>;

    /// Waits until the broker has processed everything sent before.
    async fn flush(&self) -> Result<(), BrokerError>;
}

/// Why the broker could not be used. The text holds no credentials.
#[derive(Debug, thiserror::Error)]
pub(super) enum BrokerError {
    /// A file of the configuration cannot be read, or does not hold credentials.
    #[error("the credentials cannot be used: {0}")]
    Credentials(String),
    /// A server's URL is malformed, or the connection has ended permanently.
    #[error("the broker cannot be used: {0}")]
    Client(String),
}
