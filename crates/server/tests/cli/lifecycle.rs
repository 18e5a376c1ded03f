//! Start, second start, stop, crash and what survives it.

use serde_json::Value;

use crate::support::Project;

#[actix_web::test]
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
    assert!(project.must_fail(&["status"]).contains("is not running"));
    assert!(
        tokio::net::TcpStream::connect(("127.0.0.1", project.ports.database))
            .await
            .is_err()
    );
}

#[actix_web::test]
async fn gw_032_status_prints_the_clis_names_and_the_ports_in_use() {
    let project = Project::new();
    let running = project.start().await;

    let json: Value = serde_json::from_str(&project.must(&["status", "-o", "json"])).unwrap();
    let env = project.must(&["status", "-o", "env"]);

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

#[actix_web::test]
async fn gw_033_postgres_logs_in_with_the_well_known_password_and_is_no_superuser() {
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

#[actix_web::test]
async fn gw_031_a_second_start_says_who_holds_the_project() {
    let project = Project::new();
    let running = project.start().await;

    let message = project.must_fail(&["start"]);

    assert!(
        message.contains(&format!("process {}", running.pid())),
        "{message}"
    );
    assert!(message.contains("selvedge stop"), "{message}");
    assert_eq!(running.get("/health/ready").await.0, 200);
}

#[actix_web::test]
async fn gw_031_stop_ends_a_running_instance() {
    let project = Project::new();
    let mut running = project.start().await;

    project.must(&["stop"]);

    assert!(running.ended().success());
    assert!(project.must(&["stop"]).contains("is not running"));
}

#[actix_web::test]
async fn gw_031_a_killed_server_loses_nothing_and_starts_again() {
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
    running.ended();
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

#[cfg(target_os = "linux")]
#[actix_web::test]
async fn a_server_whose_postgresql_ends_says_so_and_ends() {
    let project = Project::new();
    let mut running = project.start().await;

    let postmaster = project.postmaster_pid().await;
    std::process::Command::new("kill")
        .args(["-QUIT", &postmaster])
        .status()
        .unwrap();

    assert!(!running.ended().success());
    assert!(
        running.output().contains("PostgreSQL ended by itself"),
        "{}",
        running.output()
    );
}

#[actix_web::test]
async fn reset_starts_from_nothing() {
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
    assert!(project.must_fail(&["reset", "--yes"]).contains("selvedge stop"));
    running.stop();
    assert!(project.must_fail(&["reset"]).contains("--yes"));

    project.must(&["reset", "--yes", "--db-port", &project.ports.database.to_string()]);

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

#[actix_web::test]
async fn a_site_is_served_with_its_key_and_the_api_beside_it() {
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
    assert_eq!(
        running.get("/functions/v1/hello").await.1["code"],
        "NOT_IMPLEMENTED"
    );
    assert!(running.output().contains("Sign in as demo"));
}
