//! The request transaction on a real PostgreSQL: rights, isolation of callers, one round trip, and recovery.

use std::rc::Rc;
use std::sync::Arc;
use std::time::Duration;

use selvedge_postgres::{
    AccessMode, Database, Logins, Param, RequestContext, RequestError, RequestPool, RequestPoolConfig,
    RequestTransaction, SqlStatement, TransactionEnd, TransactionResult, TransactionStage,
};
use selvedge_testing::TestDatabase;
use tokio::task::LocalSet;

/// A database with a small table, and our connection settings for it. The first value must outlive the second.
async fn create_database() -> (TestDatabase, Arc<Database>) {
    let test = TestDatabase::create().await;
    test.connect("postgres")
        .await
        .batch_execute(
            "create table public.t (id int primary key, v text);
             insert into t select i, 'v' || i from generate_series(1, 100) i;
             create type mood as enum ('a', 'b');
             create table public.m (id int, m mood);",
        )
        .await
        .expect("the schema is made");
    let logins = Logins::new(
        test.config("authenticator"),
        test.config("supabase_auth_admin"),
        test.config("supabase_storage_admin"),
    );
    let database = Database::connect(logins).await.expect("the schema is made");
    (test, database)
}

async fn pool(config: RequestPoolConfig) -> (TestDatabase, Rc<RequestPool>) {
    let (test, database) = create_database().await;
    (test, Rc::new(RequestPool::new(database, config)))
}

fn context(role: &str) -> RequestContext<'_> {
    RequestContext {
        search_path: r#""public""#,
        role,
        claims: "{}",
        method: "GET",
        path: "/t",
        headers: "{}",
        cookies: "{}",
        extra: &[],
    }
}

fn read<'a>(role: &'a str, statement: &'a SqlStatement) -> RequestTransaction<'a> {
    RequestTransaction {
        access: AccessMode::ReadOnly,
        isolation: None,
        context: context(role),
        pre_request: None,
        statement,
        calls_function: false,
        replayed_to: None,
        client: None,
        turn: None,
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

fn text(answer: &TransactionResult) -> &str {
    answer.rows[0].get(0)
}

#[tokio::test]
async fn gw_016_the_statement_runs_under_the_role_and_its_settings() {
    LocalSet::new()
        .run_until(async {
            let (_test, pool) = pool(RequestPoolConfig::default()).await;
            let statement = build_statement("select current_user || ' ' || current_setting('statement_timeout') || ' ' || current_setting('request.path') || $1", &["!"]);

            for _ in 0..5 {
                let answer = pool.run(read("anon", &statement)).await.unwrap();
                assert_eq!(text(&answer), "anon 3s /t!");
                tokio::time::sleep(Duration::from_millis(5)).await;
            }
        })
        .await;
}

#[tokio::test]
async fn the_first_error_is_reported_with_its_stage() {
    LocalSet::new()
        .run_until(async {
            let (_test, pool) = pool(RequestPoolConfig::default()).await;
            let good = build_statement("select 1::text", &[]);
            let bad = build_statement("select 1 / $1::int", &["0"]);

            let stage = async |role: &'static str, statement| match pool.run(read(role, statement)).await {
                Err(RequestError::Database(error)) => (error.stage, error.code.clone()),
                other => panic!("{other:?}"),
            };

            assert_eq!(
                stage("nobody_here", &good).await,
                (TransactionStage::Settings, "22023".to_owned())
            );
            assert_eq!(
                stage("anon", &bad).await,
                (TransactionStage::Statement, "22012".to_owned())
            );
            assert!(pool.run(read("anon", &good)).await.is_ok());
        })
        .await;
}

#[tokio::test]
async fn enum_parameters_are_inferred_when_prepared_and_not() {
    LocalSet::new()
        .run_until(async {
            let (_test, pool) = pool(RequestPoolConfig {
                connections_per_worker: 1,
                ..Default::default()
            })
            .await;
            let statement = build_statement(
                "select count(*)::text from m where m = $1 or m = any($2)",
                &["a", "{b}"],
            );
            for _ in 0..6 {
                assert_eq!(text(&pool.run(read("anon", &statement)).await.unwrap()), "0");
                tokio::time::sleep(Duration::from_millis(5)).await;
            }
        })
        .await;
}

#[tokio::test]
async fn concurrent_callers_share_connections_and_each_reads_its_own_claims() {
    LocalSet::new()
        .run_until(async {
            let (_test, pool) = pool(RequestPoolConfig {
                connections_per_worker: 2,
                ..Default::default()
            })
            .await;
            let mut tasks = Vec::new();
            for task in 0..64 {
                let pool = pool.clone();
                tasks.push(tokio::task::spawn_local(async move {
                    let statement = build_statement(
                        "select current_user || current_setting('request.jwt.claims')",
                        &[],
                    );
                    for turn in 0..200 {
                        let role = ["anon", "authenticated", "service_role"][(task + turn) % 3];
                        let claims = format!("{{\"sub\":\"{task}-{turn}\"}}");
                        let mut transaction = read(role, &statement);
                        transaction.context.claims = &claims;
                        let answer = pool.run(transaction).await.unwrap();
                        assert_eq!(text(&answer), format!("{role}{claims}"));
                    }
                }));
            }
            for task in tasks {
                task.await.unwrap();
            }
        })
        .await;
}

#[tokio::test]
async fn gw_050_a_cancelled_request_leaves_no_open_transaction() {
    LocalSet::new()
        .run_until(async {
            let config = RequestPoolConfig { connections_per_worker: 1, max_connections_per_worker: 1, ..Default::default() };
            let (test, pool) = pool(config).await;
            let holder = test.connect("authenticator").await;
            holder.batch_execute("select pg_advisory_lock(7)").await.unwrap();
            let waits = build_statement("select pg_advisory_xact_lock_shared(7)::text", &[]);
            let count = build_statement("select count(*)::text from pg_stat_activity where datname = current_database() and state like 'idle in%'", &[]);

            tokio::select! {
                _ = pool.run(read("service_role", &waits)) => unreachable!("the lock is held"),
                () = until_waiting(&holder, 1) => {} // the request is dropped while its statement runs
            }
            holder.batch_execute("select pg_advisory_unlock(7)").await.unwrap();

            assert_eq!(text(&pool.run(read("anon", &count)).await.unwrap()), "0");
        })
        .await;
}

#[tokio::test]
async fn a_checked_transaction_rolls_back_when_its_rows_are_not_accepted() {
    LocalSet::new()
        .run_until(async {
            let (_test, pool) = pool(RequestPoolConfig::default()).await;
            let update = build_statement("update t set v = 'x' where id <= $1 returning v", &["2"]);
            let mut transaction = read("anon", &update);
            transaction.access = AccessMode::ReadWrite;

            let answer = pool
                .run_checked(transaction, |rows| rows.len() == 1)
                .await
                .unwrap();

            assert_eq!((answer.rows.len(), answer.is_committed), (2, false));
            let after = pool
                .run(read(
                    "anon",
                    &build_statement("select v from t where id = 1", &[]),
                ))
                .await
                .unwrap();
            assert_eq!(text(&after), "v1");
        })
        .await;
}

#[tokio::test]
async fn preparing_for_the_next_time_does_not_decide_a_checked_transaction() {
    LocalSet::new()
        .run_until(async {
            let (_test, pool) = pool(RequestPoolConfig::default()).await;
            // The first statement is answered long before the second, so the pool has time to send another message in
            // between.
            let update = build_statement(
                "with w as (update t set v = 'x' where id = 1 returning v) select w.v from w, pg_sleep(0.05)",
                &[],
            );

            for _ in 0..4 {
                let mut transaction = read("anon", &update);
                transaction.access = AccessMode::ReadWrite;
                transaction.pre_request = Some("select 1");
                let answer = pool.run_checked(transaction, |_| false).await.unwrap();
                assert!(!answer.is_committed);
            }

            let after = pool
                .run(read(
                    "anon",
                    &build_statement("select v from t where id = 1", &[]),
                ))
                .await
                .unwrap();
            assert_eq!(text(&after), "v1");
        })
        .await;
}

#[tokio::test]
async fn slow_statements_do_not_delay_others_and_waiting_requests_time_out() {
    LocalSet::new()
        .run_until(async {
            let config = RequestPoolConfig {
                connections_per_worker: 1,
                // One connection is reserved for statements that are known to be fast.
                max_connections_per_worker: 3,
                max_wait_behind: Duration::ZERO,
                acquire_timeout: Duration::from_millis(200),
                ..Default::default()
            };
            let (test, pool) = pool(config).await;
            // Statements that run for as long as the test holds this lock, however slow the machine is.
            let holder = test.connect("authenticator").await;
            holder.batch_execute("select pg_advisory_lock(7)").await.unwrap();
            let slow = [(); 2].map(|()| {
                let pool = pool.clone();
                tokio::task::spawn_local(async move {
                    let statement = build_statement("select pg_advisory_xact_lock_shared(7)::text", &[]);
                    let mut transaction = read("service_role", &statement);
                    transaction.context.extra = &[("statement_timeout", "0")];
                    pool.run(transaction).await
                })
            });
            until_waiting(&holder, 2).await;

            let refused = pool
                .run(read("anon", &build_statement("select 1::text", &[])))
                .await;
            assert!(matches!(refused, Err(RequestError::Timeout)), "{refused:?}");

            holder
                .batch_execute("select pg_advisory_unlock(7)")
                .await
                .unwrap();
            for task in slow {
                assert!(task.await.unwrap().is_ok());
            }
            assert!(
                pool.run(read("anon", &build_statement("select 1::text", &[])))
                    .await
                    .is_ok()
            );
        })
        .await;
}

/// Returns when this many statements wait for the lock that `holder` holds.
async fn until_waiting(holder: &tokio_postgres::Client, statements: i64) {
    let sql = "select count(*) from pg_locks where locktype = 'advisory' and not granted
               and database = (select oid from pg_database where datname = current_database())";
    loop {
        let row = holder
            .query_one(sql, &[])
            .await
            .expect("the lock table is readable");
        if row.get::<_, i64>(0) >= statements {
            return;
        }
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
}

#[tokio::test]
async fn a_process_that_freezes_before_the_end_of_a_transaction_loses_its_row_locks() {
    LocalSet::new()
        .run_until(async {
            let (test, pool) = pool(RequestPoolConfig::default()).await;
            let (locked, is_locked) = std::sync::mpsc::channel();
            let (freed, is_freed) = std::sync::mpsc::channel();
            let config = test.config("postgres");
            // Another process, which waits for the row.
            let other = std::thread::spawn(move || {
                let runtime = tokio::runtime::Builder::new_current_thread()
                    .enable_all()
                    .build()
                    .expect("a runtime");
                runtime.block_on(async {
                    let client = selvedge_postgres::connect(&config).await.expect("a connection");
                    let unlimited = "set statement_timeout = 0; set lock_timeout = 0";
                    client.batch_execute(unlimited).await.expect("set");
                    is_locked.recv().expect("the row is locked");
                    let update = "update public.t set v = 'other' where id = 1";
                    client.batch_execute(update).await.expect("the lock is freed");
                    freed.send(()).expect("the test waits");
                });
            });
            let statement = build_statement("update t set v = 'frozen' where id = 1 returning v", &[]);
            let mut transaction = read("service_role", &statement);
            transaction.access = AccessMode::ReadWrite;

            let outcome = pool
                .run_checked(transaction, |_| {
                    locked.send(()).expect("the other process waits");
                    // Blocks the thread, and with it everything that this process does. 20 seconds, and what a busy machine adds.
                    is_freed.recv_timeout(Duration::from_secs(50)).is_ok()
                })
                .await;

            assert!(matches!(outcome, Err(RequestError::Lost(_))), "{outcome:?}");
            other.join().expect("it did not panic");
            let statement = build_statement("select v from t where id = 1", &[]);
            let row = pool.run(read("service_role", &statement)).await.expect("a row");
            assert_eq!(text(&row), "other");
        })
        .await;
}
