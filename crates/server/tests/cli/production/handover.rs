//! Handovers to new processes while requests go on. `SELVEDGE_TEST_RESTARTS` says how many; `make soak` makes 100.

use std::net::{TcpListener, TcpStream};
use std::os::unix::net::UnixDatagram;
use std::process::Output;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use actix_web::rt::task::JoinHandle;
use serde_json::json;

use super::home::{Home, TABLE, TIMEOUT};
use super::restarts::{keep_asking, wait_for};
use crate::realtime::Socket;
use crate::support::{Project, Running};

/// A loop of requests: the flag that stops it, and its result, the number of acknowledged requests with the failures.
type Sending = (Arc<AtomicBool>, JoinHandle<(usize, Vec<String>)>);

/// A statement that goes on while its server is replaced.
const SLOW: &str = "create function slow() returns int language sql as 'select 1 from pg_sleep(4)';";

fn read_restarts() -> u32 {
    let told = std::env::var("SELVEDGE_TEST_RESTARTS").ok();
    told.map_or(3, |number| number.parse().expect("a number"))
}

/// Runs `selvedge restart` beside requests of this test.
async fn restart(home: &Home, more: &[&str], variables: &[(&str, &str)]) -> Output {
    let mut command = home.command(&[&["restart"], more].concat());
    command.envs(variables.iter().copied());
    let output = tokio::task::spawn_blocking(move || command.output());
    output.await.expect("no panic").expect("the binary runs")
}

async fn restart_and_expect_success(home: &Home) {
    let before = home.server();
    let output = restart(home, &[], &[]).await;
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{errors}");
    assert_ne!(home.server(), before);
}

/// Sends numbered requests, each on a connection of its own, until it is told to stop. Returns how many were acknowledged, and what failed.
fn keep_sending(request: impl Fn(&reqwest::Client, usize) -> reqwest::RequestBuilder + 'static) -> Sending {
    let stop = Arc::new(AtomicBool::new(false));
    let stopped = stop.clone();
    let sending = actix_web::rt::spawn(async move {
        let (mut acknowledged, mut failed) = (0, Vec::new());
        while !stopped.load(Ordering::Relaxed) {
            let client = reqwest::Client::new();
            match request(&client, acknowledged + failed.len()).send().await {
                Ok(response) if response.status().is_success() => acknowledged += 1,
                Ok(response) => failed.push(format!("{} {:?}", response.status(), response.text().await)),
                Err(error) => failed.push(format!("{error:?}")),
            }
        }
        (acknowledged, failed)
    });
    (stop, sending)
}

/// Inserts rows into the table of notes.
fn keep_inserting(running: &Running, key: &str) -> Sending {
    let (url, key) = (running.url("/rest/v1/notes"), key.to_owned());
    keep_sending(move |client, number| {
        let row = json!({ "id": number });
        client.post(&url).header("apikey", &key).json(&row)
    })
}

/// Uploads files into a new bucket.
async fn keep_uploading(running: &Running, key: &str) -> Sending {
    let made = reqwest::Client::new()
        .post(running.url("/storage/v1/bucket"))
        .header("apikey", key)
        .json(&json!({ "id": "files", "name": "files" }))
        .send()
        .await;
    assert_eq!(made.expect("an answer").status(), 200);
    let (url, key) = (running.url("/storage/v1/object/files"), key.to_owned());
    keep_sending(move |client, number| {
        let upload = client.post(format!("{url}/{number}")).header("apikey", &key);
        upload
            .header("content-type", "text/plain")
            .body("x".repeat(100_000))
    })
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn prod_004_no_request_fails_while_new_processes_take_the_place_of_a_server() {
    let home = Home::new();
    home.project
        .write("migrations/20260101000000_notes.sql", &format!("{TABLE}\n{SLOW}"));
    let socket = UnixDatagram::bind(home.project.path("notify")).expect("a socket");
    socket.set_read_timeout(Some(TIMEOUT)).expect("set");
    let told = || {
        let mut text = [0; 256];
        let length = socket.recv(&mut text).expect("the service manager is told");
        String::from_utf8_lossy(&text[..length]).into_owned()
    };
    let port = home.project.ports.api.to_string();
    let mut serve = home.command(&["serve", "--host", "127.0.0.1", "--port", &port, "--migrate"]);
    serve.env("NOTIFY_SOCKET", home.project.path("notify"));
    let mut running = home.project.spawn_command(serve, &[]);
    running.wait_until_ready().await;
    assert_eq!(told(), "READY=1");
    let key = home.secret_key();
    let (stop_asking, asking) = keep_asking(&running, &key);
    let (stop_inserting, inserting) = keep_inserting(&running, &key);
    let (stop_uploading, uploading) = keep_uploading(&running, &key).await;
    let mut socket_of_client = Socket::open(&running, &key).await;
    let slow = reqwest::Client::new()
        .post(running.url("/rest/v1/rpc/slow"))
        .header("apikey", &key)
        .send();
    let slow = actix_web::rt::spawn(slow);
    let is_slow = "select count(*) from pg_stat_activity where query ~ 'slow' and wait_event = 'PgSleep'";
    wait_for("the slow request", || home.value(is_slow) == "1").await;

    for _ in 0..read_restarts() {
        restart_and_expect_success(&home).await;
        let pid = home.server().expect("it serves");
        assert_eq!(told(), format!("MAINPID={pid}"));
        // A client connects again at once.
        socket_of_client.wait_until_closed().await;
        socket_of_client = Socket::open(&running, &key).await;
    }

    let slow = slow
        .await
        .expect("no panic")
        .expect("an answer of the first process");
    assert_eq!(slow.status(), 200);
    stop_asking.store(true, Ordering::Relaxed);
    stop_inserting.store(true, Ordering::Relaxed);
    stop_uploading.store(true, Ordering::Relaxed);
    let (answered, failed) = asking.await.expect("no panic");
    assert!(
        answered > 100 && failed.is_empty(),
        "{answered} answered, failed: {failed:?}"
    );
    let (acknowledged, failed) = inserting.await.expect("no panic");
    assert!(
        acknowledged > 10 && failed.is_empty(),
        "{acknowledged}, failed: {failed:?}"
    );
    assert_eq!(home.value("select count(*) from notes"), acknowledged.to_string());
    let (uploaded, failed) = uploading.await.expect("no panic");
    assert!(
        uploaded > 10 && failed.is_empty(),
        "{uploaded}, failed: {failed:?}"
    );
    drop(socket_of_client);
    // The first process has ended by itself. The last one is stopped by a command.
    running
        .wait_for_output("stopped, as another process serves")
        .await;
    assert!(running.wait_for_exit().success(), "{}", running.output());
    running.wait_until_ready().await;
    home.run_and_expect_success(&["stop"]);
    assert!(TcpStream::connect(("127.0.0.1", home.project.ports.api)).is_err());
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn prod_004_a_new_process_that_cannot_serve_changes_nothing_and_says_why() {
    let gate = Project::further_port();
    let home = Home::new();
    let running = home.serve(&["--migrate"]).await;
    let first = home.server();

    home.project.write(
        "config.toml",
        "project_id = \"shop\"\n[api]\nmax_rows = \"many\"\n",
    );
    let refused = restart(&home, &[], &[]).await;
    let reason = String::from_utf8_lossy(&refused.stderr).into_owned();
    assert!(
        !refused.status.success() && reason.contains("max_rows"),
        "{reason}"
    );

    let taken = TcpListener::bind(("127.0.0.1", gate)).expect("free");
    let settings = format!("project_id = \"shop\"\n[selvedge.database_gate]\nport = {gate}\n");
    home.project.write("config.toml", &settings);
    let refused = restart(&home, &[], &[]).await;
    let reason = String::from_utf8_lossy(&refused.stderr).into_owned();
    assert!(
        !refused.status.success() && reason.contains("is taken"),
        "{reason}"
    );
    assert_eq!(home.server(), first);
    running.wait_until_ready().await;
    home.project.write("config.toml", "project_id = \"shop\"\n");
    let other = Project::further_port().to_string();
    let refused = home.run_and_expect_failure(&["serve", "--host", "127.0.0.1", "--port", &other]);
    assert!(refused.contains("already runs"), "{refused}");

    // With `--environment` the command's variables count.
    drop(taken);
    let port = gate.to_string();
    let variables = [("SELVEDGE_DATABASE_GATE_PORT", port.as_str())];
    let restarted = restart(&home, &["--environment"], &variables).await;
    assert!(
        restarted.status.success(),
        "{}",
        String::from_utf8_lossy(&restarted.stderr)
    );
    let printed = String::from_utf8(restarted.stdout).expect("text");
    let change = printed
        .lines()
        .find(|line| line.contains("selvedge.database_gate.port"));
    assert!(
        change.is_some_and(|line| line.contains("not set") && line.contains(&port)),
        "{printed}"
    );
    TcpStream::connect(("127.0.0.1", gate)).expect("the gate is open");
    let second = home.server();
    assert_ne!(second, first);

    // SIGUSR2 requests a handover with the variables of the running server.
    let pid = second.expect("it serves").to_string();
    let signalled = std::process::Command::new("kill").args(["-USR2", &pid]).status();
    assert!(signalled.expect("kill runs").success());
    wait_for("a third process", || {
        home.server().is_some_and(|pid| Some(pid) != second)
    })
    .await;
    running.wait_until_ready().await;
    TcpStream::connect_timeout(&([127, 0, 0, 1], gate).into(), Duration::from_secs(5)).expect("open");

    // Settings that PostgreSQL reads only at its start are named.
    home.project.write(
        "config.toml",
        "project_id = \"shop\"\n[db.settings]\nmax_connections = \"90\"\n",
    );
    let reloaded = home.run_and_expect_success(&["reload"]);
    assert!(
        reloaded.contains("for max_connections:  selvedge cluster restart"),
        "{reloaded}"
    );
}
