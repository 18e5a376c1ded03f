//! The pool on a real PostgreSQL: one transaction per batch, recovery, bounded memory, slow beside fast.

use std::cell::Cell;
use std::rc::Rc;
use std::sync::Arc;
use std::time::{Duration, Instant};

use selvedge_memory::MemoryBudget;
use selvedge_postgres::testing::TestDatabase;
use selvedge_postgres::{
    AccessMode, Database, Logins, Param, RequestContext, RequestError, RequestPool, RequestPoolConfig,
    RequestTransaction, SqlStatement, TransactionEnd, TransactionResult, TransactionStage,
};
use tokio::task::LocalSet;
use tokio_postgres::Client;

const SCHEMA: &str = "
    create table public.t (id int primary key, v text);
    create table public.child (id int primary key, t int references public.t deferrable initially deferred);
    grant all on all tables in schema public to anon, authenticated, service_role;
    insert into public.t select i, 'v' || i from generate_series(1, 100) i;";

/// More time than any test takes. As a limit of the pool it never applies, however busy the machine is.
const NO_LIMIT: Duration = Duration::from_secs(3600);

struct Pool {
    test: TestDatabase,
    pool: Rc<RequestPool>,
}

impl Pool {
    async fn new(config: RequestPoolConfig) -> Self {
        let test = TestDatabase::create().await;
        let owner = test.connect("postgres").await;
        owner.batch_execute(SCHEMA).await.expect("the schema is made");
        let logins = Logins::new(
            test.config("authenticator"),
            test.config("supabase_auth_admin"),
            test.config("supabase_storage_admin"),
        );
        let database: Arc<Database> = Database::connect(logins).await.expect("the database is there");
        let pool = Rc::new(RequestPool::new(database, config));
        Self { test, pool }
    }

    async fn with_one_connection() -> Self {
        Self::new(RequestPoolConfig {
            connections_per_worker: 1,
            max_connections_per_worker: 1,
            acquire_timeout: NO_LIMIT,
            ..RequestPoolConfig::default()
        })
        .await
    }

    async fn write(&self, text: &str, end: TransactionEnd) -> Result<TransactionResult, RequestError> {
        let statement = build_statement(text, &[]);
        let transaction = RequestTransaction {
            access: AccessMode::ReadWrite,
            end,
            ..read("service_role", &statement)
        };
        self.pool.run(transaction).await
    }

    async fn read_text(&self, text: &str) -> String {
        let statement = build_statement(text, &[]);
        let answer = self
            .pool
            .run(read("service_role", &statement))
            .await
            .expect("an answer");
        answer.rows[0].get(0)
    }
}

fn read<'a>(role: &'a str, statement: &'a SqlStatement) -> RequestTransaction<'a> {
    RequestTransaction {
        access: AccessMode::ReadOnly,
        isolation: None,
        context: RequestContext {
            search_path: r#""public""#,
            role,
            claims: "{}",
            method: "GET",
            path: "/t",
            headers: "{}",
            cookies: "{}",
            extra: &[],
        },
        pre_request: None,
        statement,
        calls_function: false,
        replayed_to: None,
        explain: None,
        end: TransactionEnd::Commit,
    }
}

fn build_statement(text: &str, params: &[&str]) -> SqlStatement {
    SqlStatement {
        text: text.to_owned(),
        params: params.iter().map(|param| Param::text(param)).collect(),
        force_custom_plan: false,
    }
}

fn refusal(answer: Result<TransactionResult, RequestError>) -> (TransactionStage, String) {
    match answer {
        Err(RequestError::Database(error)) => (error.stage, error.code.clone()),
        other => panic!("{other:?}"),
    }
}

#[tokio::test]
async fn a_batch_is_one_transaction() {
    LocalSet::new()
        .run_until(async {
            let pool = Pool::with_one_connection().await;

            // A deferred constraint fails at the commit: the request gets that error, and its rows are rolled back.
            let orphan = "insert into child values (1, 999) returning id::text";
            for _ in 0..4 {
                assert_eq!(
                    refusal(pool.write(orphan, TransactionEnd::Commit).await),
                    (TransactionStage::TransactionEnd, "23503".to_owned())
                );
                assert_eq!(
                    refusal(pool.write(orphan, TransactionEnd::Rollback).await),
                    (TransactionStage::TransactionEnd, "23503".to_owned())
                );
            }
            assert_eq!(pool.read_text("select count(*)::text from child").await, "0");

            // An error in a later statement rolls back the earlier ones.
            let half = "with w as (insert into t values (200, 'x') returning 1) select (1 / (count(*) - 1))::text from w";
            assert_eq!(refusal(pool.write(half, TransactionEnd::Commit).await).1, "22012");
            assert_eq!(pool.read_text("select count(*)::text from t where id = 200").await, "0");

            // A read-only transaction cannot write, and the next one on the same connection can.
            let statement = build_statement("insert into t values (201, 'x') returning v", &[]);
            assert_eq!(refusal(pool.pool.run(read("service_role", &statement)).await).1, "25006");
            assert!(pool.write(&statement.text, TransactionEnd::Commit).await.is_ok());

            // A dry run (`tx=rollback`) leaves no rows.
            let rehearsal = pool.write("insert into t values (202, 'x') returning v", TransactionEnd::Rollback).await;
            assert!(!rehearsal.expect("an answer").is_committed);
            assert_eq!(pool.read_text("select count(*)::text from t where id > 199").await, "1");

            // Settings of a request are reset at the end of its transaction.
            assert_eq!(pool.read_text("select current_setting('transaction_isolation')").await, "read committed");
            let bare = "select coalesce(nullif(current_setting('request.jwt.claims'), ''), 'none')";
            assert_eq!(pool.read_text(bare).await, "{}");
        })
        .await;
}

#[tokio::test]
async fn an_isolation_level_is_that_of_the_whole_transaction() {
    LocalSet::new()
        .run_until(async {
            let pool = Pool::with_one_connection().await;
            let statement = build_statement(
                "select current_setting('transaction_isolation') || current_setting('transaction_read_only')",
                &[],
            );
            for _ in 0..4 {
                let mut transaction = read("anon", &statement);
                transaction.isolation = Some(selvedge_postgres::Isolation::Serializable);
                let answer = pool.pool.run(transaction).await.expect("an answer");
                assert_eq!(answer.rows[0].get::<_, &str>(0), "serializableon");
            }
            let failing = build_statement("select (1 / 0)::text", &[]);
            let mut transaction = read("anon", &failing);
            transaction.isolation = Some(selvedge_postgres::Isolation::Serializable);
            assert_eq!(refusal(pool.pool.run(transaction).await).1, "22012");
            assert_eq!(
                pool.read_text("select current_setting('transaction_isolation')")
                    .await,
                "read committed"
            );
        })
        .await;
}

#[tokio::test]
async fn statements_that_the_protocol_cannot_carry_fail_and_keep_the_connection() {
    LocalSet::new()
        .run_until(async {
            let pool = Pool::with_one_connection().await;
            let many = SqlStatement {
                text: "select 1".to_owned(),
                params: vec![Param::text("x"); 70_000],
                force_custom_plan: false,
            };
            assert_eq!(refusal(pool.pool.run(read("anon", &many)).await).1, "54000");
            let nul = build_statement("select 'a\0b'", &[]);
            assert_eq!(refusal(pool.pool.run(read("anon", &nul)).await).1, "54000");
            assert_eq!(pool.read_text("select 'x'").await, "x");
        })
        .await;
}

#[tokio::test]
async fn rest_096_requests_work_again_after_the_database_was_unreachable() {
    LocalSet::new()
        .run_until(async {
            let pool = Pool::new(RequestPoolConfig::default()).await;
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
            let reading = connections(&owner).await;
            // Connections are opened in the background, so on a busy machine the first writes may end before one is open.
            let mut writing = 1;
            while writing < 2 {
                run_concurrently(&pool, write).await;
                writing = connections(&owner).await;
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

async fn connections(owner: &Client) -> i64 {
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
