//! Database changes: from the commit to the client, and under row-level security with many identities.
//!
//! Uses a table `public.bench_changes (id bigint primary key generated, owner uuid, t bigint)` in the publication
//! `supabase_realtime`, which `bench/realtime.py` makes.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};
use futures_util::StreamExt;
use serde_json::{Value, json};
use tokio::time::{MissedTickBehavior, interval, sleep};
use tokio_postgres::{Client, NoTls};
use tokio_tungstenite::tungstenite::Message;

use crate::client::{Socket, Target, times_in};
use crate::measure::{Latencies, micros_each, ratio};
use crate::process::ServerProcess;

const TOPIC: &str = "realtime:bench-changes";
const TABLE: &str = "bench_changes";
/// Subscribers are waited for this long after the last change.
const SETTLE: Duration = Duration::from_secs(3);
/// Pause between two commits of [`measure_latency`].
const PAUSE: Duration = Duration::from_millis(20);
/// Transactions per second of [`measure_rights`]; each one inserts many rows.
const TRANSACTIONS_PER_SECOND: u32 = 50;

/// A person of the table's policy: their id and their token.
#[derive(Clone)]
pub(crate) struct Identity {
    pub(crate) id: String,
    pub(crate) token: String,
}

/// Latencies of one subscriber: from the time in the change to its arrival, and from the acknowledgement of its
/// commit. More subscribers of the same rows may wait beside it, whose latencies from the insert are counted as well.
pub(crate) async fn measure_latency(
    target: &Target,
    server: &ServerProcess,
    database: &str,
    identity: &Identity,
    subscribers: usize,
    seconds: u64,
) -> Result<Value> {
    let client = connect(database).await?;
    let mut socket = subscribe(target, identity, TABLE).await?;
    let (from_insert, from_commit, of_all) = (Latencies::new(), Latencies::new(), Latencies::new());
    for _ in 1..subscribers {
        let other = subscribe(target, identity, TABLE).await?;
        let tally = Arc::<Tally>::default();
        tokio::spawn(read_changes(
            target.clone(),
            other,
            identity.id.clone(),
            tally,
            of_all.clone(),
        ));
    }
    let (before, begun) = (server.cpu_time()?, Instant::now());
    let mut changes = 0;
    while begun.elapsed() < Duration::from_secs(seconds) {
        let sent = target.now_micros();
        let insert = async {
            let result = insert(&client, std::slice::from_ref(identity), 1, sent).await;
            result.map(|()| target.now_micros())
        };
        let change = async {
            loop {
                let message = socket.next().await.context("the subscriber was closed")??;
                if times_in(&message).any(|time| time == sent) {
                    return anyhow::Ok(target.now_micros());
                }
            }
        };
        // The change may arrive before PostgreSQL has acknowledged the commit to the driver.
        let (committed, received) = tokio::try_join!(insert, change)?;
        from_insert.record(Duration::from_micros(received - sent));
        from_commit.record(Duration::from_micros(received.saturating_sub(committed)));
        changes += 1;
        sleep(PAUSE).await;
    }
    Ok(json!({
        "changes": changes,
        "cpu_us": micros_each(server.cpu_time()? - before, changes),
        "commit_p50_ms": from_commit.percentile_ms(50),
        "commit_p99_ms": from_commit.percentile_ms(99),
        "insert_p50_ms": from_insert.percentile_ms(50),
        "insert_p99_ms": from_insert.percentile_ms(99),
        "all_p50_ms": of_all.percentile_ms(50),
        "all_p99_ms": of_all.percentile_ms(99),
    }))
}

/// What [`measure_rights`] does.
pub(crate) struct Rights {
    pub(crate) subscribers: usize,
    /// Changes per second.
    pub(crate) rate: u32,
    pub(crate) seconds: u64,
}

/// Which changes the subscribers received.
#[derive(Default)]
struct Tally {
    delivered: AtomicU64,
    /// Rows that belong to another user; row-level security should make this 0.
    foreign: AtomicU64,
}

/// Inserts rows that only their owner may see, for subscribers of many identities: checks that each gets all of its
/// own rows and no others, and measures the latency from the insert.
pub(crate) async fn measure_rights(
    target: &Target,
    server: &ServerProcess,
    database: &str,
    identities: &[Identity],
    run: Rights,
) -> Result<Value> {
    let client = connect(database).await?;
    let (tally, latencies) = (Arc::<Tally>::default(), Latencies::new());
    let mut subscribers_of = vec![0_u64; identities.len()];
    for index in 0..run.subscribers {
        let identity = &identities[index % identities.len()];
        let socket = subscribe(target, identity, TABLE).await?;
        subscribers_of[index % identities.len()] += 1;
        let reading = read_changes(
            target.clone(),
            socket,
            identity.id.clone(),
            tally.clone(),
            latencies.clone(),
        );
        tokio::spawn(reading);
    }
    let rows = run.rate.div_ceil(TRANSACTIONS_PER_SECOND) as usize;
    let (before, begun) = (server.cpu_time()?, Instant::now());
    let mut pace = interval(Duration::from_secs(1) / TRANSACTIONS_PER_SECOND);
    pace.set_missed_tick_behavior(MissedTickBehavior::Delay);
    let (mut inserted, mut expected) = (0_usize, 0_u64);
    while begun.elapsed() < Duration::from_secs(run.seconds) {
        pace.tick().await;
        let owners: Vec<usize> = (inserted..inserted + rows)
            .map(|row| row % identities.len())
            .collect();
        let of_batch: Vec<Identity> = owners.iter().map(|owner| identities[*owner].clone()).collect();
        insert(&client, &of_batch, rows, target.now_micros()).await?;
        expected += owners.iter().map(|owner| subscribers_of[*owner]).sum::<u64>();
        inserted += rows;
    }
    let elapsed = begun.elapsed();
    sleep(SETTLE).await;
    let cpu = server.cpu_time()? - before;
    let delivered = tally.delivered.load(Ordering::Relaxed);
    Ok(json!({
        "changes_per_s": ratio(inserted as u64, 1) / elapsed.as_secs_f64(),
        "expected": expected,
        "delivered": delivered,
        "foreign": tally.foreign.load(Ordering::Relaxed),
        "cores": cpu.as_secs_f64() / (elapsed + SETTLE).as_secs_f64(),
        "p50_ms": latencies.percentile_ms(50),
        "p99_ms": latencies.percentile_ms(99),
    }))
}

/// Opens a connection to the database.
pub(crate) async fn connect(database: &str) -> Result<Client> {
    let (client, connection) = tokio_postgres::connect(database, NoTls).await?;
    tokio::spawn(connection);
    Ok(client)
}

/// Inserts rows of these owners, in turn, in one transaction.
async fn insert(client: &Client, owners: &[Identity], rows: usize, sent: u64) -> Result<()> {
    let owners: Vec<&str> = owners.iter().map(|identity| identity.id.as_str()).collect();
    let statement = "insert into public.bench_changes (owner, t) select unnest($1::text[])::uuid, $2";
    let inserted = client
        .execute(statement, &[&owners, &i64::try_from(sent)?])
        .await?;
    ensure!(inserted == rows as u64, "{inserted} rows instead of {rows}");
    Ok(())
}

/// Joins with a binding for inserts into a table, and waits until changes flow.
pub(crate) async fn subscribe(target: &Target, identity: &Identity, table: &str) -> Result<Socket> {
    let binding = json!({ "event": "INSERT", "schema": "public", "table": table });
    let payload = json!({ "config": { "postgres_changes": [binding] }, "access_token": identity.token });
    let mut socket = target.join(TOPIC, payload).await?;
    loop {
        let message = socket.next().await.context("closed before the subscription")??;
        let text = message.to_text()?;
        if text.contains("\"system\"") {
            ensure!(
                text.contains("Subscribed to PostgreSQL"),
                "not subscribed: {text}"
            );
            return Ok(socket);
        }
    }
}

/// Counts the changes of one subscriber.
async fn read_changes(
    target: Target,
    mut socket: Socket,
    owner: String,
    tally: Arc<Tally>,
    latencies: Latencies,
) {
    while let Some(Ok(message)) = socket.next().await {
        let Message::Text(text) = &message else { continue };
        if !text.contains("\"postgres_changes\"") {
            continue;
        }
        let of_owner = text.contains(&owner);
        for sent in times_in(&message) {
            latencies.record(target.since(sent));
            let count = if of_owner {
                &tally.delivered
            } else {
                &tally.foreign
            };
            count.fetch_add(1, Ordering::Relaxed);
        }
    }
}
