//! Every request costs one network round trip to PostgreSQL, counted by a proxy.

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use selvedge_postgres::Logins;
use selvedge_rest::RestConfig;
use selvedge_testing::{PASSWORD, TestDatabase};
use serde_json::json;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, UnixStream};
use tokio_postgres::Config;
use tokio_postgres::config::Host;

use crate::support::{ANA, BLOG, TestApp};

/// Counts round trips: how often the client sends after the server has sent.
#[derive(Default)]
struct RoundTrips {
    trips: AtomicUsize,
}

/// Forwards TCP to PostgreSQL's socket and counts round trips.
async fn start_counting_proxy(socket: PathBuf) -> (u16, Arc<RoundTrips>) {
    let wire = Arc::new(RoundTrips::default());
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("it works");
    let port = listener.local_addr().expect("it is bound").port();
    let watched = Arc::clone(&wire);
    tokio::spawn(async move {
        while let Ok((client, _)) = listener.accept().await {
            client.set_nodelay(true).expect("a socket option");
            let server = UnixStream::connect(&socket).await.expect("it works");
            let (mut from_client, mut to_client) = client.into_split();
            let (mut from_server, mut to_server) = server.into_split();
            let server_spoke = Arc::new(AtomicBool::new(true));
            let (spoke, wire) = (Arc::clone(&server_spoke), Arc::clone(&watched));
            tokio::spawn(async move {
                let mut buffer = vec![0; 65536];
                while let Ok(length @ 1..) = from_client.read(&mut buffer).await {
                    if spoke.swap(false, Ordering::SeqCst) {
                        wire.trips.fetch_add(1, Ordering::SeqCst);
                    }
                    to_server.write_all(&buffer[..length]).await.expect("it works");
                }
            });
            tokio::spawn(async move {
                let mut buffer = vec![0; 65536];
                while let Ok(length @ 1..) = from_server.read(&mut buffer).await {
                    server_spoke.store(true, Ordering::SeqCst);
                    if to_client.write_all(&buffer[..length]).await.is_err() {
                        break;
                    }
                }
            });
        }
    });
    (port, wire)
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn rest_004_every_kind_of_request_costs_one_round_trip() {
    let database = TestDatabase::create().await;
    database
        .superuser()
        .await
        .batch_execute(BLOG)
        .await
        .expect("it works");
    let direct = database.config("authenticator");
    let Some(Host::Unix(folder)) = direct.get_hosts().first() else {
        panic!("a socket")
    };
    let (port, wire) = start_counting_proxy(folder.join(format!(".s.PGSQL.{}", direct.get_ports()[0]))).await;
    let login = |role: &str| {
        let mut config = Config::new();
        config
            .host("127.0.0.1")
            .port(port)
            .user(role)
            .password(PASSWORD)
            .dbname(database.name());
        config
    };
    let logins = Logins::new(
        login("authenticator"),
        login("supabase_auth_admin"),
        login("supabase_storage_admin"),
    );
    let app = TestApp::serve_logins(database, logins, RestConfig::default()).await;
    let ana = app.user(ANA);
    let exact = [("prefer", "count=estimated")];

    for (method, path, headers, body) in [
        ("GET", "/posts?id=eq.1", &[][..], None),
        (
            "GET",
            "/posts?select=id,comments(id),profiles!author_id(username)&limit=2",
            &exact[..],
            None,
        ),
        ("POST", "/rpc/add", &[][..], Some(json!({ "a": 1 }))),
        (
            "POST",
            "/../../graphql/v1",
            &[][..],
            Some(json!({ "query": "{ a }" })),
        ),
        (
            "POST",
            "/tags?on_conflict=id",
            &[("prefer", "resolution=merge-duplicates")][..],
            Some(json!({ "id": 50, "name": "x" })),
        ),
        (
            "PATCH",
            "/posts?id=eq.1",
            &[][..],
            Some(json!({ "status": "published" })),
        ),
        ("DELETE", "/likes?post_id=eq.77", &[][..], None),
    ] {
        let send = || ana.send(method, path, headers, body.as_ref().map(ToString::to_string));
        // The first uses of a statement on each connection prepare it, and a reload may use the proxy at the same time.
        // Both add round trips and come to an end, so the cheapest of many requests is what a request costs by itself.
        let mut fewest = usize::MAX;
        for _ in 0..200 {
            let before = wire.trips.load(Ordering::SeqCst);
            let response = send().await;
            assert!(response.status < 300, "{method} {path}: {response:?}");
            fewest = fewest.min(wire.trips.load(Ordering::SeqCst) - before);
            if fewest == 1 {
                break;
            }
        }
        assert_eq!(fewest, 1, "{method} {path}");
    }
}
