//! Connection to the message broker NATS.

use async_nats::client::RequestErrorKind;
use async_nats::connection::State;
use async_nats::{Client, ConnectOptions, Event};
use async_trait::async_trait;
use bytes::Bytes;
use futures_util::StreamExt;
use futures_util::stream::BoxStream;
use secrecy::ExposeSecret;

use super::broker::{Broker, BrokerError};
use super::config::{BrokerCredentials, ClusterConfig};

/// A connection to NATS.
pub(super) struct Nats {
    client: Client,
}

/// Servers from 2.9 on answer here with the rights of the connection's user, and older ones that nobody listens.
const ANSWERED_BY_THE_SERVER: &str = "$SYS.REQ.USER.INFO";

impl Nats {
    /// Starts to connect. Returns immediately even if no server responds; further attempts are automatic.
    ///
    /// # Errors
    /// When credentials or URLs cannot be used.
    pub(super) async fn connect(config: &ClusterConfig) -> Result<Self, BrokerError> {
        let mut options = ConnectOptions::new()
            .name("selvedge")
            // A node delivers its own messages to its own sockets without the broker.
            .no_echo()
            .retry_on_initial_connect()
            .event_callback(|event| async move { log_event(&event) });
        if let Some(file) = &config.ca_file {
            options = options.add_root_certificates(file.clone());
        }
        options = match &config.credentials {
            BrokerCredentials::None => options,
            BrokerCredentials::Token(token) => options.token(token.expose_secret().to_owned()),
            BrokerCredentials::Password { user, password } => {
                options.user_and_password(user.clone(), password.expose_secret().to_owned())
            }
            BrokerCredentials::File(file) => options
                .credentials_file(file)
                .await
                .map_err(|error| BrokerError::Credentials(error.to_string()))?,
        };
        let client = options.connect(&config.servers[..]).await;
        Ok(Self {
            client: client.map_err(|error| BrokerError::Client(error.kind().to_string()))?,
        })
    }
}

#[async_trait]
impl Broker for Nats {
    fn is_connected(&self) -> bool {
        self.client.connection_state() == State::Connected
    }

    fn max_message_bytes(&self) -> usize {
        self.client.max_payload()
    }

    async fn publish(&self, subject: String, message: Bytes) -> Result<(), BrokerError> {
        let published = self.client.publish(subject, message).await;
        published.map_err(|error| BrokerError::Client(error.kind().to_string()))
    }

    async fn subscribe(&self, subject: String) -> Result<BoxStream<'static, Bytes>, BrokerError> {
        let subscriber = self.client.subscribe(subject).await;
        let subscriber = subscriber.map_err(|error| BrokerError::Client(error.kind().to_string()))?;
        Ok(subscriber.map(|message| message.payload).boxed())
    }

    async fn flush(&self) -> Result<(), BrokerError> {
        if !self.client.server_info().headers {
            // A server before 2.2 does not say that nobody listens, so it can only be known what has left this machine.
            let flushed = self.client.flush().await;
            return flushed.map_err(|error| BrokerError::Client(error.kind().to_string()));
        }
        // The client's own `flush` ends when the bytes are in the socket. A server processes a connection's messages in their order, so
        // its answer comes when it has processed everything before.
        match self.client.request(ANSWERED_BY_THE_SERVER, Bytes::new()).await {
            Err(error) if error.kind() != RequestErrorKind::NoResponders => {
                Err(BrokerError::Client(error.kind().to_string()))
            }
            _ => Ok(()),
        }
    }
}

/// Logs what happens to the connection. The events carry no URL and no credentials.
fn log_event(event: &Event) {
    match event {
        Event::Connected => tracing::info!("connected to the message broker"),
        Event::Disconnected => tracing::warn!(
            "the message broker is away; broadcasts and presence stay on their node until it is back"
        ),
        Event::SlowConsumer(_) => {
            tracing::warn!("this node reads the message broker too slowly; messages were dropped")
        }
        other => tracing::debug!(event = %other, "message broker"),
    }
}
