//! New projects begin with a copy of a template, which the first one makes.

use std::collections::BTreeSet;
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

use crate::support::{Project, Running};

/// A folder of the user's program trees, without any.
fn empty_cache() -> tempfile::TempDir {
    let mut builder = tempfile::Builder::new();
    // The cluster runs as another user when this one is root.
    builder.permissions(std::fs::Permissions::from_mode(0o755));
    builder
        .tempdir_in(selvedge_testing::temporary_folder())
        .expect("a folder")
}

fn spawn(project: &Project, cache: &Path) -> Running {
    let state = project.path(".selvedge");
    if !state.exists() {
        std::fs::create_dir(&state).expect("made");
        // Root copies no template into a folder where a group may write, and the umask below lets it.
        std::fs::set_permissions(&state, std::fs::Permissions::from_mode(0o755)).expect("ours");
    }
    let mut command = Command::new("sh");
    // The umask of machines on which each user has a group.
    command
        .args(["-c", "umask 002; exec \"$@\"", "sh"])
        .arg(env!("CARGO_BIN_EXE_selvedge"))
        .arg("--project")
        .arg(project.path(""))
        .args(project.start_arguments())
        .env_remove("DATABASE_URL")
        .env("SELVEDGE_STATE_HOME", project.state_home())
        .env("XDG_CACHE_HOME", cache);
    project.spawn_command(command, &[])
}

/// The number by which PostgreSQL tells clusters apart.
async fn identifier(project: &Project) -> i64 {
    let sql = "select system_identifier from pg_catalog.pg_control_system()";
    let row = project.superuser().await.query_one(sql, &[]).await;
    row.expect("a row").get(0)
}

/// The folders in the cache whose names begin so.
fn find(cache: &Path, begin: &str) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(cache.join("selvedge"))
        .into_iter()
        .flatten()
        .flatten();
    entries
        .filter(|entry| entry.file_name().to_string_lossy().starts_with(begin))
        .map(|entry| entry.path())
        .collect()
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn gw_017_new_projects_are_copies_of_a_template_and_clusters_of_their_own() {
    let cache = empty_cache();
    // Both find no template, and one of them makes it.
    let (first, second) = (Project::new(), Project::new());
    let running = [spawn(&first, cache.path()), spawn(&second, cache.path())];
    for one in &running {
        one.wait_until_ready().await;
    }
    let mut identifiers = BTreeSet::from([identifier(&first).await, identifier(&second).await]);
    let templates = find(cache.path(), "template-");
    assert_eq!(templates.len(), 1, "{templates:?}");
    assert_eq!(find(cache.path(), ".unfinished-"), Vec::<PathBuf>::new());
    let mode = std::fs::metadata(templates[0].join("pgdata"))
        .expect("there")
        .permissions();
    assert_eq!(mode.mode() & 0o777, 0o700);
    let read_password = |project: &Project| {
        std::fs::read_to_string(project.path(".selvedge/superuser-password")).expect("text")
    };
    assert_ne!(read_password(&first), read_password(&second));
    for one in running {
        one.stop();
    }

    // A file that another program has damaged, though its size is the same: the start goes on with initdb, and the next one makes another template.
    let control = templates[0].join("pgdata/global/pg_control");
    let mut damaged = std::fs::read(&control).expect("a file");
    damaged[8] ^= 1;
    std::fs::write(&control, damaged).expect("written");
    let third = Project::new();
    let running = spawn(&third, cache.path());
    running.wait_until_ready().await;
    assert!(identifiers.insert(identifier(&third).await));
    let said = running.stop();
    assert!(said.contains("initdb makes this one"), "{said}");
    assert!(!templates[0].exists());

    // So does one where the template lacks a file, or others may change it. What the umask lets groups do changes nothing.
    for damage in ["none", "file", "mode", "umask"] {
        match damage {
            "file" => std::fs::remove_file(templates[0].join("pgdata/global/1262")).expect("removed"),
            "mode" => {
                std::fs::set_permissions(&templates[0], std::fs::Permissions::from_mode(0o777)).expect("ours")
            }
            _ => {}
        }
        let made = std::fs::metadata(&templates[0]).map(|meta| meta.ino()).ok();
        let project = Project::new();
        let running = spawn(&project, cache.path());
        running.wait_until_ready().await;
        assert!(identifiers.insert(identifier(&project).await), "{identifiers:?}");
        let said = running.stop();
        assert!(!said.contains("initdb makes this one"), "{damage}: {said}");
        let template = std::fs::metadata(&templates[0]).expect("there");
        assert_eq!(template.mode() & 0o777, 0o700);
        assert_eq!(Some(template.ino()) == made, damage == "umask", "{damage}");
    }
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn gw_017_a_template_that_was_not_finished_is_not_used() {
    let cache = empty_cache();
    let project = Project::new();
    let mut running = spawn(&project, cache.path());
    let deadline = Instant::now() + Duration::from_secs(60);
    let is_making = || {
        find(cache.path(), ".unfinished-")
            .iter()
            .any(|folder| folder.join("pgdata/postmaster.pid").exists())
    };
    while !is_making() {
        assert!(Instant::now() < deadline, "{}", running.output());
        actix_web::rt::time::sleep(Duration::from_millis(2)).await;
    }
    running.signal("-KILL");
    running.wait_for_exit();

    let running = spawn(&project, cache.path());
    running.wait_until_ready().await;

    assert_eq!(find(cache.path(), "template-").len(), 1);
    let schema = "select count(*) from _selvedge.platform_migrations";
    let row = project.superuser().await.query_one(schema, &[]).await;
    let files = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../sql/platform");
    let files = std::fs::read_dir(files).expect("a folder").count();
    assert_eq!(row.expect("a row").get::<_, i64>(0).cast_unsigned(), files as u64);
    running.stop();
}
