//! The database goes away and comes back; connections run out.

use crate::alone::{Start, until};
use selvedge_postgres::RequestPoolConfig;
use serde_json::json;
use std::time::Duration;

const ITEMS: &str = "create table public.items (id int primary key); insert into public.items values (1);
    grant usage on schema public to anon; grant select, update on public.items to anon;
    alter role $login set pgrst.db_schemas = 'public'";

#[actix_web::test]
async fn rest_093_until_the_first_load_requests_answer_pgrst002_and_then_recover_by_themselves() {
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

    app.gate.open();

    app.anon().until("/items", |answer| answer.status == 200).await;
}

#[actix_web::test]
async fn rest_093_and_096_a_failed_reload_keeps_the_catalog_and_requests_recover() {
    let app = Start::on(ITEMS).run().await;
    let anon = app.anon();
    anon.until("/items", |answer| answer.status == 200).await;

    app.gate.shut();
    app.state.request_reload();
    until("the reload fails", || app.state.health().failure.is_some()).await;

    assert!(app.state.health().loaded, "the old catalog stays");
    let down = anon.get("/items").await;
    assert_eq!(down.status, 503, "{down:?}");
    assert!(
        matches!(down.code().as_str(), "PGRST000" | "PGRST001"),
        "{down:?}"
    );
    assert!(down.header("retry-after").is_some());
    // what the catalog knows is still answered from it
    assert_eq!(anon.get("/nothing").await.code(), "PGRST205");

    app.gate.open();

    anon.until("/items", |answer| answer.status == 200).await;
    until("a good reload", || app.state.health().failure.is_none()).await;
    until("the listener is back", || app.state.health().listening).await;
}

#[actix_web::test]
async fn rest_094_a_lost_listener_comes_back_and_reads_everything_again() {
    let app = Start::on(ITEMS).run().await;
    until("listening", || app.state.health().listening).await;
    // nothing announces the table: only the reload after the loss can find it
    app.sql(
        "alter event trigger pgrst_ddl_watch disable;
         create table public.unannounced (id int); grant select on public.unannounced to anon",
    )
    .await;
    assert_eq!(app.anon().get("/unannounced").await.status, 404);

    app.sql(
        "select pg_terminate_backend(pid) from pg_stat_activity
         where datname = current_database() and usename = '$login' and query ilike 'listen%'",
    )
    .await;

    app.anon()
        .until("/unannounced", |answer| answer.status == 200)
        .await;
    until("listening again", || app.state.health().listening).await;
}

#[actix_web::test]
async fn rest_096_when_connections_run_out_requests_wait_up_to_a_limit() {
    let app = Start {
        pool: RequestPoolConfig {
            connections_per_worker: 1,
            max_connections_per_worker: 1,
            acquire_timeout: Duration::from_millis(300),
            ..RequestPoolConfig::default()
        },
        ..Start::on(ITEMS)
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
    let blocked = "select 1 from pg_locks where not granted and relation = 'public.items'::regclass";
    while watcher.query(blocked, &[]).await.unwrap().is_empty() {
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    // older than the patience with which requests queue behind it
    tokio::time::sleep(Duration::from_millis(50)).await;

    let refused = app.anon().get("/items").await;
    superuser.batch_execute("rollback").await.unwrap();

    assert_eq!((refused.status, refused.code().as_str()), (504, "PGRST003"));
    assert_eq!(
        refused.json()["message"],
        json!("Timed out acquiring connection from connection pool.")
    );
    assert_eq!(held.await.unwrap().status, 200);
    app.anon().until("/items", |answer| answer.status == 200).await;
    let metrics = app.admin().get("/metrics").await.text;
    assert!(metrics.contains("pgrst_db_pool_timeouts_total 1"), "{metrics}");
}
