//! Presence: a topic whose members join and leave.

use std::collections::VecDeque;
use std::time::{Duration, Instant};

use anyhow::Result;
use futures_util::stream::SplitSink;
use futures_util::{SinkExt, Stream, StreamExt};
use serde_json::{Value, json};
use tokio::time::{interval, sleep};
use tokio_tungstenite::tungstenite::{Error, Message};

use crate::client::{Socket, Target, send, times_in};
use crate::measure::Latencies;
use crate::process::ServerProcess;

const TOPIC: &str = "realtime:bench-presence";
/// Pause after the members have joined, so that their own diffs are not measured, and after the last change.
const SETTLE: Duration = Duration::from_secs(2);

/// What [`measure_presence`] does.
pub(crate) struct Presence {
    pub(crate) members: usize,
    /// Members that join, and as many that leave, per second.
    pub(crate) rate: u32,
    pub(crate) seconds: u64,
}

/// How long a diff takes from the `track` of a new member to every member, and the CPU time of the server.
pub(crate) async fn measure_presence(
    target: &Target,
    server: &ServerProcess,
    run: Presence,
) -> Result<Value> {
    let latencies = Latencies::new();
    for socket in target
        .join_all((0..run.members).map(|_| TOPIC.to_owned()))
        .await?
    {
        let mut socket = socket;
        track(&mut socket, json!({ "name": "a member" })).await?;
        tokio::spawn(read_diffs(target.clone(), socket, latencies.clone()));
    }
    // Members that join and leave use sockets of their own. Half of these have joined at any time, and the oldest one
    // leaves.
    let mut outside: VecDeque<Visitor> = VecDeque::new();
    for index in 0..2 * run.rate {
        let socket = target
            .join(&format!("{TOPIC}-{index}"), json!({ "config": {} }))
            .await?;
        outside.push_back(Visitor::new(socket));
    }
    let mut inside: VecDeque<Visitor> = VecDeque::new();
    sleep(SETTLE).await;
    let (before, begun) = (server.cpu_time()?, Instant::now());
    let mut pace = interval(Duration::from_secs(1) / run.rate);
    let mut changes = 0_u64;
    while begun.elapsed() < Duration::from_secs(run.seconds) {
        pace.tick().await;
        let mut visitor = outside.pop_front().expect("twice as many as are inside");
        visitor.enter(target.now_micros()).await?;
        inside.push_back(visitor);
        changes += 1;
        if inside.len() > run.rate as usize
            && let Some(mut visitor) = inside.pop_front()
        {
            visitor.leave().await?;
            outside.push_back(visitor);
        }
    }
    let (cpu, elapsed) = (server.cpu_time()? - before, begun.elapsed());
    sleep(SETTLE).await;
    Ok(json!({
        "joins": changes,
        "cores": cpu.as_secs_f64() / elapsed.as_secs_f64(),
        "p50_ms": latencies.percentile_ms(50),
        "p99_ms": latencies.percentile_ms(99),
    }))
}

async fn track(socket: &mut Socket, payload: Value) -> Result<()> {
    let push = json!({ "type": "presence", "event": "track", "payload": payload });
    send(socket, TOPIC, "presence", push).await
}

/// A socket that joins the topic, tracks itself and leaves again.
struct Visitor {
    sink: SplitSink<Socket, Message>,
}

impl Visitor {
    fn new(socket: Socket) -> Self {
        let (sink, mut stream) = socket.split();
        tokio::spawn(async move { while let Some(Ok(_)) = stream.next().await {} });
        Self { sink }
    }

    async fn enter(&mut self, now_micros: u64) -> Result<()> {
        let join = json!(["2", "2", TOPIC, "phx_join", { "config": { "presence": { "enabled": true } } }]);
        let push = json!({ "type": "presence", "event": "track", "payload": { "t": now_micros, "n": 1 } });
        let track = json!(["2", "3", TOPIC, "presence", push]);
        self.sink.feed(Message::text(join.to_string())).await?;
        Ok(self.sink.send(Message::text(track.to_string())).await?)
    }

    async fn leave(&mut self) -> Result<()> {
        let leave = json!(["2", "4", TOPIC, "phx_leave", {}]);
        Ok(self.sink.send(Message::text(leave.to_string())).await?)
    }
}

/// Measures the diffs that contain a join.
async fn read_diffs(
    target: Target,
    mut socket: impl Stream<Item = Result<Message, Error>> + Unpin,
    latencies: Latencies,
) {
    while let Some(Ok(message)) = socket.next().await {
        let Ok(text) = message.to_text() else { continue };
        if !text.contains("presence_diff") {
            continue;
        }
        // What follows `leaves` describes members that joined earlier.
        let joins = text.split(r#""leaves":"#).next().unwrap_or_default();
        for sent in times_in(&Message::text(joins)) {
            latencies.record(target.since(sent));
        }
    }
}
