//! Realtime through the built binary, while PostgreSQL or the server is stopped, killed or configured badly.

use std::time::{Duration, Instant};

use actix_web::rt::net::TcpStream;
use actix_web::rt::time::{sleep, timeout};
use futures_util::{SinkExt, StreamExt};
use serde_json::{Value, json};
use tokio_tungstenite::WebSocketStream;
use tokio_tungstenite::tungstenite::Message;

use crate::production::{generate_keys, serve_variables};
use crate::support::{Ports, Project, Running};

const TIMEOUT: Duration = Duration::from_secs(60);

const MIGRATION: &str = "
    create table notes (id bigint primary key, body text);
    grant select on notes to anon;
    alter publication supabase_realtime add table notes;
";

/// A socket of protocol version 1, in which every frame is JSON.
pub(crate) struct Socket {
    stream: WebSocketStream<TcpStream>,
}

impl Socket {
    pub(crate) async fn open(running: &Running, key: &str) -> Self {
        let address = ("127.0.0.1", running.ports.api);
        let stream = TcpStream::connect(address).await.expect("it listens");
        let url = format!(
            "ws://127.0.0.1:{}/realtime/v1/websocket?apikey={key}&vsn=1.0.0",
            running.ports.api
        );
        let (stream, _) = tokio_tungstenite::client_async(url, stream)
            .await
            .expect("the upgrade is accepted");
        Self { stream }
    }

    pub(crate) async fn send(&mut self, event: &str, payload: Value) {
        let frame = json!({"topic": "realtime:room", "event": event, "payload": payload, "ref": "1"});
        let message = Message::text(frame.to_string());
        self.stream.send(message).await.expect("the socket is open");
    }

    /// Event and payload of the next frame.
    pub(crate) async fn next(&mut self) -> (String, Value) {
        let message = timeout(TIMEOUT, self.stream.next())
            .await
            .expect("a frame in time");
        let message = message.expect("the socket stays open").expect("a frame");
        let mut frame: Value = serde_json::from_str(message.to_text().expect("text")).expect("JSON");
        let event = frame["event"].as_str().expect("an event").to_owned();
        (event, frame["payload"].take())
    }

    /// Returns when the server has closed the socket.
    pub(crate) async fn wait_until_closed(&mut self) {
        let closed = async {
            while let Some(Ok(message)) = self.stream.next().await {
                if message.is_close() {
                    return;
                }
            }
        };
        timeout(TIMEOUT, closed).await.expect("it is closed in time");
    }

    /// Joins `realtime:room` with a binding to `notes`; returns the reply.
    async fn join(&mut self) -> Value {
        let bindings = json!([{"event": "*", "schema": "public", "table": "notes"}]);
        let config = json!({"broadcast": {"ack": true}, "postgres_changes": bindings});
        self.send("phx_join", json!({ "config": config })).await;
        let (event, reply) = self.next().await;
        assert_eq!((event.as_str(), &reply["status"]), ("phx_reply", &json!("ok")));
        reply
    }

    /// The text of the next frame, which must be about changes.
    async fn changes_notice(&mut self) -> String {
        let (event, payload) = self.next().await;
        assert_eq!(
            (event.as_str(), &payload["extension"]),
            ("system", &json!("postgres_changes"))
        );
        payload["message"].as_str().expect("a text").to_owned()
    }
}

/// Gives Realtime's login the password of the other services. In a database of `selvedge start` it has one of its own, while `serve`
/// logs all services in with the password of its URL.
async fn share_service_password(database: &Project) {
    database
        .superuser()
        .await
        .batch_execute("alter role supabase_replication_admin password 'postgres'")
        .await
        .expect("a superuser may");
}

/// `serve` on the database of another project, as in production.
async fn serve(node: &Project, database: &Project) -> (Running, String) {
    let keys = generate_keys(database);
    let arguments = [
        "serve",
        "--host",
        "127.0.0.1",
        "--port",
        &node.ports.api.to_string(),
    ]
    .map(str::to_owned);
    let url = format!(
        "postgresql://postgres:postgres@127.0.0.1:{}/postgres",
        database.ports.database
    );
    share_service_password(database).await;
    let serving = node.spawn(&arguments, &serve_variables(&keys, &url));
    serving.wait_until_ready().await;
    (serving, keys["SUPABASE_AUTH_PUBLISHABLE_KEY"].clone())
}

fn database_with_notes() -> (Project, Project) {
    let database = Project::new();
    database.write("migrations/20260101000000_notes.sql", MIGRATION);
    let mut node = Project::new();
    node.ports = Ports::free();
    (database, node)
}

#[cfg(target_os = "linux")]
#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn realtime_057_sockets_outlive_a_restart_and_a_crash_of_postgresql() {
    let (database, node) = database_with_notes();
    let mut postgresql = Some(database.start().await);
    let (serving, key) = serve(&node, &database).await;
    let mut member = Socket::open(&serving, &key).await;
    let mut other = Socket::open(&serving, &key).await;
    for socket in [&mut member, &mut other] {
        socket.join().await;
        assert_eq!(socket.changes_notice().await, "Subscribed to PostgreSQL");
    }

    for (round, id) in [("restarted", 1), ("crashed", 2)] {
        if round == "restarted" {
            postgresql.take().expect("it runs").stop();
        } else {
            // `selvedge start` starts it again.
            let postmaster = database.postmaster_pid().await;
            let killed = std::process::Command::new("kill")
                .args(["-KILL", &postmaster])
                .status();
            assert!(killed.expect("kill runs").success());
        }

        // Broadcasts between sockets need no database, and are acknowledged only when they are delivered.
        let message = json!({"type": "broadcast", "event": "meanwhile", "payload": {"round": round}});
        member.send("broadcast", message.clone()).await;
        assert_eq!(member.next().await.0, "phx_reply");
        assert_eq!(other.next().await, ("broadcast".to_owned(), message));

        if postgresql.is_none() {
            postgresql = Some(database.start().await);
            // A start gives the login its own password again.
            share_service_password(&database).await;
        }
        let sql = database.wait_for_database().await;
        // The broadcast may be delivered before or after the stream runs again, but only once.
        let send = format!("select realtime.send('{{}}', '{round}', 'room', false)");
        sql.batch_execute(&send).await.expect("it accepts statements");
        for socket in [&mut member, &mut other] {
            let (mut broadcasts, mut notices) = (0, 0);
            while broadcasts == 0 || notices == 0 {
                match socket.next().await {
                    (event, payload) if event == "broadcast" => {
                        assert_eq!(payload["event"], round);
                        broadcasts += 1;
                    }
                    (event, payload) => {
                        assert_eq!(
                            (event.as_str(), &payload["status"]),
                            ("system", &json!("ok")),
                            "{payload}"
                        );
                        notices += 1;
                    }
                }
            }
            assert_eq!(broadcasts, 1);
        }
        let insert = format!("insert into notes values ({id}, '{round}')");
        sql.batch_execute(&insert).await.expect("a row");
        for socket in [&mut member, &mut other] {
            let (event, payload) = socket.next().await;
            assert_eq!(event, "postgres_changes", "{payload}");
            assert_eq!(payload["data"]["record"], json!({"id": id, "body": round}));
        }
    }

    let output = serving.stop();
    assert!(!output.contains(&key), "a key is in the log");
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn realtime_058_a_killed_server_leaves_no_replication_slot() {
    let (database, node) = database_with_notes();
    let _postgresql = database.start().await;
    let (mut serving, key) = serve(&node, &database).await;
    let mut socket = Socket::open(&serving, &key).await;
    socket.join().await;
    assert_eq!(socket.changes_notice().await, "Subscribed to PostgreSQL");
    let sql = database.database().await;
    let count = async || -> i64 {
        let slots = sql
            .query_one("select count(*) from pg_replication_slots", &[])
            .await;
        slots.expect("a count").get(0)
    };
    assert_eq!(count().await, 1);

    serving.signal("-KILL");
    serving.wait_for_exit();

    let deadline = Instant::now() + TIMEOUT;
    while count().await > 0 {
        assert!(Instant::now() < deadline, "the slot stays");
        sleep(Duration::from_millis(20)).await;
    }
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn realtime_059_without_logical_wal_only_changes_are_missing() {
    let project = Project::new();
    project.write(
        "config.toml",
        "project_id = \"cli\"\n[db.settings]\nwal_level = \"replica\"\n",
    );
    project.write("migrations/20260101000000_notes.sql", MIGRATION);
    let running = project.start().await;
    let key = selvedge_token::development::anon_key();
    let mut member = Socket::open(&running, &key).await;
    let mut other = Socket::open(&running, &key).await;

    for socket in [&mut member, &mut other] {
        socket.join().await;
        let text = "Database changes are not available: PostgreSQL runs with a wal_level below \"logical\"";
        assert_eq!(socket.changes_notice().await, text);
    }

    let message = json!({"type": "broadcast", "event": "hi", "payload": {}});
    member.send("broadcast", message.clone()).await;
    assert_eq!(member.next().await.0, "phx_reply");
    assert_eq!(other.next().await, ("broadcast".to_owned(), message));
}
