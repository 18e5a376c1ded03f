//! Pools that several threads share, each with its own runtime, while the threads end; and transactions that a frozen process has
//! left open.

use std::sync::Arc;
use std::thread::JoinHandle;
use std::time::Duration;

use deadpool_postgres::{Client, Pool};
use selvedge_postgres::{Database, Login, Logins};
use selvedge_testing::TestDatabase;
use tokio::runtime::Handle;
use tokio::sync::oneshot;

/// Longer than anything takes on a busy machine.
const LIMIT: Duration = Duration::from_secs(60);
/// An advisory lock of the test's database.
const LOCK: &str = "select pg_advisory_lock(18)";

fn database_of(test: &TestDatabase) -> Arc<Database> {
    Database::new(Logins::with_single_login(test.config("authenticator")))
}

/// A thread with its own runtime, which has taken a connection from a pool.
struct Worker {
    end: oneshot::Sender<()>,
    thread: JoinHandle<()>,
}

impl Worker {
    /// Starts a thread that takes a connection. Returns it with the connection, which the thread goes on driving.
    async fn take_connection(pool: &Pool) -> (Self, Client) {
        let (end, ended) = oneshot::channel();
        let (sender, taken) = oneshot::channel();
        let pool = pool.clone();
        let thread = std::thread::spawn(move || {
            let runtime = tokio::runtime::Builder::new_current_thread()
                .enable_all()
                .build()
                .expect("a runtime");
            runtime.block_on(async {
                let client = pool.get().await.expect("a connection");
                assert!(sender.send(client).is_ok(), "the test waits");
                ended.await.expect("the test ends it");
            });
        });
        let client = taken.await.expect("a connection");
        (Self { end, thread }, client)
    }

    /// Ends the thread, and with it its runtime.
    async fn end(self) {
        self.end.send(()).expect("it runs");
        tokio::task::spawn_blocking(|| self.thread.join())
            .await
            .expect("joined")
            .expect("it did not panic");
    }
}

/// Waits until a connection of the test's database waits for a lock.
async fn wait_until_blocked(observer: &tokio_postgres::Client) {
    let waiting = "select exists (select from pg_locks where locktype = 'advisory' and not granted
        and database = (select oid from pg_database where datname = current_database()))";
    let wait = async {
        while !observer
            .query_one(waiting, &[])
            .await
            .expect("an answer")
            .get::<_, bool>(0)
        {
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
    };
    tokio::time::timeout(LIMIT, wait).await.expect("it waits");
}

#[tokio::test]
async fn a_statement_finishes_before_the_thread_ends_that_drives_its_connection() {
    let test = TestDatabase::create().await;
    let database = database_of(&test);
    let pool = database.pool(Login::AuthAdmin, 1);
    let (worker, client) = Worker::take_connection(&pool).await;
    let holder = test.connect("postgres").await;
    holder.batch_execute(LOCK).await.expect("locked");
    let statement = tokio::spawn(async move { client.batch_execute(LOCK).await });
    wait_until_blocked(&holder).await;

    let mover = Arc::clone(&database);
    let (begins, begun) = tokio::sync::oneshot::channel();
    let moving = tokio::spawn(async move {
        begins.send(()).expect("the test waits");
        mover.move_pools(Handle::current(), LIMIT).await
    });
    // Tasks of this runtime share a thread: when this one goes on, the move has begun, and waits for the statement.
    begun.await.expect("it begins");
    wait_until_blocked(&holder).await;
    assert!(!moving.is_finished());
    holder
        .batch_execute("select pg_advisory_unlock_all()")
        .await
        .expect("unlocked");
    tokio::time::timeout(LIMIT, moving)
        .await
        .expect("it ends")
        .expect("it did not panic");
    worker.end().await;

    statement
        .await
        .expect("it did not panic")
        .expect("the statement was answered");
    let client = pool.get().await.expect("another connection");
    client.batch_execute("select 1").await.expect("it answers");
}

#[tokio::test]
async fn connections_that_are_opened_after_the_move_outlive_their_thread() {
    let test = TestDatabase::create().await;
    let database = database_of(&test);
    let pool = database.pool(Login::AuthAdmin, 2);
    let (former, unmoved) = Worker::take_connection(&pool).await;
    drop(unmoved);
    database.move_pools(Handle::current(), LIMIT).await;

    let (worker, client) = Worker::take_connection(&pool).await;
    former.end().await;
    worker.end().await;

    client.batch_execute("select 1").await.expect("it answers");
}

#[tokio::test]
async fn the_move_does_not_wait_longer_than_its_limit() {
    let test = TestDatabase::create().await;
    let database = database_of(&test);
    let (worker, client) = Worker::take_connection(&database.pool(Login::AuthAdmin, 1)).await;

    let moving = database.move_pools(Handle::current(), Duration::from_millis(50));
    tokio::time::timeout(LIMIT, moving).await.expect("it ends");

    client.batch_execute("select 1").await.expect("it answers");
    worker.end().await;
}

#[tokio::test]
async fn the_row_locks_of_a_frozen_process_are_freed_within_20_seconds() {
    let test = TestDatabase::create().await;
    test.connect("postgres")
        .await
        .batch_execute(
            "create table public.counters (id int primary key, value int);
             insert into public.counters values (1, 0), (2, 0), (3, 0);
             grant select, update on public.counters to authenticator",
        )
        .await
        .expect("created");
    let database = database_of(&test);
    let increment = |id: i32| format!("update public.counters set value = value + 1 where id = {id}");
    let logins = [Login::Authenticator, Login::AuthAdmin, Login::StorageAdmin];
    let pools = logins.map(|login| database.pool(login, 1));
    // A process that is frozen keeps its connections, and sends nothing.
    let mut frozen = Vec::new();
    for (id, pool) in (1..).zip(&pools) {
        let client = pool.get().await.expect("a connection");
        let open = format!("begin; {}", increment(id));
        client.batch_execute(&open).await.expect("begun");
        frozen.push(client);
    }

    let other = test.connect("authenticator").await;
    let start = std::time::Instant::now();
    other
        .batch_execute("set statement_timeout = 0; set lock_timeout = 0")
        .await
        .expect("set");
    for id in 1..=3 {
        other
            .batch_execute(&increment(id))
            .await
            .expect("the lock is free");
    }

    // 20 seconds, and what a busy machine adds.
    assert!(start.elapsed() < Duration::from_secs(40), "{:?}", start.elapsed());
    let values = "select string_agg(value::text, ',') from public.counters";
    let row = other.query_one(values, &[]).await.expect("an answer");
    assert_eq!(row.get::<_, String>(0), "1,1,1");
    drop(frozen);
    for pool in &pools {
        let client = pool.get().await.expect("another connection");
        client.batch_execute("select 1").await.expect("it answers");
    }
}

#[tokio::test]
async fn a_shorter_limit_of_idle_transactions_stays() {
    let test = TestDatabase::create().await;
    let database = database_of(&test);
    let read_limit = async |login| {
        let client = database.pool(login, 1).get().await.expect("a connection");
        let row = client
            .query_one("show idle_in_transaction_session_timeout", &[])
            .await;
        row.expect("an answer").get::<_, String>(0)
    };
    let superuser = test.superuser().await;
    for (of_role, expected) in [("0", "20s"), ("60s", "20s"), ("3s", "3s")] {
        superuser
            .batch_execute(&format!(
                "alter role authenticator in database {} set idle_in_transaction_session_timeout = '{of_role}'",
                test.name()
            ))
            .await
            .expect("altered");
        assert_eq!(read_limit(Login::AuthAdmin).await, expected, "{of_role}");
    }
    assert_eq!(read_limit(Login::ConsoleAdmin).await, "3s");
}
