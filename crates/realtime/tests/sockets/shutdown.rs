//! After a server was shut down or dropped, nothing keeps the database in use.

use std::rc::Rc;
use std::time::Duration;

use selvedge_realtime::RealtimeConfig;
use selvedge_testing::TestDatabase;
use serde_json::json;
use tokio::time::{Instant, sleep};
use tokio_postgres::Client;

use super::support::{PATIENCE, TestServer};

/// Time limit for the slot to be free again. A walsender that PostgreSQL had to end by itself would take a minute.
const SLOT_PATIENCE: Duration = Duration::from_secs(10);

/// Waits until the replication slots of a database are this many.
async fn wait_for_slots(superuser: &Client, count: i64, limit: Duration) {
    let deadline = Instant::now() + limit;
    let slots = "select count(*) from pg_replication_slots where database = current_database()";
    while superuser
        .query_one(slots, &[])
        .await
        .expect("a view")
        .get::<_, i64>(0)
        != count
    {
        assert!(
            Instant::now() < deadline,
            "there are not {count} slots after {limit:?}"
        );
        sleep(Duration::from_millis(20)).await;
    }
}

/// A server whose replication stream runs, because one channel is open.
async fn start_streaming() -> (TestServer, Client) {
    let server = TestServer::start_with(RealtimeConfig {
        drain_duration: Duration::from_millis(100),
        ..RealtimeConfig::default()
    })
    .await;
    let superuser = server.database.superuser().await;
    let mut client = server.connect_anon().await;
    client.join_ok("realtime:room", json!({})).await;
    wait_for_slots(&superuser, 1, PATIENCE).await;
    (server, superuser)
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn realtime_058_a_drained_server_holds_no_replication_slot() {
    let (server, superuser) = start_streaming().await;

    server.realtime.drain().await;

    wait_for_slots(&superuser, 0, SLOT_PATIENCE).await;
    drop(server);
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn realtime_058_a_dropped_server_holds_no_replication_slot() {
    let (server, superuser) = start_streaming().await;
    let _database = Rc::<TestDatabase>::clone(&server.database);

    drop(server);

    wait_for_slots(&superuser, 0, SLOT_PATIENCE).await;
}
