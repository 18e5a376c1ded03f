//! pgvector on a machine that does not have it: one command brings it, with a PostgreSQL for it if need be.

use std::fs::Permissions;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use serde_json::{Value, json};

use crate::support::{Project, try_to_kill_when};

const COMMAND: &str = "selvedge extension add vector";

/// A project that needs pgvector, with a cache folder of its own, into which nothing was downloaded yet.
struct VectorProject {
    project: Project,
    cache: tempfile::TempDir,
}

impl VectorProject {
    fn new() -> Self {
        let project = Project::new();
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../e2e/projects/search-by-meaning");
        project.copy_from(&folder);
        let cache = tempfile::Builder::new()
            // Run as root, the cluster belongs to another user, who has to read its programs there.
            .permissions(Permissions::from_mode(0o755))
            .tempdir()
            .expect("a temporary folder");
        Self { project, cache }
    }

    /// Another project with the same cache folder.
    fn with_cache_of(other: Self) -> Self {
        Self {
            cache: other.cache,
            ..Self::new()
        }
    }

    fn command(&self, arguments: &[&str]) -> Command {
        let mut command = self.project.command(arguments);
        command.env("XDG_CACHE_HOME", self.cache.path());
        command
    }

    fn run(&self, arguments: &[&str]) -> Output {
        self.command(arguments).output().expect("the binary runs")
    }

    fn run_and_expect_success(&self, arguments: &[&str]) -> String {
        let output = self.run(arguments);
        let [out, err] = [&output.stdout, &output.stderr].map(|bytes| String::from_utf8_lossy(bytes));
        assert!(output.status.success(), "{arguments:?}: {out}{err}");
        format!("{out}{err}")
    }

    /// Whether this machine has pgvector for the PostgreSQL that the project would run on.
    fn is_vector_installed(&self) -> bool {
        let listed = self.run_and_expect_success(&["extension", "list"]);
        listed.lines().any(|line| {
            let words: Vec<&str> = line.split_whitespace().collect();
            words == ["vector", "there"]
        })
    }

    /// Entries of the shared folder whose names begin with `prefix`.
    fn shared_entries(&self, prefix: &str) -> Vec<PathBuf> {
        let entries = std::fs::read_dir(self.cache.path().join("selvedge"));
        entries
            .into_iter()
            .flatten()
            .flatten()
            .filter(|entry| entry.file_name().to_string_lossy().starts_with(prefix))
            .map(|entry| entry.path())
            .collect()
    }
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn gw_019_pgvector_works_after_the_one_command_that_a_start_names() {
    let first = VectorProject::new();
    if !first.is_vector_installed() {
        let arguments = first.project.start_arguments();
        let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
        let refused = first.run(&arguments);
        let advice = String::from_utf8_lossy(&refused.stderr);
        assert!(!refused.status.success());
        // Where apt has the package, the advice is to install that.
        assert!(
            advice.contains(COMMAND) || advice.contains("apt-get install"),
            "{advice}"
        );
        assert!(!first.project.path(".selvedge/pgdata").exists());
    }

    let added = first.run_and_expect_success(&["extension", "add", "vector"]);
    let again = first.run_and_expect_success(&["extension", "add", "vector"]);

    assert!(again.contains("is there already"), "{added}{again}");
    let second = VectorProject::with_cache_of(first);
    let elsewhere = second.run_and_expect_success(&["extension", "add", "vector"]);
    assert!(!elsewhere.contains("https://"), "{elsewhere}");
    let arguments: Vec<String> = second.project.start_arguments();
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let server = second.project.spawn_command(second.command(&arguments), &[]);
    server.wait_until_ready().await;
    let request = json!({"query_embedding": [1, 0, 0], "match_threshold": 0.5, "match_count": 5});
    let response = reqwest::Client::new()
        .post(server.url("/rest/v1/rpc/match_documents?select=title"))
        .json(&request)
        .send()
        .await
        .expect("a response");
    let found: Value = response.json().await.expect("JSON");
    assert_eq!(
        found,
        json!([{"title": "Linen in summer"}, {"title": "Cotton all year"}])
    );
    server.stop();
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn gw_019_a_killed_download_of_postgresql_leaves_nothing_that_is_used() {
    let mut project = VectorProject::new();
    if project.is_vector_installed()
        || !project
            .run_and_expect_success(&["extension", "list"])
            .contains("with PostgreSQL")
    {
        // This machine's PostgreSQL is one for which pgvector is there or can be had, so no other is downloaded.
        return;
    }

    // The unfinished folder exists for milliseconds only. A busy machine may look too late and must then try once more.
    let mut attempts = 0;
    while let Err(printed) = try_to_kill_when(project.command(&["extension", "add", "vector"]), async || {
        !project.shared_entries(".unfinished-programs-").is_empty()
    })
    .await
    {
        if project.shared_entries("programs-").is_empty() {
            // The other PostgreSQL is on this machine already.
            return;
        }
        attempts += 1;
        assert!(attempts < 10, "it ended too early: {printed}");
        project = VectorProject::new();
    }

    assert!(project.shared_entries("programs-").is_empty());
    assert!(!project.is_vector_installed());
    project.run_and_expect_success(&["extension", "add", "vector"]);
    assert!(project.is_vector_installed());
    assert!(project.shared_entries(".unfinished-programs-").is_empty());
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn gw_019_a_database_of_another_version_keeps_it_and_says_what_to_do() {
    let project = VectorProject::new();
    let migration = project.project.path("migrations/20260101000000_documents.sql");
    let aside = project.project.path("documents.sql");
    std::fs::rename(&migration, &aside).expect("moved");
    std::fs::remove_file(project.project.path("seed.sql")).expect("removed");
    let arguments: Vec<String> = project.project.start_arguments();
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let server = project.project.spawn_command(project.command(&arguments), &[]);
    server.wait_until_ready().await;
    server.stop();
    std::fs::rename(&aside, &migration).expect("moved back");
    if !project
        .run_and_expect_success(&["extension", "list"])
        .contains("with PostgreSQL")
    {
        // This machine's PostgreSQL is one for which pgvector is there or can be had, so the database can keep it.
        return;
    }

    let refused = project.run(&arguments);
    let kept = project.run(&["reset", "--yes", "--db-port", arguments[4]]);
    assert!(!kept.status.success());
    assert!(
        project.project.path(".selvedge/initialized").exists(),
        "nothing is deleted"
    );
    let added = project.run_and_expect_success(&["extension", "add", "vector"]);
    let reset = project.run_and_expect_success(&["reset", "--yes", "--db-port", arguments[4]]);

    let advice = String::from_utf8_lossy(&refused.stderr);
    assert!(!refused.status.success());
    assert!(
        advice.contains(COMMAND) && advice.contains("selvedge reset"),
        "{advice}"
    );
    assert!(added.contains("selvedge reset"), "{added}");
    assert!(reset.contains("1 migration"), "{reset}");
}
