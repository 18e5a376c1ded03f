//! The pool on a real PostgreSQL: one transaction per batch, recovery, bounded memory, slow beside fast.

mod clients;
mod memory;
mod session;
mod slow_statements;
mod turns;

use std::cell::Cell;
use std::rc::Rc;
use std::sync::Arc;
use std::time::{Duration, Instant};

use selvedge_memory::MemoryBudget;
use selvedge_postgres::{
    AccessMode, Database, Logins, Param, RequestContext, RequestError, RequestPool, RequestPoolConfig,
    RequestTransaction, SqlStatement, TransactionEnd, TransactionResult, TransactionStage,
};
use selvedge_testing::TestDatabase;
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
