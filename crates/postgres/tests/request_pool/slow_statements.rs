//! Fast statements and reads beside slow statements.

use super::*;

#[tokio::test]
async fn fast_statements_do_not_wait_for_slow_ones() {
    LocalSet::new()
        .run_until(async {
            let pool = Pool::new(RequestPoolConfig {
                connections_per_worker: 2,
                max_connections_per_worker: 6,
                // Only what is known of the statements keeps them apart: the fast ones have run, the slow ones have not.
                max_wait_behind: NO_LIMIT,
                slow_statement: NO_LIMIT,
                acquire_timeout: NO_LIMIT,
                ..RequestPoolConfig::default()
            })
            .await;
            let fast = build_statement("select 1::text", &[]);
            for _ in 0..3 {
                pool.pool.run(read("anon", &fast)).await.expect("an answer");
            }
            let holder = pool.test.connect("authenticator").await;
            holder
                .batch_execute("select pg_advisory_lock(8)")
                .await
                .expect("a lock");
            let slow: Vec<_> = (0..8)
                .map(|_| {
                    let pool = pool.pool.clone();
                    tokio::task::spawn_local(async move {
                        let statement = build_statement("select pg_advisory_xact_lock_shared(8)::text", &[]);
                        let mut transaction = read("service_role", &statement);
                        transaction.context.extra = &[("statement_timeout", "0")];
                        pool.run(transaction).await
                    })
                })
                .collect();
            tokio::task::yield_now().await;

            for _ in 0..40 {
                pool.pool
                    .run(read("anon", &fast))
                    .await
                    .expect("an answer, while the slow ones wait");
            }
            assert!(slow.iter().all(|task| !task.is_finished()));

            holder
                .batch_execute("select pg_advisory_unlock(8)")
                .await
                .expect("ours");
            for task in slow {
                task.await.expect("no task panics").expect("an answer");
            }
        })
        .await;
}

#[tokio::test]
async fn slow_statements_do_not_use_the_connections_kept_for_reads() {
    const SLOW: Duration = Duration::from_millis(500);
    LocalSet::new()
        .run_until(async {
            let pool = Pool::new(RequestPoolConfig {
                connections_per_worker: 2,
                max_connections_per_worker: 6,
                max_wait_behind: NO_LIMIT,
                slow_statement: SLOW,
                acquire_timeout: NO_LIMIT,
                ..RequestPoolConfig::default()
            })
            .await;
            pool.pool.warm_up().await.expect("the database is there");
            let slow = "select pg_backend_pid()::text from pg_sleep(0.6)";
            let first_connection = pool.read_text(slow).await;

            let slow_connection = pool.read_text(slow).await;

            assert_ne!(slow_connection, first_connection);
            let mut fast_reads = 0;
            // A read of half a second is itself classified as slow and not counted: on a busy machine there are some.
            while fast_reads < 20 {
                let began = Instant::now();
                let connection = pool.read_text("select pg_backend_pid()::text").await;
                if began.elapsed() >= SLOW {
                    fast_reads = 0;
                    continue;
                }
                fast_reads += 1;
                // The first run of a statement, and those after a slow one, may take any connection.
                assert!(fast_reads < 10 || connection != slow_connection);
            }
        })
        .await;
}

#[tokio::test]
async fn new_statements_do_not_wait_for_slow_ones_that_were_never_seen() {
    LocalSet::new()
        .run_until(async {
            let pool = Pool::new(RequestPoolConfig {
                connections_per_worker: 2,
                max_connections_per_worker: 8,
                acquire_timeout: Duration::from_secs(3600),
                ..RequestPoolConfig::default()
            })
            .await;
            let holder = pool.test.connect("authenticator").await;
            holder
                .batch_execute("select pg_advisory_lock(9)")
                .await
                .expect("a lock");

            // A slow function, called in twenty ways, so that nothing is known of any of them.
            let slow: Vec<_> = (0..20)
                .map(|shape| {
                    let pool = pool.pool.clone();
                    tokio::task::spawn_local(async move {
                        let text = format!("select pg_advisory_xact_lock_shared(9)::text as shape_{shape}");
                        let statement = build_statement(&text, &[]);
                        let mut call = read("service_role", &statement);
                        call.context.path = "/rpc/slow";
                        call.calls_function = true;
                        pool.run(call).await
                    })
                })
                .collect();
            tokio::task::yield_now().await;

            for shape in 0..5 {
                let statement = build_statement(&format!("select 'new'::text as shape_{shape}"), &[]);
                let fresh = pool.pool.run(read("anon", &statement));
                let answer = tokio::time::timeout(Duration::from_secs(60), fresh).await;
                answer.expect("no wait for the slow ones").expect("an answer");
            }
            assert!(slow.iter().all(|task| !task.is_finished()));

            holder
                .batch_execute("select pg_advisory_unlock(9)")
                .await
                .expect("ours");
            for task in slow {
                task.await.expect("no task panics").expect("an answer");
            }
        })
        .await;
}
