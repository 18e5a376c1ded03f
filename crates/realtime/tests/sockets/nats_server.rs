//! A NATS server for one test.

use std::net::{TcpListener, TcpStream};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicU16, Ordering};
use std::time::{Duration, Instant};

/// Time limit for the server to listen.
const PATIENCE: Duration = Duration::from_secs(60);

/// A running server; ends with the test.
pub(crate) struct NatsServer {
    process: Option<Child>,
    port: u16,
}

impl NatsServer {
    /// Starts a server, which is downloaded first on a machine without one.
    pub(crate) fn start() -> Self {
        let mut server = Self {
            process: None,
            port: find_free_port(),
        };
        server.restart();
        server
    }

    /// The server's URL.
    pub(crate) fn url(&self) -> String {
        format!("nats://127.0.0.1:{}", self.port)
    }

    /// Kills the server, as when its machine fails.
    pub(crate) fn kill(&mut self) {
        if let Some(mut process) = self.process.take() {
            process.kill().expect("it runs");
            process.wait().expect("it ends");
        }
    }

    /// Starts the server on its port, and waits until it listens.
    pub(crate) fn restart(&mut self) {
        let process = Command::new(find_program())
            .args(["--addr", "127.0.0.1", "--port", &self.port.to_string()])
            .stderr(Stdio::null())
            .spawn();
        self.process = Some(process.expect("it can be started"));
        let deadline = Instant::now() + PATIENCE;
        while TcpStream::connect(("127.0.0.1", self.port)).is_err() {
            assert!(Instant::now() < deadline, "the NATS server does not listen");
            std::thread::sleep(Duration::from_millis(20));
        }
    }
}

impl Drop for NatsServer {
    fn drop(&mut self) {
        self.kill();
    }
}

/// Path of the program.
fn find_program() -> String {
    let tool = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tools/nats-server");
    let output = Command::new(tool).output().expect("the tool can be started");
    assert!(
        output.status.success(),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
    let path = String::from_utf8(output.stdout).expect("a path");
    path.trim().to_owned()
}

/// A port on which nothing listens. Each is handed out once, so that tests that run at the same time do not get the same;
/// all are below 32768, because a port of the system's own range could be taken by some client's connection while the
/// server is down. Those below 26000 are for tests of the command line.
fn find_free_port() -> u16 {
    static NEXT: AtomicU16 = AtomicU16::new(26_000);
    loop {
        let port = NEXT.fetch_add(1, Ordering::Relaxed);
        assert!(port < 27_000, "no port is free");
        if TcpListener::bind(("127.0.0.1", port)).is_ok() {
            return port;
        }
    }
}
