//! `selvedge rest` in the place of PostgREST: configuration file, variables, signals, admin server.

use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::support::{Project, Running};

const MIGRATION: &str = "
    create table notes (id int primary key); insert into notes values (1), (2), (3);
    create role web_anon nologin; grant web_anon to postgres; grant select on notes to web_anon;
    create function setting() returns text language sql as $$ select current_setting('app.settings.greeting', true) $$;
";

/// Repeats a GET until it gets this status and body.
async fn wait_for_response(running: &Running, path: &str, wanted: (u16, Value)) {
    let deadline = Instant::now() + Duration::from_secs(60);
    loop {
        let response = reqwest::get(running.url(path)).await;
        let found = match response {
            Ok(response) => (
                response.status().as_u16(),
                response.json().await.unwrap_or(Value::Null),
            ),
            Err(error) => (0, error.to_string().into()),
        };
        if found == wanted {
            return;
        }
        assert!(
            Instant::now() < deadline,
            "{path}: {found:?}, {}",
            running.output()
        );
        actix_web::rt::time::sleep(Duration::from_millis(20)).await;
    }
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn rest_095_reads_postgrests_file_and_variables_and_reloads_on_its_signals() {
    let database = Project::new();
    database.write("migrations/20260101000000_notes.sql", MIGRATION);
    let _running = database.start().await;
    let operator = Project::new();
    let url = format!(
        "postgresql://postgres:postgres@127.0.0.1:{}/postgres",
        database.ports.database
    );
    let file =
        |max_rows: u32| format!("db-uri = \"{url}\"\ndb-max-rows = {max_rows}\ndb-anon-role = \"nobody\"\n");
    operator.write("postgrest.conf", &file(2));
    let path = operator.path("postgrest.conf").display().to_string();
    let arguments = ["rest", &path, "--port", &operator.ports.api.to_string()].map(str::to_owned);
    let admin_port = operator.ports.inbox.to_string();

    let rest = operator.spawn(
        &arguments,
        &[
            ("PGRST_DB_ANON_ROLE", "web_anon"),
            ("PGRST_APP_SETTINGS_GREETING", "hello"),
            ("PGRST_ADMIN_SERVER_PORT", &admin_port),
            ("PGRST_DB_POOL", "4"),
        ],
    );

    wait_for_response(&rest, "/notes", (200, json!([{"id": 1}, {"id": 2}]))).await;
    wait_for_response(&rest, "/rpc/setting", (200, json!("hello"))).await;
    let ready = reqwest::get(format!("http://127.0.0.1:{admin_port}/ready"))
        .await
        .unwrap();
    assert!([200, 503].contains(&ready.status().as_u16()));

    operator.write("postgrest.conf", &file(1));
    rest.signal("-USR2");

    wait_for_response(&rest, "/notes", (200, json!([{"id": 1}]))).await;
    let said = rest.stop();
    assert!(!said.contains("postgres:postgres"), "{said}");
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn rest_095_prints_its_settings_and_schema_and_checks_readiness() {
    let database = Project::new();
    database.write("migrations/20260101000000_notes.sql", MIGRATION);
    let _running = database.start().await;
    let operator = Project::new();
    let url = format!(
        "postgresql://postgres:postgres@127.0.0.1:{}/postgres",
        database.ports.database
    );
    let admin_port = operator.ports.inbox.to_string();
    let variables = [
        ("PGRST_DB_URI", url.as_str()),
        ("PGRST_DB_ANON_ROLE", "web_anon"),
        ("PGRST_ADMIN_SERVER_PORT", &admin_port),
    ];
    let report = |flag: &str| {
        let mut command = operator.command(&["rest", flag]);
        let output = command.envs(variables).output().expect("the command runs");
        (
            output.status.success(),
            String::from_utf8_lossy(&output.stdout).into_owned(),
        )
    };

    let (ok, example) = report("--example");
    assert!(ok && example.contains("db-schemas = \"public\""), "{example}");
    let (ok, config) = report("--dump-config");
    assert!(ok && config.contains("db-anon-role = \"web_anon\""), "{config}");
    assert!(!config.contains("postgres:postgres"), "{config}");
    let (ok, schema) = report("--dump-schema");
    assert!(ok && schema.contains("\"tableName\":\"notes\""), "{schema}");
    assert!(!report("--ready").0, "nothing runs yet");

    let arguments = ["rest", "--port", &operator.ports.api.to_string()].map(str::to_owned);
    let rest = operator.spawn(&arguments, &variables);
    wait_for_response(&rest, "/notes?id=eq.1", (200, json!([{"id": 1}]))).await;
    let deadline = Instant::now() + Duration::from_secs(60);
    while !report("--ready").0 {
        assert!(Instant::now() < deadline, "{}", rest.output());
    }
    rest.stop();
}

/// The status line of an admin server on a unix socket.
async fn admin_status(socket: &Path, path: &str) -> Option<String> {
    use tokio::io::{AsyncReadExt, AsyncWriteExt};

    let mut stream = tokio::net::UnixStream::connect(socket).await.ok()?;
    let request = format!("HEAD {path} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n");
    stream.write_all(request.as_bytes()).await.ok()?;
    let mut response = String::new();
    stream.read_to_string(&mut response).await.ok()?;
    response.split(' ').nth(1).map(str::to_owned)
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn rest_097_processes_share_a_port_and_have_admin_servers_on_unix_sockets() {
    let database = Project::new();
    database.write("migrations/20260101000000_notes.sql", MIGRATION);
    let _running = database.start().await;
    let (first, mut second) = (Project::new(), Project::new());
    second.ports = first.ports;
    let url = format!(
        "postgresql://postgres:postgres@127.0.0.1:{}/postgres",
        database.ports.database
    );
    let arguments = [
        "rest",
        "--db-url",
        &url,
        "--host",
        "127.0.0.1",
        "--port",
        &first.ports.api.to_string(),
    ]
    .map(str::to_owned);
    let mut started = Vec::new();
    for operator in [&first, &second] {
        let socket = operator.path("admin.sock");
        let rest = operator.spawn(
            &arguments,
            &[
                ("PGRST_DB_ANON_ROLE", "web_anon"),
                ("PGRST_SERVER_REUSEPORT", "true"),
                ("PGRST_ADMIN_SERVER_UNIX_SOCKET", &socket.display().to_string()),
                ("PGRST_LOG_LEVEL", "info"),
                ("PGRST_LOG_QUERY", "true"),
            ],
        );
        let deadline = Instant::now() + Duration::from_secs(60);
        while admin_status(&socket, "/ready").await.as_deref() != Some("200") {
            assert!(Instant::now() < deadline, "not ready: {}", rest.output());
            actix_web::rt::time::sleep(Duration::from_millis(20)).await;
        }
        started.push(rest);
    }

    let (second, first) = (started.pop().expect("two"), started.pop().expect("two"));
    wait_for_response(&first, "/notes?id=eq.2", (200, json!([{"id": 2}]))).await;
    let said = first.stop();
    // The other process serves the port alone.
    wait_for_response(&second, "/notes?id=eq.2", (200, json!([{"id": 2}]))).await;
    let said = said + &second.stop();
    let query = said.lines().find(|line| line.contains("query sql="));
    assert!(
        query.is_some_and(|line| line.contains("notes") && line.contains("$1")),
        "{said}"
    );
}

#[test]
fn rest_095_wrong_settings_are_refused_without_quoting_secrets() {
    let project = Project::new();
    for (variable, value) in [
        ("PGRST_JWT_SECRET", "hunter2"),
        ("PGRST_DB_TX_END", "hunter2"),
        ("PGRST_DB_URI", "postgresql://u:hunter2@host:port/x"),
    ] {
        let output = project
            .command(&["rest", "--port", "0"])
            .env(variable, value)
            .output()
            .expect("the binary runs");
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(!output.status.success(), "{variable}");
        assert!(!said.contains("hunter2"), "{said}");
    }
}

/// Another address of a server, which can be frozen: then connections are accepted and stay open, and nobody answers.
struct FreezableAddress {
    port: u16,
    is_frozen: Arc<AtomicBool>,
}

impl FreezableAddress {
    fn of(server_port: u16) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
        let port = listener.local_addr().expect("an address").port();
        let is_frozen = Arc::new(AtomicBool::new(false));
        let frozen = Arc::clone(&is_frozen);
        std::thread::spawn(move || {
            for client in listener.incoming() {
                let client = client.expect("a connection");
                let server = TcpStream::connect(("127.0.0.1", server_port)).expect("it listens");
                let back = (
                    server.try_clone().expect("a handle"),
                    client.try_clone().expect("a handle"),
                );
                for (from, to) in [(client, server), back] {
                    let frozen = Arc::clone(&frozen);
                    std::thread::spawn(move || forward(from, to, &frozen));
                }
            }
        });
        Self { port, is_frozen }
    }
}

/// Copies bytes until one side ends; once frozen, reads without passing anything on, as a kernel does for a frozen process.
fn forward(mut from: TcpStream, mut to: TcpStream, is_frozen: &AtomicBool) {
    let mut buffer = [0; 16 * 1024];
    loop {
        match from.read(&mut buffer) {
            Ok(length @ 1..) => {
                if !is_frozen.load(Ordering::Relaxed) && to.write_all(&buffer[..length]).is_err() {
                    return;
                }
            }
            _ => return drop(to.shutdown(std::net::Shutdown::Both)),
        }
    }
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn rest_095_follows_the_primary_to_another_host_when_the_former_one_freezes() {
    let database = Project::new();
    database.write("migrations/20260101000000_notes.sql", MIGRATION);
    let _running = database.start().await;
    let [first, second] = [(); 2].map(|()| FreezableAddress::of(database.ports.database));
    let operator = Project::new();
    let url = format!(
        "postgresql://postgres:postgres@127.0.0.1:{},127.0.0.1:{}/postgres?target_session_attrs=read-write",
        first.port, second.port
    );
    let arguments = [
        "rest",
        "--db-url",
        &url,
        "--port",
        &operator.ports.api.to_string(),
        "--workers",
        "1",
    ]
    .map(str::to_owned);
    // One connection for reads: opening another would find the second host, which is not what is tested here.
    let variables = [("PGRST_DB_ANON_ROLE", "web_anon"), ("PGRST_DB_POOL", "2")];
    let rest = operator.spawn(&arguments, &variables);
    let rows = json!([{"id": 1}, {"id": 2}, {"id": 3}]);
    wait_for_response(&rest, "/notes", (200, rows.clone())).await;

    first.is_frozen.store(true, Ordering::Relaxed);
    // Sent to the frozen server, which acknowledges it and never answers.
    let waiting = tokio::time::timeout(Duration::from_secs(60), reqwest::get(rest.url("/notes"))).await;

    let status = waiting.expect("it ends").expect("a response").status().as_u16();
    assert!([200, 503].contains(&status), "{status}");
    wait_for_response(&rest, "/notes", (200, rows)).await;
}
