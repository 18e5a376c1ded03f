//! The database or the server restarts, crashes or is exhausted under load; checks what clients see and what is kept.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use actix_web::rt::spawn;
use actix_web::rt::task::JoinHandle;
use actix_web::rt::time::sleep;
use serde_json::{Value, json};

use crate::production::{generate_keys, serve_variables};
use crate::support::{Ports, Project, Running};

const TIMEOUT: Duration = Duration::from_secs(60);
const CLIENTS: usize = 16;

const MIGRATION: &str = "
    create table notes (id bigint primary key, body text);
    insert into notes select n, 'note ' || n from generate_series(1, 50) n;
    create function wait_for_lock() returns text language sql volatile as $$
        select 'free' from pg_advisory_xact_lock_shared(7)
    $$;
    create role web_anon nologin; grant web_anon to postgres;
    grant usage on schema public to web_anon; grant select, insert on notes to web_anon;
";

/// Clients that read and write without pause until they are stopped.
struct Load {
    stop: Arc<AtomicBool>,
    results: Arc<Results>,
    clients: Vec<JoinHandle<()>>,
}

/// The responses counted so far.
#[derive(Default)]
struct Results {
    good: AtomicUsize,
    /// Failed requests by status and error code.
    failed: Mutex<BTreeMap<String, usize>>,
    next_id: AtomicUsize,
    /// Ids of rows whose insertion the server has acknowledged.
    acknowledged: Mutex<Vec<i64>>,
}

impl Load {
    /// Starts the clients. They insert rows with ids from `first_id` on.
    fn start(url: &str, key: Option<&str>, first_id: usize) -> Self {
        let stop = Arc::new(AtomicBool::new(false));
        let results = Arc::new(Results::default());
        results.next_id.store(first_id, Ordering::Relaxed);
        let clients = (0..CLIENTS)
            .map(|number| {
                let (stop, results) = (stop.clone(), results.clone());
                let (url, key) = (format!("{url}/notes"), key.map(str::to_owned));
                spawn(async move {
                    let http = reqwest::Client::new();
                    while !stop.load(Ordering::Relaxed) {
                        if number % 2 == 0 {
                            results.read(&http, &url, key.as_deref()).await;
                        } else {
                            results.write(&http, &url, key.as_deref()).await;
                        }
                    }
                })
            })
            .collect();
        Self {
            stop,
            results,
            clients,
        }
    }

    fn count_successes(&self) -> usize {
        self.results.good.load(Ordering::Relaxed)
    }

    fn list_failures(&self) -> BTreeMap<String, usize> {
        self.results.failed.lock().expect("not poisoned").clone()
    }

    /// Waits until `holds` returns true.
    async fn wait_until(&self, what: &str, holds: impl Fn(&Self) -> bool) {
        let deadline = Instant::now() + TIMEOUT;
        while !holds(self) {
            assert!(Instant::now() < deadline, "{what}: {:?}", self.list_failures());
            sleep(Duration::from_millis(10)).await;
        }
    }

    /// Waits for a hundred successes in a row.
    async fn wait_for_recovery(&self) {
        let deadline = Instant::now() + TIMEOUT;
        loop {
            let (good, failed) = (self.count_successes(), self.list_failures());
            self.wait_until("requests succeed again", |load| {
                load.count_successes() > good + 100
            })
            .await;
            if self.list_failures() == failed {
                return;
            }
            assert!(Instant::now() < deadline, "requests go on failing: {failed:?}");
        }
    }

    /// Waits until one more request fails.
    async fn wait_for_failure(&self) {
        let before: usize = self.list_failures().values().sum();
        self.wait_until("requests fail", |load| {
            load.list_failures().values().sum::<usize>() > before
        })
        .await;
    }

    /// Checks that the next 300 requests succeed.
    async fn expect_no_failures(&self) {
        let (good, failed) = (self.count_successes(), self.list_failures());
        self.wait_until("many requests", |load| load.count_successes() > good + 300)
            .await;
        assert_eq!(self.list_failures(), failed, "no request fails any more");
    }

    /// Stops the clients and returns the results. Fails if a request is stuck.
    async fn stop(self) -> Arc<Results> {
        self.stop.store(true, Ordering::Relaxed);
        for client in self.clients {
            actix_web::rt::time::timeout(TIMEOUT, client)
                .await
                .expect("no request is stuck")
                .expect("no client panics");
        }
        self.results
    }
}

impl Results {
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

    /// Sends a request; returns the body of a success. The body of a failure must have the contract's shape.
    async fn send(&self, request: reqwest::RequestBuilder, key: Option<&str>, good: u16) -> Option<String> {
        let request = match key {
            Some(key) => request.header("apikey", key),
            None => request,
        };
        let response = match request.send().await {
            Ok(response) => response,
            Err(error) => {
                self.count_failure(format!(
                    "no response: {}",
                    if error.is_connect() { "connect" } else { "cut" }
                ));
                sleep(Duration::from_millis(20)).await;
                return None;
            }
        };
        let status = response.status().as_u16();
        let headers = response.headers().clone();
        let Ok(body) = response.text().await else {
            self.count_failure("no response: cut".to_owned());
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
        self.count_failure(format!("{status} {}", error["code"].as_str().unwrap_or_default()));
        sleep(Duration::from_millis(5)).await;
        None
    }

    fn count_failure(&self, failure: String) {
        *self
            .failed
            .lock()
            .expect("not poisoned")
            .entry(failure)
            .or_default() += 1;
    }
}

/// Whether a failure means that the database cannot be reached or that a connection did not become free in time.
fn is_outage(failure: &str) -> bool {
    matches!(
        failure,
        "503 PGRST000" | "503 PGRST001" | "503 57P01" | "504 PGRST003"
    )
}

/// Repeats a request until it gets this status.
async fn wait_for_status(url: &str, key: Option<&str>, status: u16) {
    let deadline = Instant::now() + TIMEOUT;
    loop {
        let mut request = reqwest::Client::new().get(url);
        if let Some(key) = key {
            request = request.header("apikey", key);
        }
        let found = request
            .send()
            .await
            .map_or(0, |response| response.status().as_u16());
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
#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn rest_094_and_096_service_recovers_after_postgresql_restarts_and_crashes_under_load() {
    let database = Project::new();
    database.write("migrations/20260101000000_notes.sql", MIGRATION);
    let postgresql = database.start().await;
    let keys = generate_keys(&database);
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
    let serving = node.spawn(&arguments, &serve_variables(&keys, &url));
    let operator = Project::new();
    let alone = spawn_rest(&operator, &database, &[]);
    let admin = format!("http://127.0.0.1:{}", operator.ports.inbox);
    let key = keys["SUPABASE_AUTH_PUBLISHABLE_KEY"].as_str();
    serving.wait_until_ready().await;
    wait_for_status(&format!("{admin}/ready"), None, 200).await;

    let loads = [
        Load::start(&serving.url("/rest/v1"), Some(key), 1_000),
        Load::start(&alone.url(""), None, 1_000_000),
    ];
    for load in &loads {
        load.wait_for_recovery().await;
        assert_eq!(load.list_failures(), BTreeMap::new());
    }

    // An orderly restart, then a crash.
    let mut postgresql = Some(postgresql);
    for round in ["restarted", "crashed"] {
        let mut running = postgresql.take().expect("it runs");
        if round == "restarted" {
            running.stop();
        } else {
            let postmaster = database.postmaster_pid().await;
            // The server first, because it would start PostgreSQL again.
            running.signal("-KILL");
            let killed = std::process::Command::new("kill")
                .args(["-KILL", &postmaster])
                .status();
            assert!(killed.expect("kill runs").success());
            assert!(!running.wait_for_exit().success());
            drop(running);
        }
        for load in &loads {
            load.wait_for_failure().await;
        }
        wait_for_status(&format!("{admin}/ready"), None, 503).await;
        wait_for_status(&format!("{admin}/live"), None, 200).await;

        postgresql = Some(database.start().await);
        // Created while the listener may be disconnected, so only the reload after reconnecting can find it.
        let made = format!("create table {round} (id int); grant select on {round} to web_anon, anon");
        database
            .database()
            .await
            .batch_execute(&made)
            .await
            .expect("valid");

        for load in &loads {
            load.wait_for_recovery().await;
            load.expect_no_failures().await;
        }
        wait_for_status(&alone.url(&format!("/{round}")), None, 200).await;
        wait_for_status(&serving.url(&format!("/rest/v1/{round}")), Some(key), 200).await;
        wait_for_status(&format!("{admin}/ready"), None, 200).await;
    }

    for load in loads {
        let results = load.stop().await;
        let failed = results.failed.lock().expect("not poisoned").clone();
        assert!(failed.keys().all(|failure| is_outage(failure)), "{failed:?}");
    }
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn rest_096_with_an_exhausted_pool_requests_wait_then_time_out_then_recover() {
    let database = Project::new();
    database.write("migrations/20260101000000_notes.sql", MIGRATION);
    let _postgresql = database.start().await;
    let operator = Project::new();
    let alone = spawn_rest(
        &operator,
        &database,
        &[("PGRST_DB_POOL", "1"), ("PGRST_DB_POOL_ACQUISITION_TIMEOUT", "1")],
    );
    wait_for_status(&alone.url("/notes"), None, 200).await;
    let holder = database.database().await;
    holder
        .batch_execute("select pg_advisory_lock(7)")
        .await
        .expect("a lock");
    let blocked_url = alone.url("/rpc/wait_for_lock");
    let blocked = spawn(async move {
        let response = reqwest::Client::new().post(blocked_url).send().await;
        response.expect("a response").status().as_u16()
    });
    // Once the blocked statement is older than the pool's `max_wait_behind`, no request is sent behind it.
    let waiting = "select from pg_locks join pg_stat_activity using (pid)
        where locktype = 'advisory' and not granted and clock_timestamp() - query_start > '50 ms'";
    while holder.query(waiting, &[]).await.expect("a view").is_empty() {
        sleep(Duration::from_millis(10)).await;
    }

    let waiting: Vec<_> = (0..8)
        .map(|_| spawn(reqwest::get(alone.url("/notes?id=eq.1"))))
        .collect();
    for response in waiting {
        let response = response.await.expect("no panic").expect("a response");
        assert_eq!(response.status(), 504);
        assert_eq!(response.headers()["proxy-status"], "PostgREST; error=PGRST003");
        let body: Value = response.json().await.expect("JSON");
        let expected = json!({
            "code": "PGRST003", "details": null, "hint": null,
            "message": "Timed out acquiring connection from connection pool.",
        });
        assert_eq!(body, expected);
    }
    holder
        .batch_execute("select pg_advisory_unlock(7)")
        .await
        .expect("it is held");
    wait_for_status(&alone.url("/notes?id=eq.1"), None, 200).await;
    assert_eq!(blocked.await.expect("no panic"), 200);
    for _ in 0..20 {
        let response = reqwest::get(alone.url("/notes?id=eq.1"))
            .await
            .expect("a response");
        assert_eq!(response.status(), 200);
    }
    let metrics = reqwest::get(format!("http://127.0.0.1:{}/metrics", operator.ports.inbox)).await;
    let metrics = metrics.expect("a response").text().await.expect("text");
    assert!(metrics.contains("pgrst_db_pool_timeouts_total"), "{metrics}");
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn rest_004_acknowledged_rows_survive_a_killed_server() {
    let project = Project::new();
    project.write("migrations/20260101000000_notes.sql", MIGRATION);
    let mut running = project.start().await;
    let load = Load::start(&running.url("/rest/v1"), None, 1_000);
    load.wait_until("many rows are written", |load| {
        load.results.acknowledged.lock().expect("not poisoned").len() > 200
    })
    .await;

    running.signal("-KILL");
    running.wait_for_exit();
    let results = load.stop().await;
    let _again = project.start().await;

    let rows = project
        .database()
        .await
        .query("select id from notes", &[])
        .await
        .expect("rows");
    let there: std::collections::HashSet<i64> = rows.iter().map(|row| row.get(0)).collect();
    let acknowledged = results.acknowledged.lock().expect("not poisoned").clone();
    let lost: Vec<_> = acknowledged.iter().filter(|id| !there.contains(id)).collect();
    assert!(
        lost.is_empty(),
        "{} acknowledged, lost: {lost:?}",
        acknowledged.len()
    );
}
