//! The golden corpus: requests with the responses recorded from PostgREST 16.2, run against this service.
//!
//! `e2e/golden/rest/README.md` explains the corpus. Every case of all three configurations must pass.
//! By hand: `GOLDEN_ONLY=embed,rpc/007` runs some cases, `GOLDEN_OUT=FILE` writes reports, `GOLDEN_HOLD=1` keeps the
//! server running until a key is pressed.

use std::path::PathBuf;
use std::process::{Command, Output};

use selvedge_rest::{OpenApiMode, RestConfig, TransactionEnd};
use selvedge_testing::TestDatabase;
use tokio::sync::Mutex;

use crate::support::{JWT_SECRET, TestApp};

/// The corpus creates roles, which belong to the whole cluster, so only one test loads it at a time.
static LOADING: Mutex<()> = Mutex::const_new(());

fn corpus() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../e2e/golden/rest")
}

/// The responses that differ from the recorded ones where tables are distributed, each with the reason.
fn responses_with_citus() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/rest/golden_citus.json")
}

fn default_config() -> RestConfig {
    RestConfig {
        schemas: vec!["public".to_owned(), "api".to_owned()],
        transaction_end: TransactionEnd::CommitAllowOverride,
        aggregates_enabled: true,
        ..RestConfig::default()
    }
}

fn config(name: &str) -> RestConfig {
    match name {
        "tuned" => RestConfig {
            max_rows: Some(5),
            aggregates_enabled: false,
            plan_enabled: true,
            pre_request: Some("extensions.golden_pre_request".to_owned()),
            server_timing_enabled: true,
            ..default_config()
        },
        "closed" => RestConfig {
            anon_role: None,
            transaction_end: TransactionEnd::Rollback,
            openapi_mode: OpenApiMode::Disabled,
            legacy_target_names: false,
            jwt_audience: Some("authenticated".to_owned()),
            ..default_config()
        },
        _ => default_config(),
    }
}

fn run_command(command: &mut Command) -> Output {
    command.output().expect("python3 is installed")
}

/// How often a configuration's cases are run. Each pass leaves the data unchanged. From the third on, the connection has the column types
/// of a statement, and this process renders the JSON instead of PostgreSQL: both results are compared with the recording, once in each
/// form and for the settings that limit rows. The other configurations differ in what they refuse, which no rendering changes.
fn count_passes(name: &str, form: Form) -> usize {
    match (name, form) {
        ("default", _) | ("tuned", Form::PostgreSql) => 3,
        _ => 1,
    }
}

/// In which form the service writes statements.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Form {
    PostgreSql,
    /// For a database with Citus in which every table is sharded.
    Citus,
}

/// Runs the corpus's own runner on the cases of one configuration.
async fn run_corpus(name: &str, form: Form) -> Output {
    let database = loaded_database().await;
    if form == Form::Citus {
        database.pretend_citus().await;
        for schema in ["public", "api"] {
            database.distribute(schema).await;
        }
    }
    let app = TestApp::serve(database, config(name)).await;
    let mut command = Command::new("python3");
    command.arg(corpus().join("golden.py")).arg("run").arg(corpus());
    command.args([
        "--base-url",
        &app.url,
        "--jwt-secret",
        JWT_SECRET,
        "--apikey",
        "",
        "--config",
        name,
    ]);
    if form == Form::Citus {
        command.arg("--responses").arg(responses_with_citus());
    }
    if let Ok(only) = std::env::var("GOLDEN_ONLY") {
        command.args(["--only", &only]);
    }
    if let Ok(report) = std::env::var("GOLDEN_OUT") {
        command.args(["--out", &format!("{report}.{name}.json")]);
    }
    let passes = count_passes(name, form);
    let output = tokio::task::spawn_blocking(move || {
        (1..passes)
            .find_map(|_| Some(run_command(&mut command)).filter(|output| !output.status.success()))
            .unwrap_or_else(|| run_command(&mut command))
    })
    .await
    .expect("the runner does not panic");
    if std::env::var_os("GOLDEN_HOLD").is_some() {
        println!("{name}: {} on {}", app.url, app.database.url("supabase_admin"));
        tokio::task::spawn_blocking(|| std::io::stdin().read_line(&mut String::new()))
            .await
            .ok();
    }
    app.stop().await;
    output
}

async fn loaded_database() -> TestDatabase {
    let database = TestDatabase::create().await;
    let superuser = database.superuser().await;
    let _one_at_a_time = LOADING.lock().await;
    for file in ["schema.sql", "data.sql"] {
        let sql = std::fs::read_to_string(corpus().join(file)).expect("the corpus is complete");
        superuser.batch_execute(&sql).await.expect("the corpus loads");
    }
    database
}

async fn expect_recorded_responses(name: &str, form: Form) {
    let output = run_corpus(name, form).await;

    println!(
        "{}{}",
        String::from_utf8_lossy(&output.stdout),
        String::from_utf8_lossy(&output.stderr)
    );
    assert!(
        output.status.success(),
        "responses differ in the configuration {name}"
    );
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn rest_golden_corpus_of_the_default_configuration() {
    expect_recorded_responses("default", Form::PostgreSql).await;
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn rest_golden_corpus_of_the_tuned_configuration() {
    expect_recorded_responses("tuned", Form::PostgreSql).await;
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn rest_golden_corpus_of_the_closed_configuration() {
    expect_recorded_responses("closed", Form::PostgreSql).await;
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn rest_golden_corpus_in_the_form_for_citus() {
    for name in ["default", "tuned", "closed"] {
        expect_recorded_responses(name, Form::Citus).await;
    }
}
