//! What must not make the server's memory grow: a transaction of many rows, a row of many bytes, and connections whose
//! clients have vanished.
//!
//! Uses the tables `public.bench_changes` and `public.bench_documents (id, owner uuid, body text)` of `bench/realtime.py`.

use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};
use futures_util::StreamExt;
use futures_util::stream::{self, TryStreamExt};
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::time::{sleep, timeout};

use crate::changes::{Identity, connect, subscribe};
use crate::client::{Target, send, times_in};
use crate::measure::ratio;
use crate::process::ServerProcess;

/// Pause before memory is read, so that memory needed only for a moment is returned to the system.
const SETTLE: Duration = Duration::from_secs(5);
/// Longest wait for the next change.
const PATIENCE: Duration = Duration::from_secs(60);
/// Longest wait until the server has closed every half-open connection: it does so a minute after the last frame.
const CLOSING: Duration = Duration::from_secs(150);
/// Pause between two broadcasts to the vanished clients.
const PAUSE: Duration = Duration::from_millis(100);
/// The line of `/metrics` with the number of open sockets.
const SOCKETS_METRIC: &str = "selvedge_realtime_sockets ";
/// Handshakes at a time.
const CONNECTING: usize = 256;

/// Memory of the server during a scenario.
struct Memory<'a> {
    server: &'a ServerProcess,
    before: u64,
}

impl<'a> Memory<'a> {
    fn watch(server: &'a ServerProcess) -> Result<Self> {
        server.reset_peak_memory()?;
        let before = server.memory_bytes()?;
        Ok(Self { server, before })
    }

    /// Megabytes above the start: the most there were, and those that are left after a while.
    async fn grown(&self) -> Result<(f64, f64)> {
        let peak = self.server.peak_memory_bytes()?;
        sleep(SETTLE).await;
        let after = self.server.memory_bytes()?;
        let megabytes = |bytes: u64| ratio(bytes.saturating_sub(self.before), 1) / 1e6;
        Ok((megabytes(peak), megabytes(after)))
    }
}

/// One transaction that inserts many rows, and one subscriber that may see them all.
pub(crate) async fn measure_transaction(
    target: &Target,
    server: &ServerProcess,
    database: &str,
    identity: &Identity,
    rows: u32,
) -> Result<Value> {
    let client = connect(database).await?;
    let mut socket = subscribe(target, identity, "bench_changes").await?;
    let memory = Memory::watch(server)?;
    let statement = "insert into public.bench_changes (owner, t) select $1::text::uuid, n from generate_series(1, $2::int8) n";
    let inserting = tokio::spawn({
        let (owner, rows) = (identity.id.clone(), i64::from(rows));
        async move { client.execute(statement, &[&owner, &rows]).await }
    });
    let begun = Instant::now();
    let mut delivered = 0_u64;
    let mut in_order = true;
    while delivered < u64::from(rows) {
        let message = timeout(PATIENCE, socket.next())
            .await
            .context("no further change")?;
        let message = message.context("the subscriber was closed")??;
        for time in times_in(&message) {
            delivered += 1;
            in_order &= time == delivered;
        }
    }
    let seconds = begun.elapsed().as_secs_f64();
    inserting.await??;
    ensure!(in_order, "the rows came in another order");
    let (peak_mb, left_mb) = memory.grown().await?;
    Ok(json!({ "delivered": delivered, "seconds": seconds, "peak_mb": peak_mb, "left_mb": left_mb }))
}

/// One row with a value of many bytes: the subscriber gets its small columns.
pub(crate) async fn measure_large_row(
    target: &Target,
    server: &ServerProcess,
    database: &str,
    identity: &Identity,
    bytes: i32,
) -> Result<Value> {
    let client = connect(database).await?;
    let mut socket = subscribe(target, identity, "bench_documents").await?;
    let memory = Memory::watch(server)?;
    let statement =
        "insert into public.bench_documents (owner, body) values ($1::text::uuid, repeat('x', $2))";
    client.execute(statement, &[&identity.id, &bytes]).await?;
    let begun = Instant::now();
    let message = timeout(PATIENCE, socket.next()).await.context("no change")?;
    let message = message.context("the subscriber was closed")??;
    let seconds = begun.elapsed().as_secs_f64();
    let text = message.to_text()?;
    ensure!(text.contains("Error 413: Payload Too Large"), "{text}");
    ensure!(text.len() < 2_000, "{} bytes were sent", text.len());
    let (peak_mb, left_mb) = memory.grown().await?;
    Ok(json!({ "seconds": seconds, "peak_mb": peak_mb, "left_mb": left_mb }))
}

/// Many clients that vanish after their join without closing the connection; another one stays.
pub(crate) async fn measure_half_open(
    target: &Target,
    server: &ServerProcess,
    sockets: usize,
) -> Result<Value> {
    const TOPIC: &str = "realtime:bench-half-open";
    let config = json!({ "config": { "broadcast": { "ack": true } } });
    let mut bystander = target.join(TOPIC, config).await?;
    let memory = Memory::watch(server)?;
    let silent: Vec<TcpStream> = stream::iter(0..sockets)
        .map(|_| open_silent(target, TOPIC))
        .buffer_unordered(CONNECTING)
        .try_collect()
        .await?;
    let begun = Instant::now();
    let all = count_sockets(target).await?;
    ensure!(all > sockets as u64, "only {all} sockets are open");
    let mut slowest_ms = 0_f64;
    // The bystander's own is left.
    while count_sockets(target).await? > 1 {
        ensure!(begun.elapsed() < CLOSING, "not all are closed");
        let sent = Instant::now();
        // Goes to the vanished ones as well, whose queues and kernel buffers it fills.
        let message = json!({ "type": "broadcast", "event": "e", "payload": {} });
        send(&mut bystander, TOPIC, "broadcast", message).await?;
        let reply = timeout(PATIENCE, bystander.next()).await;
        reply.context("no acknowledgement")?.context("closed")??;
        slowest_ms = slowest_ms.max(sent.elapsed().as_secs_f64() * 1000.0);
        sleep(PAUSE).await;
    }
    let seconds = begun.elapsed().as_secs_f64();
    drop(silent);
    let (peak_mb, left_mb) = memory.grown().await?;
    Ok(json!({
        "sockets": sockets, "closed_after_s": seconds, "slowest_ack_ms": slowest_ms, "peak_mb": peak_mb, "left_mb": left_mb,
    }))
}

/// The server's open sockets, as `/metrics` counts them.
async fn count_sockets(target: &Target) -> Result<u64> {
    let mut stream = TcpStream::connect(("127.0.0.1", target.port())).await?;
    stream
        .write_all(b"GET /metrics HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n\r\n")
        .await?;
    let mut response = String::new();
    stream.read_to_string(&mut response).await?;
    let count = response
        .lines()
        .find_map(|line| line.strip_prefix(SOCKETS_METRIC));
    Ok(count
        .context("/metrics has no count of sockets")?
        .trim()
        .parse()?)
}

/// A connection that has joined and from then on neither reads nor writes, as seen from the server.
async fn open_silent(target: &Target, topic: &str) -> Result<TcpStream> {
    let mut stream = TcpStream::connect(("127.0.0.1", target.port())).await?;
    let request = format!(
        "GET /realtime/v1/websocket?apikey={}&vsn=2.0.0 HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: Upgrade\r\n\
         Upgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n",
        target.key()
    );
    stream.write_all(request.as_bytes()).await?;
    let mut head = Vec::new();
    while !head.ends_with(b"\r\n\r\n") {
        head.push(stream.read_u8().await?);
    }
    ensure!(head.starts_with(b"HTTP/1.1 101"), "the upgrade was refused");
    stream
        .write_all(&masked_text(
            &json!(["1", "1", topic, "phx_join", {}]).to_string(),
        ))
        .await?;
    // The first byte of the reply: the join is done.
    stream.read_u8().await?;
    Ok(stream)
}

/// A text frame of less than 126 bytes, masked with zeros, which leave the text as it is.
fn masked_text(text: &str) -> Vec<u8> {
    let length = u8::try_from(text.len()).expect("short texts only");
    [&[0x81, 0x80 | length, 0, 0, 0, 0], text.as_bytes()].concat()
}
