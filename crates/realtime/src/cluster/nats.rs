//! Connection to the message broker NATS.

use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use async_nats::client::RequestErrorKind;
use async_nats::connection::State;
use async_nats::{Client, ConnectOptions, Event, Request};
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
    /// How many questions in a row the server has not answered.
    unanswered: AtomicU32,
}

/// How long the server has for an answer, which takes it less than a millisecond at rest.
const ANSWER_TIMEOUT: Duration = Duration::from_secs(2);
/// After so many questions without an answer none is asked any more: the connection's user may not ask.
const MAX_UNANSWERED: u32 = 3;

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
            unanswered: AtomicU32::new(0),
        })
    }

    /// Waits until what was sent has left this machine.
    async fn flush_client(&self) -> Result<(), BrokerError> {
        let flushed = self.client.flush().await;
        flushed.map_err(|error| BrokerError::Client(error.kind().to_string()))
    }

    fn note_silence(&self) {
        if self.unanswered.fetch_add(1, Ordering::Relaxed) + 1 == MAX_UNANSWERED {
            tracing::warn!(
                subject = ANSWERED_BY_THE_SERVER,
                "the message broker does not answer: does its user lack the right to publish there, or to subscribe to _INBOX.>? \
                 Channels join without waiting for it, and may miss what other nodes broadcast at that moment"
            );
        }
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
        // A server before 2.2 does not say that nobody listens.
        let may_ask =
            self.client.server_info().headers && self.unanswered.load(Ordering::Relaxed) < MAX_UNANSWERED;
        if !may_ask {
            return self.flush_client().await;
        }
        // The client's own `flush` ends when the bytes are in the socket. A server processes a connection's messages in their order, so
        // its answer comes when it has processed everything before.
        let question = Request::new().timeout(Some(ANSWER_TIMEOUT));
        let answer = self.client.send_request(ANSWERED_BY_THE_SERVER, question).await;
        match answer.map_err(|error| error.kind()) {
            Err(RequestErrorKind::TimedOut) => self.note_silence(),
            Err(RequestErrorKind::NoResponders) | Ok(_) => self.unanswered.store(0, Ordering::Relaxed),
            Err(kind) => return Err(BrokerError::Client(kind.to_string())),
        }
        Ok(())
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
