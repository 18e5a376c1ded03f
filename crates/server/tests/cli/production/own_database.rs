//! `serve` with a database of its own: what a first start makes, who refuses it, and that every command reaches it.

use std::os::unix::fs::PermissionsExt as _;
use std::path::PathBuf;
use std::process::Stdio;
use std::time::{Duration, Instant};

use serde_json::json;

use super::home::{Home, TABLE, TIMEOUT, insert};
use crate::support::Project;

fn mode(path: PathBuf) -> u32 {
    path.metadata().expect("it is there").permissions().mode() & 0o777
}

#[test]
fn prod_001_without_a_named_folder_and_without_database_url_nothing_is_started() {
    let project = Project::new();

    let refused = project.run_and_expect_failure(&["serve"]);

    for part in ["--data-dir", "DATABASE_URL", "selvedge start"] {
        assert!(refused.contains(part), "{refused}");
    }
    assert!(!project.path(".selvedge").exists());
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn prod_001_002_003_a_server_makes_a_database_that_outlives_it() {
    let home = Home::with_settings("[db.migrations]\nenabled = true\n");
    home.project.write("migrations/20260101000000_notes.sql", TABLE);

    let first = home.serve(&[]).await;
    let status = home.status();
    let url = format!("http://127.0.0.1:{}", home.project.ports.api);
    assert_eq!(status["API_URL"], url.as_str());
    assert!(status["DB_URL"].is_null() && status["S3_PROTOCOL_ACCESS_KEY_ID"].is_null());
    for secret in ["SECRET_KEY", "JWT_SECRET", "SERVICE_ROLE_KEY"] {
        assert!(status[secret].is_null(), "{secret}");
    }
    let asked = home.run_and_expect_success(&["status", "--secrets", "-o", "json"]);
    assert!(
        asked.contains(&home.secret_key()) && asked.contains("SERVICE_ROLE_KEY"),
        "{asked}"
    );
    let log = first.output();
    assert!(log.contains(&format!("\"url\":\"{url}\"")), "{log}");
    assert!(log.contains("no SMTP server is configured"), "{log}");
    // A start changes the schema of no project.
    assert!(log.contains("selvedge migrate up"), "{log}");
    assert_eq!(home.value("select to_regclass('public.notes') is null"), "true");
    for (setting, expected) in [
        ("data_checksums", "on"),
        ("listen_addresses", ""),
        ("bgwriter_delay", "200ms"),
        ("logging_collector", "on"),
        ("wal_level", "logical"),
    ] {
        assert_eq!(
            home.value(&format!("select current_setting('{setting}')")),
            expected,
            "{setting}"
        );
    }
    for file in ["keys.json", "superuser-password", "lock"] {
        assert_eq!(mode(home.path(file)), 0o600, "{file}");
    }
    // As root PostgreSQL runs as another user, who has to pass through.
    assert!([0o700, 0o711].contains(&mode(home.path(""))));
    let signed_up = reqwest::Client::new()
        .post(first.url("/auth/v1/signup"))
        .header("apikey", home.secret_key())
        .json(&json!({ "email": "ana@example.com", "password": "correct horse" }))
        .send()
        .await
        .expect("a response");
    assert_eq!(signed_up.status(), 200);
    let refused = reqwest::Client::new()
        .post(first.url("/auth/v1/recover"))
        .header("apikey", home.secret_key())
        .json(&json!({ "email": "ana@example.com" }))
        .send()
        .await
        .expect("a response");
    let code = refused.status();
    let body = refused.text().await.expect("text");
    assert!(
        code == 500 && body.contains("no SMTP server is configured"),
        "{code} {body}"
    );
    let second = home.run_and_expect_failure(&[
        "serve",
        "--host",
        "127.0.0.1",
        "--port",
        &Project::further_port().to_string(),
    ]);
    assert!(second.contains("already runs"), "{second}");

    home.run_and_expect_success(&["migrate", "up"]);
    let (key, postmaster) = (home.secret_key(), home.postmaster());
    insert(&first, &key, 1).await;
    let said = home.run_and_expect_success(&["stop"]);
    assert!(said.contains("its PostgreSQL goes on"), "{said}");
    drop(first);
    assert_eq!(home.value("select count(*) from notes"), "1");

    home.project.write(
        "migrations/20260102000000_more.sql",
        "alter table notes add column body text;",
    );
    let next = home.serve(&["--migrate"]).await;
    assert_eq!((home.secret_key(), home.postmaster()), (key, postmaster));
    assert_eq!(
        home.value(
            "select count(*) from pg_attribute where attrelid = 'notes'::regclass and attname = 'body'"
        ),
        "1"
    );
    home.run_and_expect_success(&["stop", "--database"]);
    drop(next);
    assert_eq!((home.postmaster(), home.keeper()), (None, None));
}

#[test]
fn prod_010_commands_for_development_refuse_a_home_and_name_the_way() {
    let home = Home::new();
    std::fs::create_dir(home.path("")).expect("made");
    std::fs::write(home.path("production"), "").expect("marked");

    for arguments in [
        &["start"][..],
        &["start", "--detach"],
        &["db", "start"],
        &["functions", "serve"],
        &["stop", "--no-backup"],
        &["reset", "--yes"],
        &["db", "reset", "--yes"],
        &["migrate", "down", "--yes"],
        &["import", "--yes", "--db-url", "postgresql://x:y@127.0.0.1:1/z"],
        &["seed", "buckets"],
    ] {
        let refused = home.run_and_expect_failure(arguments);
        assert!(
            refused.contains("home of a production database"),
            "{arguments:?}: {refused}"
        );
        assert!(refused.contains("selvedge restore FILE"), "{refused}");
    }
    assert_eq!(std::fs::read_dir(home.path("")).expect("a folder").count(), 1);
}

#[test]
fn prod_010_a_database_for_development_is_not_served_in_production() {
    let home = Home::new();
    std::fs::create_dir_all(home.path("pgdata")).expect("made");

    let port = home.project.ports.api.to_string();
    let refused = home.run_and_expect_failure(&["serve", "--host", "127.0.0.1", "--port", &port]);

    assert!(refused.contains("used with another database"), "{refused}");
    assert!(!home.path("production").exists());
    std::fs::remove_dir(home.path("pgdata")).expect("removed");
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn prod_001_a_backup_of_a_home_is_restored_into_it() {
    let home = Home::new();
    home.project.write("migrations/20260101000000_notes.sql", TABLE);
    let running = home.serve(&["--migrate"]).await;
    let key = home.secret_key();
    insert(&running, &key, 1).await;
    let file = home.project.path("saved.tar").display().to_string();

    let backup = home.run(&["backup", &file]);
    let said = String::from_utf8(backup.stderr).expect("text");
    assert!(backup.status.success(), "{said}");
    let archive = std::fs::read(&file).expect("a file");
    assert!(
        !String::from_utf8_lossy(&archive).contains(&key),
        "the keys are in it"
    );
    for place in ["keys.json", "vault.key"] {
        let place = home.path(place).display().to_string();
        assert!(said.contains(&place), "{said}");
    }
    insert(&running, &key, 2).await;
    let refused = home.run_and_expect_failure(&["restore", &file, "--yes"]);
    assert!(refused.contains("selvedge stop --database"), "{refused}");
    home.run_and_expect_success(&["stop", "--database"]);
    drop(running);
    let keys = home.path("keys.json");
    std::fs::rename(&keys, home.project.path("kept")).expect("moved");
    let restored = home.run(&["restore", &file, "--yes"]);
    let said = String::from_utf8(restored.stderr).expect("text");
    assert!(restored.status.success() && said.contains("other keys"), "{said}");
    std::fs::rename(home.project.path("kept"), &keys).expect("moved");
    let restored = home.run(&["restore", &file, "--yes"]);
    let said = String::from_utf8(restored.stderr).expect("text");
    assert!(
        restored.status.success() && !said.contains("other keys"),
        "{said}"
    );

    let running = home.serve(&[]).await;
    assert_eq!(home.secret_key(), key);
    assert_eq!(home.value("select count(*) from notes"), "1");
    insert(&running, &key, 3).await;
    // A developer looks at a copy.
    let copy = Project::new();
    copy.run_and_expect_success(&["restore", &file, "--yes"]);
    copy.run_and_expect_success(&["db", "query", "select count(*) from notes"]);
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn prod_001_003_keys_are_made_by_the_server_alone_and_roles_with_the_first_migrations() {
    let home = Home::new();
    home.project.write("roles.sql", "create role editor nologin;");
    home.project.write(
        "migrations/20260101000000_notes.sql",
        &format!("{TABLE}\ngrant select on notes to editor;"),
    );
    let mut keeper = home
        .command(&["cluster", "run"])
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .expect("the binary starts");
    let deadline = Instant::now() + TIMEOUT;
    while home.postmaster().is_none() {
        assert!(Instant::now() < deadline, "no PostgreSQL");
        actix_web::rt::time::sleep(Duration::from_millis(20)).await;
    }

    // The keeper may have been started without the variables that give the keys.
    assert!(!home.path("keys.json").exists());
    let refused = home.run_and_expect_failure(&["keys"]);
    assert!(refused.contains("first start of `selvedge serve`"), "{refused}");
    let running = home.serve(&[]).await;
    assert_eq!(mode(home.path("keys.json")), 0o600);

    // A start applies nothing of the project, so the roles come with what refers to them.
    home.run_and_expect_success(&["migrate", "up"]);
    home.project.write(
        "roles.sql",
        "create role editor nologin; create role writer nologin;",
    );
    home.project.write(
        "migrations/20260102000000_more.sql",
        "alter table notes add column body text;",
    );
    home.run_and_expect_success(&["migrate", "up"]);
    let roles = "select string_agg(rolname, ' ') from pg_roles where rolname in ('editor', 'writer')";
    assert_eq!(home.value(roles), "editor");
    drop(running);
    home.run_and_expect_success(&["stop", "--database"]);
    assert!(keeper.wait().expect("a child").success());
}

/// Commands that work beside a running instance, whatever runs it.
const COMMANDS: [&[&str]; 14] = [
    &["status"],
    &["doctor", "-o", "json"],
    &["keys"],
    &["migrate", "list"],
    &["migrate", "up"],
    &["db", "query", "select 1"],
    &["db", "dump"],
    &["gen", "types", "typescript"],
    &["inspect", "db", "db-stats"],
    &["test", "db"],
    &["tenants", "list"],
    &["console", "user", "list"],
    &["sso", "list"],
    &["sweep", "--dry-run"],
];

/// Those that are not about a database that an address names, or need its services' password.
const OF_INSTANCES: [&str; 4] = ["status", "sso", "keys", "sweep"];

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn prod_001_every_command_reaches_an_instance_whatever_runs_it() {
    let test = (
        "tests/one.sql",
        "begin; select plan(1); select ok(true); select * from finish(); rollback;",
    );
    let home = Home::new();
    home.project.write(test.0, test.1);
    let _served = home.serve(&[]).await;
    let project = Project::new();
    project.write(test.0, test.1);
    let _started = project.start().await;
    let superuser = project.superuser_url();

    let mut faults = Vec::new();
    for arguments in COMMANDS {
        let mut beside_external = project.command(arguments);
        beside_external.env("DATABASE_URL", &superuser);
        for (place, mut command) in [
            ("serve", home.command(arguments)),
            ("start", project.command(arguments)),
            ("DATABASE_URL", beside_external),
        ] {
            if place == "DATABASE_URL" && OF_INSTANCES.contains(&arguments[0]) {
                continue;
            }
            let output = command.output().expect("the binary runs");
            // Some checks of doctor fail on a machine like this one.
            let is_right = match arguments[0] {
                "doctor" => String::from_utf8_lossy(&output.stdout).contains("\"postgresql\""),
                _ => output.status.success(),
            };
            if !is_right {
                faults.push(format!(
                    "{place} {arguments:?}: {}",
                    String::from_utf8_lossy(&output.stderr)
                ));
            }
        }
    }
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}
