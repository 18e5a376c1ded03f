//! `selvedge serve`: what it refuses, and that it runs on an external database with secret keys.

mod certificates;
mod handover;
mod home;
mod logins;
mod own_database;
mod restarts;
mod setup;

use std::collections::HashMap;

use crate::support::{Ports, Project};

/// The variables that `keys --generate` prints.
pub(crate) fn generate_keys(project: &Project) -> HashMap<String, String> {
    project
        .run_and_expect_success(&["keys", "--generate"])
        .lines()
        .filter_map(|line| line.split_once('='))
        .map(|(name, value)| (name.to_owned(), value.trim_matches('"').to_owned()))
        .collect()
}

/// The environment variables that `serve` needs.
pub(crate) fn serve_variables<'a>(
    keys: &'a HashMap<String, String>,
    url: &'a str,
) -> Vec<(&'a str, &'a str)> {
    let mut variables: Vec<(&str, &str)> = keys
        .iter()
        .map(|(name, value)| (name.as_str(), value.as_str()))
        .collect();
    variables.extend([
        ("DATABASE_URL", url),
        ("SUPABASE_AUTH_EMAIL_SMTP_ENABLED", "true"),
        ("SUPABASE_AUTH_EMAIL_SMTP_HOST", "127.0.0.1"),
        ("SUPABASE_AUTH_EMAIL_SMTP_ADMIN_EMAIL", "admin@example.com"),
    ]);
    variables
}

#[test]
fn gw_002_serve_refuses_missing_and_well_known_keys() {
    let project = Project::new();
    project.write(
        "config.toml",
        "[auth]\njwt_secret = \"super-secret-jwt-token-with-at-least-32-characters-long\"\n",
    );

    let message =
        project.run_and_expect_failure(&["serve", "--database-url", "postgresql://x:y@127.0.0.1:1/z"]);

    assert!(
        message.contains("SUPABASE_AUTH_JWT_SECRET") && message.contains("keys --generate"),
        "{message}"
    );
}

#[test]
fn gw_002_keys_are_written_into_a_new_file_that_only_its_owner_may_read() {
    use std::os::unix::fs::PermissionsExt;

    let project = Project::new();
    let file = project.path("serve.env");
    let path = file.to_str().expect("a path");

    let output = project.run_and_expect_success(&["keys", "--generate", "--file", path]);

    let text = std::fs::read_to_string(&file).expect("a file");
    assert!(
        text.contains("SUPABASE_AUTH_JWT_SECRET=") && !output.contains("JWT_SECRET="),
        "{output}"
    );
    let mode = std::fs::metadata(&file).expect("a file").permissions().mode();
    assert_eq!(mode & 0o777, 0o600);
    let refusal = project.run_and_expect_failure(&["keys", "--generate", "--file", path]);
    assert!(refusal.contains("cannot be made"), "{refusal}");
    assert_eq!(
        std::fs::read_to_string(&file).expect("a file"),
        text,
        "not overwritten"
    );
}

#[test]
fn gw_002_serve_needs_a_database() {
    let project = Project::new();

    let output = project
        .command(&["serve"])
        .envs(generate_keys(&project))
        .output()
        .unwrap();

    assert!(String::from_utf8(output.stderr).unwrap().contains("DATABASE_URL"));
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn gw_005_serve_runs_on_an_external_database_and_requires_a_key() {
    let project = Project::new();
    let embedded = project.start().await;
    let keys = generate_keys(&project);
    let url = format!(
        "postgresql://postgres:postgres@127.0.0.1:{}/postgres",
        project.ports.database
    );
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

    let mut variables = serve_variables(&keys, &url);
    variables.push(("PGRST_DB_PREPARED_STATEMENTS", "false"));
    let serving = node.spawn(&arguments, &variables);
    serving.wait_until_ready().await;
    let told = serving.output();
    assert!(
        told.contains("Realtime sends no changes of rows")
            && told.contains("that of `selvedge start` of the project cli"),
        "{told}"
    );
    // The command of the container's health check.
    let ready = [
        "serve",
        "--ready",
        "--host",
        "127.0.0.1",
        "--port",
        arguments[4].as_str(),
    ];
    assert_eq!(node.run_and_expect_success(&ready), "ready\n");

    // The shell from which it was started ends.
    serving.signal("-HUP");
    let (status, body) = serving.get("/rest/v1/").await;
    assert_eq!(
        (status, body["message"].as_str()),
        (401, Some("No API key found in request"))
    );
    assert!(body["hint"].is_string());
    let (status, body) = serving.get("/rest/v1/?apikey=sb_publishable_guess").await;
    assert_eq!((status, body["message"].as_str()), (401, Some("Invalid API key")));

    // In production the API of postgres-meta is off, for the service key as well.
    let service_key = keys["SUPABASE_AUTH_SERVICE_ROLE_KEY"].as_str();
    let path = format!("/pg/tables?apikey={service_key}");
    assert_eq!(serving.get(&path).await.0, 404);
    // Where it is configured, it needs a key, and that of service_role.
    let mut second = Project::new();
    second.ports = Ports::free();
    let mut arguments = arguments.clone();
    arguments[4] = second.ports.api.to_string();
    let mut with_meta = variables.clone();
    with_meta.push(("SELVEDGE_PG_ENABLED", "true"));
    let managed = second.spawn(&arguments, &with_meta);
    managed.wait_until_ready().await;
    let anon_key = keys["SUPABASE_AUTH_ANON_KEY"].as_str();
    assert_eq!(managed.get("/pg/tables").await.0, 401);
    assert_eq!(managed.get(&format!("/pg/tables?apikey={anon_key}")).await.0, 403);
    assert_eq!(managed.get(&path).await.0, 200);
    managed.stop();

    // Readiness fails with the database; liveness does not, as restarting the server would not repair it.
    embedded.stop();
    let (status, body) = serving.get("/health/ready").await;
    assert_eq!(
        (status, body["checks"]["database"]["status"].as_str()),
        (503, Some("failed"))
    );
    assert!(body["checks"]["database"]["reason"].is_string());
    assert_eq!(serving.get("/health/live").await.0, 200);
    let reason = node.run_and_expect_failure(&ready);
    assert!(reason.contains("503") && reason.contains("database"), "{reason}");

    let output = serving.stop();
    let silence = node.run_and_expect_failure(&ready);
    assert!(silence.contains("no server answers"), "{silence}");
    assert!(output.contains("\"serving\""), "logs are JSON: {output}");
    let limits = output.lines().filter(|line| line.contains("transaction pooler"));
    assert_eq!(limits.count(), 5, "{output}");
    for secret in keys.values() {
        assert!(!output.contains(secret.as_str()), "a secret is in the log");
    }
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn migrate_up_records_where_the_key_of_the_vault_is() {
    let project = Project::new();
    let running = project.start().await;
    let password = std::fs::read_to_string(project.path(".selvedge/superuser-password")).unwrap();
    let url = format!(
        "postgresql://supabase_admin:{password}@127.0.0.1:{}/postgres",
        project.ports.database
    );
    let database = project.database().await;
    let save = "select vault.create_secret('s3cret')";

    for (path, expected) in [("../no-such.key", Some("55000")), ("../vault.key", None)] {
        let output = project
            .command(&["migrate", "up"])
            .env("DATABASE_URL", &url)
            .env("SELVEDGE_VAULT_KEY_FILE", path)
            .output()
            .unwrap();
        assert!(output.status.success(), "{output:?}");
        let error = database.batch_execute(save).await.err();
        let sqlstate = error.and_then(|error| error.code().map(|code| code.code().to_owned()));
        assert_eq!(sqlstate.as_deref(), expected, "{path}");
    }
    running.stop();
}

/// Logs in to a database of the project's PostgreSQL by TCP.
async fn can_log_in(project: &Project, role: &str, password: &str) -> bool {
    let url = format!(
        "postgresql://{role}:{password}@127.0.0.1:{}/postgres",
        project.ports.database
    );
    tokio_postgres::connect(&url, tokio_postgres::NoTls).await.is_ok()
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn migrate_up_sets_passwords_that_differ_and_mends_those_of_earlier_versions() {
    let project = Project::new();
    let running = project.start().await;
    let own = std::fs::read_to_string(project.path(".selvedge/superuser-password")).unwrap();
    let url = format!(
        "postgresql://supabase_admin:{own}@127.0.0.1:{}/postgres",
        project.ports.database
    );
    let migrate = |variables: &[(&str, &str)]| {
        let mut command = project.command(&["migrate", "up"]);
        command.env("DATABASE_URL", &url).envs(variables.iter().copied());
        let output = command.output().unwrap();
        let printed = [&output.stdout[..], &output.stderr[..]].concat();
        (output.status.success(), String::from_utf8(printed).unwrap())
    };

    // Equal ones are refused, before anything changes.
    for (name, value) in [
        ("SERVICE", own.as_str()),
        ("POSTGRES", own.as_str()),
        ("CONSOLE", own.as_str()),
    ] {
        let (is_success, printed) = migrate(&[(format!("SELVEDGE_{name}_PASSWORD").as_str(), value)]);
        assert!(
            !is_success && printed.contains("same password"),
            "{name}: {printed}"
        );
        assert!(!printed.contains(&own), "{printed}");
    }
    let (is_success, printed) = migrate(&[
        ("SELVEDGE_SERVICE_PASSWORD", "x"),
        ("SELVEDGE_POSTGRES_PASSWORD", "x"),
    ]);
    assert!(!is_success && printed.contains("same password"), "{printed}");

    // An earlier version gave the superuser's password to all of them.
    let superuser = selvedge_postgres::PrivilegedLogin::new(url.parse().unwrap());
    let superuser = superuser.connect().await.unwrap();
    let shared = selvedge_postgres::migrate::RolePasswords::same_for_all(&own.as_str().into());
    selvedge_postgres::migrate::set_role_passwords(&superuser, &shared)
        .await
        .unwrap();
    let (is_success, printed) = migrate(&[]);
    assert!(is_success, "{printed}");
    for variable in ["SERVICE", "POSTGRES", "CONSOLE"] {
        assert!(
            printed.contains(&format!("SELVEDGE_{variable}_PASSWORD")),
            "{printed}"
        );
    }
    let (is_success, printed) = migrate(&[
        ("SELVEDGE_SERVICE_PASSWORD", "of services"),
        ("SELVEDGE_POSTGRES_PASSWORD", "of postgres"),
        ("SELVEDGE_CONSOLE_PASSWORD", "of the console"),
    ]);
    assert!(
        is_success && !printed.contains("superuser's password"),
        "{printed}"
    );
    for (role, password) in [
        ("authenticator", "of services"),
        ("supabase_replication_admin", "of services"),
        ("postgres", "of postgres"),
        ("selvedge_console_operator", "of the console"),
    ] {
        assert!(can_log_in(&project, role, password).await, "{role}");
        assert!(!can_log_in(&project, role, &own).await, "{role}");
    }
    running.stop();
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn serve_refuses_the_url_of_a_superuser() {
    let project = Project::new();
    let running = project.start().await;
    let own = std::fs::read_to_string(project.path(".selvedge/superuser-password")).unwrap();
    let url = format!(
        "postgresql://supabase_admin:{own}@127.0.0.1:{}/postgres",
        project.ports.database
    );
    let keys = generate_keys(&project);
    let port = Ports::free().api.to_string();

    let output = project
        .command(&["serve", "--host", "127.0.0.1", "--port", &port])
        .envs(serve_variables(&keys, &url))
        .output()
        .unwrap();

    let message = String::from_utf8(output.stderr).unwrap();
    assert!(!output.status.success());
    assert!(
        message.contains("superuser") && message.contains("authenticator"),
        "{message}"
    );
    assert!(!message.contains(&own), "{message}");
    running.stop();
}
