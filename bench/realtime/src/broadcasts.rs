//! Broadcasts: one sender and many members, and many busy channels side by side.

use std::sync::Arc;
use std::time::{Duration, Instant};

use anyhow::{Context, Result};
use futures_util::{SinkExt, Stream, StreamExt};
use serde_json::{Value, json};
use tokio::time::{interval, sleep};
use tokio_tungstenite::tungstenite::{Error, Message};

use crate::client::{Target, times_in};
use crate::measure::{Latencies, Received, micros_each, per_second, ratio};
use crate::process::ServerProcess;

const TOPIC: &str = "realtime:bench";
/// How long members are waited for after the last message.
const SETTLE: Duration = Duration::from_secs(1);
/// Length of each payload of [`measure_channels`].
const PAYLOAD_BYTES: usize = 100;

/// What [`measure_fanout`] does.
pub(crate) struct Fanout {
    pub(crate) members: usize,
    pub(crate) payload_bytes: usize,
    /// Broadcasts per second; 0: as many as are acknowledged.
    pub(crate) rate: u32,
    /// Broadcasts that wait for their acknowledgement at a time, without a rate.
    pub(crate) window: usize,
    pub(crate) seconds: u64,
}

/// One sender and many members of one topic: measures deliveries per second, the server's CPU time for each, and
/// latency.
pub(crate) async fn measure_fanout(target: &Target, server: &ServerProcess, run: Fanout) -> Result<Value> {
    let received: Arc<Received> = Arc::default();
    let latencies = Latencies::new();
    for socket in target
        .join_all((0..run.members).map(|_| TOPIC.to_owned()))
        .await?
    {
        tokio::spawn(read_broadcasts(
            target.clone(),
            socket,
            received.clone(),
            latencies.clone(),
        ));
    }
    let config = json!({ "config": { "broadcast": { "ack": true } } });
    let mut sender = target.join(TOPIC, config).await?;
    let memory_before = server.memory_bytes()?;
    let (before, begun) = (server.cpu_time()?, Instant::now());
    let end = Duration::from_secs(run.seconds);
    let mut pace = (run.rate > 0).then(|| interval(Duration::from_secs(1) / run.rate));
    let (mut sent, mut acknowledged) = (0_u64, 0_u64);
    let window = run.window as u64;
    while begun.elapsed() < end {
        if let Some(pace) = &mut pace {
            pace.tick().await;
        }
        sender.feed(target.broadcast(TOPIC, run.payload_bytes)).await?;
        sent += 1;
        if pace.is_some() || sent - acknowledged >= window {
            sender.flush().await?;
            sender.next().await.context("the sender was closed")??;
            acknowledged += 1;
        }
    }
    sender.flush().await?;
    let elapsed = begun.elapsed();
    sleep(SETTLE).await;
    let (cpu, count) = (server.cpu_time()? - before, received.count());
    let memory = server.memory_bytes()?.saturating_sub(memory_before);
    Ok(json!({
        "delivered_per_s": per_second(count, elapsed),
        "cpu_us": micros_each(cpu, count),
        "cores": cpu.as_secs_f64() / (elapsed + SETTLE).as_secs_f64(),
        "delivered": ratio(count, sent * run.members as u64),
        "p50_ms": latencies.percentile_ms(50),
        "p99_ms": latencies.percentile_ms(99),
        "kb_each": ratio(memory, run.members as u64) / 1000.0,
    }))
}

/// What [`measure_channels`] does.
pub(crate) struct Channels {
    pub(crate) topics: usize,
    pub(crate) members: usize,
    /// Members of each topic that send.
    pub(crate) senders: usize,
    /// Broadcasts per second of each topic.
    pub(crate) rate: u32,
    pub(crate) seconds: u64,
}

/// Whether any member of many busy topics starves: how far the worst member is behind the median one, in messages and in
/// mean latency.
pub(crate) async fn measure_channels(
    target: &Target,
    server: &ServerProcess,
    run: Channels,
) -> Result<Value> {
    let latencies = Latencies::new();
    let mut members: Vec<Arc<Received>> = Vec::new();
    let mut senders = Vec::new();
    for topic in 0..run.topics {
        let topic = format!("{TOPIC}-{topic}");
        let sockets = target.join_all((0..run.members).map(|_| topic.clone())).await?;
        for (index, socket) in sockets.into_iter().enumerate() {
            let received: Arc<Received> = Arc::default();
            members.push(received.clone());
            if index < run.senders {
                let (sink, stream) = socket.split();
                senders.push((topic.clone(), sink));
                tokio::spawn(read_broadcasts(
                    target.clone(),
                    stream,
                    received,
                    latencies.clone(),
                ));
            } else {
                tokio::spawn(read_broadcasts(
                    target.clone(),
                    socket,
                    received,
                    latencies.clone(),
                ));
            }
        }
    }
    let (before, begun) = (server.cpu_time()?, Instant::now());
    let per_second_of_all = f64::from(run.rate) * ratio(run.topics as u64, 1);
    let mut pace = interval(Duration::from_secs_f64(1.0 / per_second_of_all));
    let (end, count) = (Duration::from_secs(run.seconds), senders.len());
    let mut sent = 0;
    while begun.elapsed() < end {
        pace.tick().await;
        let (topic, sink) = &mut senders[sent % count];
        sink.send(target.broadcast(topic, PAYLOAD_BYTES)).await?;
        sent += 1;
    }
    let elapsed = begun.elapsed();
    sleep(SETTLE).await;
    let cpu = server.cpu_time()? - before;
    let total: u64 = members.iter().map(|member| member.count()).sum();
    let mut counts: Vec<u64> = members.iter().map(|member| member.count()).collect();
    counts.sort_unstable();
    let mut means: Vec<f64> = members.iter().map(|member| member.mean_ms()).collect();
    means.sort_unstable_by(f64::total_cmp);
    let middle = counts.len() / 2;
    Ok(json!({
        "delivered_per_s": per_second(total, elapsed),
        "cpu_us": micros_each(cpu, total),
        "median_over_fewest": ratio(counts[middle], counts[0]),
        "slowest_over_median": means[means.len() - 1] / means[middle],
        "p99_ms": latencies.percentile_ms(99),
    }))
}

/// Counts the broadcasts of a socket and how long each took.
async fn read_broadcasts(
    target: Target,
    mut socket: impl Stream<Item = Result<Message, Error>> + Unpin,
    received: Arc<Received>,
    latencies: Latencies,
) {
    while let Some(Ok(message)) = socket.next().await {
        if message.is_binary() {
            for sent in times_in(&message) {
                let latency = target.since(sent);
                received.record(latency);
                latencies.record(latency);
            }
        }
    }
}
