//! The pool on a real PostgreSQL: one transaction per batch, recovery, bounded memory, slow beside fast.

use std::rc::Rc;
use std::sync::Arc;
use std::time::Duration;

use selvedge_postgres::testing::TestDatabase;
use selvedge_postgres::{
    Access, Answer, Database, End, Logins, Param, RequestContext, RequestError, RequestPool,
    RequestPoolConfig, RequestTransaction, SqlStatement, Stage,
};
use tokio::task::LocalSet;
use tokio_postgres::Client;

const SCHEMA: &str = "
    create table public.t (id int primary key, v text);
    create table public.child (id int primary key, t int references public.t deferrable initially deferred);
    grant all on all tables in schema public to anon, authenticated, service_role;
    insert into public.t select i, 'v' || i from generate_series(1, 100) i;";

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

    async fn one() -> Self {
        Self::new(RequestPoolConfig {
            connections_per_worker: 1,
            max_connections_per_worker: 1,
            ..RequestPoolConfig::default()
        })
        .await
    }

    async fn write(&self, text: &str, end: End) -> Result<Answer, RequestError> {
        let statement = sql(text, &[]);
        let transaction = RequestTransaction {
            access: Access::ReadWrite,
            end,
            ..read("service_role", &statement)
        };
        self.pool.run(transaction).await
    }

    async fn text(&self, text: &str) -> String {
        let statement = sql(text, &[]);
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
        access: Access::ReadOnly,
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
        explain: None,
        end: End::Commit,
    }
}

fn sql(text: &str, params: &[&str]) -> SqlStatement {
    SqlStatement {
        text: text.to_owned(),
        params: params.iter().map(|param| Param::text(param)).collect(),
        force_custom_plan: false,
    }
}

fn refusal(answer: Result<Answer, RequestError>) -> (Stage, String) {
    match answer {
        Err(RequestError::Database(error)) => (error.stage, error.code.clone()),
        other => panic!("{other:?}"),
    }
}

#[tokio::test]
async fn a_batch_is_one_transaction() {
    LocalSet::new()
        .run_until(async {
            let pool = Pool::one().await;

            // what is deferred to the commit is an answer to the request, and nothing stays
            let orphan = "insert into child values (1, 999) returning id::text";
            for _ in 0..4 {
                assert_eq!(
                    refusal(pool.write(orphan, End::Commit).await),
                    (Stage::End, "23503".to_owned())
                );
                assert_eq!(
                    refusal(pool.write(orphan, End::Rollback).await),
                    (Stage::End, "23503".to_owned())
                );
            }
            assert_eq!(pool.text("select count(*)::text from child").await, "0");

            // an error in the middle undoes what came before
            let half = "with w as (insert into t values (200, 'x') returning 1) select (1 / (count(*) - 1))::text from w";
            assert_eq!(refusal(pool.write(half, End::Commit).await).1, "22012");
            assert_eq!(pool.text("select count(*)::text from t where id = 200").await, "0");

            // a read may not write, and the next may again
            let statement = sql("insert into t values (201, 'x') returning v", &[]);
            assert_eq!(refusal(pool.pool.run(read("service_role", &statement)).await).1, "25006");
            assert!(pool.write(&statement.text, End::Commit).await.is_ok());

            // a rehearsal leaves nothing
            let rehearsal = pool.write("insert into t values (202, 'x') returning v", End::Rollback).await;
            assert!(!rehearsal.expect("an answer").committed);
            assert_eq!(pool.text("select count(*)::text from t where id > 199").await, "1");

            // and settings end with their transaction
            assert_eq!(pool.text("select current_setting('transaction_isolation')").await, "read committed");
            let bare = "select coalesce(nullif(current_setting('request.jwt.claims'), ''), 'none')";
            assert_eq!(pool.text(bare).await, "{}");
        })
        .await;
}

#[tokio::test]
async fn an_isolation_level_is_that_of_the_whole_transaction() {
    LocalSet::new()
        .run_until(async {
            let pool = Pool::one().await;
            let statement = sql(
                "select current_setting('transaction_isolation') || current_setting('transaction_read_only')",
                &[],
            );
            for _ in 0..4 {
                let mut transaction = read("anon", &statement);
                transaction.isolation = Some(selvedge_postgres::Isolation::Serializable);
                let answer = pool.pool.run(transaction).await.expect("an answer");
                assert_eq!(answer.rows[0].get::<_, &str>(0), "serializableon");
            }
            let failing = sql("select (1 / 0)::text", &[]);
            let mut transaction = read("anon", &failing);
            transaction.isolation = Some(selvedge_postgres::Isolation::Serializable);
            assert_eq!(refusal(pool.pool.run(transaction).await).1, "22012");
            assert_eq!(
                pool.text("select current_setting('transaction_isolation')").await,
                "read committed"
            );
        })
        .await;
}

#[tokio::test]
async fn what_no_message_can_carry_is_refused_and_the_connection_lives() {
    LocalSet::new()
        .run_until(async {
            let pool = Pool::one().await;
            let many = SqlStatement {
                text: "select 1".to_owned(),
                params: vec![Param::text("x"); 70_000],
                force_custom_plan: false,
            };
            assert_eq!(refusal(pool.pool.run(read("anon", &many)).await).1, "54000");
            let nul = sql("select 'a\0b'", &[]);
            assert_eq!(refusal(pool.pool.run(read("anon", &nul)).await).1, "54000");
            assert_eq!(pool.text("select 'x'").await, "x");
        })
        .await;
}

#[tokio::test]
async fn rest_096_a_database_that_goes_away_and_comes_back_leaves_no_trace() {
    LocalSet::new()
        .run_until(async {
            let pool = Pool::new(RequestPoolConfig::default()).await;
            let mut elsewhere = pool.test.config("supabase_admin");
            elsewhere.dbname("postgres");
            let superuser = selvedge_postgres::connect(&elsewhere)
                .await
                .expect("a superuser may");
            let name = pool.test.name().to_owned();
            assert_eq!(load(&pool).await, 0);

            // under load, every connection is cut and no new one is let in
            let refused = futures_util::join!(load(&pool), async {
                allow_connections(&superuser, &name, false).await;
                tokio::time::sleep(Duration::from_millis(20)).await;
            })
            .0;
            assert!(refused > 0, "requests fail while the database is away");
            let answer = pool.pool.run(read("anon", &sql("select 1::text", &[]))).await;
            assert!(matches!(answer, Err(RequestError::Unavailable(_))), "{answer:?}");

            allow_connections(&superuser, &name, true).await;
            assert_eq!(load(&pool).await, 0, "nothing is left of it");
        })
        .await;
}

/// Forty tasks with fifty reads each; tells how many failed. Only the loss of the database is a reason to.
async fn load(pool: &Pool) -> usize {
    let tasks: Vec<_> = (0..40)
        .map(|_| {
            let pool = pool.pool.clone();
            tokio::task::spawn_local(async move {
                let mut failed = 0;
                for id in 1..=50 {
                    let id = id.to_string();
                    match pool
                        .run(read("anon", &sql("select v from t where id = $1", &[&id])))
                        .await
                    {
                        Ok(answer) => assert_eq!(answer.rows[0].get::<_, &str>(0), format!("v{id}")),
                        Err(RequestError::Lost(_) | RequestError::Unavailable(_)) => failed += 1,
                        Err(other) => panic!("{other}"),
                    }
                }
                failed
            })
        })
        .collect();
    let mut failed = 0;
    for task in tasks {
        failed += task.await.expect("no task panics");
    }
    failed
}

async fn allow_connections(superuser: &Client, database: &str, allowed: bool) {
    let cut = "select pg_terminate_backend(pid) from pg_stat_activity where datname = $1 and pid <> pg_backend_pid()";
    let allow = format!("alter database {database} allow_connections {allowed}");
    superuser.batch_execute(&allow).await.expect("a superuser may");
    superuser.query(cut, &[&database]).await.expect("a superuser may");
}

#[tokio::test]
async fn statements_of_many_shapes_leave_memory_flat_in_postgresql() {
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
                    assert_eq!(pool.text(&text).await, "x");
                }
            }
            let prepared = pool
                .text("select count(*)::text from pg_prepared_statements")
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
            const LEFT: &str = "select count(*)::text from (select name from pg_prepared_statements union all \
                 select name from pg_settings where name like 'default_transaction%' and source = 'session') left_over";

            for _ in 0..4 {
                assert_eq!(pool.text(LEFT).await, "0");
            }
            let twice = pool.write("insert into t values (1, 'twice')", End::Commit).await;
            let once = pool.write("insert into t values (101, 'once')", End::Commit).await;

            assert!(matches!(twice, Err(RequestError::Database(error)) if error.code == "23505"));
            assert!(once.expect("its begin says that it may write").committed);
            assert_eq!(pool.text("select v from t where id = 101").await, "once");
            assert_eq!(pool.text(LEFT).await, "0");
        })
        .await;
}

#[tokio::test]
async fn a_connection_ends_after_its_lifetime() {
    LocalSet::new()
        .run_until(async {
            let lasting = Pool::one().await;
            let brief = Pool::new(RequestPoolConfig {
                max_lifetime: Duration::ZERO,
                ..RequestPoolConfig::default()
            })
            .await;
            const WHO: &str = "select pg_backend_pid()::text";

            assert_eq!(lasting.text(WHO).await, lasting.text(WHO).await);
            assert_ne!(brief.text(WHO).await, brief.text(WHO).await);
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
                patience: Duration::from_secs(3600),
                ..RequestPoolConfig::default()
            })
            .await;
            let owner = pool.test.connect("postgres").await;
            let select = sql("select v from t where id = 1", &[]);
            let update = sql("update t set v = 'w' where id = (random() * 99)::int + 1", &[]);
            let write = RequestTransaction {
                access: Access::ReadWrite,
                ..read("service_role", &update)
            };

            at_once(&pool, read("anon", &select)).await;
            let reading = connections(&owner).await;
            at_once(&pool, write).await;
            let writing = connections(&owner).await;

            assert_eq!(reading, 1);
            assert!((2..=6).contains(&writing), "{writing}");
        })
        .await;
}

/// A transaction three times, so that it is known to be fast, and then sixteen times fifty times at once.
async fn at_once(pool: &Pool, transaction: RequestTransaction<'_>) {
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
async fn fast_statements_pass_by_slow_ones() {
    LocalSet::new()
        .run_until(async {
            let pool = Pool::new(RequestPoolConfig {
                connections_per_worker: 2,
                max_connections_per_worker: 6,
                // nothing but what is known of statements keeps them apart
                patience: Duration::from_secs(3600),
                ..RequestPoolConfig::default()
            })
            .await;
            let fast = sql("select 1::text", &[]);
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
                        let statement = sql("select pg_advisory_xact_lock_shared(8)::text", &[]);
                        pool.run(read("service_role", &statement)).await
                    })
                })
                .collect();
            tokio::task::yield_now().await;

            for _ in 0..200 {
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
async fn statements_known_to_be_slow_leave_the_lanes_of_reads_alone() {
    LocalSet::new()
        .run_until(async {
            let pool = Pool::new(RequestPoolConfig {
                connections_per_worker: 2,
                max_connections_per_worker: 6,
                ..RequestPoolConfig::default()
            })
            .await;
            let fast = sql("select pg_backend_pid()::text", &[]);
            pool.pool.warm_up().await.expect("the database is there");
            for _ in 0..3 {
                pool.pool.run(read("anon", &fast)).await.expect("an answer");
            }
            let slow = "select pg_backend_pid()::text from pg_sleep(0.1)";
            let meets_slow = pool.text(slow).await;

            let slow_lane = pool.text(slow).await;

            let mut lanes_of_reads = Vec::new();
            for _ in 0..20 {
                let answer = pool.pool.run(read("anon", &fast)).await.expect("an answer");
                lanes_of_reads.push(answer.rows[0].get::<_, String>(0));
            }
            assert_ne!(slow_lane, meets_slow);
            assert!(!lanes_of_reads.contains(&slow_lane));
        })
        .await;
}
