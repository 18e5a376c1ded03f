//! A command works on its own project and on nothing else, whatever runs beside it: two projects on the same ports, and two
//! commands at the same time in one of them.

use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use crate::support::{Project, Running};

/// Commands that work on a database, and what they print when they did so; all but the first two only read.
pub(crate) const COMMANDS: [&[&str]; 15] = [
    &["db", "reset"],
    &["sweep", "--older-than", "0s"],
    &["migration", "up"],
    &["migration", "down"],
    &["migration", "list"],
    &["db", "push"],
    &["db", "query", "drop table if exists notes"],
    &["db", "dump"],
    &["seed", "buckets"],
    &["gen", "types", "typescript"],
    &["inspect", "db", "locks"],
    &["test", "db"],
    &["reset", "--yes"],
    &["stop", "--no-backup"],
    &["backup", "never.tar"],
];

/// Two projects of other schemas that have the same ports in their `config.toml`.
struct Neighbours {
    /// The one that does not run.
    ours: Project,
    /// The one that runs.
    theirs: Project,
    _running: Running,
}

impl Neighbours {
    async fn start() -> Self {
        let (ours, theirs) = (Project::new(), Project::new());
        for (project, table) in [(&ours, "ours"), (&theirs, "notes")] {
            let ports = theirs.ports;
            project.write(
                "config.toml",
                &format!(
                    "project_id = \"{table}\"\n[api]\nport = {}\n[db]\nport = {}\n[local_smtp]\nport = {}\n[storage.buckets.pictures]\npublic = true\n",
                    ports.api, ports.database, ports.inbox
                ),
            );
            project.write(
                "migrations/20260101000000_first.sql",
                &format!(
                    "create table {table} (id int); insert into {table} select generate_series(1, 100);"
                ),
            );
        }
        ours.write("tests/first.sql", "select 1;");
        ours.run_and_expect_success(&["reset", "--yes"]);
        let running = theirs.start().await;
        Self {
            ours,
            theirs,
            _running: running,
        }
    }

    /// What the running project has, as text.
    async fn their_state(&self) -> String {
        let database = self.theirs.database().await;
        let query = "select json_build_object('rows', (select count(*) from notes),
            'tables', (select json_agg(relname order by relname) from pg_class where relnamespace = 'public'::regnamespace),
            'history', (select json_agg(version) from supabase_migrations.schema_migrations),
            'buckets', (select json_agg(id) from storage.buckets),
            'writes', (select n_tup_ins + n_tup_del from pg_stat_user_tables where relname = 'notes'))::text";
        database.query_one(query, &[]).await.expect("their tables").get(0)
    }
}

/// A command that holds our project's lock for as long as this value lives.
struct Holder(Child);

impl Holder {
    fn start(project: &Project) -> Self {
        let child = project
            .command(&["db", "query", "select pg_sleep(120)"])
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .expect("the binary runs");
        let deadline = Instant::now() + Duration::from_secs(60);
        let lock = project.path(".selvedge/lock");
        let names_socket = |text: String| text.contains("\"endpoint\":{") && text.contains("db query");
        while !std::fs::read_to_string(&lock).is_ok_and(names_socket) {
            assert!(Instant::now() < deadline, "the command does not take the lock");
            std::thread::sleep(Duration::from_millis(5));
        }
        Self(child)
    }
}

impl Drop for Holder {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

#[actix_web::test]
async fn gw_031_commands_beside_another_one_are_refused_and_leave_the_neighbour_on_the_same_ports_alone() {
    let neighbours = Neighbours::start().await;
    let before = neighbours.their_state().await;

    let holder = Holder::start(&neighbours.ours);
    for arguments in COMMANDS {
        let printed = neighbours.ours.run_and_expect_failure(arguments);
        assert!(
            printed.contains("busy: db query runs"),
            "{arguments:?}: {printed}"
        );
    }
    drop(holder);

    assert_eq!(neighbours.their_state().await, before);
}

#[actix_web::test]
async fn gw_031_commands_of_a_stopped_project_work_on_its_own_data_beside_a_neighbour_on_the_same_ports() {
    let neighbours = Neighbours::start().await;
    let before = neighbours.their_state().await;
    let ours = &neighbours.ours;

    let rows = ours.run_and_expect_success(&["db", "query", "-o", "csv", "select count(*) from ours"]);
    assert_eq!(rows, "count\n100\n");
    assert!(
        ours.run_and_expect_success(&["gen", "types", "typescript"])
            .contains("ours")
    );
    ours.run_and_expect_success(&["migration", "list"]);
    assert!(
        ours.run_and_expect_failure(&["status"])
            .contains("is not running")
    );
    assert!(ours.run_and_expect_success(&["stop"]).contains("is not running"));
    assert!(
        ours.run_and_expect_success(&["db", "reset", "--yes"])
            .contains("reset")
    );

    assert_eq!(neighbours.their_state().await, before);
}

/// The state folder of a project that runs is copied, as a backup by `cp -a` does; the copy is another project.
#[actix_web::test]
async fn gw_031_a_copy_with_a_long_path_gets_a_socket_of_its_own() {
    let original = Project::new();
    let deep = format!("{}/deep", "x".repeat(90));
    original.write(
        &format!("{deep}/original/supabase/config.toml"),
        "project_id = \"deep\"\n",
    );
    let folder = original.path(&format!("{deep}/original/supabase"));
    let command = |folder: &std::path::Path, arguments: &[&str]| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_selvedge"));
        command
            .arg("--project")
            .arg(folder)
            .args(arguments)
            .env("SELVEDGE_STATE_HOME", original.state_home())
            .env_remove("DATABASE_URL");
        command.output().expect("the binary runs")
    };
    let sql = "create table if not exists kept (id int); insert into kept values (1)";
    assert!(command(&folder, &["db", "query", sql]).status.success());
    let copy = original.path(&format!("{deep}/copied"));
    let copied = Command::new("cp")
        .arg("-a")
        .arg(original.path(&format!("{deep}/original")))
        .arg(&copy)
        .status();
    assert!(copied.expect("cp runs").success());

    assert!(command(&copy.join("supabase"), &["trust"]).status.success());
    let of_copy = command(&copy.join("supabase"), &["db", "query", sql]);

    assert!(
        of_copy.status.success(),
        "{}",
        String::from_utf8_lossy(&of_copy.stderr)
    );
    let socket_folder = |project: &std::path::Path| {
        std::fs::read_to_string(project.join(".selvedge/socket-folder")).unwrap_or_default()
    };
    assert_ne!(socket_folder(&folder), socket_folder(&copy.join("supabase")));
    let count = command(
        &folder,
        &["db", "query", "-o", "csv", "select count(*) from kept"],
    );
    assert_eq!(String::from_utf8_lossy(&count.stdout), "count\n1\n");
    for project in [&folder, &copy.join("supabase")] {
        std::fs::remove_dir_all(socket_folder(project).trim()).ok();
    }
}

#[test]
fn gw_029_database_url_of_a_file_does_not_make_local_commands_remote() {
    let project = Project::new();
    project.write(
        ".env",
        "DATABASE_URL=postgresql://postgres:secret@db.example.invalid:5432/app\n",
    );

    // Without a cluster here, the command may be meant for the other database.
    let undecided = project.run_and_expect_failure(&["migration", "up"]);
    project.run_and_expect_success(&["migration", "up", "--local"]);
    let own = project.run(&["db", "query", "-o", "csv", "select 1 as one"]);
    let elsewhere = "postgresql://u:p@db.example.invalid/app";
    let sweep = project.run_and_expect_failure(&["sweep", "--database-url", elsewhere]);
    let named = project.run_and_expect_failure(&["db", "reset", "--external", "--yes"]);
    let wrong = project.run_and_expect_failure(&["db", "reset", "--external", "--yes=db.example.com"]);
    let refused = project.run_and_expect_failure(&["db", "reset", "--yes=db.example.invalid"]);

    assert!(
        undecided.contains("--external") && undecided.contains("--local"),
        "{undecided}"
    );
    assert!(sweep.contains("--yes=db.example.invalid"), "{sweep}");
    assert!(!sweep.contains("the project's own database. db."), "{sweep}");
    let note = String::from_utf8_lossy(&own.stderr);
    assert!(own.status.success(), "{note}");
    assert!(
        note.contains("db.example.invalid:5432/app") && !note.contains("secret"),
        "{note}"
    );
    assert!(
        named.starts_with("database: db.example.invalid:5432/app"),
        "{named}"
    );
    assert!(named.contains("--yes=db.example.invalid"), "{named}");
    assert!(wrong.contains("does not name the target"), "{wrong}");
    assert!(!refused.contains("reset:"), "{refused}");
}

#[actix_web::test]
async fn gw_029_database_url_of_the_process_that_leads_to_the_running_project_is_that_project() {
    let project = Project::new();
    let _running = project.start().await;
    let query = |url: String| {
        let mut command = project.command(&["db", "query", "select 1"]);
        command
            .env("DATABASE_URL", url)
            .output()
            .expect("the binary runs")
    };

    let own = query(format!(
        "postgresql://postgres:postgres@localhost:{}/postgres",
        project.ports.database
    ));
    let other = query(format!(
        "postgresql://u:p@localhost:{}/app",
        project.ports.database
    ));

    let printed = String::from_utf8_lossy(&own.stderr);
    assert!(printed.contains("its own, running"), "{printed}");
    assert!(own.status.success() && !other.status.success());
    let printed = String::from_utf8_lossy(&other.stderr);
    assert!(printed.contains("/app"), "{printed}");
}

/// A lock names an address, and only one place may make a login of it.
#[test]
fn only_the_running_cluster_turns_a_lock_into_a_login() {
    let crates = std::path::Path::new(env!("CARGO_MANIFEST_DIR"))
        .parent()
        .expect("crates/");
    let allowed = [
        "postgres/src/cluster/lock.rs",
        "postgres/src/cluster/lock_holder.rs",
        "postgres/src/cluster/running.rs",
        "postgres/src/cluster/mod.rs",
        "postgres/src/cluster/tests.rs",
        // Prints the port, and says where the target is.
        "server/src/instance.rs",
        "server/src/database/target.rs",
    ];
    for entry in walkdir::WalkDir::new(crates).into_iter().filter_map(Result::ok) {
        let path = entry.path();
        let name = path.strip_prefix(crates).expect("below").display().to_string();
        let is_source = name.contains("/src/") && name.ends_with(".rs");
        if !is_source || allowed.contains(&name.as_str()) {
            continue;
        }
        let text = std::fs::read_to_string(path).expect("readable");
        let reads_endpoint = text.contains("LockHolder") && text.contains(".endpoint");
        assert!(
            !text.contains("database_port") && !reads_endpoint,
            "{name} reads an address of a lock; use RunningCluster::find"
        );
    }
}
