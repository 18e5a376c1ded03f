//! What one client has in progress while others send requests, too.

use selvedge_limits::{ClientId, Presence, WorkLimits};

use super::*;

/// How many statements wait for the lock 10.
const WAITING: &str =
    "select count(*) from pg_locks where locktype = 'advisory' and objid = 10 and not granted";

async fn run_as(pool: &RequestPool, client: ClientId, text: &str) -> Result<TransactionResult, RequestError> {
    let statement = build_statement(text, &[]);
    let mut transaction = read("service_role", &statement);
    transaction.client = Some(client);
    transaction.context.extra = &[("statement_timeout", "0")];
    pool.run(transaction).await
}

async fn wait_for_waiting(watcher: &Client, expected: i64) {
    loop {
        let waiting: i64 = watcher.query_one(WAITING, &[]).await.expect("locks").get(0);
        assert!(waiting <= expected, "{waiting} at once");
        if waiting == expected {
            return;
        }
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
}

#[tokio::test]
async fn gw_049_a_client_has_two_statements_of_unknown_length_in_progress_while_others_are_there() {
    LocalSet::new()
        .run_until(async {
            let pool = Pool::new(RequestPoolConfig {
                acquire_timeout: NO_LIMIT,
                client_share: WorkLimits {
                    counted_for: NO_LIMIT,
                    ..RequestPoolConfig::default().client_share
                },
                presence: Presence::lasting(NO_LIMIT),
                ..RequestPoolConfig::default()
            })
            .await;
            let [client, other] = [(); 2].map(|()| ClientId::of_connection(None));
            let watcher = pool.test.superuser().await;
            watcher
                .batch_execute("select pg_advisory_lock(10)")
                .await
                .expect("a lock");
            run_as(&pool.pool, other, "select 'there'::text")
                .await
                .expect("an answer");

            let slow: Vec<_> = (0..8)
                .map(|shape| {
                    let pool = pool.pool.clone();
                    tokio::task::spawn_local(async move {
                        let text = format!("select pg_advisory_xact_lock_shared(10)::text as shape_{shape}");
                        run_as(&pool, client, &text).await
                    })
                })
                .collect();
            wait_for_waiting(&watcher, 2).await;

            // Another client has its own share, and statements that are known to be fast do not wait for slow ones.
            for client in [other, other, other, client] {
                run_as(&pool.pool, client, "select 'fast'::text")
                    .await
                    .expect("an answer");
            }
            wait_for_waiting(&watcher, 2).await;
            // A client that leaves keeps its share until PostgreSQL has answered.
            for task in slow.iter().take(2) {
                task.abort();
            }
            run_as(&pool.pool, other, "select 'fast'::text")
                .await
                .expect("an answer");
            wait_for_waiting(&watcher, 2).await;

            watcher
                .batch_execute("select pg_advisory_unlock(10)")
                .await
                .expect("ours");
            for task in slow.into_iter().skip(2) {
                task.await.expect("no task panics").expect("an answer");
            }
        })
        .await;
}
