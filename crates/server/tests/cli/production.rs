//! `selvedge serve`: what it refuses, and that it runs on an external database with secret keys.

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
fn gw_002_serve_needs_a_database() {
    let project = Project::new();

    let output = project
        .command(&["serve"])
        .envs(generate_keys(&project))
        .output()
        .unwrap();

    assert!(String::from_utf8(output.stderr).unwrap().contains("DATABASE_URL"));
}

#[actix_web::test]
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

    let serving = node.spawn(&arguments, &serve_variables(&keys, &url));
    serving.wait_until_ready().await;

    let (status, body) = serving.get("/rest/v1/").await;
    assert_eq!(
        (status, body["message"].as_str()),
        (401, Some("No API key found in request"))
    );
    assert!(body["hint"].is_string());
    let (status, body) = serving.get("/rest/v1/?apikey=sb_publishable_guess").await;
    assert_eq!((status, body["message"].as_str()), (401, Some("Invalid API key")));

    // Readiness fails with the database; liveness does not, as restarting the server would not repair it.
    embedded.stop();
    let (status, body) = serving.get("/health/ready").await;
    assert_eq!(
        (status, body["checks"]["database"]["status"].as_str()),
        (503, Some("failed"))
    );
    assert!(body["checks"]["database"]["reason"].is_string());
    assert_eq!(serving.get("/health/live").await.0, 200);

    let output = serving.stop();
    assert!(output.contains("\"serving\""), "logs are JSON: {output}");
    for secret in keys.values() {
        assert!(!output.contains(secret.as_str()), "a secret is in the log");
    }
}
