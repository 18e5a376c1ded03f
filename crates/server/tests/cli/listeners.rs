//! Requests are parsed alike on every kind of listener: TCP, TLS and unix sockets.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::os::unix::net::UnixStream;
use std::sync::Arc;
use std::time::Duration;

use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, ServerName};
use rustls::{ClientConfig, ClientConnection, RootCertStore, StreamOwned};
use serde_json::Value;

use crate::support::Project;

const MIGRATION: &str = "
    create table notes (id int primary key, data jsonb);
    insert into notes values (1, '{\"a\": \"x\"}');
    create role web_anon nologin; grant web_anon to postgres;
    grant usage on schema public to web_anon; grant select on notes to web_anon;
";

/// A self-signed certificate for `localhost`, valid until 2126. Its key is only used by this test.
const CERTIFICATE: &str = include_str!("localhost.pem");

/// Requests to paths below `prefix`, each with the expected status and body (of errors: their code).
fn exchanges(prefix: &str) -> Vec<(String, u16, &'static str)> {
    let get = |target: &str, more: &str| {
        format!("GET {prefix}{target} HTTP/1.1\r\nHost: x\r\n{more}Connection: close\r\n\r\n")
    };
    vec![
        (get("/notes?select=data->>a", ""), 200, r#"[{"a":"x"}]"#),
        (get("/notes?select=id&data->>a=eq.\"x\"", ""), 200, "[]"),
        (
            get("/notes?select=id&or=(data->>a.eq.\"x\")", ""),
            200,
            r#"[{"id":1}]"#,
        ),
        (
            get(&format!("/notes?a={}", "x".repeat(70_000)), ""),
            414,
            "PGRST100",
        ),
        (
            get("/notes", &format!("A: {}\r\n", "x".repeat(130_000))),
            431,
            "PGRST100",
        ),
        (
            get("/notes", "Content-Length: 1\r\nContent-Length: 2\r\n"),
            400,
            "PGRST100",
        ),
    ]
}

fn send(mut stream: impl Read + Write, request: &str) -> (u16, String) {
    // Writing may fail: a server that refuses early need not read the whole request.
    let _ = stream.write_all(request.as_bytes());
    let _ = stream.flush();
    let mut bytes = Vec::new();
    // Reading may fail at the end: a TLS connection may be closed without close_notify.
    let _ = stream.read_to_end(&mut bytes);
    let response = String::from_utf8(bytes).expect("text");
    let (head, body) = response.split_once("\r\n\r\n").expect("a whole response");
    let status = head.split(' ').nth(1).and_then(|status| status.parse().ok());
    (status.expect("a status"), body.to_owned())
}

/// Sends every request over connections that `connect` makes, and compares the responses.
fn check_exchanges<S: Read + Write>(prefix: &str, connect: impl Fn() -> S) {
    for (request, status, expected) in exchanges(prefix) {
        let response = send(connect(), &request);

        assert_eq!(response.0, status, "{request:.80}: {}", response.1);
        if status == 200 {
            assert_eq!(response.1, expected, "{request:.80}");
        } else {
            let body: Value = serde_json::from_str(&response.1).expect("JSON");
            assert_eq!(body["code"], expected, "{request:.80}");
        }
    }
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn rest_018_and_gw_049_tls_and_plain_connections_are_read_alike() {
    let project = Project::new();
    project.write("cert.pem", CERTIFICATE);
    project.write("key.pem", include_str!("localhost.key"));
    project.write(
        "config.toml",
        "project_id = \"cli\"\n[api.tls]\nenabled = true\ncert_path = \"cert.pem\"\nkey_path = \"key.pem\"\n",
    );
    project.write("migrations/20260101000000_notes.sql", MIGRATION);
    let running = project.spawn(&project.start_arguments(), &[]);
    let mut roots = RootCertStore::empty();
    let certificate = CertificateDer::from_pem_slice(CERTIFICATE.as_bytes()).expect("a certificate");
    roots.add(certificate).expect("a root");
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let mut config = ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .expect("versions")
        .with_root_certificates(roots)
        .with_no_client_auth();
    config.alpn_protocols = vec![b"h2".to_vec(), b"http/1.1".to_vec()];
    let config = Arc::new(config);
    let port = running.ports.api;
    let log = move || running.output();

    actix_web::web::block(move || {
        let connect = || {
            let tcp = TcpStream::connect(("127.0.0.1", port)).ok()?;
            tcp.set_read_timeout(Some(Duration::from_secs(60)))
                .expect("a timeout");
            let name = ServerName::try_from("localhost").expect("a name");
            let connection = ClientConnection::new(config.clone(), name).expect("a client");
            Some(StreamOwned::new(connection, tcp))
        };
        for _ in 0..3_000 {
            if connect().is_some() {
                break;
            }
            std::thread::sleep(Duration::from_millis(20));
        }
        let ready = "GET /health/ready HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n";
        assert_eq!(send(connect().expect("it listens"), ready).0, 200, "{}", log());
        check_exchanges("/rest/v1", || connect().expect("it listens"));
    })
    .await
    .expect("no panic");
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn rest_018_and_gw_049_unix_sockets_are_read_like_tcp() {
    let database = Project::new();
    database.write("migrations/20260101000000_notes.sql", MIGRATION);
    let _running = database.start().await;
    let operator = Project::new();
    let url = format!(
        "postgresql://postgres:postgres@127.0.0.1:{}/postgres",
        database.ports.database
    );
    let socket = operator.path("rest.sock");
    let arguments = ["rest", "--db-url", &url].map(str::to_owned);

    let rest = operator.spawn(
        &arguments,
        &[
            ("PGRST_DB_ANON_ROLE", "web_anon"),
            ("PGRST_SERVER_UNIX_SOCKET", &socket.display().to_string()),
        ],
    );

    actix_web::web::block(move || {
        for _ in 0..3_000 {
            if UnixStream::connect(&socket).is_ok() {
                break;
            }
            std::thread::sleep(Duration::from_millis(20));
        }
        check_exchanges("", || {
            let stream = UnixStream::connect(&socket).unwrap_or_else(|_| panic!("{}", rest.output()));
            stream
                .set_read_timeout(Some(Duration::from_secs(60)))
                .expect("a timeout");
            stream
        });
    })
    .await
    .expect("no panic");
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn gw_049_connections_per_client_address_are_limited() {
    let project = Project::new();
    project.write(
        "config.toml",
        "project_id = \"cli\"\n[selvedge.limits]\nconnections_per_address = 3\nheader_timeout = \"60s\"\n",
    );
    let running = project.start().await;
    let port = running.ports.api;

    actix_web::web::block(move || {
        let connect = || TcpStream::connect(("127.0.0.1", port)).expect("it listens");
        let request = "GET /health/live HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n";
        // Connections of the readiness check may still be open; then fewer than three of these are accepted.
        let refused = (0..200).find_map(|_| {
            let held: Vec<TcpStream> = (0..3).map(|_| connect()).collect();
            for mut silent in &held {
                silent.write_all(b"GET /").expect("sent");
            }
            let (status, body) = send(connect(), request);
            std::thread::sleep(Duration::from_millis(20));
            (status == 429).then_some((held, body))
        });
        let (held, body) = refused.expect("a refusal");
        let body: Value = serde_json::from_str(&body).expect("JSON");
        assert_eq!(body["message"], "Too many connections from this address");

        drop(held);
        let admitted = (0..200).any(|_| {
            std::thread::sleep(Duration::from_millis(20));
            send(connect(), request).0 == 200
        });
        assert!(admitted, "who lets go is let in again");
    })
    .await
    .expect("no panic");
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn gw_049_a_connection_that_a_client_has_kept_is_still_there() {
    let project = Project::new();
    let running = project.start().await;
    let port = running.ports.api;

    actix_web::web::block(move || {
        let mut stream = TcpStream::connect(("127.0.0.1", port)).expect("it listens");
        stream
            .set_read_timeout(Some(Duration::from_secs(60)))
            .expect("a timeout");
        let mut ask = || {
            stream
                .write_all(b"GET /health/live HTTP/1.1\r\nHost: x\r\n\r\n")
                .expect("sent");
            let mut start = [0; 12];
            stream
                .read_exact(&mut start)
                .expect("an answer, and no end of the connection");
            assert_eq!(&start, b"HTTP/1.1 200");
            // The rest of the answer, which has arrived with its start.
            let _ = stream.read(&mut [0; 4096]).expect("the rest");
        };
        ask();
        // The keep-alive time of a bare actix-web server is 5 s, that of nginx's upstreams 60 s.
        std::thread::sleep(Duration::from_secs(6));
        ask();
    })
    .await
    .expect("no panic");
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn gw_049_requests_for_other_hosts_and_malformed_ones_are_refused_at_once() {
    let project = Project::new();
    project.write(
        "config.toml",
        "project_id = \"cli\"\n[selvedge]\nrequire_keys = true\nallowed_hosts = [\"demo.example\"]\n",
    );
    let running = project.start().await;
    let (api, inbox) = (running.ports.api, running.ports.inbox);

    actix_web::web::block(move || {
        // Without `Connection: close`, so that the server must end the connection itself.
        let status = |port, request: &str| {
            let stream = TcpStream::connect(("127.0.0.1", port)).expect("it listens");
            stream.set_read_timeout(Some(Duration::from_secs(60))).expect("a timeout");
            send(stream, request).0
        };
        let get = |host: &str| format!("GET / HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n\r\n");
        for port in [api, inbox] {
            for host in ["localhost", "127.0.0.1:1", "app.localhost", "demo.example"] {
                assert_eq!(status(port, &get(host)), 200, "{host}");
            }
            // A page whose name leads to this machine: DNS rebinding.
            assert_eq!(status(port, &get("evil.example")), 403);
            assert_eq!(status(port, &get("<x>")), 400);
            assert_eq!(status(port, "GET / HTTP/1.1\nHost: localhost\n\n"), 400);
            assert_eq!(status(port, "CONNECT x:1 HTTP/1.1\r\nHost: localhost\r\n\r\n"), 405);
            let handshake = "GET /realtime/v1/websocket HTTP/1.1\r\nHost: localhost\r\nConnection: Upgrade\r\n\
                             Upgrade: websocket\r\nContent-Length: 5\r\n\r\n";
            assert_eq!(status(port, handshake), 400);
        }
        // The key is refused before the client is asked to send its body.
        let asks_first = "POST /rest/v1/notes HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n\
                          Content-Length: 1000000\r\nExpect: 100-continue\r\n\r\n";
        assert_eq!(status(api, asks_first), 401);
        let key = selvedge_token::development::publishable_key();
        let upload = |path: &str, headers: &str| {
            let request = format!(
                "PUT /storage/v1/{path} HTTP/1.1\r\nHost: localhost\r\napikey: {key}\r\n{headers}\
                 Content-Length: 1000000\r\nExpect: 100-continue\r\n\r\n"
            );
            status(api, &request)
        };
        let forged = "Authorization: Bearer eyJhbGciOiJIUzI1NiJ9.e30.AAAA\r\n";
        assert_eq!(upload("object/photos/a.png", ""), 100, "a publishable key is enough");
        assert_eq!(upload("object/photos/a.png", forged), 400);
        assert_eq!(upload("object/upload/sign/photos/a.png?token=AAAA", ""), 400);
        assert_eq!(upload("nowhere", ""), 404);
        assert_eq!(upload("s3/photos/a.png", ""), 403, "without a signature");
    })
    .await
    .expect("no panic");
}
