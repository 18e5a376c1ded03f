//! A command works on its own project and on nothing else, whatever runs beside it: two projects on the same ports, and two
//! commands at the same time in one of them.

use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use crate::support::{Project, Running, give_away};

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

#[actix_web::rt::test(system = "selvedge_testing::System")]
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
    // A command is no server: it is neither shown nor ended as one.
    for arguments in [&["status"][..], &["stop"]] {
        let printed = neighbours.ours.run_and_expect_failure(arguments);
        assert!(
            printed.contains("is not running") && printed.contains("db query runs"),
            "{arguments:?}: {printed}"
        );
    }
    drop(holder);

    assert_eq!(neighbours.their_state().await, before);
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
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
#[actix_web::rt::test(system = "selvedge_testing::System")]
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

#[actix_web::rt::test(system = "selvedge_testing::System")]
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

/// The number of a process means something in its own container, and for as long as the process lives.
#[cfg(target_os = "linux")]
#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn gw_031_stop_sends_no_signal_to_the_process_of_another_container_or_to_a_later_one_of_its_number() {
    let project = Project::new();
    let running = project.start().await;
    let lock = project.path(".selvedge/lock");
    let written = std::fs::read_to_string(&lock).expect("a lock");
    let mut holder: serde_json::Value = serde_json::from_str(&written).expect("JSON");
    // In place, because the lock is that of this file.
    let stop_with = |field: &str, expected: &str, holder: &mut serde_json::Value| {
        let kept = std::mem::replace(&mut holder["process"][field], serde_json::json!(4711));
        std::fs::write(&lock, holder.to_string()).expect("written");
        let refused = project.run_and_expect_failure(&["stop"]);
        assert!(refused.contains(expected), "{refused}");
        holder["process"][field] = kept;
    };

    stop_with("pid_namespace", "runs in another container", &mut holder);
    stop_with("start_ticks", "No signal was sent", &mut holder);

    assert_eq!(running.get("/health/ready").await.0, 200);
    std::fs::write(&lock, &written).expect("written");
    assert!(project.run_and_expect_success(&["stop"]).contains("stopped"));
}

/// Whoever moves the folder of a running project and clones it again into its place has two databases with the same logins. The server goes on with
/// its own one, or with none.
#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn gw_031_a_server_whose_folder_was_moved_writes_nothing_to_the_clone_in_its_place() {
    let outer = Project::new();
    let place = outer.path("shop");
    let project = Project::new();
    let ports = project.ports;
    let clone = || {
        outer.write(
            "shop/config.toml",
            &format!(
                "project_id = \"shop\"\n[api]\nport = {}\n[db]\nport = {}\n[local_smtp]\nport = {}\n[studio]\nenabled = false\n",
                ports.api, ports.database, ports.inbox
            ),
        );
        outer.write(
            "shop/migrations/20260101000000_notes.sql",
            "create table notes (id int primary key);",
        );
    };
    clone();
    let command = |arguments: &[&str]| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_selvedge"));
        command
            .arg("--project")
            .arg(&place)
            .args(arguments)
            .env("SELVEDGE_STATE_HOME", project.state_home())
            .env_remove("DATABASE_URL");
        command
    };
    let running = project.spawn_command(command(&["start"]), &[]);
    running.wait_for_output("is ready after").await;
    let moved = outer.path("moved");
    std::fs::rename(&place, &moved).expect("moved");
    clone();
    let made = command(&["migration", "up"]).output().expect("the binary runs");
    assert!(made.status.success(), "{}", String::from_utf8_lossy(&made.stderr));
    let holder = Holder(
        command(&["db", "query", "select pg_sleep(120)"])
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .expect("the binary runs"),
    );
    let socket = place.join(format!(".selvedge/run/.s.PGSQL.{}", ports.database));
    let connect = async || {
        let mut config = tokio_postgres::Config::new();
        config
            .host_path(socket.parent().expect("a folder"))
            .port(ports.database);
        config.user("postgres").password("postgres").dbname("postgres");
        config.connect(tokio_postgres::NoTls).await
    };
    let deadline = Instant::now() + Duration::from_secs(60);
    let (of_clone, connection) = loop {
        match connect().await {
            Ok(connected) => break connected,
            Err(error) => assert!(Instant::now() < deadline, "the clone does not start: {error}"),
        }
        actix_web::rt::time::sleep(Duration::from_millis(20)).await;
    };
    actix_web::rt::spawn(connection);
    // Now the server has to open connections anew.
    let end = "select pg_terminate_backend(pid) from pg_stat_activity where pid <> pg_backend_pid() and usename = 'authenticator'";
    let superuser = std::fs::read_to_string(moved.join(".selvedge/superuser-password")).expect("a password");
    let url = format!(
        "postgresql://supabase_admin:{}@127.0.0.1:{}/postgres",
        superuser.trim(),
        ports.database
    );
    let superuser = crate::support::connect(&url).await.expect("a login");
    superuser.execute(end, &[]).await.expect("ended");
    for id in 1..20 {
        let row = serde_json::json!({ "id": id });
        let sent = reqwest::Client::new()
            .post(running.url("/rest/v1/notes"))
            .json(&row)
            .send();
        sent.await.expect("a response");
    }

    let count = "select count(*) from public.notes";
    let found = of_clone.query_one(count, &[]).await.expect("a count");
    assert_eq!(found.get::<_, i64>(0), 0, "{}", running.output());
    assert!(
        running.output().contains("was moved while"),
        "{}",
        running.output()
    );
    drop(holder);
}

/// As `sudo selvedge …` in the project of another user. Who is not root owns the project anyway.
#[test]
fn gw_031_what_root_makes_in_the_project_of_another_user_belongs_to_that_user() {
    use std::os::unix::fs::MetadataExt as _;

    let project = Project::new();
    project.write(
        "migrations/20260101000000_notes.sql",
        "create table notes (id int);",
    );
    let cache = tempfile::tempdir().expect("a folder");
    let owner = give_away(&[&project.path("."), project.state_home(), cache.path()]);
    let is_root = nix::unistd::geteuid().is_root();
    let run = |arguments: &[&str]| {
        let mut command = project.command(arguments);
        command.env("XDG_CACHE_HOME", cache.path());
        if is_root {
            command.env("SUDO_UID", owner.to_string());
        }
        let output = command.output().expect("the binary runs");
        let printed = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(output.status.success(), "{arguments:?}: {printed}");
        printed
    };

    let first = run(&["migration", "up"]);
    run(&["db", "query", "select * from notes"]);

    assert!(!is_root || first.contains("and not as root"), "{first}");
    let entries = walkdir::WalkDir::new(project.path(".")).into_iter().flatten();
    let of_others: Vec<_> = entries
        .filter(|entry| entry.metadata().is_ok_and(|meta| meta.uid() != owner))
        .map(walkdir::DirEntry::into_path)
        .collect();
    assert!(of_others.is_empty(), "{of_others:?}");
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
        "database/src/instance/mod.rs",
        "database/src/target.rs",
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
