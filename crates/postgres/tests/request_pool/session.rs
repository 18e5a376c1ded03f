//! Connections of the pool over time: a database that goes away, prepared statements, lifetime, and how many are opened.

use super::*;

#[tokio::test]
async fn rest_096_requests_work_again_after_the_database_was_unreachable() {
    LocalSet::new()
        .run_until(async {
            // Forty readers share a few connections: on a busy machine one of them may wait longer than the default.
            let pool = Pool::new(RequestPoolConfig {
                acquire_timeout: NO_LIMIT,
                ..RequestPoolConfig::default()
            })
            .await;
            let mut elsewhere = pool.test.config("supabase_admin");
            elsewhere.dbname("postgres");
            let superuser = selvedge_postgres::connect(&elsewhere)
                .await
                .expect("a superuser may");
            let name = pool.test.name().to_owned();
            let is_away = Cell::new(false);
            assert_eq!(read_repeatedly(&pool, || true).await, 0);

            // While requests run, every connection is terminated and new ones are refused.
            let (failed, ()) = futures_util::join!(read_repeatedly(&pool, || is_away.get()), async {
                allow_connections(&superuser, &name, false).await;
                is_away.set(true);
            });
            assert!(failed >= READER_COUNT, "each reader's last read fails: {failed}");
            let answer = pool
                .pool
                .run(read("anon", &build_statement("select 1::text", &[])))
                .await;
            assert!(matches!(answer, Err(RequestError::Unavailable(_))), "{answer:?}");

            allow_connections(&superuser, &name, true).await;
            assert_eq!(read_repeatedly(&pool, || true).await, 0);
        })
        .await;
}

const READER_COUNT: usize = 40;

/// Reads in forty concurrent loops, each at least fifty times and until `may_end`, with one read after that. Returns how
/// many reads failed; panics on any error but a lost database.
async fn read_repeatedly(pool: &Pool, may_end: impl Fn() -> bool) -> usize {
    let read_in_a_loop = async || {
        let (mut failed, mut id) = (0, 0);
        loop {
            let is_last = id >= 50 && may_end();
            id += 1;
            let key = (id % 100 + 1).to_string();
            match pool
                .pool
                .run(read(
                    "anon",
                    &build_statement("select v from t where id = $1", &[&key]),
                ))
                .await
            {
                Ok(answer) => assert_eq!(answer.rows[0].get::<_, &str>(0), format!("v{key}")),
                Err(RequestError::Lost(_) | RequestError::Unavailable(_)) => failed += 1,
                Err(other) => panic!("{other}"),
            }
            if is_last {
                return failed;
            }
        }
    };
    let failed = futures_util::future::join_all((0..READER_COUNT).map(|_| read_in_a_loop())).await;
    failed.into_iter().sum()
}

async fn allow_connections(superuser: &Client, database: &str, allowed: bool) {
    let cut = "select pg_terminate_backend(pid) from pg_stat_activity where datname = $1 and pid <> pg_backend_pid()";
    let allow = format!("alter database {database} allow_connections {allowed}");
    superuser.batch_execute(&allow).await.expect("a superuser may");
    superuser.query(cut, &[&database]).await.expect("a superuser may");
}

#[tokio::test]
async fn many_different_statements_do_not_grow_the_memory_of_postgresql() {
    LocalSet::new()
        .run_until(async {
            let pool = Pool::new(RequestPoolConfig {
                connections_per_worker: 1,
                max_connections_per_worker: 1,
                cached_statements: 16,
                ..RequestPoolConfig::default()
            })
            .await;
            for shape in 0..1500 {
                let text = format!("select 'x' as shape_{shape}");
                for _ in 0..=(shape % 3) {
                    assert_eq!(pool.read_text(&text).await, "x");
                }
            }
            let prepared = pool
                .read_text("select count(*)::text from pg_prepared_statements")
                .await;
            assert!(prepared.parse::<usize>().expect("a number") <= 16, "{prepared}");
        })
        .await;
}

#[tokio::test]
async fn without_prepared_statements_nothing_is_left_in_a_session() {
    LocalSet::new()
        .run_until(async {
            let pool = Pool::new(RequestPoolConfig {
                connections_per_worker: 1,
                max_connections_per_worker: 1,
                cached_statements: 0,
                ..RequestPoolConfig::default()
            })
            .await;
            let owner = pool.test.connect("postgres").await;
            let read_only = format!(
                "alter database {} set default_transaction_read_only = on",
                pool.test.name()
            );
            owner.batch_execute(&read_only).await.expect("the owner may");
            const LEFT_IN_SESSION: &str = "select count(*)::text from (select name from pg_prepared_statements union all \
                 select name from pg_settings where name like 'default_transaction%' and source = 'session') left_over";

            for _ in 0..4 {
                assert_eq!(pool.read_text(LEFT_IN_SESSION).await, "0");
            }
            let twice = pool.write("insert into t values (1, 'twice')", TransactionEnd::Commit).await;
            let once = pool.write("insert into t values (101, 'once')", TransactionEnd::Commit).await;

            assert!(matches!(twice, Err(RequestError::Database(error)) if error.code == "23505"));
            assert!(once.expect("its begin says that it may write").is_committed);
            assert_eq!(pool.read_text("select v from t where id = 101").await, "once");
            assert_eq!(pool.read_text(LEFT_IN_SESSION).await, "0");
        })
        .await;
}

#[tokio::test]
async fn a_connection_ends_after_its_lifetime() {
    LocalSet::new()
        .run_until(async {
            let lasting = Pool::with_one_connection().await;
            let brief = Pool::new(RequestPoolConfig {
                max_lifetime: Duration::ZERO,
                ..RequestPoolConfig::default()
            })
            .await;
            const BACKEND_PID: &str = "select pg_backend_pid()::text";

            assert_eq!(
                lasting.read_text(BACKEND_PID).await,
                lasting.read_text(BACKEND_PID).await
            );
            assert_ne!(
                brief.read_text(BACKEND_PID).await,
                brief.read_text(BACKEND_PID).await
            );
        })
        .await;
}

#[tokio::test]
async fn writes_at_the_same_time_spread_over_connections_and_reads_do_not() {
    LocalSet::new()
        .run_until(async {
            let pool = Pool::new(RequestPoolConfig {
                connections_per_worker: 1,
                max_connections_per_worker: 8,
                max_wait_behind: NO_LIMIT,
                slow_statement: NO_LIMIT,
                acquire_timeout: NO_LIMIT,
                ..RequestPoolConfig::default()
            })
            .await;
            let owner = pool.test.connect("postgres").await;
            let select = build_statement("select v from t where id = 1", &[]);
            let update = build_statement("update t set v = 'w' where id = (random() * 99)::int + 1", &[]);
            let write = RequestTransaction {
                access: AccessMode::ReadWrite,
                ..read("service_role", &update)
            };

            run_concurrently(&pool, read("anon", &select)).await;
            let reading = count_connections(&owner).await;
            // Connections are opened in the background, so on a busy machine the first writes may end before one is open.
            let mut writing = 1;
            while writing < 2 {
                run_concurrently(&pool, write).await;
                writing = count_connections(&owner).await;
            }

            assert_eq!(reading, 1);
            assert!((2..=6).contains(&writing), "{writing}");
        })
        .await;
}

/// Runs a transaction three times, so that the pool classifies it as fast, and then in sixteen concurrent tasks of fifty
/// runs.
async fn run_concurrently(pool: &Pool, transaction: RequestTransaction<'_>) {
    for _ in 0..3 {
        pool.pool.run(transaction).await.expect("an answer");
    }
    futures_util::future::join_all((0..16).map(|_| async {
        for _ in 0..50 {
            pool.pool.run(transaction).await.expect("an answer");
        }
    }))
    .await;
}

async fn count_connections(owner: &Client) -> i64 {
    let counted = owner
        .query_one(
            "select count(*) from pg_stat_activity where datname = current_database() and usename = 'authenticator'",
            &[],
        )
        .await
        .expect("a superuser may");
    counted.get(0)
}

#[tokio::test]
async fn requests_behind_one_that_ends_the_session_are_sent_again() {
    LocalSet::new()
        .run_until(async {
            let pool = Pool::new(RequestPoolConfig {
                connections_per_worker: 1,
                max_connections_per_worker: 1,
                max_wait_behind: NO_LIMIT,
                slow_statement: NO_LIMIT,
                acquire_timeout: NO_LIMIT,
                ..RequestPoolConfig::default()
            })
            .await;
            // Statements that have been fast share a connection.
            let waiting = "select pg_advisory_xact_lock_shared(8)::text";
            let write = "insert into t values (1000, 'once') returning v";
            pool.read_text(waiting).await;
            pool.read_text("select 'read'").await;
            pool.write(write, TransactionEnd::Rollback)
                .await
                .expect("an answer");
            let holder = pool.test.connect("authenticator").await;
            holder
                .batch_execute("select pg_advisory_lock(8)")
                .await
                .expect("a lock");
            let superuser = pool.test.superuser().await;

            let statement = build_statement(waiting, &[]);
            let (first, behind, written, ()) = futures_util::join!(
                pool.pool.run(read("service_role", &statement)),
                pool.read_text("select 'read'"),
                pool.write(write, TransactionEnd::Commit),
                end_waiting_session(&superuser),
            );

            assert!(matches!(first, Err(RequestError::Lost(_))), "{first:?}");
            assert_eq!(behind, "read");
            assert_eq!(written.expect("sent again").rows.len(), 1);
            let count = pool
                .read_text("select count(*)::text from t where v = 'once'")
                .await;
            assert_eq!(count, "1");
        })
        .await;
}

/// Ends the session that waits for an advisory lock of this database, as soon as there is one.
async fn end_waiting_session(superuser: &Client) {
    let end = "select pg_terminate_backend(pid) from pg_locks where locktype = 'advisory' and not granted
        and database = (select oid from pg_database where datname = current_database())";
    while superuser
        .query(end, &[])
        .await
        .expect("a superuser may")
        .is_empty()
    {
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
}
