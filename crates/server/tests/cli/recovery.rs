//! The database and the server end in every way they can, under load, and what clients see of it.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use actix_web::rt::spawn;
use actix_web::rt::task::JoinHandle;
use actix_web::rt::time::sleep;
use serde_json::{Value, json};

use crate::production::{generated, variables_of_serve};
use crate::support::{Ports, Project, Running};

const PATIENCE: Duration = Duration::from_secs(60);
const CLIENTS: usize = 16;

const MIGRATION: &str = "
    create table notes (id bigint primary key, body text);
    insert into notes select n, 'note ' || n from generate_series(1, 50) n;
    create function nap(seconds float8) returns text language sql volatile as $$
        select 'awake' from pg_sleep(seconds)
    $$;
    create role web_anon nologin; grant web_anon to postgres;
    grant usage on schema public to web_anon; grant select, insert on notes to web_anon;
";

/// Clients who read and write without a pause until they are told to stop.
struct Load {
    stop: Arc<AtomicBool>,
    seen: Arc<Seen>,
    clients: Vec<JoinHandle<()>>,
}

/// What came back.
#[derive(Default)]
struct Seen {
    good: AtomicUsize,
    /// Failures by status and code.
    failed: Mutex<BTreeMap<String, usize>>,
    next_id: AtomicUsize,
    /// Rows that the server said are there.
    acknowledged: Mutex<Vec<i64>>,
}

impl Load {
    /// Their rows have ids from `first_id` on.
    fn on(url: &str, key: Option<&str>, first_id: usize) -> Self {
        let stop = Arc::new(AtomicBool::new(false));
        let seen = Arc::new(Seen::default());
        seen.next_id.store(first_id, Ordering::Relaxed);
        let clients = (0..CLIENTS)
            .map(|number| {
                let (stop, seen) = (stop.clone(), seen.clone());
                let (url, key) = (format!("{url}/notes"), key.map(str::to_owned));
                spawn(async move {
                    let http = reqwest::Client::new();
                    while !stop.load(Ordering::Relaxed) {
                        if number % 2 == 0 {
                            seen.read(&http, &url, key.as_deref()).await;
                        } else {
                            seen.write(&http, &url, key.as_deref()).await;
                        }
                    }
                })
            })
            .collect();
        Self { stop, seen, clients }
    }

    fn good(&self) -> usize {
        self.seen.good.load(Ordering::Relaxed)
    }

    fn failed(&self) -> BTreeMap<String, usize> {
        self.seen.failed.lock().expect("not poisoned").clone()
    }

    /// Waits for answers that come after this moment.
    async fn until(&self, what: &str, holds: impl Fn(&Self) -> bool) {
        let deadline = Instant::now() + PATIENCE;
        while !holds(self) {
            assert!(Instant::now() < deadline, "{what}: {:?}", self.failed());
            sleep(Duration::from_millis(10)).await;
        }
    }

    /// Waits for a hundred good answers without a failure among them.
    async fn succeeds_again(&self) {
        let deadline = Instant::now() + PATIENCE;
        loop {
            let (good, failed) = (self.good(), self.failed());
            self.until("requests succeed again", |load| load.good() > good + 100)
                .await;
            if self.failed() == failed {
                return;
            }
            assert!(Instant::now() < deadline, "requests go on failing: {failed:?}");
        }
    }

    async fn fails(&self) {
        let before: usize = self.failed().values().sum();
        self.until("requests fail", |load| {
            load.failed().values().sum::<usize>() > before
        })
        .await;
    }

    /// From now on nothing may fail.
    async fn is_steady(&self) {
        let (good, failed) = (self.good(), self.failed());
        self.until("many requests", |load| load.good() > good + 300).await;
        assert_eq!(self.failed(), failed, "nothing fails any more");
    }

    /// What was seen, when the last answer has come: a stuck request would be waited for in vain.
    async fn stop(self) -> Arc<Seen> {
        self.stop.store(true, Ordering::Relaxed);
        for client in self.clients {
            actix_web::rt::time::timeout(PATIENCE, client)
                .await
                .expect("no request is stuck")
                .expect("no client panics");
        }
        self.seen
    }
}

impl Seen {
    async fn read(&self, http: &reqwest::Client, url: &str, key: Option<&str>) {
        let request = http.get(format!("{url}?select=id&order=id&limit=3"));
        if let Some(body) = self.send(request, key, 200).await {
            let rows: Value = serde_json::from_str(&body).expect("JSON");
            assert_eq!(rows, json!([{"id": 1}, {"id": 2}, {"id": 3}]));
        }
    }

    async fn write(&self, http: &reqwest::Client, url: &str, key: Option<&str>) {
        let id = i64::try_from(self.next_id.fetch_add(1, Ordering::Relaxed)).expect("small");
        let request = http.post(url).json(&json!({ "id": id, "body": "written" }));
        if self.send(request, key, 201).await.is_some() {
            self.acknowledged.lock().expect("not poisoned").push(id);
        }
    }

    /// The body of a good answer. Others must have the contract's shape.
    async fn send(&self, request: reqwest::RequestBuilder, key: Option<&str>, good: u16) -> Option<String> {
        let request = match key {
            Some(key) => request.header("apikey", key),
            None => request,
        };
        let answer = match request.send().await {
            Ok(answer) => answer,
            Err(error) => {
                self.note(format!(
                    "no answer: {}",
                    if error.is_connect() { "connect" } else { "cut" }
                ));
                sleep(Duration::from_millis(20)).await;
                return None;
            }
        };
        let status = answer.status().as_u16();
        let headers = answer.headers().clone();
        let Ok(body) = answer.text().await else {
            self.note("no answer: cut".to_owned());
            return None;
        };
        if status == good {
            self.good.fetch_add(1, Ordering::Relaxed);
            return Some(body);
        }
        let error: Value = serde_json::from_str(&body).unwrap_or_else(|_| panic!("{status}: {body}"));
        for key in ["code", "message", "details", "hint"] {
            assert!(error.get(key).is_some(), "{status}: {body}");
        }
        if status == 503 {
            assert!(headers.contains_key("retry-after"), "{body}");
        }
        self.note(format!("{status} {}", error["code"].as_str().unwrap_or_default()));
        sleep(Duration::from_millis(5)).await;
        None
    }

    fn note(&self, failure: String) {
        *self
            .failed
            .lock()
            .expect("not poisoned")
            .entry(failure)
            .or_default() += 1;
    }
}

/// Whether a failure says that the database is away, or that waiting for it took too long.
fn is_outage(failure: &str) -> bool {
    matches!(
        failure,
        "503 PGRST000" | "503 PGRST001" | "503 57P01" | "504 PGRST003"
    )
}

/// Asks until the answer has the wanted status.
async fn until_status(url: &str, key: Option<&str>, status: u16) {
    let deadline = Instant::now() + PATIENCE;
    loop {
        let mut request = reqwest::Client::new().get(url);
        if let Some(key) = key {
            request = request.header("apikey", key);
        }
        let found = request.send().await.map_or(0, |answer| answer.status().as_u16());
        if found == status {
            return;
        }
        assert!(Instant::now() < deadline, "{url}: {found}, not {status}");
        sleep(Duration::from_millis(20)).await;
    }
}

fn database_url(project: &Project) -> String {
    format!(
        "postgresql://postgres:postgres@127.0.0.1:{}/postgres",
        project.ports.database
    )
}

/// `selvedge rest` on a project's database, with its admin server on the inbox port.
fn spawn_rest(operator: &Project, database: &Project, more: &[(&str, &str)]) -> Running {
    let arguments = [
        "rest",
        "--db-url",
        &database_url(database),
        "--host",
        "127.0.0.1",
        "--port",
        &operator.ports.api.to_string(),
    ]
    .map(str::to_owned);
    let admin_port = operator.ports.inbox.to_string();
    let mut variables = vec![
        ("PGRST_DB_ANON_ROLE", "web_anon"),
        ("PGRST_ADMIN_SERVER_PORT", admin_port.as_str()),
    ];
    variables.extend_from_slice(more);
    operator.spawn(&arguments, &variables)
}

#[cfg(target_os = "linux")]
#[actix_web::test]
async fn rest_094_and_096_postgresql_restarts_and_crashes_under_load_and_everything_recovers() {
    let database = Project::new();
    database.write("migrations/20260101000000_notes.sql", MIGRATION);
    let postgresql = database.start().await;
    let keys = generated(&database);
    let mut node = Project::new();
    node.ports = Ports::free();
    let arguments = [
        "serve",
        "--host",
        "127.0.0.1",
        "--port",
        &node.ports.api.to_string(),
    ]
    .map(str::to_owned);
    let url = database_url(&database);
    let serving = node.spawn(&arguments, &variables_of_serve(&keys, &url));
    let operator = Project::new();
    let alone = spawn_rest(&operator, &database, &[]);
    let admin = format!("http://127.0.0.1:{}", operator.ports.inbox);
    let key = keys["SUPABASE_AUTH_PUBLISHABLE_KEY"].as_str();
    serving.answers().await;
    until_status(&format!("{admin}/ready"), None, 200).await;

    let loads = [
        Load::on(&serving.url("/rest/v1"), Some(key), 1_000),
        Load::on(&alone.url(""), None, 1_000_000),
    ];
    for load in &loads {
        load.succeeds_again().await;
        assert_eq!(load.failed(), BTreeMap::new());
    }

    // first an orderly restart, then a crash
    let mut postgresql = Some(postgresql);
    for round in ["restarted", "crashed"] {
        let mut running = postgresql.take().expect("it runs");
        if round == "restarted" {
            running.stop();
        } else {
            let postmaster = database.postmaster_pid().await;
            let killed = std::process::Command::new("kill")
                .args(["-KILL", &postmaster])
                .status();
            assert!(killed.expect("kill runs").success());
            assert!(!running.ended().success());
            drop(running);
        }
        for load in &loads {
            load.fails().await;
        }
        until_status(&format!("{admin}/ready"), None, 503).await;
        until_status(&format!("{admin}/live"), None, 200).await;

        postgresql = Some(database.start().await);
        // made while nobody may be listening: only a reload after the reconnect can find it
        let made = format!("create table {round} (id int); grant select on {round} to web_anon, anon");
        database
            .database()
            .await
            .batch_execute(&made)
            .await
            .expect("valid");

        for load in &loads {
            load.succeeds_again().await;
            load.is_steady().await;
        }
        until_status(&alone.url(&format!("/{round}")), None, 200).await;
        until_status(&serving.url(&format!("/rest/v1/{round}")), Some(key), 200).await;
        until_status(&format!("{admin}/ready"), None, 200).await;
    }

    for load in loads {
        let seen = load.stop().await;
        let failed = seen.failed.lock().expect("not poisoned").clone();
        assert!(failed.keys().all(|failure| is_outage(failure)), "{failed:?}");
    }
}

#[actix_web::test]
async fn rest_096_an_exhausted_pool_makes_requests_wait_then_refuses_and_recovers() {
    let database = Project::new();
    database.write("migrations/20260101000000_notes.sql", MIGRATION);
    let _postgresql = database.start().await;
    let operator = Project::new();
    let alone = spawn_rest(
        &operator,
        &database,
        &[("PGRST_DB_POOL", "1"), ("PGRST_DB_POOL_ACQUISITION_TIMEOUT", "1")],
    );
    until_status(&alone.url("/notes"), None, 200).await;
    let nap = alone.url("/rpc/nap");
    let napping = spawn(async move {
        let http = reqwest::Client::new();
        let answer = http.post(nap).json(&json!({ "seconds": 4 })).send().await;
        answer.expect("an answer").status().as_u16()
    });
    let watcher = database.database().await;
    let asleep = "select 1 from pg_stat_activity where wait_event = 'PgSleep'";
    while watcher.query(asleep, &[]).await.expect("a view").is_empty() {
        sleep(Duration::from_millis(10)).await;
    }
    // older than the patience with which requests queue behind it
    sleep(Duration::from_millis(100)).await;

    let waiting: Vec<_> = (0..8)
        .map(|_| spawn(reqwest::get(alone.url("/notes?id=eq.1"))))
        .collect();
    for answer in waiting {
        let answer = answer.await.expect("no panic").expect("an answer");
        assert_eq!(answer.status(), 504);
        assert_eq!(answer.headers()["proxy-status"], "PostgREST; error=PGRST003");
        let body: Value = answer.json().await.expect("JSON");
        let expected = json!({
            "code": "PGRST003", "details": null, "hint": null,
            "message": "Timed out acquiring connection from connection pool.",
        });
        assert_eq!(body, expected);
    }
    // one that comes shortly before the end waits and is answered
    until_status(&alone.url("/notes?id=eq.1"), None, 200).await;
    assert_eq!(napping.await.expect("no panic"), 200);
    for _ in 0..20 {
        let answer = reqwest::get(alone.url("/notes?id=eq.1"))
            .await
            .expect("an answer");
        assert_eq!(answer.status(), 200);
    }
    let metrics = reqwest::get(format!("http://127.0.0.1:{}/metrics", operator.ports.inbox)).await;
    let metrics = metrics.expect("an answer").text().await.expect("text");
    assert!(metrics.contains("pgrst_db_pool_timeouts_total"), "{metrics}");
}

#[actix_web::test]
async fn rest_004_what_was_acknowledged_outlives_a_killed_server() {
    let project = Project::new();
    project.write("migrations/20260101000000_notes.sql", MIGRATION);
    let mut running = project.start().await;
    let load = Load::on(&running.url("/rest/v1"), None, 1_000);
    load.until("many rows are written", |load| {
        load.seen.acknowledged.lock().expect("not poisoned").len() > 200
    })
    .await;

    running.signal("-KILL");
    running.ended();
    let seen = load.stop().await;
    let _again = project.start().await;

    let rows = project
        .database()
        .await
        .query("select id from notes", &[])
        .await
        .expect("rows");
    let there: std::collections::HashSet<i64> = rows.iter().map(|row| row.get(0)).collect();
    let acknowledged = seen.acknowledged.lock().expect("not poisoned").clone();
    let lost: Vec<_> = acknowledged.iter().filter(|id| !there.contains(id)).collect();
    assert!(
        lost.is_empty(),
        "{} acknowledged, lost: {lost:?}",
        acknowledged.len()
    );
}
