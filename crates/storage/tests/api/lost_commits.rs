//! The connection to PostgreSQL breaks while it commits: the write may have happened, so its bytes must stay.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use reqwest::Method;
use selvedge_storage::{SweepOptions, sweep};
use selvedge_testing::TestDatabase;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, UnixStream};
use tokio_postgres::config::Host;

use crate::support::{Client, Running, TestApp, serve};

/// A proxy before PostgreSQL that can break connections at the moment when PostgreSQL reports a commit.
struct Proxy {
    port: u16,
    loses_commits: Arc<AtomicBool>,
}

impl Proxy {
    async fn start(database: &TestDatabase) -> Self {
        let config = database.config("postgres");
        let Host::Unix(folder) = &config.get_hosts()[0] else {
            panic!("the test database has a socket")
        };
        let socket = folder.join(format!(".s.PGSQL.{}", config.get_ports()[0]));
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a free port");
        let port = listener.local_addr().expect("it is bound").port();
        let loses_commits = Arc::new(AtomicBool::new(false));
        let loses = Arc::clone(&loses_commits);
        tokio::spawn(async move {
            while let Ok((client, _)) = listener.accept().await {
                let database = UnixStream::connect(&socket).await.expect("it listens");
                tokio::spawn(forward(client, database, Arc::clone(&loses)));
            }
        });
        Self { port, loses_commits }
    }
}

/// Forwards both ways until one side ends, or until the answer to a commit is to be lost.
async fn forward(client: tokio::net::TcpStream, database: UnixStream, loses_commits: Arc<AtomicBool>) {
    let (mut from_client, mut to_client) = client.into_split();
    let (mut from_database, mut to_database) = database.into_split();
    let requests = async {
        let _ = tokio::io::copy(&mut from_client, &mut to_database).await;
    };
    let answers = async {
        let mut buffer = vec![0; 1 << 16];
        let mut has_inserted = false;
        while let Ok(length @ 1..) = from_database.read(&mut buffer).await {
            if commits_insert(&buffer[..length], &mut has_inserted) && loses_commits.load(Ordering::SeqCst) {
                return;
            }
            if to_client.write_all(&buffer[..length]).await.is_err() {
                return;
            }
        }
    };
    tokio::select! {
        () = requests => {}
        () = answers => {}
    }
}

/// Whether an answer commits a transaction that has inserted a row. Permission checks insert one too and roll back.
fn commits_insert(answer: &[u8], has_inserted: &mut bool) -> bool {
    for at in 0..answer.len() {
        // The tags of CommandComplete, and ReadyForQuery outside of a transaction. Statements that are sent together are
        // committed without a tag. Nothing else in the responses to these tests contains these bytes.
        if answer[at..].starts_with(b"INSERT 0 1\0") {
            *has_inserted = true;
        } else if answer[at..].starts_with(b"ROLLBACK\0") {
            *has_inserted = false;
        } else if answer[at..].starts_with(b"Z\0\0\0\x05I") && std::mem::take(has_inserted) {
            return true;
        }
    }
    false
}

/// The service behind the proxy, with a bucket `b`.
async fn start() -> (TestApp, Running, Proxy) {
    let app = TestApp::start().await;
    app.sql("insert into storage.buckets (id, name, public) values ('b', 'b', true)")
        .await;
    let proxy = Proxy::start(&app.database).await;
    let port = proxy.port;
    let login = |role: &str| {
        let direct = app.database.config(role);
        let mut config = tokio_postgres::Config::new();
        config.host("127.0.0.1").port(port).user(role);
        config.dbname(direct.get_dbname().expect("a name"));
        config.password(direct.get_password().unwrap_or_default());
        config
    };
    let running = serve(login, app.store.config()).await;
    (app, running, proxy)
}

/// Uploads to the service behind the proxy.
async fn upload(app: &TestApp, running: &Running, path: &str, upsert: &str, body: &str) -> u16 {
    let admin: Client<'_> = app.service_role();
    let url = format!("http://{}/storage/v1/object/{path}", running.address);
    let request = reqwest::Client::new()
        .request(Method::POST, url)
        .bearer_auth(admin.token());
    let request = request.header("x-upsert", upsert).body(body.to_owned());
    request.send().await.expect("a response").status().as_u16()
}

/// Deletes an object by the service behind the proxy.
async fn remove(app: &TestApp, running: &Running, path: &str) {
    let admin: Client<'_> = app.service_role();
    let url = format!("http://{}/storage/v1/object/{path}", running.address);
    let request = reqwest::Client::new().delete(url).bearer_auth(admin.token());
    let response = request.send().await.expect("a response");
    assert_eq!(response.status(), 200);
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn store_083_an_object_whose_commit_was_not_answered_keeps_its_bytes() {
    let (app, running, proxy) = start().await;
    assert_eq!(upload(&app, &running, "b/old", "false", "old").await, 200);
    proxy.loses_commits.store(true, Ordering::SeqCst);

    // An insert in one batch, and a replacement in a transaction of several statements.
    for (key, upsert) in [("new", "false"), ("old", "true"), ("other", "true")] {
        let status = upload(&app, &running, &format!("b/{key}"), upsert, "new").await;
        assert_eq!(status, 503, "{key}");
    }
    proxy.loses_commits.store(false, Ordering::SeqCst);

    // Blobs are removed in the background, in order: when this one is gone, a wrong removal before it has happened.
    let blobs = app.store.blobs();
    assert_eq!(upload(&app, &running, "b/marker", "false", "marker").await, 200);
    remove(&app, &running, "b/marker").await;
    app.settle(blobs).await;
    for key in ["new", "old", "other"] {
        let found = app.nobody().get(&format!("/object/public/b/{key}")).await.ok();
        assert_eq!(found.text(), "new", "{key}");
    }
    // A sweep removes the leftover of the replacement, and nothing else.
    let options = SweepOptions {
        older_than: Duration::ZERO,
        remove_many: true,
        ..SweepOptions::default()
    };
    sweep(&app.storage, &options).await.expect("it runs");
    app.settle(3).await;
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn store_083_a_write_that_was_refused_leaves_no_bytes() {
    let (app, running, _proxy) = start().await;
    assert_eq!(upload(&app, &running, "b/x", "false", "first").await, 200);

    assert_eq!(upload(&app, &running, "b/x", "false", "second").await, 400);

    app.settle(1).await;
    assert_eq!(app.nobody().get("/object/public/b/x").await.ok().text(), "first");
}
