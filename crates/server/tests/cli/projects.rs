//! The project folders of `e2e/projects`: for each, migrations and seeds run in a new database, its tests pass, and the
//! server starts and serves every table. Those that need an extension that the tests' PostgreSQL lacks get a cluster of their own.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use futures_util::StreamExt as _;
use selvedge_postgres::migrate::{
    apply_pending, apply_roles, apply_seeds, discover_migrations, find_extension_uses, find_seeds,
    set_auto_expose_new_tables,
};
use selvedge_testing::TestDatabase;

use crate::production::{generate_keys, serve_variables};
use crate::support::{Project, Running};

/// How many projects are brought up at the same time: starting is mostly waiting for PostgreSQL and the disk.
const MAX_PARALLEL_PROJECTS: usize = 4;

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn gw_018_every_example_project_passes_its_tests_and_serves_its_tables() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../e2e/projects");
    let entries = std::fs::read_dir(&folder).expect("the projects");
    let projects: Vec<PathBuf> = entries
        .map(|entry| entry.expect("readable").path())
        .filter(|path| path.is_dir())
        .collect();
    assert!(projects.len() >= 40, "{}", projects.len());

    let keys = generate_keys(&Project::new());
    let runs = projects.iter().map(|path| try_project(path, &keys));
    let outcomes: Vec<Result<(), String>> = futures_util::stream::iter(runs)
        .buffer_unordered(MAX_PARALLEL_PROJECTS)
        .collect()
        .await;

    let failures: Vec<String> = outcomes.into_iter().filter_map(Result::err).collect();
    assert!(failures.is_empty(), "{}", failures.join("\n\n"));
}

/// Runs the project's tests and its server. Returns an error that names the project.
async fn try_project(path: &Path, keys: &HashMap<String, String>) -> Result<(), String> {
    let name = path.display();
    let project = Project::new();
    project.copy_from(path);
    let database = TestDatabase::create().await;
    if needs_vector(&project, &database).await {
        return try_with_own_cluster(&project)
            .await
            .map_err(|error| format!("{name}: {error}"));
    }
    bring_up(&project, &database)
        .await
        .map_err(|error| format!("{name}: {error}"))?;

    let mut tests = project.command(&["test", "db", "--db-url", &database.url("postgres")]);
    let output = actix_web::rt::task::spawn_blocking(move || tests.output().expect("the binary runs"))
        .await
        .expect("no panic");
    check_tests(&output).map_err(|printed| format!("{name}: {printed}"))?;

    let url = database.url("postgres");
    let port = project.ports.api.to_string();
    let arguments = ["serve", "--host", "127.0.0.1", "--workers", "1", "--port", &port].map(str::to_owned);
    let server = project.spawn(&arguments, &serve_variables(keys, &url));
    server.wait_until_ready().await;
    let outcome = read_every_table(&server, &keys["SUPABASE_AUTH_SERVICE_ROLE_KEY"]).await;
    // Stopping blocks, and the tests of the other projects run on this thread; therefore another thread stops the server.
    actix_web::rt::task::spawn_blocking(|| server.stop())
        .await
        .expect("no panic");
    outcome.map_err(|error| format!("{name}: {error}"))
}

/// Whether the project uses pgvector and the tests' PostgreSQL has none.
async fn needs_vector(project: &Project, database: &TestDatabase) -> bool {
    let migrations = discover_migrations(&project.path("migrations")).expect("migrations");
    let files: Vec<PathBuf> = migrations.migrations.into_iter().map(|file| file.path).collect();
    let uses = find_extension_uses(&files).expect("readable");
    if !uses.iter().any(|used| used.name == "vector") {
        return false;
    }
    let query = "select from pg_available_extensions where name = 'vector'";
    let found = database.connect("postgres").await.query(query, &[]).await;
    found.expect("rows").is_empty()
}

/// Adds pgvector by the command that a start advises, and runs the project on its own cluster.
async fn try_with_own_cluster(project: &Project) -> Result<(), String> {
    run_in_background(project.command(&["extension", "add", "vector"])).await?;
    let server = project.start().await;
    let status = run_in_background(project.command(&["status", "-o", "json"])).await?;
    let status: serde_json::Value = serde_json::from_str(&status).map_err(|error| error.to_string())?;
    let key = status["SERVICE_ROLE_KEY"].as_str().unwrap_or_default();
    let outcome = match run_in_background(project.command(&["test", "db"])).await {
        Ok(printed) if printed.contains("Result: PASS") => read_every_table(&server, key).await,
        Ok(printed) => Err(printed),
        Err(error) => Err(error),
    };
    actix_web::rt::task::spawn_blocking(|| server.stop())
        .await
        .expect("no panic");
    outcome
}

/// Runs a command that must succeed, on another thread: the tests of other projects run on this one. Returns what it prints.
async fn run_in_background(mut command: Command) -> Result<String, String> {
    let output = actix_web::rt::task::spawn_blocking(move || command.output().expect("the binary runs"))
        .await
        .expect("no panic");
    let printed = String::from_utf8_lossy(&output.stdout).into_owned();
    if output.status.success() {
        return Ok(printed);
    }
    Err(format!("{printed}{}", String::from_utf8_lossy(&output.stderr)))
}

/// Applies what a first start applies.
async fn bring_up(project: &Project, database: &TestDatabase) -> Result<(), String> {
    let describe = |error: selvedge_postgres::migrate::MigrateError| error.to_string();
    // The only key of config.toml that changes what migrations make.
    let config = std::fs::read_to_string(project.path("config.toml")).map_err(|error| error.to_string())?;
    let expose = !config.contains("auto_expose_new_tables = false");
    set_auto_expose_new_tables(&database.superuser().await, expose)
        .await
        .map_err(|error| error.to_string())?;
    let client = database.connect("postgres").await;
    apply_roles(&client, &project.path("roles.sql"), |_| {})
        .await
        .map_err(describe)?;
    let migrations = discover_migrations(&project.path("migrations")).map_err(describe)?;
    apply_pending(&client, &migrations.migrations, |_| {})
        .await
        .map_err(describe)?;
    let patterns = ["./seed.sql", "./seeds/*.sql"].map(str::to_owned);
    let (seeds, _) = find_seeds(&project.path(""), &patterns).map_err(describe)?;
    apply_seeds(&client, &seeds, |_| {}).await.map_err(describe)?;
    Ok(())
}

/// A run without a single test counts as failed, because then a project's tests were not found.
fn check_tests(output: &Output) -> Result<(), String> {
    let printed = String::from_utf8_lossy(&output.stdout);
    if output.status.success() && printed.contains("Result: PASS") && !printed.contains("Tests=0") {
        return Ok(());
    }
    Err(format!("{printed}{}", String::from_utf8_lossy(&output.stderr)))
}

/// Reads every table and view that the API's description lists.
async fn read_every_table(server: &Running, key: &str) -> Result<(), String> {
    let get = async |path: &str| {
        let request = reqwest::Client::new().get(server.url(path));
        let response = request
            .header("apikey", key)
            .bearer_auth(key)
            .send()
            .await
            .map_err(|error| format!("{path}: {error}"))?;
        let status = response.status();
        let body = response.text().await.unwrap_or_default();
        if status.is_success() {
            Ok(body)
        } else {
            Err(format!("{path}: {status} {body}"))
        }
    };
    let description: serde_json::Value =
        serde_json::from_str(&get("/rest/v1/").await?).map_err(|error| error.to_string())?;
    let tables = description["definitions"]
        .as_object()
        .cloned()
        .unwrap_or_default();
    for table in tables.keys() {
        get(&format!("/rest/v1/{}?limit=1", table.replace(' ', "%20"))).await?;
    }
    Ok(())
}
