//! Stacks whose host process was killed.

use std::io::{BufRead as _, BufReader};
use std::process::Stdio;
use std::time::{Duration, Instant};

use serde_json::Value;

use crate::support::Project;

const TIMEOUT: Duration = Duration::from_secs(30);

/// Reads the lock file of the cluster that the project's stacks share.
fn read_lock(project: &Project) -> Value {
    let states = std::fs::read_dir(project.path(".selvedge/stacks")).expect("a folder");
    let state = states.flatten().next().expect("one state").path();
    let text = std::fs::read_to_string(state.join("lock")).expect("a lock file");
    serde_json::from_str(&text).expect("JSON")
}

#[actix_web::test]
async fn the_shared_postgresql_ends_when_the_stacks_host_is_killed() {
    let project = Project::new();
    let mut stack = project
        .command(&["stack"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("the binary starts");
    let mut line = String::new();
    let mut output = BufReader::new(stack.stdout.take().expect("a pipe"));
    output.read_line(&mut line).expect("a line");
    assert!(line.contains("API_URL"), "{line}");
    let lock = read_lock(&project);
    let port = lock["database_port"].as_u64().expect("a port");
    let address = format!("127.0.0.1:{port}");
    assert!(std::net::TcpStream::connect(&address).is_ok());

    let killed = std::process::Command::new("kill")
        .args(["-KILL", &lock["pid"].to_string()])
        .status();
    assert!(killed.expect("kill runs").success());

    let deadline = Instant::now() + TIMEOUT;
    while std::net::TcpStream::connect(&address).is_ok() {
        assert!(Instant::now() < deadline, "PostgreSQL goes on running");
        std::thread::sleep(Duration::from_millis(20));
    }
    let status = stack.wait().expect("it ends with its database");
    assert!(!status.success());
}
