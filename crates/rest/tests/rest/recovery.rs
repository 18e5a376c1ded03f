//! The database cannot be reached for a while, or all connections are in use.

use std::time::Duration;

use selvedge_postgres::RequestPoolConfig;
use serde_json::json;

use crate::standalone_app::{Start, until};

const ITEMS: &str = "create table public.items (id int primary key); insert into public.items values (1);
    grant usage on schema public to anon; grant select, update on public.items to anon;
    alter role $login set pgrst.db_schemas = 'public'";

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn rest_093_requests_answer_pgrst002_until_the_first_load_succeeds() {
    let app = Start {
        reachable: false,
        ..Start::on(ITEMS)
    }
    .run()
    .await;

    let refused = app.anon().get("/items").await;
    assert_eq!((refused.status, refused.code().as_str()), (503, "PGRST002"));
    let retry_after = refused
        .header("retry-after")
        .and_then(|value| value.parse::<u32>().ok());
    assert!(retry_after.is_some(), "{refused:?}");

    app.proxy.accept_connections();

    app.anon()
        .until("/items", |response| response.status == 200)
        .await;
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn rest_093_and_096_a_failed_reload_keeps_the_old_catalog() {
    let app = Start::on(ITEMS).run().await;
    let anon = app.anon();
    anon.until("/items", |response| response.status == 200).await;

    app.proxy.cut_connections();
    app.cache.request_reload();
    until("the reload fails", || app.cache.health().failure.is_some()).await;

    assert!(app.cache.health().loaded, "the old catalog stays");
    let down = anon.get("/items").await;
    assert_eq!(down.status, 503, "{down:?}");
    assert!(
        matches!(down.code().as_str(), "PGRST000" | "PGRST001"),
        "{down:?}"
    );
    assert!(down.header("retry-after").is_some());
    // Errors that need no connection are still found by the catalog.
    assert_eq!(anon.get("/nothing").await.code(), "PGRST205");

    app.proxy.accept_connections();

    anon.until("/items", |response| response.status == 200).await;
    until("a good reload", || app.cache.health().failure.is_none()).await;
    until("the listener is back", || app.cache.health().listening).await;
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn rest_094_a_lost_listener_reconnects_and_reloads() {
    let app = Start::on(ITEMS).run().await;
    until("listening", || app.cache.health().listening).await;
    // With the event trigger off, only the reload after the lost connection can find the table.
    app.run_sql(
        "alter event trigger pgrst_ddl_watch disable;
         create table public.unannounced (id int); grant select on public.unannounced to anon",
    )
    .await;
    assert_eq!(app.anon().get("/unannounced").await.status, 404);

    app.run_sql(
        "select pg_terminate_backend(pid) from pg_stat_activity
         where datname = current_database() and usename = '$login' and query ilike 'listen%'",
    )
    .await;

    app.anon()
        .until("/unannounced", |response| response.status == 200)
        .await;
    until("listening again", || app.cache.health().listening).await;
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn rest_096_requests_wait_for_a_connection_up_to_the_acquire_timeout() {
    let app = Start {
        pool: RequestPoolConfig {
            connections_per_worker: 1,
            max_connections_per_worker: 1,
            acquire_timeout: Duration::from_millis(300),
            ..RequestPoolConfig::default()
        },
        // The request that holds the connection must not end by its role's time limit before the test lets it.
        ..Start::on(&format!(
            "{ITEMS}; do $$ begin
                execute format('alter role anon in database %I set statement_timeout = 0', current_database());
            end $$"
        ))
    }
    .run()
    .await;
    let superuser = app.database.superuser().await;
    superuser
        .batch_execute("begin; lock table public.items in access exclusive mode")
        .await
        .unwrap();
    let anon = app.anon();
    let held = tokio::spawn(async move { anon.get("/items").await });
    let watcher = app.database.superuser().await;
    // Once the blocked statement is older than the pool's `max_wait_behind`, no request is sent behind it.
    let blocked = "select from pg_locks join pg_stat_activity using (pid)
        where not granted and relation = 'public.items'::regclass and clock_timestamp() - query_start > '50 ms'";
    while watcher.query(blocked, &[]).await.unwrap().is_empty() {
        tokio::time::sleep(Duration::from_millis(10)).await;
    }

    let refused = app.anon().get("/items").await;
    superuser.batch_execute("rollback").await.unwrap();

    assert_eq!((refused.status, refused.code().as_str()), (504, "PGRST003"));
    assert_eq!(
        refused.json()["message"],
        json!("Timed out acquiring connection from connection pool.")
    );
    assert_eq!(held.await.unwrap().status, 200);
    app.anon()
        .until("/items", |response| response.status == 200)
        .await;
    let metrics = app.admin().get("/metrics").await.text;
    assert!(metrics.contains("pgrst_db_pool_timeouts_total 1"), "{metrics}");
}
