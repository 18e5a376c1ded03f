//! Starting, starting twice, stopping, crashing, and resetting a project.

use std::process::Command;
use std::time::{Duration, Instant};

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use serde_json::{Value, json};

use crate::support::{Project, wait_for_statement};

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn gw_031_first_start_serves_and_sigterm_stops_cleanly() {
    let project = Project::new();

    let running = project.start().await;

    assert_eq!(running.get("/health/live").await.0, 200);
    assert_eq!(
        running.get("/nothing").await.1["message"],
        "no Route matched with those values"
    );
    let inbox = reqwest::get(format!("http://127.0.0.1:{}/", project.ports.inbox))
        .await
        .unwrap();
    assert_eq!(inbox.status(), 200);
    let output = running.stop();
    assert!(
        output.contains("is ready after") && output.contains("first start"),
        "{output}"
    );
    assert!(
        project
            .run_and_expect_failure(&["status"])
            .contains("is not running")
    );
    assert!(
        tokio::net::TcpStream::connect(("127.0.0.1", project.ports.database))
            .await
            .is_err()
    );
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn gw_032_status_prints_the_clis_names_and_the_ports_in_use() {
    let project = Project::new();
    let running = project.start().await;

    let json: Value =
        serde_json::from_str(&project.run_and_expect_success(&["status", "-o", "json"])).unwrap();
    let env = project.run_and_expect_success(&["status", "-o", "env"]);

    assert_eq!(json["API_URL"], running.url("").as_str());
    assert!(json["ANON_KEY"].as_str().unwrap().ends_with("YTn_I0"));
    assert!(json["SERVICE_ROLE_KEY"].as_str().unwrap().ends_with("pN81IU"));
    let database = format!(
        "postgresql://postgres:postgres@127.0.0.1:{}/postgres",
        project.ports.database
    );
    assert_eq!(json["DB_URL"], database.as_str());
    for name in [
        "REST_URL",
        "GRAPHQL_URL",
        "FUNCTIONS_URL",
        "STORAGE_S3_URL",
        "MAILPIT_URL",
        "JWT_SECRET",
        "PUBLISHABLE_KEY",
        "SECRET_KEY",
    ] {
        assert!(env.contains(&format!("{name}=\"")), "{name} is missing: {env}");
    }
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn gw_033_postgres_has_the_well_known_password_and_is_no_superuser() {
    let project = Project::new();
    let _running = project.start().await;

    let row = project
        .database()
        .await
        .query_one(
            "select current_user::text, rolsuper from pg_roles where rolname = current_user",
            &[],
        )
        .await
        .unwrap();

    assert_eq!(
        (row.get::<_, &str>(0), row.get::<_, bool>(1)),
        ("postgres", false)
    );
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn gw_031_a_second_start_names_the_running_process() {
    let project = Project::new();
    let running = project.start().await;

    let message = project.run_and_expect_failure(&["start"]);

    assert!(
        message.contains(&format!("process {}", running.pid())),
        "{message}"
    );
    assert!(message.contains("selvedge stop"), "{message}");
    assert_eq!(running.get("/health/ready").await.0, 200);
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn health_says_that_nothing_can_be_written_and_still_serves() {
    let project = Project::new();
    let running = project.start().await;
    let database = project.database().await;
    let read_only = "alter database postgres set default_transaction_read_only = on";
    database.batch_execute(read_only).await.expect("set");

    let (status, body) = loop {
        let (status, body) = running.get("/health/ready").await;
        if body["status"] != "ok" {
            break (status, body);
        }
        tokio::time::sleep(std::time::Duration::from_millis(100)).await;
    };
    let metrics = reqwest::get(running.url("/metrics")).await.expect("an answer");
    let metrics = metrics.text().await.expect("a text");
    let reset = "set default_transaction_read_only = off; alter database postgres reset default_transaction_read_only";
    database.batch_execute(reset).await.expect("reset");

    assert_eq!((status, &body["status"]), (200, &"degraded".into()), "{body}");
    let reason = body["checks"]["writes"]["reason"].as_str().unwrap_or_default();
    assert!(reason.contains("read-only"), "{body}");
    assert!(metrics.contains("selvedge_database_writable 0"), "{metrics}");
    running.stop();
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn gw_031_start_detach_fails_when_another_project_has_the_port() {
    let running_project = Project::new();
    let running = running_project.start().await;
    let mut project = Project::new();
    project.ports = running_project.ports;
    let arguments = project.start_arguments();
    let mut arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    arguments.push("--detach");

    let message = project.run_and_expect_failure(&arguments);

    assert!(message.contains("is taken"), "{message}");
    assert_eq!(running.get("/health/ready").await.0, 200);
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn gw_031_stop_ends_a_running_instance() {
    let project = Project::new();
    let mut running = project.start().await;

    project.run_and_expect_success(&["stop"]);

    assert!(running.wait_for_exit().success());
    assert!(
        project
            .run_and_expect_success(&["stop"])
            .contains("is not running")
    );
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn gw_031_two_signals_at_once_count_as_one_and_running_requests_finish() {
    let project = Project::new();
    project.write(
        "migrations/20260101000000_nap.sql",
        "create function take_a_nap() returns void language sql as 'select pg_sleep(1.5)';",
    );
    let mut running = project.start().await;
    let response = actix_web::rt::spawn(reqwest::get(running.url("/rest/v1/rpc/take_a_nap")));
    wait_for_statement(&project.database().await, "take_a_nap").await;

    // After Ctrl-C the terminal signals every process, and npx passes its signal on.
    let pid = Pid::from_raw(running.pid().try_into().unwrap());
    kill(pid, Signal::SIGINT).unwrap();
    kill(pid, Signal::SIGTERM).unwrap();

    assert_eq!(response.await.unwrap().unwrap().status(), 204);
    assert!(running.wait_for_exit().success());
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn gw_031_a_killed_server_starts_again_with_all_its_data() {
    let project = Project::new();
    let mut running = project.start().await;
    let database = project.database().await;
    database.batch_execute("create table kept (n int)").await.unwrap();
    for number in 0..50 {
        database
            .execute("insert into kept values ($1)", &[&number])
            .await
            .unwrap();
    }

    running.signal("-KILL");
    running.wait_for_exit();
    let again = project.start().await;

    let count: i64 = project
        .database()
        .await
        .query_one("select count(*) from kept", &[])
        .await
        .unwrap()
        .get(0);
    assert_eq!(count, 50);
    assert!(!again.output().contains("first start"), "{}", again.output());
}

/// A migration for a table that REST can read.
#[cfg(target_os = "linux")]
const READABLE: &str = "create table readable (id int);";

#[cfg(target_os = "linux")]
#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn start_starts_its_postgresql_again_and_every_service_answers_503_meanwhile() {
    let project = Project::new();
    project.write(
        "config.toml",
        "project_id = \"cli\"\n[storage.buckets.b]\npublic = true\n",
    );
    project.write("migrations/20260101000000_readable.sql", READABLE);
    let running = project.start().await;
    let postmaster = project.postmaster_pid().await;
    // A postmaster works in its data folder. Without its settings it cannot start.
    let data = std::fs::read_link(format!("/proc/{postmaster}/cwd")).expect("it lives");
    let (settings, away) = (data.join("postgresql.conf"), data.join("postgresql.conf.away"));
    std::fs::rename(&settings, &away).expect("renamed");

    let killed = std::process::Command::new("kill")
        .args(["-KILL", &postmaster])
        .status();
    assert!(killed.expect("kill runs").success());
    // The server notices the end within 200 ms; until then connections are refused.
    let deadline = Instant::now() + Duration::from_secs(60);
    loop {
        let (status, health) = running.get("/health").await;
        if status == 503 && health.to_string().contains("is started again") {
            break;
        }
        assert!(Instant::now() < deadline, "{health}");
        actix_web::rt::time::sleep(Duration::from_millis(20)).await;
    }
    let http = reqwest::Client::new();
    let sign_in = json!({ "email": "ana@example.com", "password": "a-password" });
    for request in [
        http.get(running.url("/rest/v1/readable")),
        http.post(running.url("/auth/v1/token?grant_type=password"))
            .json(&sign_in),
        http.get(running.url("/storage/v1/object/public/b/x")),
        http.get(running.url("/health")),
    ] {
        let response = request.send().await.expect("a response");
        let (url, status) = (response.url().clone(), response.status().as_u16());
        let retry_after = response.headers().contains_key("retry-after");
        let body = response.text().await.expect("text");
        assert_eq!((status, retry_after), (503, true), "{url}: {body}");
        assert!(
            url.path() != "/health" || body.contains("is started again"),
            "{body}"
        );
    }

    std::fs::rename(&away, &settings).expect("renamed");
    running.wait_until_ready().await;
    assert_ne!(project.postmaster_pid().await, postmaster);
    let output = running.stop();
    assert!(
        output.contains("PostgreSQL ended by itself and is started again"),
        "{output}"
    );
    assert!(
        output.contains("PostgreSQL accepts connections again"),
        "{output}"
    );
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn reset_deletes_all_data_and_seeds_again() {
    let project = Project::new();
    project.write(
        "migrations/20260101000000_notes.sql",
        "create table notes (body text);",
    );
    project.write("seed.sql", "insert into notes values ('seeded');");
    let running = project.start().await;
    project
        .database()
        .await
        .batch_execute("insert into notes values ('mine')")
        .await
        .unwrap();
    assert!(
        project
            .run_and_expect_failure(&["reset", "--yes"])
            .contains("selvedge stop")
    );
    running.stop();
    assert!(project.run_and_expect_failure(&["reset"]).contains("--yes"));

    project.run_and_expect_success(&["reset", "--yes", "--db-port", &project.ports.database.to_string()]);

    let _running = project.start().await;
    let rows = project
        .database()
        .await
        .query("select body from notes", &[])
        .await
        .unwrap();
    let bodies: Vec<String> = rows.iter().map(|row| row.get(0)).collect();
    assert_eq!(bodies, ["seeded"]);
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn start_serves_the_site_with_the_publishable_key_and_the_api() {
    let project = Project::new();
    project.write(
        "config.toml",
        "[selvedge]\nsite = \"dist\"\nnotes = [\"Sign in as demo\"]\n",
    );
    project.write("dist/index.html", "<title>%SELVEDGE_PUBLISHABLE_KEY%</title>");
    let running = project.start().await;

    let page = reqwest::get(running.url("/"))
        .await
        .unwrap()
        .text()
        .await
        .unwrap();

    assert!(page.starts_with("<title>sb_publishable_"), "{page}");
    assert_eq!(running.get("/pg/tables").await.0, 403);
    assert_eq!(running.get("/functions/v1/hello").await.0, 404);
    assert!(running.output().contains("Sign in as demo"));
}

/// The words of a command line may be names of commands.
#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn gw_032_a_start_in_the_background_has_the_options_that_were_typed_and_repeats_its_warnings() {
    let outer = Project::new();
    std::fs::create_dir(outer.path("db")).expect("a folder");
    outer.write("db/config.toml", "project_id = \"of_db\"\n");
    outer.write("db/migrations/odd name.sql", "select 1;");
    let run = |arguments: &[&str]| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_selvedge"));
        command
            .args(["--project", "db"])
            .args(arguments)
            .current_dir(outer.path("."))
            .env_remove("DATABASE_URL")
            .env("SELVEDGE_STATE_HOME", outer.state_home());
        let output = command.output().expect("the binary runs");
        let [out, err] = [&output.stdout, &output.stderr].map(|bytes| String::from_utf8_lossy(bytes));
        (output.status.success(), format!("{out}{err}"))
    };
    let start = outer.start_arguments();
    let start: Vec<&str> = start.iter().map(String::as_str).chain(["--detach"]).collect();

    let started = run(&start);
    let status = run(&["status"]);
    let stopped = run(&["stop"]);

    assert!(
        started.0 && started.1.contains(&outer.ports.api.to_string()),
        "{}",
        started.1
    );
    assert!(
        started.1.contains("warning") && started.1.contains("odd name.sql"),
        "{}",
        started.1
    );
    assert!(status.0 && status.1.contains("of_db is running"), "{}", status.1);
    assert!(stopped.0, "{}", stopped.1);
}
