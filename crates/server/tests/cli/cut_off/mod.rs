//! Commands that are ended at moments that come by chance, as by a closed terminal, Ctrl-C, the kernel for lack of memory, or a full
//! disk. Afterwards the command can be repeated, the project works, and no process, port or half file is left.
//!
//! `SELVEDGE_TEST_KILLS` says how often: `make test-all` ends most commands once, and `make soak` each by each signal.

mod commands;
mod full_disk;

use std::net::TcpListener;
use std::path::Path;
use std::process::{Child, Command, ExitStatus, Output, Stdio};
use std::time::{Duration, Instant};

use commands::{COMMANDS, Cut, Place};

use crate::import::import;
use crate::production::{generate_keys, serve_variables};
use crate::support::{Project, Running};

const SIGNALS: [&str; 4] = ["-HUP", "-INT", "-TERM", "-KILL"];

/// The projects in which commands are cut off.
struct Scene {
    stopped: Project,
    running: Project,
    instance: Running,
}

/// Writes what the commands work on.
fn write_project(project: &Project) {
    project.write(
        "config.toml",
        "project_id = \"cli\"\n[api]\nschemas = [\"public\", \"tenant_*\"]\n[storage.buckets.files]\nobjects_path = \"./files\"\n",
    );
    project.write("files/one.txt", "one");
    project.write(
        "migrations/20260101000000_notes.sql",
        "create table notes (id int); insert into notes select generate_series(1, 10000);",
    );
    project.write(
        "migrations/20260102000000_counted.sql",
        "create table counted (id int);",
    );
    project.write(
        "tenant_migrations/20260101000000_notes.sql",
        "create table notes (id int);",
    );
    project.write(
        "tests/first.sql",
        "begin; select plan(1); select pass('it works'); select * from finish(); rollback;",
    );
}

impl Scene {
    async fn set() -> Self {
        let (stopped, running) = (Project::new(), Project::new());
        for project in [&stopped, &running] {
            write_project(project);
        }
        stopped.run_and_expect_success(&["reset", "--yes"]);
        expect_success(&run_in(&stopped, &["backup", "kept.tar"]), "a backup");
        let instance = running.start().await;
        running.run_and_expect_success(&["tenants", "create", "acme"]);
        Self {
            stopped,
            running,
            instance,
        }
    }

    /// Ends a command after some time, and checks what holds afterwards.
    async fn cut_off(&self, cut: &Cut, signal: &str, moment: Duration) {
        let what = format!("{:?} {:?} after {moment:?} by {signal}", cut.place, cut.arguments);
        match cut.place {
            Place::Stopped => {
                let words = cut.words(&self.stopped);
                let words: Vec<&str> = words.iter().map(String::as_str).collect();
                let command = self.stopped.command(&words);
                let status = end_after(&self.stopped, command, signal, moment);
                check(&self.stopped, cut, status, &what, || {
                    run_in(&self.stopped, cut.again)
                });
            }
            Place::Running => {
                let command = self.running.command(cut.arguments);
                let status = end_after(&self.running, command, signal, moment);
                check(&self.running, cut, status, &what, || {
                    run_in(&self.running, cut.again)
                });
                self.instance.wait_until_ready().await;
            }
            Place::Target => {
                let target = Project::new();
                let status = end_after(&target, import(&self.running, &target, &[]), signal, moment);
                check(&target, cut, status, &what, || {
                    let again = import(&self.running, &target, &[]).output();
                    again.expect("the binary runs")
                });
            }
            Place::Served => self.cut_off_serve(signal, moment, &what).await,
        }
    }

    /// The same for a server in production: its port is free afterwards, and it starts again. A closed terminal does not end it.
    async fn cut_off_serve(&self, signal: &str, moment: Duration, what: &str) {
        let served = Project::new();
        let keys = generate_keys(&served);
        let url = format!(
            "postgresql://postgres:postgres@127.0.0.1:{}/postgres",
            self.running.ports.database
        );
        let port = served.ports.api;
        let arguments = ["serve", "--host", "127.0.0.1", "--port", &port.to_string()].map(str::to_owned);
        let mut serving = served.spawn(&arguments, &serve_variables(&keys, &url));
        std::thread::sleep(moment);
        serving.signal(signal);
        // Before the server has said that it takes this signal itself, the kernel ends it.
        if signal == "-HUP" && is_ready_before_its_end(&serving).await {
            serving.signal("-TERM");
        }
        serving.wait_for_exit();
        assert!(
            TcpListener::bind(("127.0.0.1", port)).is_ok(),
            "{what}: the port is left"
        );
        let again = served.spawn(&arguments, &serve_variables(&keys, &url));
        again.wait_until_ready().await;
        again.stop();
    }
}

/// Waits until a server is ready, which is true, or has ended.
async fn is_ready_before_its_end(serving: &Running) -> bool {
    let deadline = Instant::now() + Duration::from_secs(60);
    loop {
        let is_gone = std::fs::read_link(format!("/proc/{}/exe", serving.pid())).is_err();
        let answer = reqwest::get(serving.url("/health/ready")).await;
        if is_gone || answer.is_ok_and(|answer| answer.status() == 200) {
            return !is_gone;
        }
        assert!(
            Instant::now() < deadline,
            "neither ready nor ended: {}",
            serving.output()
        );
        actix_web::rt::time::sleep(Duration::from_millis(20)).await;
    }
}

/// Checks a project in which a command was cut off, and that `again` works.
fn check(project: &Project, cut: &Cut, status: ExitStatus, what: &str, again: impl FnOnce() -> Output) {
    wait_until_unused(project, cut.place == Place::Running, what);
    let file = cut
        .file
        .map(|name| project.path(name))
        .filter(|file| file.exists());
    assert!(
        cut.file.is_none() || file.is_some() || !status.success(),
        "{what}: no file after {status}"
    );
    let output = again();
    let printed = text_of(&output);
    // What holds of its work is checked below.
    let has_done_it = cut.may_say.is_some_and(|sentence| printed.contains(sentence));
    assert!(
        output.status.success() || has_done_it,
        "{what}, which ended with {status}; again: {printed}"
    );
    // It may have been ended after its work, before it could say so.
    if let Some(file) = file {
        assert!(is_whole(project, &file), "{what}: {}", file.display());
    }
    assert_eq!(list_half_files(project), Vec::<String>::new(), "{what}");
    // A statement is done as a whole or not at all.
    let query = "select (select count(*) from notes) as notes, (select count(*) % 1000 from counted) as odd";
    let rows = project.run_and_expect_success(&["db", "query", "-o", "csv", query]);
    assert_eq!(rows, "notes,odd\n10000,0\n", "{what}");
    for name in ["cut-off.tar", "again.tar", "schema.sql", "again.sql"] {
        std::fs::remove_file(project.path(name)).ok();
    }
    let migrations = project.path("migrations").read_dir().map_or(0, Iterator::count);
    if cut.place == Place::Stopped && migrations == 1 {
        // They were squashed, and the next time there have to be two again.
        std::fs::remove_dir_all(project.path("migrations")).expect("removed");
        write_project(project);
        project.run_and_expect_success(&["reset", "--yes"]);
    }
}

/// Whether a backup can be read to its end, or a dump is the same as the one that was made afterwards.
fn is_whole(project: &Project, file: &Path) -> bool {
    if file.extension().is_some_and(|end| end == "tar") {
        let listed = Command::new("tar").arg("-tf").arg(file).output();
        return listed.expect("tar runs").status.success();
    }
    let read = |path: &Path| std::fs::read(path).expect("readable");
    read(file) == read(&project.path("again.sql"))
}

/// Runs a command, ends it after `moment`, and returns how it has ended. With a closed terminal nobody reads what it prints any more.
fn end_after(project: &Project, mut command: Command, signal: &str, moment: Duration) -> ExitStatus {
    let output = || match signal {
        "-HUP" => Stdio::piped(),
        _ => Stdio::null(),
    };
    let mut child: Child = command
        .current_dir(project.path("."))
        .stdin(Stdio::null())
        .stdout(output())
        .stderr(output())
        .spawn()
        .expect("the binary runs");
    std::thread::sleep(moment);
    drop((child.stdout.take(), child.stderr.take()));
    // The command may have ended before.
    let _ = Command::new("kill")
        .args([signal, &child.id().to_string()])
        .stderr(Stdio::null())
        .status();
    child.wait().expect("a child")
}

fn run_in(project: &Project, arguments: &[&str]) -> Output {
    let mut command = project.command(arguments);
    command.current_dir(project.path(".")).stdin(Stdio::null());
    command.output().expect("the binary runs")
}

fn text_of(output: &Output) -> String {
    let [out, err] = [&output.stdout, &output.stderr].map(|bytes| String::from_utf8_lossy(bytes));
    format!("{out}{err}")
}

fn expect_success(output: &Output, what: &str) {
    assert!(output.status.success(), "{what}: {}", text_of(output));
}

/// Waits until no process works in a project's folder, which every process of PostgreSQL does in its data directory. With `is_running`
/// the project's own PostgreSQL may.
fn wait_until_unused(project: &Project, is_running: bool, what: &str) {
    let (folder, own) = (project.path(".selvedge"), project.path(".selvedge/pgdata"));
    let is_used = || {
        let processes = std::fs::read_dir("/proc").into_iter().flatten().flatten();
        processes
            .filter_map(|process| std::fs::read_link(process.path().join("cwd")).ok())
            .any(|used| used.starts_with(&folder) && !(is_running && used == own))
    };
    let deadline = Instant::now() + Duration::from_secs(60);
    while is_used() {
        assert!(Instant::now() < deadline, "{what}: PostgreSQL is left");
        std::thread::sleep(Duration::from_millis(20));
    }
}

/// Files and folders that only exist while something is written.
fn list_half_files(project: &Project) -> Vec<String> {
    let entries = walkdir::WalkDir::new(project.path("")).max_depth(2).into_iter();
    let names = entries
        .filter_map(Result::ok)
        .map(|entry| entry.file_name().to_string_lossy().into_owned());
    names
        .filter(|name| {
            [".new", ".unfinished", ".restored", ".replaced"]
                .iter()
                .any(|end| name.ends_with(end))
                || ["restoring", "fresh", "shadow", "replacement.json"].contains(&name.as_str())
        })
        .collect()
}

/// Which command is ended in this round, and by which signal: after as many rounds as there are commands each was, and after four
/// times as many by each signal.
fn choose(round: usize) -> (&'static Cut, &'static str) {
    let command = round % COMMANDS.len();
    let signal = (command + round / COMMANDS.len()) % SIGNALS.len();
    (&COMMANDS[command], SIGNALS[signal])
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn gw_031_commands_that_are_cut_off_can_be_repeated_and_leave_nothing_running() {
    let kills = std::env::var("SELVEDGE_TEST_KILLS").ok();
    let kills: usize = kills.and_then(|kills| kills.parse().ok()).unwrap_or(5);
    // A short run takes another part each time.
    let seed = usize::try_from(std::process::id()).expect("small");
    let scene = Scene::set().await;
    for number in 0..kills {
        let (cut, signal) = choose(seed + number);
        let chance = (seed + number).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 33;
        let longest = usize::try_from(cut.longest_ms).expect("small");
        let moment = Duration::from_millis(u64::try_from(chance % longest).expect("small"));
        scene.cut_off(cut, signal, moment).await;
    }
    scene.instance.stop();
}

#[test]
fn each_command_is_cut_off_by_each_signal() {
    let mut seen: Vec<_> = (0..COMMANDS.len() * SIGNALS.len())
        .map(|round| {
            let (cut, signal) = choose(round);
            (cut.arguments, format!("{:?}", cut.place), signal)
        })
        .collect();
    seen.sort();
    seen.dedup();

    assert_eq!(seen.len(), COMMANDS.len() * SIGNALS.len());
}
