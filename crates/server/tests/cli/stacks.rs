//! Stacks whose host process was killed.

use std::io::{BufRead as _, BufReader, ErrorKind, Read as _, Write as _};
use std::process::Stdio;
use std::time::Duration;

use serde_json::Value;

use crate::support::Project;

/// Less than the minute after which PostgreSQL itself closes a connection that does not sign in.
const TIMEOUT: Duration = Duration::from_secs(50);
/// The message by which a client of PostgreSQL asks whether it may use TLS, which is answered by one byte.
const SSL_REQUEST: &[u8] = &[0, 0, 0, 8, 0x04, 0xd2, 0x16, 0x2f];

/// Reads the lock file of the cluster that the project's stacks share.
fn read_lock(project: &Project) -> Value {
    let states = std::fs::read_dir(project.path(".selvedge/stacks")).expect("a folder");
    let state = states.flatten().next().expect("one state").path();
    let text = std::fs::read_to_string(state.join("lock")).expect("a lock file");
    serde_json::from_str(&text).expect("JSON")
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
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
    let port = u16::try_from(lock["database_port"].as_u64().expect("a port")).expect("a port");
    // A connection and not the port tells whether this server runs: another test may get the port when it is free.
    let mut connection = std::net::TcpStream::connect(("127.0.0.1", port)).expect("it runs");
    connection.set_read_timeout(Some(TIMEOUT)).expect("a time limit");
    // The answer shows that a process serves the connection. If it were accepted during the shutdown, PostgreSQL would wait a minute
    // for it to say something.
    connection.write_all(SSL_REQUEST).expect("it is sent");
    connection.read_exact(&mut [0]).expect("an answer");

    let killed = std::process::Command::new("kill")
        .args(["-KILL", &lock["pid"].to_string()])
        .status();
    assert!(killed.expect("kill runs").success());

    let end = connection.read(&mut [0]);
    let was_reset = |error: &std::io::Error| error.kind() == ErrorKind::ConnectionReset;
    assert!(
        matches!(end, Ok(0)) || end.as_ref().is_err_and(was_reset),
        "PostgreSQL goes on running: {end:?}"
    );
    // `wait` closes the standard input of its process. A stack whose input ends exits with success, so the input is kept open.
    let _input = stack.stdin.take();
    let status = stack.wait().expect("it ends with its database");
    assert!(!status.success());
}
