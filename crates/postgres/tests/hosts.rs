//! Several hosts, one of which is frozen: its kernel accepts connections, but no process responds.

use std::net::TcpListener;
use std::time::Duration;

use selvedge_postgres::{Database, Login, Logins};
use selvedge_testing::TestDatabase;
use tokio_postgres::Config;
use tokio_postgres::config::{Host, TargetSessionAttrs};

/// Time limit of the test, long enough to give up the frozen host on a busy machine.
const LIMIT: Duration = Duration::from_secs(60);

/// Returns the configuration of the test's database, with another host before its own.
fn add_first_host(listener: &TcpListener, own: &Config) -> Config {
    let mut config = Config::new();
    let port = listener.local_addr().expect("an address").port();
    config.host("127.0.0.1").port(port);
    match &own.get_hosts()[0] {
        Host::Tcp(name) => config.host(name),
        Host::Unix(folder) => config.host_path(folder),
    };
    config
        .port(own.get_ports().first().copied().unwrap_or(5432))
        .user(own.get_user().expect("a user"))
        .dbname(own.get_dbname().expect("a database"))
        .target_session_attrs(TargetSessionAttrs::ReadWrite);
    if let Some(password) = own.get_password() {
        config.password(password);
    }
    config
}

#[tokio::test(flavor = "current_thread")]
async fn a_host_that_never_responds_is_skipped() {
    let test = TestDatabase::create().await;
    let frozen = TcpListener::bind("127.0.0.1:0").expect("a port");
    let login = add_first_host(&frozen, &test.config("authenticator"));
    let database = Database::new(Logins::with_single_login(login));

    let client = tokio::time::timeout(LIMIT, database.client(Login::Authenticator))
        .await
        .expect("the other host is tried")
        .expect("the other host accepts the login");
    client.simple_query("select 1").await.expect("it answers");

    // The working host is tried first from now on, also by pools.
    let pooled = database
        .pool(Login::StorageAdmin, 1)
        .get()
        .await
        .expect("a connection");
    pooled.simple_query("select 1").await.expect("it answers");
    frozen.set_nonblocking(true).expect("a setting");
    frozen.accept().expect("the attempt of the first login");
    assert!(
        frozen.accept().is_err(),
        "the frozen host was tried a second time"
    );
}

#[tokio::test(flavor = "current_thread")]
async fn every_login_may_ask_a_primary_for_its_timeline() {
    let test = TestDatabase::create().await;
    // A frozen host makes this a configuration with several hosts, for which timelines are read.
    let frozen = TcpListener::bind("127.0.0.1:0").expect("a port");

    for role in ["authenticator", "supabase_auth_admin", "supabase_storage_admin"] {
        let login = add_first_host(&frozen, &test.config(role));
        let database = Database::new(Logins::with_single_login(login));
        let client = tokio::time::timeout(LIMIT, database.client(Login::Authenticator))
            .await
            .expect("the other host is tried")
            .expect("the other host accepts the login");
        let timeline = client
            .query_one("select left(pg_walfile_name(pg_current_wal_lsn()), 8)", &[])
            .await
            .expect("the role may call these functions");
        assert_eq!(timeline.get::<_, String>(0), "00000001", "{role}");
    }
}
