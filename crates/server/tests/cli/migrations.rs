//! Migrations and seeds as `start` and `migrate` run them.

use crate::support::Project;

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn gw_021_a_failing_migration_names_file_line_sqlstate_and_statement() {
    let project = Project::new();
    project.write("migrations/20260101000000_good.sql", "create table good (n int);");
    project.write(
        "migrations/20260102000000_bad.sql",
        "create table half (n int);\n\ninsert into nowhere values (1);\n",
    );
    project.write("seed.sql", "insert into good values (1);");

    let arguments = project.start_arguments();
    let message = project.run_and_expect_failure(&arguments.iter().map(String::as_str).collect::<Vec<_>>());

    assert!(message.contains("20260102000000_bad.sql:3: "), "{message}");
    assert!(
        message.contains("SQLSTATE 42P01") && message.contains("insert into nowhere"),
        "{message}"
    );

    // Once the migration is corrected, the next start continues there and still runs the seeds of the first start.
    project.write("migrations/20260102000000_bad.sql", "create table whole (n int);");
    let running = project.start().await;
    let database = project.database().await;
    let count: i64 = database
        .query_one("select count(*) from good, whole", &[])
        .await
        .map_or(-1, |row| row.get(0));
    assert_eq!(count, 0);
    let seeded: i64 = database
        .query_one("select count(*) from good", &[])
        .await
        .unwrap()
        .get(0);
    assert_eq!(seeded, 1);
    assert!(
        database.query("select * from half", &[]).await.is_err(),
        "a failed file leaves nothing"
    );
    running.stop();
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn gw_021_later_starts_apply_and_list_pending_migrations() {
    let project = Project::new();
    project.start().await.stop();
    project.write(
        "migrations/20260101000000_notes.sql",
        "create table notes (body text);",
    );

    let running = project.start().await;

    assert!(
        running.output().contains("applied 20260101000000_notes.sql"),
        "{}",
        running.output()
    );
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn gw_025_seeds_run_on_the_first_start_only() {
    let project = Project::new();
    project.write(
        "migrations/20260101000000_notes.sql",
        "create table notes (body text);",
    );
    project.write("seed.sql", "insert into notes values ('one');");
    project.start().await.stop();

    let _running = project.start().await;

    let count: i64 = project
        .database()
        .await
        .query_one("select count(*) from notes", &[])
        .await
        .unwrap()
        .get(0);
    assert_eq!(count, 1);
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn gw_021_migrate_creates_lists_and_applies() {
    let project = Project::new();
    let database_port = project.ports.database.to_string();
    project.write("config.toml", &format!("[db]\nport = {database_port}\n"));

    let created = project.run_and_expect_success(&["migrate", "new", "Add notes!"]);
    assert!(created.contains("_add_notes_.sql"), "{created}");
    assert!(
        project
            .run_and_expect_success(&["migrate", "list"])
            .contains("pending")
    );
    let applied = project.run_and_expect_success(&["migrate", "up"]);
    assert!(
        applied.contains("applied") && applied.contains("_add_notes_.sql"),
        "{applied}"
    );
    assert!(
        project
            .run_and_expect_success(&["migrate", "list"])
            .contains("applied")
    );

    // The same commands, now while the project runs.
    let _running = project.start().await;
    project.write("migrations/29990101000000_late.sql", "create table late ();");
    assert!(
        project
            .run_and_expect_success(&["migrate", "up"])
            .contains("29990101000000_late.sql")
    );
    assert!(
        project
            .run_and_expect_success(&["migrate", "up"])
            .contains("up to date")
    );
}

/// The most memory in bytes that a command has used.
#[cfg(target_os = "linux")]
fn measure_peak(project: &Project, arguments: &[&str]) -> u64 {
    let mut command = project.command(arguments);
    let quiet = command
        .stdout(std::process::Stdio::null())
        .stderr(std::process::Stdio::null());
    let mut child = quiet.spawn().expect("the binary runs");
    let status = format!("/proc/{}/status", child.id());
    let mut peak = 0;
    while child.try_wait().expect("a child").is_none() {
        let text = std::fs::read_to_string(&status).unwrap_or_default();
        let line = text.lines().find_map(|line| line.strip_prefix("VmHWM:"));
        let kib = line.and_then(|line| line.trim().trim_end_matches(" kB").parse::<u64>().ok());
        peak = peak.max(kib.unwrap_or(0) * 1024);
        std::thread::sleep(std::time::Duration::from_millis(2));
    }
    assert!(child.wait().expect("it ends").success());
    peak
}

#[cfg(target_os = "linux")]
#[test]
fn gw_025_a_large_seed_is_in_memory_once() {
    const SEED_BYTES: usize = 96 * 1024 * 1024;
    let project = Project::new();
    let statement = format!("select 1 /* {} */;\n", "x".repeat(100_000));
    project.write("seed.sql", &statement);
    let without = measure_peak(&project, &["reset", "--yes"]);
    project.write("seed.sql", &statement.repeat(SEED_BYTES / statement.len()));

    let with = measure_peak(&project, &["reset", "--yes"]);

    let more = with.saturating_sub(without);
    assert!(more < SEED_BYTES as u64 * 3 / 2, "{more} bytes for {SEED_BYTES}");
}
