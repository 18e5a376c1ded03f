//! Every kind of socket reads requests in the same way: plain, encrypted, and the one in the file system.

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

/// Signed by itself for `localhost`, until 2126. Its key protects nothing.
const CERTIFICATE: &str = include_str!("localhost.pem");

/// What is sent below a prefix, and the status and the body that come back; of errors only their code.
fn conversations(prefix: &str) -> Vec<(String, u16, &'static str)> {
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

fn ask(mut stream: impl Read + Write, request: &str) -> (u16, String) {
    // a server that refuses early need not read to the end
    let _ = stream.write_all(request.as_bytes());
    let _ = stream.flush();
    let mut answer = Vec::new();
    // an encrypted connection may end without a word of goodbye
    let _ = stream.read_to_end(&mut answer);
    let answer = String::from_utf8(answer).expect("text");
    let (head, body) = answer.split_once("\r\n\r\n").expect("a whole answer");
    let status = head.split(' ').nth(1).and_then(|status| status.parse().ok());
    (status.expect("a status"), body.to_owned())
}

/// Asks everything over connections that `connect` makes.
fn check<S: Read + Write>(prefix: &str, connect: impl Fn() -> S) {
    for (request, status, expected) in conversations(prefix) {
        let answer = ask(connect(), &request);

        assert_eq!(answer.0, status, "{request:.80}: {}", answer.1);
        if status == 200 {
            assert_eq!(answer.1, expected, "{request:.80}");
        } else {
            let body: Value = serde_json::from_str(&answer.1).expect("JSON");
            assert_eq!(body["code"], expected, "{request:.80}");
        }
    }
}

#[actix_web::test]
async fn rest_018_and_gw_049_encrypted_and_plain_connections_are_read_alike() {
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
        assert_eq!(ask(connect().expect("it listens"), ready).0, 200, "{}", log());
        check("/rest/v1", || connect().expect("it listens"));
    })
    .await
    .expect("no panic");
}

#[actix_web::test]
async fn rest_018_and_gw_049_sockets_in_the_file_system_are_read_alike() {
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
        check("", || {
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

#[actix_web::test]
async fn gw_049_an_address_may_not_take_all_connections() {
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
        // those who waited for the start may be connected still; then not all three of these are let in
        let refused = (0..200).find_map(|_| {
            let held: Vec<TcpStream> = (0..3).map(|_| connect()).collect();
            for mut silent in &held {
                silent.write_all(b"GET /").expect("sent");
            }
            let (status, body) = ask(connect(), request);
            std::thread::sleep(Duration::from_millis(20));
            (status == 429).then_some((held, body))
        });
        let (held, body) = refused.expect("a refusal");
        let body: Value = serde_json::from_str(&body).expect("JSON");
        assert_eq!(body["message"], "Too many connections from this address");

        drop(held);
        let admitted = (0..200).any(|_| {
            std::thread::sleep(Duration::from_millis(20));
            ask(connect(), request).0 == 200
        });
        assert!(admitted, "who lets go is let in again");
    })
    .await
    .expect("no panic");
}
