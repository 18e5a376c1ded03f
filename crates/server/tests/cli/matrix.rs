//! Two commands at the same time in one project, beside another project that runs and a third one that does not: whatever the commands
//! do, nothing of the others changes. `SELVEDGE_TEST_PAIRS` says how many pairs run in each situation; `make soak` has all 120.

use std::collections::BTreeMap;
use std::path::Path;
use std::process::{Child, Command, Stdio};

use sha2::{Digest, Sha256};

use crate::own_project::COMMANDS;
use crate::support::{Project, Running};

/// Everything of the catalogs.
const STATE: &str = include_str!("../../../postgres/src/migrate/database_state.sql");

/// How the project in which the commands run lies to the one that runs.
#[derive(Debug, Clone, Copy)]
enum Situation {
    SamePorts,
    OtherPorts,
    /// It is a copy of the running one, made while it ran.
    Copied,
    /// It was moved away from the folder in which the running one is now.
    Moved,
    /// A copy below a path that is too long for the name of a socket.
    LongPath,
    /// A copy of one that runs in a container of its own, as ours does: in both the numbers of processes begin at 1, and both have the network of
    /// the machine.
    Container,
}

const SITUATIONS: [Situation; 6] = [
    Situation::SamePorts,
    Situation::OtherPorts,
    Situation::Copied,
    Situation::Moved,
    Situation::LongPath,
    Situation::Container,
];

/// The projects of a situation.
struct Scene {
    ours: Project,
    theirs: Project,
    third: Project,
    is_in_container: bool,
    running: Running,
}

/// The command in a new container, as far as processes and files are concerned: process 1 among its own, with mounts of its own.
fn in_container(command: &Command) -> Command {
    let mut contained = Command::new("unshare");
    contained.args(["--pid", "--mount", "--fork", "--kill-child", "--mount-proc"]);
    let id = Command::new("id").arg("-u").output().expect("id runs");
    if id.stdout != b"0\n" {
        contained.args(["--user", "--map-current-user"]);
    }
    contained.arg(command.get_program()).args(command.get_args());
    for (name, value) in command.get_envs() {
        match value {
            Some(value) => contained.env(name, value),
            None => contained.env_remove(name),
        };
    }
    contained
}

/// Whether this user may make containers. Some build machines let nobody; there the long forms of the test fail.
fn has_containers() -> bool {
    let output = in_container(&Command::new("true")).output();
    output.is_ok_and(|output| output.status.success())
}

fn write_project(project: &Project, table: &str, ports_of: &Project) {
    let ports = ports_of.ports;
    project.write(
        "config.toml",
        &format!(
            "project_id = \"{table}\"\n[api]\nport = {}\n[db]\nport = {}\n[local_smtp]\nport = {}\n[storage.buckets.pictures]\npublic = true\n",
            ports.api, ports.database, ports.inbox
        ),
    );
    project.write(
        "migrations/20260101000000_first.sql",
        &format!("create table {table} (id int); insert into {table} select generate_series(1, 100);"),
    );
    project.write("tests/first.sql", "select 1;");
}

fn move_all(from: &Project, to: &Project) {
    for entry in std::fs::read_dir(from.path("")).expect("readable") {
        let entry = entry.expect("an entry");
        let target = to.path("").join(entry.file_name());
        if target.is_file() {
            std::fs::remove_file(&target).expect("removed");
        }
        std::fs::rename(entry.path(), target).expect("moved");
    }
}

impl Scene {
    async fn set(situation: Situation) -> Self {
        let is_long = matches!(situation, Situation::LongPath);
        let make = || {
            if is_long {
                Project::with_long_path()
            } else {
                Project::new()
            }
        };
        let (ours, theirs, third) = (make(), make(), Project::new());
        write_project(&third, "third", &theirs);
        third.run_and_expect_success(&["migration", "up"]);
        match situation {
            Situation::SamePorts => write_project(&ours, "ours", &theirs),
            Situation::OtherPorts => write_project(&ours, "ours", &ours),
            Situation::Moved => {
                write_project(&theirs, "ours", &theirs);
                theirs.run_and_expect_success(&["migration", "up"]);
                move_all(&theirs, &ours);
                // Needed where the folder is bound to its path.
                ours.run(&["trust"]);
            }
            Situation::Copied | Situation::LongPath | Situation::Container => {}
        }
        write_project(&theirs, "notes", &theirs);
        let is_in_container = matches!(situation, Situation::Container);
        let running = match is_in_container {
            true => {
                let start = theirs.start_arguments();
                let start: Vec<&str> = start.iter().map(String::as_str).collect();
                let running = theirs.spawn_command(in_container(&theirs.command(&start)), &[]);
                running.wait_for_output("is ready after").await;
                running.of_child()
            }
            false => theirs.start().await,
        };
        if matches!(
            situation,
            Situation::Copied | Situation::LongPath | Situation::Container
        ) {
            let status = Command::new("cp")
                .arg("-a")
                .arg(theirs.path("."))
                .arg(ours.path("."))
                .stderr(Stdio::null())
                .status();
            // Sockets and files that PostgreSQL removes meanwhile are not copied.
            status.expect("cp runs");
            ours.run_and_expect_success(&["trust"]);
        }
        Self {
            ours,
            theirs,
            third,
            is_in_container,
            running,
        }
    }

    /// What the others have: catalogs and rows of the one that runs, and the files of both.
    async fn state(&self, moment: &str) -> BTreeMap<String, String> {
        let superuser = self.theirs.superuser().await;
        superuser
            .batch_execute("set search_path = pg_catalog, pg_temp")
            .await
            .expect("set");
        let digest = format!("select md5(string_agg(q::text, '' order by q::text)) from ({STATE}) as q");
        let read = async |query: &str| -> String {
            let row = superuser.query_one(query, &[]).await;
            row.unwrap_or_else(|error| panic!("{moment}: {error:?}\n{}", self.running.output()))
                .get(0)
        };
        let catalogs = read(&digest).await;
        let rows = "select json_build_object('rows', (select count(*) from public.notes),
            'history', (select json_agg(version) from supabase_migrations.schema_migrations),
            'buckets', (select json_agg(id) from storage.buckets),
            'writes', (select n_tup_ins + n_tup_del from pg_stat_user_tables where relname = 'notes'))::text";
        let rows = read(rows).await;
        let mut state = list_files(
            &self.theirs.path(""),
            &["pgdata", "run", "lock", "postgres.log", "output.log"],
        );
        state.extend(list_files(&self.third.path(""), &["lock"]));
        state.extend([("catalogs".to_owned(), catalogs), ("rows".to_owned(), rows)]);
        state
    }
}

/// The digest of each file below a folder, without those of these names and what is below them.
fn list_files(folder: &Path, left_out: &[&str]) -> BTreeMap<String, String> {
    let is_wanted = |entry: &walkdir::DirEntry| !left_out.iter().any(|name| entry.file_name() == *name);
    let entries = walkdir::WalkDir::new(folder).into_iter().filter_entry(is_wanted);
    entries
        .filter_map(Result::ok)
        .filter(|entry| entry.file_type().is_file())
        .map(|entry| {
            let bytes = std::fs::read(entry.path()).expect("readable");
            (
                entry.path().display().to_string(),
                hex::encode(Sha256::digest(bytes)),
            )
        })
        .collect()
}

fn spawn(scene: &Scene, arguments: &[&str]) -> Child {
    let project = &scene.ours;
    let mut command = project.command(arguments);
    if scene.is_in_container {
        command = in_container(&command);
    }
    command
        .current_dir(project.path("."))
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::piped());
    command.spawn().expect("the binary runs")
}

/// The command with what it takes to empty a project without being asked.
fn with_consent(arguments: &'static [&'static str]) -> &'static [&'static str] {
    match arguments {
        ["db", "reset"] => &["db", "reset", "--yes"],
        _ => arguments,
    }
}

/// Every pair of commands once, in an order that differs from run to run.
fn list_pairs() -> Vec<(usize, usize)> {
    let count = COMMANDS.len();
    let mut pairs: Vec<_> = (0..count)
        .flat_map(|one| (one..count).map(move |other| (one, other)))
        .collect();
    let begin = usize::try_from(std::process::id()).expect("small") % pairs.len();
    pairs.rotate_left(begin);
    pairs
}

/// Commands that need a running project, which ours is not, or a test that counts its assertions.
const REFUSED: [&str; 4] = ["migration down", "db dump", "seed buckets", "test db"];

/// How often each command has succeeded in a situation.
#[derive(Default)]
struct Successes(BTreeMap<String, usize>);

impl Successes {
    fn count(&mut self, arguments: &[&str], is_success: bool) {
        *self.0.entry(arguments.join(" ")).or_default() += usize::from(is_success);
    }

    /// Checks that no command only ever refused, which would prove nothing.
    fn check(&self, situation: Situation) {
        let never = self.0.iter().filter(|(command, count)| {
            **count == 0 && !REFUSED.iter().any(|refused| command.starts_with(refused))
        });
        let never: Vec<_> = never.collect();
        assert!(
            never.is_empty(),
            "{situation:?}: never succeeded: {never:?} of {:?}",
            self.0
        );
    }
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn gw_031_pairs_of_commands_leave_the_projects_beside_theirs_byte_for_byte_as_they_were() {
    let extent = std::env::var("SELVEDGE_TEST_PAIRS").ok();
    let extent: Option<usize> = extent.and_then(|pairs| pairs.parse().ok());
    let pairs = list_pairs();
    // All situations, or two of them.
    let begin = usize::try_from(std::process::id()).expect("small");
    let mut situations = SITUATIONS.to_vec();
    situations.rotate_left(begin % SITUATIONS.len());
    let has_containers = has_containers();
    assert!(
        has_containers || extent.is_none(),
        "containers are refused here: unshare --pid --mount as this user"
    );
    situations.retain(|situation| has_containers || !matches!(situation, Situation::Container));
    if extent.is_none() {
        situations.truncate(2);
    }
    for (number, situation) in situations.into_iter().enumerate() {
        let scene = Scene::set(situation).await;
        let before = scene.state(&format!("{situation:?} at the start")).await;
        let mut successes = Successes::default();
        // A run that tries only some pairs begins with other ones in each situation, so that together they try more.
        let chosen = pairs.iter().cycle().skip(number * pairs.len() / SITUATIONS.len());
        for (one, other) in chosen.take(extent.unwrap_or(2)) {
            let commands = [COMMANDS[*one], COMMANDS[*other]].map(with_consent);
            let children = commands.map(|arguments| spawn(&scene, arguments));
            for (child, arguments) in children.into_iter().zip(commands) {
                let output = child.wait_with_output().expect("it ends");
                let printed = String::from_utf8_lossy(&output.stderr);
                assert!(
                    !printed.contains("panicked"),
                    "{situation:?}, {commands:?}: {printed}"
                );
                successes.count(arguments, output.status.success());
            }
            std::fs::remove_file(scene.ours.path("never.tar")).ok();
            let moment = format!("{situation:?}, {commands:?}");
            assert_eq!(scene.state(&moment).await, before, "{moment}");
        }
        if extent.is_some_and(|extent| extent >= pairs.len()) {
            successes.check(situation);
        }
    }
}
