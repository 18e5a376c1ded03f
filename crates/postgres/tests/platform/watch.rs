//! DDL notifies the REST catalog (GW-020).

use std::{sync::Arc, time::Duration};

use selvedge_testing::TestDatabase;
use tokio::sync::mpsc;
use tokio_postgres::{AsyncMessage, NoTls};

/// Payloads that arrive on channel `pgrst`.
async fn listen(database: &TestDatabase) -> (tokio_postgres::Client, mpsc::UnboundedReceiver<String>) {
    let (client, mut connection) = database
        .config("authenticator")
        .connect(NoTls)
        .await
        .expect("connects");
    let (sender, receiver) = mpsc::unbounded_channel();
    let sender = Arc::new(sender);
    tokio::spawn(async move {
        while let Some(Ok(message)) = std::future::poll_fn(|cx| connection.poll_message(cx)).await {
            if let AsyncMessage::Notification(notification) = message {
                sender.send(notification.payload().to_owned()).ok();
            }
        }
    });
    client.batch_execute("listen pgrst").await.expect("listens");
    (client, receiver)
}

#[tokio::test]
async fn gw_020_ddl_reloads_the_catalog_and_temporary_objects_do_not() {
    let database = TestDatabase::create().await;
    let (_listener, mut notified) = listen(&database).await;
    let postgres = database.connect("postgres").await;

    for ddl in [
        "create table t (id int)",
        "alter table t add column b text",
        "create view v as select * from t",
        "create function f() returns int language sql as 'select 1'",
        "comment on table t is 'x'",
        "create unique index i on t (id)",
        "grant select on t to anon",
        "alter table t drop column b cascade",
        "drop function f()",
        "drop table t",
    ] {
        postgres.batch_execute(ddl).await.expect(ddl);
        let payload = tokio::time::timeout(Duration::from_secs(60), notified.recv()).await;
        assert_eq!(payload.expect(ddl).as_deref(), Some("reload schema"), "{ddl}");
        while notified.try_recv().is_ok() {}
    }

    postgres
        .batch_execute(
            "create temp table x (id int); create index on x (id); drop table x; notify pgrst, 'end'",
        )
        .await
        .expect("applies");
    assert_eq!(notified.recv().await.as_deref(), Some("end"));
}

#[tokio::test]
async fn gw_020_connections_between_citus_nodes_send_no_notify() {
    let database = TestDatabase::create().await;
    let (listener, mut notified) = listen(&database).await;
    listener
        .batch_execute("listen realtime_catalog")
        .await
        .expect("listens");
    let postgres = database.connect("postgres").await;

    // PostgreSQL refuses PREPARE TRANSACTION after a NOTIFY, and Citus prepares every schema change that runs on several nodes.
    postgres
        .batch_execute(
            "set application_name = 'citus_internal gpid=10000000001';
             create table t (id int); alter table t add a int; grant select on t to anon; drop table t;
             notify pgrst, 'end'",
        )
        .await
        .expect("applies");

    assert_eq!(notified.recv().await.as_deref(), Some("end"));
}
