//! Several hosts, one of which is frozen: its kernel accepts connections, but no process responds. And one name that leads to another server.

use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::time::Duration;

use selvedge_postgres::{Database, Login, Logins, PrivilegedLogin, find_primary};
use selvedge_testing::{TestDatabase, TestServer};
use tokio::sync::watch;
use tokio_postgres::config::{Host, TargetSessionAttrs};
use tokio_postgres::{Client, Config};

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

/// What one part of a process has learned of the hosts counts for all: `/pg`, commands, and sessions before there is a [`Database`].
#[tokio::test(flavor = "current_thread")]
async fn a_host_that_never_responds_is_skipped_by_every_way_to_connect() {
    let test = TestDatabase::create().await;
    let frozen = TcpListener::bind("127.0.0.1:0").expect("a port");
    let login = add_first_host(&frozen, &test.config("authenticator"));

    let session = tokio::time::timeout(LIMIT, selvedge_postgres::connect(&login))
        .await
        .expect("the other host is tried");
    let privileged = PrivilegedLogin::new(login.clone());
    let privileged = tokio::time::timeout(LIMIT, privileged.connect())
        .await
        .expect("the other host is tried");
    let for_programs = tokio::time::timeout(LIMIT, find_primary(&login))
        .await
        .expect("the other host is tried");
    let database = Database::new(Logins::with_single_login(login));
    let client = tokio::time::timeout(LIMIT, database.client(Login::Authenticator))
        .await
        .expect("the other host is tried");

    session
        .expect("a login")
        .simple_query("select 1")
        .await
        .expect("it answers");
    privileged
        .expect("a login")
        .simple_query("select 1")
        .await
        .expect("it answers");
    client
        .expect("a login")
        .simple_query("select 1")
        .await
        .expect("it answers");
    assert_eq!(for_programs.expect("found").get_hosts().len(), 1);
    // The question for timelines, before anything was known.
    frozen.set_nonblocking(true).expect("a setting");
    frozen.accept().expect("one attempt");
    assert!(
        frozen.accept().is_err(),
        "the frozen host was tried a second time"
    );
}

/// A driver's own `connect` takes the hosts in order, without a time limit, and knows nothing of a former primary.
#[test]
fn nothing_connects_but_what_knows_the_primary() {
    let ways = [
        ".connect(tls",
        ".connect(self.tls",
        ".connect(NoTls",
        ".connect_raw(",
        "connect_to_host(",
        "LastHost::default()",
    ];
    let allowed = [
        "postgres/src/hosts/connector.rs",
        "postgres/src/hosts/event_triggers.rs",
        "postgres/src/hosts/newest_primary.rs",
        "postgres/src/hosts/last_host.rs",
        "postgres/src/hosts/last_host/tests.rs",
        "postgres/src/wire/connect.rs",
        // A replica, which is one server.
        "postgres/src/database.rs",
        "postgres/src/cluster/tests.rs",
        "testing/src/lib.rs",
    ];
    let crates = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let sources = walkdir::WalkDir::new(&crates).into_iter().flatten();
    let found: Vec<String> = sources
        .filter(|entry| {
            entry
                .path()
                .extension()
                .is_some_and(|extension| extension == "rs")
        })
        .map(|entry| entry.path().display().to_string())
        .filter(|path| path.contains("/src/") && !allowed.iter().any(|allowed| path.ends_with(allowed)))
        .filter(|path| {
            let text = std::fs::read_to_string(path).expect("readable");
            ways.iter().any(|way| text.contains(way))
        })
        .collect();
    assert!(found.is_empty(), "{found:?}");
}

/// A name that leads to the server that was named last, as a DNS record, a virtual address or a proxy does. Connections stay where they are.
struct Name {
    port: u16,
    target: watch::Sender<PathBuf>,
}

impl Name {
    async fn leading_to(server: &TestServer) -> Self {
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0")
            .await
            .expect("a port");
        let port = listener.local_addr().expect("an address").port();
        let (target, current) = watch::channel(server.socket());
        tokio::spawn(async move {
            while let Ok((mut client, _)) = listener.accept().await {
                let socket = current.borrow().clone();
                tokio::spawn(async move {
                    let mut server = tokio::net::UnixStream::connect(socket).await?;
                    tokio::io::copy_bidirectional(&mut client, &mut server).await
                });
            }
        });
        Self { port, target }
    }

    fn lead_to(&self, server: &TestServer) {
        self.target.send_replace(server.socket());
    }
}

async fn timeline(client: &Client) -> String {
    let query = "select left(pg_walfile_name(pg_current_wal_lsn()), 8)";
    client.query_one(query, &[]).await.expect("a primary").get(0)
}

#[tokio::test(flavor = "current_thread")]
async fn connections_of_one_name_end_when_it_leads_to_another_primary() {
    let former = TestServer::start();
    let successor = TestServer::start_standby(Some(&former));
    let name = Name::leading_to(&former).await;
    let mut login = Config::new();
    login
        .host("127.0.0.1")
        .port(name.port)
        .user("authenticator")
        .password(selvedge_testing::PASSWORD)
        .dbname("platform");
    let database = Database::connect(Logins::with_single_login(login))
        .await
        .expect("a login");
    let kept = database.client(Login::Authenticator).await.expect("a login");
    let pool = database.pool(Login::AuthAdmin, 1);
    let pooled = pool.get().await.expect("a login");
    assert_eq!(timeline(&kept).await, "00000001");

    // The former primary goes on, as after a network split.
    successor.promote().await;
    name.lead_to(&successor);

    let ended = async {
        while !(kept.is_closed() && pooled.is_closed()) {
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    };
    tokio::time::timeout(LIMIT, ended)
        .await
        .expect("sessions of the former primary end");
    drop(pooled);
    assert_eq!(timeline(&pool.get().await.expect("a login")).await, "00000002");
    // A resolver that still has the old record.
    name.lead_to(&former);
    let refused = tokio::time::timeout(Duration::from_secs(2), database.client(Login::Authenticator)).await;
    assert!(refused.is_err(), "the former primary is not used");
    name.lead_to(&successor);
    let again = tokio::time::timeout(LIMIT, database.client(Login::Authenticator)).await;
    assert_eq!(
        timeline(&again.expect("in time").expect("a login")).await,
        "00000002"
    );
}
