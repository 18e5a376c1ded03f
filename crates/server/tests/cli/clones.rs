//! Projects that came from a stranger: what their data folder and `config.toml` bring is neither read nor run.

use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::path::{Path, PathBuf};

use serde_json::json;

use crate::support::Project;

/// Commands that use a project's data folder, with the arguments that let them go as far as they can without a question.
const COMMANDS: [&[&str]; 16] = [
    &["start"],
    &["stop"],
    &["stop", "--no-backup"],
    &["status"],
    &["doctor"],
    &["migrate", "up"],
    &["db", "query", "select 1"],
    &["db", "dump"],
    &["gen", "types", "--local"],
    &["test", "db"],
    &["backup", "copy.tar"],
    &["restore", "shipped.tar", "--yes"],
    &["stack"],
    &["sweep"],
    &["functions", "serve"],
    &["extension", "list"],
];

/// The name of an attack, and what ships it: a function of the clone's folder and the victim's.
type Shipped = (&'static str, fn(&Path, &Path));

/// What a hostile project may bring in its data folder.
const SHIPPED: [Shipped; 7] = [
    ("journal", ship_journal),
    ("location", ship_location),
    ("lock", ship_lock),
    ("links", ship_links),
    ("cluster", ship_cluster),
    ("socket", ship_socket_folder),
    ("folder", ship_folder_link),
];

fn ship_journal(clone: &Path, victim: &Path) {
    std::fs::write(clone.join("payload"), "attacker's key").expect("written");
    let journal = json!({
        "is_complete": true,
        "staging": victim.join("documents"),
        "paths": [{"staged": clone.join("payload"), "target": victim.join("authorized_keys")}],
    });
    write_state(clone, "replacement.json", &journal.to_string());
}

fn ship_location(clone: &Path, victim: &Path) {
    write_state(clone, "location", &format!("{}\n", victim.display()));
    write_state(clone, "superuser-password", "x");
    std::fs::create_dir_all(victim.join("pgdata")).expect("created");
    std::fs::write(victim.join("pgdata/file"), "mine").expect("written");
}

fn ship_lock(clone: &Path, victim: &Path) {
    let state = clone.join(".selvedge");
    std::fs::create_dir_all(&state).expect("created");
    symlink(victim.join("authorized_keys"), state.join("lock")).expect("linked");
}

fn ship_links(clone: &Path, victim: &Path) {
    let state = clone.join(".selvedge");
    std::fs::create_dir_all(&state).expect("created");
    for name in [
        "storage",
        "storage.deleted",
        "pgdata",
        "pgdata.unfinished-1",
        "functions",
        "spool",
        "initialized",
    ] {
        symlink(victim.join("documents"), state.join(name)).expect("linked");
    }
    symlink(victim.join("authorized_keys"), state.join("postgres.log")).expect("linked");
}

fn ship_cluster(clone: &Path, victim: &Path) {
    let command = format!(
        "archive_mode = on\narchive_command = 'touch {}/ran'\n",
        victim.display()
    );
    write_state(clone, "pgdata/postgresql.auto.conf", &command);
    write_state(clone, "pgdata/PG_VERSION", "15\n");
    write_state(
        clone,
        "pgdata/postmaster.pid",
        &format!("{}\n", std::process::id()),
    );
    write_state(clone, "superuser-password", "x");
    write_state(clone, "binding", &"a".repeat(32));
}

fn ship_socket_folder(clone: &Path, victim: &Path) {
    write_state(
        clone,
        "socket-folder",
        &format!("{}\n", victim.join("documents").display()),
    );
    write_state(clone, "stacks/state.json", "{}");
}

fn ship_folder_link(clone: &Path, victim: &Path) {
    let _ = std::fs::remove_dir_all(clone.join(".selvedge"));
    symlink(victim.join("documents"), clone.join(".selvedge")).expect("linked");
}

fn write_state(clone: &Path, name: &str, text: &str) {
    let path = clone.join(".selvedge").join(name);
    std::fs::create_dir_all(path.parent().expect("it has one")).expect("created");
    std::fs::write(path, text).expect("written");
}

/// The files of the person who starts the clone.
fn victim() -> tempfile::TempDir {
    let folder = tempfile::tempdir().expect("a folder");
    std::fs::create_dir(folder.path().join("documents")).expect("created");
    std::fs::write(folder.path().join("documents/file"), "precious").expect("written");
    std::fs::write(folder.path().join("authorized_keys"), "my own keys").expect("written");
    folder
}

/// Every path below a folder with its content, mode and owner.
fn list_files(folder: &Path) -> Vec<(PathBuf, Option<Vec<u8>>, u32)> {
    let entries = walkdir::WalkDir::new(folder).sort_by_file_name();
    entries
        .into_iter()
        .map(|entry| {
            let entry = entry.expect("readable");
            let mode = entry.metadata().expect("it exists").permissions().mode();
            let content = entry
                .file_type()
                .is_file()
                .then(|| std::fs::read(entry.path()).expect("readable"));
            (entry.into_path(), content, mode)
        })
        .collect()
}

#[test]
fn gw_109_a_shipped_data_folder_is_not_read_by_any_command() {
    for (name, ship) in SHIPPED {
        let (clone, victim) = (Project::new(), victim());
        ship(&clone.path(""), victim.path());
        let (before, shipped) = (list_files(victim.path()), list_files(&clone.path(".selvedge")));

        for command in COMMANDS {
            let mut child = clone.command(command);
            let output = child
                .stdin(std::process::Stdio::null())
                .output()
                .expect("it runs");
            let printed = String::from_utf8_lossy(&output.stderr).into_owned();
            assert!(!output.status.success(), "{name} {command:?}");
            assert!(
                printed.contains("selvedge trust"),
                "{name} {command:?}: {printed}"
            );
            assert!(
                printed.contains("selvedge reset"),
                "{name} {command:?}: {printed}"
            );
        }

        assert_eq!(list_files(victim.path()), before, "{name}");
        assert_eq!(list_files(&clone.path(".selvedge")), shipped, "{name}");
    }
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn gw_109_reset_replaces_a_shipped_data_folder_and_what_it_names_stays() {
    let (clone, victim) = (Project::new(), victim());
    for (_, ship) in &SHIPPED[..6] {
        let _ = std::fs::remove_file(clone.path(".selvedge/pgdata"));
        ship(&clone.path(""), victim.path());
    }
    let before = list_files(victim.path());
    let port = clone.ports.database.to_string();

    let asked = clone.run_and_expect_failure(&["reset"]);
    let shipped_stays = clone.path(".selvedge/replacement.json").exists();
    clone.run_and_expect_success(&["reset", "--yes", "--db-port", &port]);
    let running = clone.start().await;

    assert!(asked.contains("say so with --yes"), "{asked}");
    assert!(shipped_stays && !clone.path(".selvedge/replacement.json").exists());
    assert!(!running.output().contains("selvedge trust"));
    assert_eq!(list_files(victim.path()), before);
}

/// What leads out of the project is asked about when the shipped folder is gone: who trusts the project before has trusted that folder, too.
#[test]
fn gw_109_trust_after_a_reset_of_a_shipped_data_folder_is_no_trust_in_what_was_shipped() {
    let (clone, victim) = (Project::new(), victim());
    for (_, ship) in &SHIPPED[..6] {
        let _ = std::fs::remove_file(clone.path(".selvedge/pgdata"));
        ship(&clone.path(""), victim.path());
    }
    std::fs::write(victim.path().join("seed.sql"), "select 'precious';").expect("written");
    symlink(victim.path().join("seed.sql"), clone.path("seed.sql")).expect("linked");
    let before = list_files(victim.path());
    let port = clone.ports.database.to_string();
    let reset = ["reset", "--yes", "--db-port", &port];

    let asked = clone.run_and_expect_failure(&reset);
    let shipped_is_gone = !clone.path(".selvedge/replacement.json").exists();
    clone.run_and_expect_success(&["trust"]);
    clone.run_and_expect_success(&reset);

    assert!(
        asked.contains("seed.sql") && asked.contains("selvedge trust"),
        "{asked}"
    );
    assert!(shipped_is_gone);
    assert_eq!(list_files(victim.path()), before);
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn gw_109_a_project_that_was_copied_with_its_data_runs_after_it_was_trusted() {
    let original = Project::new();
    original.start().await.stop();
    let copy = Project::new();
    let status = std::process::Command::new("cp")
        .arg("-a")
        .arg(original.path(".selvedge"))
        .arg(copy.path(""))
        .status();
    assert!(status.expect("cp runs").success());

    let refused = copy.run_and_expect_failure(
        &copy
            .start_arguments()
            .iter()
            .map(String::as_str)
            .collect::<Vec<_>>(),
    );
    let trusted = copy.run_and_expect_success(&["trust"]);
    copy.start().await.stop();

    assert!(refused.contains("selvedge trust"), "{refused}");
    assert!(trusted.contains(".selvedge"), "{trusted}");
}

#[test]
fn gw_109_a_data_folder_that_the_environment_names_needs_no_trust() {
    let project = Project::new();
    let data = tempfile::tempdir().expect("a folder");
    std::fs::write(data.path().join("file"), "").expect("written");

    let named = project
        .command(&["status"])
        .env("SELVEDGE_DATA_DIR", data.path())
        .output()
        .expect("it runs");
    // A file of the project is no environment.
    project.write(".env", &format!("SELVEDGE_DATA_DIR={}\n", data.path().display()));
    let by_file = project.run_and_expect_failure(&["status"]);

    let printed = String::from_utf8_lossy(&named.stderr);
    assert!(!printed.contains("selvedge trust"), "{printed}");
    assert!(by_file.contains("selvedge trust"), "{by_file}");
}

#[test]
fn gw_109_data_outside_of_the_project_are_made_after_they_were_trusted() {
    let project = Project::new();
    let elsewhere = tempfile::tempdir().expect("a folder");
    let data = elsewhere.path().join("data");
    project.write(
        "config.toml",
        &format!(
            "project_id = \"x\"\n[selvedge]\ndata_dir = {:?}\n",
            data.display().to_string()
        ),
    );

    let refused = project.run_and_expect_failure(&["start"]);
    for looking in [&["stop", "--no-backup"][..], &["stop"], &["status"], &["doctor"]] {
        project.run(looking);
    }
    let is_made = data.exists();
    project.run_and_expect_success(&["trust"]);

    assert!(refused.contains("outside of the project"), "{refused}");
    assert!(!is_made && data.is_dir());
}

#[test]
fn gw_109_reset_deletes_no_folder_that_a_file_names_outside_of_the_project_or_around_it() {
    let (project, victim) = (Project::new(), victim());
    let before = list_files(victim.path());
    symlink(victim.path(), project.path("shortcut")).expect("linked");
    project.write(".git/HEAD", "ref: refs/heads/main\n");
    let outside = victim.path().join("documents").display().to_string();
    let sibling = tempfile::tempdir_in(project.path("..")).expect("a folder");
    std::fs::write(sibling.path().join("file"), "precious").expect("written");
    let name = sibling
        .path()
        .file_name()
        .expect("it has one")
        .display()
        .to_string();
    let climbing = format!("../{name}");
    for named in [&outside, "shortcut/documents", &climbing, ".", ".git"] {
        for name in ["config.toml", ".env"] {
            let (config, variables) = match name {
                "config.toml" => (format!("[selvedge]\ndata_dir = {named:?}\n"), String::new()),
                _ => (String::new(), format!("SELVEDGE_DATA_DIR={named}\n")),
            };
            project.write("config.toml", &format!("project_id = \"x\"\n{config}"));
            project.write(".env", &variables);

            let output = project.run(&["reset", "--yes", "--db-port", "1"]);

            let printed = String::from_utf8_lossy(&output.stderr);
            assert!(!output.status.success(), "{name} {named:?}: {printed}");
            assert_eq!(list_files(victim.path()), before, "{name} {named:?}");
            assert!(
                sibling.path().join("file").exists(),
                "{name} {named:?}: {printed}"
            );
            assert!(project.path(".git/HEAD").exists(), "{name} {named:?}: {printed}");
            assert!(
                project.path("config.toml").exists(),
                "{name} {named:?}: {printed}"
            );
        }
    }
}

#[test]
fn gw_109_programs_of_a_config_file_do_not_run_untrusted() {
    let project = Project::naming_programs();
    let victim = victim();
    for name in ["bin/postgres", "bin/initdb", "deno"] {
        project.write(
            name,
            &format!("#!/bin/sh\ntouch {}/ran\n", victim.path().display()),
        );
        let mode = std::fs::Permissions::from_mode(0o755);
        std::fs::set_permissions(project.path(name), mode).expect("ours");
    }
    let files = [
        (
            "config.toml",
            "project_id = \"x\"\n[selvedge]\npg_bin = \"bin\"\n",
        ),
        (
            "config.toml",
            "project_id = \"x\"\n[selvedge.functions]\ndeno = \"deno\"\n",
        ),
        (".env", "SELVEDGE_PG_BIN=bin\n"),
    ];

    for (name, text) in files {
        project.write("config.toml", "project_id = \"x\"\n");
        project.write(name, text);
        for command in COMMANDS {
            let output = project.run(command);
            let printed = String::from_utf8_lossy(&output.stderr).into_owned();
            // Whoever looks at a project, or stops it, runs none of these.
            let only_looks = ["stop", "status", "doctor"].contains(&command[0]);
            assert_eq!(
                !only_looks && !output.status.success(),
                printed.contains("is named by a file of this project"),
                "{text} {command:?}: {printed}"
            );
            assert!(!victim.path().join("ran").exists(), "{text} {command:?}");
        }
        let trusted = project.run(&["trust"]);
        assert!(trusted.status.success());
        let again = project.run_and_expect_failure(&["start"]);
        let is_root = nix_is_root();
        // What runs as root is never named by a file; what its user has trusted is run.
        assert_eq!(again.contains("would run as root"), is_root, "{again}");
        assert_eq!(
            victim.path().join("ran").exists(),
            !is_root && text.contains("bin")
        );
        let _ = std::fs::remove_file(victim.path().join("ran"));
        let _ = std::fs::remove_file(project.path(".env"));
    }
}

#[test]
fn gw_109_folders_that_functions_import_from_are_not_read_untrusted() {
    let project = Project::new();
    let named = "project_id = \"x\"\n[selvedge.functions]\nmodule_folders = [\"/etc\"]\n";
    for (name, text) in [
        ("config.toml", named),
        (".env", "SELVEDGE_FUNCTIONS_MODULE_FOLDERS=/etc\n"),
    ] {
        project.write("config.toml", "project_id = \"x\"\n");
        project.write(name, text);

        let refused = project.run_and_expect_failure(&["start"]);

        assert!(
            refused.contains("selvedge.functions.module_folders = /etc is named by a file of this project"),
            "{name}: {refused}"
        );
        assert_eq!(
            refused.contains("would be read by functions as root"),
            nix_is_root(),
            "{refused}"
        );
        let _ = std::fs::remove_file(project.path(".env"));
    }
}

fn nix_is_root() -> bool {
    let printed = std::process::Command::new("id")
        .arg("-u")
        .output()
        .expect("id runs");
    printed.stdout == b"0\n"
}

#[test]
fn gw_109_a_home_that_cannot_be_written_is_no_obstacle() {
    let project = Project::new();
    let mut command = project.command(&["trust"]);
    let shared = Path::new("/var/tmp");
    // A file in the place of a folder cannot be written, not even by root.
    let output = command
        .env_remove("SELVEDGE_STATE_HOME")
        .env("XDG_STATE_HOME", project.path("config.toml"))
        .env("HOME", project.path("config.toml"))
        .output()
        .expect("it runs");
    let nowhere = project
        .command(&["trust"])
        .env("SELVEDGE_STATE_HOME", project.path("config.toml"))
        .output()
        .expect("it runs");

    assert_eq!(output.status.success(), shared.is_dir(), "{output:?}");
    let printed = String::from_utf8_lossy(&nowhere.stderr);
    assert!(printed.contains("SELVEDGE_STATE_HOME=DIR"), "{printed}");
}
