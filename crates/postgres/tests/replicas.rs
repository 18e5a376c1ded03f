//! Replicas after a failover: which of them follow the new primary.

use std::sync::Arc;
use std::time::Duration;

use selvedge_postgres::{
    Database, Login, Logins, ReplicaConfig, Replicas, ReplicasConfig, RequestPoolConfig,
};
use selvedge_testing::TestServer;
use tokio_postgres::Config;
use tokio_postgres::config::{Host, TargetSessionAttrs};

/// Time limit of the test, on a busy machine.
const LIMIT: Duration = Duration::from_secs(60);

fn logins(server: &TestServer) -> Logins {
    Logins::with_single_login(server.config("authenticator"))
}

fn watch(database: &Arc<Database>, replica: &TestServer) -> Arc<Replicas> {
    watch_with_logins(database, logins(replica))
}

fn watch_with_logins(database: &Arc<Database>, logins: Logins) -> Arc<Replicas> {
    let config = ReplicasConfig {
        replicas: vec![ReplicaConfig {
            name: "replica".to_owned(),
            logins,
        }],
        max_lag: Duration::from_secs(10),
        max_lag_bytes: 1 << 30,
        pool: RequestPoolConfig::default(),
    };
    Replicas::start(database, config)
}

/// Waits until `is_reached` says so.
async fn wait_until(what: &str, is_reached: impl AsyncFn() -> bool) {
    let reached = async {
        while !is_reached().await {
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    };
    tokio::time::timeout(LIMIT, reached).await.expect(what);
}

/// The successor has not received what the former primary wrote last, and a standby that was not rewound has.
#[tokio::test(flavor = "current_thread")]
async fn a_standby_of_the_former_primary_gets_no_reads() {
    let former = TestServer::start();
    let left_behind = TestServer::start_standby(Some(&former));
    let successor = TestServer::start_standby(None);
    let writer = former.superuser().await;
    writer
        .batch_execute("create table lost as select generate_series(1, 100000) as n")
        .await
        .expect("written");
    let reader = left_behind.superuser().await;
    wait_until("the standby has all of it", async || {
        let written: String = writer
            .query_one("select pg_current_wal_lsn()::text", &[])
            .await
            .expect("a position")
            .get(0);
        let query = format!("select pg_last_wal_replay_lsn() >= '{written}'");
        reader.query_one(&query, &[]).await.expect("a standby").get(0)
    })
    .await;
    former.stop();
    successor.promote().await;
    let follower = TestServer::start_standby(Some(&successor));
    let database = Database::connect(logins(&successor)).await.expect("a login");

    let stale = watch(&database, &left_behind);
    let good = watch(&database, &follower);

    wait_until("a standby of the new primary gets reads", async || {
        good.find_fault().is_none()
    })
    .await;
    wait_until("the other one is compared", async || {
        let fault = stale.find_fault().expect("it shows rows that no longer exist");
        fault.contains("timeline 1, and the primary on 2")
    })
    .await;
    expect_left_out_once_replaced(&database, follower, &left_behind).await;
}

/// The server of a replica is replaced by one that was not rewound, at the same address.
async fn expect_left_out_once_replaced(
    database: &Arc<Database>,
    follower: TestServer,
    left_behind: &TestServer,
) {
    let folder = tempfile::tempdir().expect("a folder");
    let address = folder
        .path()
        .join(follower.socket().file_name().expect("a socket"));
    let lead_to = |server: &TestServer| {
        std::fs::remove_file(&address).ok();
        std::os::unix::fs::symlink(server.socket(), &address).expect("a link");
    };
    lead_to(&follower);
    let former = follower.config("authenticator");
    let mut login = Config::new();
    login
        .host_path(folder.path())
        .port(former.get_ports()[0])
        .user("authenticator")
        .password(former.get_password().expect("a password"))
        .dbname(former.get_dbname().expect("a database"));
    let replicas = watch_with_logins(database, Logins::with_single_login(login));
    wait_until("it follows the primary", async || replicas.find_fault().is_none()).await;

    lead_to(left_behind);
    follower.stop();

    wait_until("the other server does not", async || {
        replicas
            .find_fault()
            .is_some_and(|fault| fault.contains("timeline 1, and the primary on 2"))
    })
    .await;
}

/// Managed services close functions that say a timeline.
#[tokio::test(flavor = "current_thread")]
async fn a_replica_that_does_not_say_its_timeline_is_compared_by_its_position() {
    let primary = TestServer::start();
    let standby = TestServer::start_standby(Some(&primary));
    let close = "revoke execute on function pg_control_checkpoint() from public";
    primary
        .superuser()
        .await
        .batch_execute(close)
        .await
        .expect("closed");
    let reader = standby.superuser().await;
    wait_until("the standby has that", async || {
        let query =
            "select not has_function_privilege('authenticator', 'pg_control_checkpoint()', 'execute')";
        reader.query_one(query, &[]).await.expect("a standby").get(0)
    })
    .await;
    let database = Database::connect(logins(&primary)).await.expect("a login");

    let replicas = watch(&database, &standby);

    wait_until("the replica gets reads", async || replicas.find_fault().is_none()).await;
}

fn both(first: &TestServer, second: &TestServer) -> Logins {
    let mut hosts = first.config("authenticator");
    let second = second.config("authenticator");
    let Host::Unix(folder) = &second.get_hosts()[0] else {
        panic!("a socket");
    };
    hosts
        .host_path(folder)
        .target_session_attrs(TargetSessionAttrs::ReadWrite);
    Logins::with_single_login(hosts)
}

/// While the former primary goes on, this node does not know yet of the one to which another node has written.
#[tokio::test(flavor = "current_thread")]
async fn a_primary_to_which_somebody_has_written_is_found_at_once() {
    let former = TestServer::start();
    let successor = TestServer::start_standby(Some(&former));
    let database = Database::connect(both(&former, &successor))
        .await
        .expect("a login");
    let replicas = watch(&database, &successor);
    let find_timeline = async || {
        let client = database.client(Login::Authenticator).await.expect("a login");
        let query = "select pg_catalog.pg_walfile_name(pg_catalog.pg_current_wal_lsn())";
        let name: String = client.query_one(query, &[]).await.expect("a primary").get(0);
        name[..8].to_owned()
    };
    assert_eq!(
        (replicas.timeline(), find_timeline().await.as_str()),
        (1, "00000001")
    );

    successor.promote().await;
    replicas.follow_timeline(2).await;

    assert_eq!(
        (replicas.timeline(), find_timeline().await.as_str()),
        (2, "00000002")
    );
    // A client may name any timeline, and keeps nobody.
    let all = futures_util::future::join_all((0..50).map(|_| replicas.follow_timeline(u32::MAX)));
    tokio::time::timeout(LIMIT, all).await.expect("no search each");
    assert_eq!(replicas.timeline(), 2);
}

/// A failover while reads go on: whoever was admitted before is asked again before the first read of the new timeline.
#[tokio::test(flavor = "current_thread")]
async fn a_replica_that_was_admitted_is_left_out_when_another_server_is_promoted() {
    let former = TestServer::start();
    let left_behind = TestServer::start_standby(Some(&former));
    let successor = TestServer::start_standby(Some(&former));
    let database = Database::connect(both(&former, &successor))
        .await
        .expect("a login");
    let replicas = watch(&database, &left_behind);
    wait_until("it follows the primary", async || replicas.find_fault().is_none()).await;

    former.stop();
    // Without the primary its reads go on.
    assert_eq!(replicas.find_fault(), None);
    successor.promote().await;

    wait_until("it does not follow the new primary", async || {
        replicas
            .find_fault()
            .is_some_and(|fault| fault.contains("timeline 1, and the primary on 2"))
    })
    .await;
    left_behind.follow(&successor).await;
    wait_until("it follows the new primary", async || {
        replicas.find_fault().is_none()
    })
    .await;
}
