//! Results that do not fit into the memory budget.

use super::*;

/// A pool of one connection whose large results may take so much memory.
async fn pool_with_memory(memory: &MemoryBudget) -> Pool {
    Pool::new(RequestPoolConfig {
        connections_per_worker: 1,
        max_connections_per_worker: 1,
        acquire_timeout: NO_LIMIT,
        memory: memory.clone(),
        ..RequestPoolConfig::default()
    })
    .await
}

#[tokio::test]
async fn gw_049_a_result_that_does_not_fit_into_memory_is_refused_and_the_connection_goes_on() {
    LocalSet::new()
        .run_until(async {
            let memory = MemoryBudget::new(1_000_000);
            let pool = pool_with_memory(&memory).await;
            let large = build_statement("select repeat('x', 700000)", &[]);
            let huge = build_statement("select repeat('x', 9000000)", &[]);
            let run = async |statement| pool.pool.run(read("service_role", statement)).await;

            let held = run(&large).await.expect("it fits");
            assert!((700_000..1_000_000).contains(&memory.used()), "{}", memory.used());
            let value = held.rows[0].bytes(0).expect("a value");
            drop(held);
            let refused = [run(&large).await, run(&huge).await];
            assert!(
                refused
                    .iter()
                    .all(|refused| matches!(refused, Err(RequestError::OutOfMemory { is_committed: false }))),
                "{refused:?}"
            );
            // What follows on the connection is not mixed up with the bytes that were dropped.
            assert_eq!(pool.read_text("select 'small'").await, "small");
            assert_eq!(value.len(), 700_000);
            drop(value);
            assert_eq!(memory.used(), 0);

            assert_eq!(run(&large).await.expect("there is room again").rows.len(), 1);
        })
        .await;
}

#[tokio::test]
async fn gw_049_many_small_rows_count_as_one_large_result() {
    LocalSet::new()
        .run_until(async {
            let memory = MemoryBudget::new(1_000_000);
            let pool = pool_with_memory(&memory).await;
            let rows = |count: u32| {
                build_statement(
                    &format!("select repeat('x', 100) from generate_series(1, {count})"),
                    &[],
                )
            };
            let (many, too_many, few) = (rows(3000), rows(100_000), rows(100));
            let run = async |statement| pool.pool.run(read("service_role", statement)).await;

            let held = run(&many).await.expect("it fits");
            assert_eq!(held.rows.len(), 3000);
            assert!((300_000..1_000_000).contains(&memory.used()), "{}", memory.used());
            let refused = run(&too_many).await;
            assert!(
                matches!(refused, Err(RequestError::OutOfMemory { is_committed: false })),
                "{refused:?}"
            );
            assert_eq!(pool.read_text("select 'small'").await, "small");
            drop(held);

            assert_eq!(memory.used(), 0);
            assert_eq!(run(&few).await.expect("it fits").rows.len(), 100);
            assert_eq!(memory.used(), 0);
        })
        .await;
}

#[tokio::test]
async fn gw_049_the_result_of_a_write_is_kept_longer_and_its_refusal_says_that_it_has_taken_effect() {
    LocalSet::new()
        .run_until(async {
            let memory = MemoryBudget::new(1_000_000);
            let pool = pool_with_memory(&memory).await;
            let insert = |id: i32, length: i32| {
                format!("insert into t values ({id}, 'x') returning repeat('x', {length})")
            };
            let reserved = memory.reserve(1_000_000).expect("all of it");

            let kept = pool.write(&insert(1001, 200_000), TransactionEnd::Commit).await;
            assert_eq!(kept.expect("a quarter more").rows.len(), 1);
            let refused = pool.write(&insert(1002, 300_000), TransactionEnd::Commit).await;
            assert!(
                matches!(refused, Err(RequestError::OutOfMemory { is_committed: true })),
                "{refused:?}"
            );
            let dry_run = pool.write(&insert(1003, 300_000), TransactionEnd::Rollback).await;
            assert!(
                matches!(dry_run, Err(RequestError::OutOfMemory { is_committed: false })),
                "{dry_run:?}"
            );
            drop(reserved);

            let written = "select string_agg(id::text, ',' order by id) from t where id > 1000";
            assert_eq!(pool.read_text(written).await, "1001,1002");
        })
        .await;
}
