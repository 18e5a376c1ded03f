//! How long a change takes from its commit to the clients.

use std::time::Duration;

use serde_json::json;
use tokio::time::Instant;

use super::support::TestServer;

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn realtime_063_changes_are_streamed_to_many_subscribers_and_not_polled() {
    const SUBSCRIBERS: usize = 200;
    const CHANGES: i32 = 15;
    /// `bench/realtime.py` measures the real figure, on a release build. Here only a poll, which adds up to half a second
    /// to every change, must be noticed, although other tests use the machine.
    const MOST: Duration = Duration::from_millis(500);
    let server = TestServer::start().await;
    let database = server.database.superuser().await;
    database
        .batch_execute(
            "create table public.ticks (id int primary key); grant select on public.ticks to anon;
             alter publication supabase_realtime add table public.ticks",
        )
        .await
        .expect("a published table");
    let config = json!({"postgres_changes": [{"event": "*", "schema": "public", "table": "ticks"}]});
    let mut subscribers = Vec::new();
    for _ in 0..SUBSCRIBERS {
        let mut subscriber = server.connect_anon().await;
        subscriber.join_ok("realtime:ticks", config.clone()).await;
        subscribers.push(subscriber);
    }
    for subscriber in &mut subscribers {
        assert_eq!(subscriber.next().await[4]["message"], "Subscribed to PostgreSQL");
    }

    // PostgreSQL streams what it has flushed. The cluster of the tests commits without a flush, which follows up to a
    // second later.
    let setting = "set synchronous_commit = on";
    database.batch_execute(setting).await.expect("a setting");
    let mut latencies = Vec::new();
    for id in 0..CHANGES {
        let insert = "insert into public.ticks values ($1)";
        database.execute(insert, &[&id]).await.expect("a row");
        let committed = Instant::now();
        for (index, subscriber) in subscribers.iter_mut().enumerate() {
            assert_eq!(subscriber.next().await[4]["data"]["record"]["id"], id);
            if index == 0 {
                latencies.push(committed.elapsed());
            }
        }
    }

    latencies.sort_unstable();
    let median = latencies[latencies.len() / 2];
    assert!(median < MOST, "the median of {latencies:?} is {median:?}");
}
