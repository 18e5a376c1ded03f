//! Slow and greedy clients: the limits apply to them alone, and other clients are served meanwhile.

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::time::{Duration, Instant};

use serde_json::Value;
use socket2::{Domain, Socket, Type};

use crate::support::{Project, Running};

/// Time limit that only a failing test reaches.
const PATIENCE: Duration = Duration::from_secs(60);

const BUCKET: &str = "[storage.buckets.b]\npublic = true\n";

/// Connects to the API from an address of this machine, with a small receive buffer.
pub(crate) fn connect(running_port: u16, from: &str) -> TcpStream {
    let socket = Socket::new(Domain::IPV4, Type::STREAM, None).expect("a socket");
    socket.set_recv_buffer_size(16 * 1024).expect("a small buffer");
    let from: SocketAddr = format!("{from}:0").parse().expect("an address");
    socket.bind(&from.into()).expect("every 127.x.x.x is local");
    let to = SocketAddr::from(([127, 0, 0, 1], running_port));
    socket.connect(&to.into()).expect("it listens");
    let stream = TcpStream::from(socket);
    stream.set_read_timeout(Some(PATIENCE)).expect("a timeout");
    stream
}

/// Sends a request whose response ends the connection. Returns its status.
fn status_of(port: u16, from: &str, request: &str) -> u16 {
    let mut stream = connect(port, from);
    stream.write_all(request.as_bytes()).expect("sent");
    let mut response = Vec::new();
    let _ = stream.read_to_end(&mut response);
    status(&response).expect("a response")
}

fn status(response: &[u8]) -> Option<u16> {
    let line = response.get(..12)?;
    std::str::from_utf8(line.get(9..)?).ok()?.parse().ok()
}

fn get(path: &str) -> String {
    format!("GET {path} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")
}

fn upload(key: &str, name: &str, length: usize, body: &str) -> String {
    format!(
        "POST /storage/v1/object/b/{name} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\
         Authorization: Bearer {key}\r\nContent-Type: text/plain\r\nContent-Length: {length}\r\n\r\n{body}"
    )
}

async fn start(project: &Project, limits: &str) -> (Running, String) {
    project.write(
        "config.toml",
        &format!(
            "project_id = \"cli\"\n{BUCKET}[selvedge]\nworkers = 1\n[selvedge.limits]\n{limits}header_timeout = \"60s\"\n"
        ),
    );
    project.write(
        "migrations/20260101000000_large.sql",
        "create function large() returns text language sql stable as $$ select repeat('x', 16000000) $$;
         create function small() returns text language sql stable as $$ select 'x' $$;",
    );
    let running = project.start().await;
    let keys = project.run_and_expect_success(&["status", "-o", "json"]);
    let keys: Value = serde_json::from_str(&keys).expect("JSON");
    let key = keys["SERVICE_ROLE_KEY"].as_str().expect("a key").to_owned();
    (running, key)
}

pub(crate) async fn blocking(test: impl FnOnce() + Send + 'static) {
    actix_web::web::block(test).await.expect("no panic");
}

/// Whether the server has answered, although the request is not complete, or closed the connection.
fn is_answered(stream: &TcpStream) -> bool {
    stream
        .set_read_timeout(Some(Duration::from_millis(1)))
        .expect("a timeout");
    stream.peek(&mut [0; 12]).is_ok()
}

/// Waits until the condition holds.
pub(crate) fn wait_for(what: &str, mut condition: impl FnMut() -> bool) {
    let deadline = Instant::now() + PATIENCE;
    while !condition() {
        assert!(Instant::now() < deadline, "{what}");
        std::thread::sleep(Duration::from_millis(20));
    }
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn gw_049_slow_clients_take_room_neither_from_other_services_nor_from_other_clients() {
    let project = Project::new();
    let limits = "in_flight_per_worker = 16\nstreaming_per_worker = 16\nunread_bytes_per_worker = \"20MB\"\n";
    let (running, key) = start(&project, limits).await;
    let port = running.ports.api;

    blocking(move || {
        // Sixteen are as many as the worker holds; one address gets half of them and an eighth.
        let slow: Vec<TcpStream> = (0..16)
            .map(|number| {
                let mut stream = connect(port, "127.0.0.1");
                let head = upload(&key, &format!("slow-{number}"), 1000, "x");
                stream.write_all(head.as_bytes()).expect("sent");
                stream
            })
            .collect();
        let refused = || slow.iter().filter(|stream| is_answered(stream)).count();
        wait_for("uploads beyond the share are refused", || refused() >= 6);
        assert_eq!(refused(), 6, "no more than those");
        for path in ["/rest/v1/rpc/small", "/auth/v1/health", "/health/live"] {
            assert_eq!(status_of(port, "127.0.0.1", &get(path)), 200, "{path}");
        }
        let whole = |name: &str| upload(&key, name, 1, "x");
        assert_eq!(status_of(port, "127.0.0.1", &whole("same")), 429);
        assert_eq!(status_of(port, "127.0.0.2", &whole("other")), 200);
        drop(slow);
        wait_for("uploads that were given up leave their place", || {
            status_of(port, "127.0.0.1", &whole("later")) == 200
        });

        let large = get("/rest/v1/rpc/large");
        let mut unread = None;
        wait_for("the response is being sent", || {
            let mut stream = connect(port, "127.0.0.1");
            stream.write_all(large.as_bytes()).expect("sent");
            let mut begin = [0; 12];
            stream.read_exact(&mut begin).expect("an answer");
            // On a busy machine the statement may take longer than the role's limit.
            let is_sent = status(&begin) == Some(200);
            unread = is_sent.then_some(stream);
            is_sent
        });
        let mut beside = 0;
        wait_for("the other client is answered in time", || {
            beside = status_of(port, "127.0.0.2", &large);
            beside != 500
        });
        assert_eq!(beside, 503, "most of 20 MB is not read yet");
        assert_eq!(status_of(port, "127.0.0.2", &get("/rest/v1/rpc/small")), 200);
        drop(unread);
        wait_for("a response that was given up is forgotten", || {
            status_of(port, "127.0.0.2", &large) == 200
        });
    })
    .await;
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn gw_049_transfers_below_the_slowest_rate_are_cut_off() {
    let project = Project::new();
    let limits = "stall_timeout = \"500ms\"\nunread_bytes_per_worker = \"20MB\"\n";
    let (running, key) = start(&project, limits).await;
    let port = running.ports.api;

    blocking(move || {
        let call = format!(
            "POST /rest/v1/rpc/small HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer {key}\r\n\
             Content-Type: application/json\r\nContent-Length: 1000\r\n\r\n"
        );
        for request in [upload(&key, "slow", 1000, ""), call] {
            let mut stream = connect(port, "127.0.0.1");
            stream.write_all(request.as_bytes()).expect("sent");
            // A byte every 50 ms is 20 bytes per second, and the slowest rate is 1024. All 900 would take 45 s.
            let sent = (0..900).take_while(|_| {
                std::thread::sleep(Duration::from_millis(50));
                stream.write_all(b" ").is_ok() && !is_answered(&stream)
            });
            assert!(sent.count() < 900, "the connection stays open: {request:.40}");
        }

        let large = get("/rest/v1/rpc/large");
        let mut unread = connect(port, "127.0.0.1");
        unread.write_all(large.as_bytes()).expect("sent");
        wait_for("the response is being sent", || is_answered(&unread));
        wait_for("a client that does not read is cut off", || {
            status_of(port, "127.0.0.2", &large) == 200
        });
        let mut received = Vec::new();
        unread.set_read_timeout(Some(PATIENCE)).expect("a timeout");
        let _ = unread.read_to_end(&mut received);
        assert!(received.len() < 16_000_000, "{}", received.len());
    })
    .await;
}
