//! Sockets of the driver: version 2 of the protocol.

use std::sync::Arc;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};
use futures_util::stream::FuturesUnordered;
use futures_util::{SinkExt, StreamExt};
use serde_json::{Value, json};
use tokio::net::TcpStream;
use tokio_tungstenite::WebSocketStream;
use tokio_tungstenite::tungstenite::Message;
use tokio_tungstenite::tungstenite::protocol::WebSocketConfig;

/// Read buffer of each socket; thousands of them live in the driver.
const READ_BUFFER_BYTES: usize = 4096;
/// Connections that are being opened at a time, below what a listener's backlog holds.
const CONNECTING: usize = 256;

/// An open socket.
pub(crate) type Socket = WebSocketStream<TcpStream>;

/// The server's port and key, and the instant from which times are counted.
#[derive(Clone)]
pub(crate) struct Target {
    port: u16,
    key: Arc<str>,
    started: Instant,
}

impl Target {
    pub(crate) fn new(port: u16, key: &str) -> Self {
        Self {
            port,
            key: key.into(),
            started: Instant::now(),
        }
    }

    pub(crate) fn port(&self) -> u16 {
        self.port
    }

    pub(crate) fn key(&self) -> &str {
        &self.key
    }

    /// Opens a socket and joins a topic; `payload` is that of `phx_join`.
    pub(crate) async fn join(&self, topic: &str, payload: Value) -> Result<Socket> {
        let stream = TcpStream::connect(("127.0.0.1", self.port)).await?;
        stream.set_nodelay(true)?;
        let (port, key) = (self.port, &self.key);
        let url = format!("ws://127.0.0.1:{port}/realtime/v1/websocket?apikey={key}&vsn=2.0.0");
        let limits = WebSocketConfig::default().read_buffer_size(READ_BUFFER_BYTES);
        let (mut socket, _) = tokio_tungstenite::client_async_with_config(url, stream, Some(limits)).await?;
        send(&mut socket, topic, "phx_join", payload).await?;
        let reply = socket.next().await.context("closed during the join")??;
        let is_ok = reply.to_text()?.contains("\"status\":\"ok\"");
        ensure!(is_ok, "the join was refused: {reply}");
        Ok(socket)
    }

    /// Joins one socket per topic, a few at a time. The returned sockets are in no particular order.
    pub(crate) async fn join_all(&self, topics: impl Iterator<Item = String>) -> Result<Vec<Socket>> {
        let mut topics = topics.map(|topic| async move { self.join(&topic, json!({ "config": {} })).await });
        let mut joining: FuturesUnordered<_> = topics.by_ref().take(CONNECTING).collect();
        let mut joined = Vec::new();
        while let Some(socket) = joining.next().await {
            joined.push(socket?);
            joining.extend(topics.next());
        }
        Ok(joined)
    }

    /// Microseconds since the driver's start: what messages carry as the time when they were sent.
    pub(crate) fn now_micros(&self) -> u64 {
        u64::try_from(self.started.elapsed().as_micros()).unwrap_or(u64::MAX)
    }

    /// Time that has passed since a value of [`Target::now_micros`].
    pub(crate) fn since(&self, micros: u64) -> Duration {
        self.started
            .elapsed()
            .saturating_sub(Duration::from_micros(micros))
    }

    /// A binary broadcast push of kind 3: a JSON object that says when it was sent, filled up to this many bytes.
    pub(crate) fn broadcast(&self, topic: &str, bytes: usize) -> Message {
        let topic_length = u8::try_from(topic.len()).expect("the driver's topics are short");
        let mut payload = format!(r#"{{"t":{},"x":""#, self.now_micros());
        payload.extend(std::iter::repeat_n('x', bytes.saturating_sub(payload.len() + 2)));
        payload.push_str("\"}");
        let mut frame = vec![3, 1, 1, topic_length, 1, 0, 1];
        frame.extend_from_slice(format!("11{topic}e{payload}").as_bytes());
        Message::binary(frame)
    }
}

/// Sends a text frame with `1` for both references.
pub(crate) async fn send(socket: &mut Socket, topic: &str, event: &str, payload: Value) -> Result<()> {
    let frame = json!(["1", "1", topic, event, payload]);
    Ok(socket.send(Message::text(frame.to_string())).await?)
}

/// The values of every `"t":` in a message: the times at which its parts were sent.
pub(crate) fn times_in(message: &Message) -> impl Iterator<Item = u64> {
    let bytes: &[u8] = match message {
        Message::Text(text) => text.as_bytes(),
        Message::Binary(bytes) => bytes,
        _ => &[],
    };
    // The head of a binary frame is not UTF-8 when a length in it is above 127.
    let text = String::from_utf8_lossy(bytes).into_owned();
    let times: Vec<u64> = text
        .split(r#""t":"#)
        .skip(1)
        .filter_map(|rest| {
            let end = rest.find(|letter: char| !letter.is_ascii_digit())?;
            rest[..end].parse().ok()
        })
        .collect();
    times.into_iter()
}
