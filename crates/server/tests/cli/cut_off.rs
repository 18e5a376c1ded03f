//! Commands that are ended at moments that come by chance, as by a closed terminal, Ctrl-C or the kernel for lack of memory.
//! Afterwards the project works, and no PostgreSQL is left. `SELVEDGE_TEST_KILLS` says how often; `make test-all` does it
//! 52 times, each command by each signal.

use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use crate::support::Project;

/// The commands that work on a project that does not run, with what must succeed after one was cut off.
const COMMANDS: [(&[&str], &[&str]); 13] = [
    (&["reset", "--yes"], &["reset", "--yes"]),
    (&["migration", "up"], &["migration", "up"]),
    (
        &["db", "query", "select count(*) from notes"],
        &["db", "query", "select 1"],
    ),
    (&["gen", "types", "typescript"], &["gen", "types", "typescript"]),
    (&["backup", "cut-off.tar"], &["backup", "again.tar"]),
    (&["db", "reset", "--yes"], &["db", "reset", "--yes"]),
    (
        &["db", "dump", "-f", "schema.sql"],
        &["db", "dump", "-f", "schema.sql"],
    ),
    (
        &["restore", "--yes", "kept.tar"],
        &["restore", "--yes", "kept.tar"],
    ),
    (&["migration", "squash"], &["migration", "squash"]),
    (&["test", "db"], &["test", "db"]),
    (&["migration", "list"], &["migration", "list"]),
    (&["db", "push"], &["db", "push", "--dry-run"]),
    (&["start", "--no-studio", "--port", "0"], &["migration", "list"]),
];
const SIGNALS: [&str; 4] = ["-HUP", "-INT", "-TERM", "-KILL"];

/// Longest time after which a command is ended; a start of PostgreSQL is within it.
const LONGEST_MS: u64 = 1500;

/// Whether a process works in this folder, which every process of PostgreSQL does in its data directory.
fn is_used(folder: &Path) -> bool {
    let processes = std::fs::read_dir("/proc").into_iter().flatten().flatten();
    processes
        .filter_map(|process| std::fs::read_link(process.path().join("cwd")).ok())
        .any(|used| used == folder)
}

fn run_in(project: &Project, arguments: &[&str]) -> std::process::Output {
    let mut command = project.command(arguments);
    let output = command
        .current_dir(project.path("."))
        .stdin(Stdio::null())
        .output();
    output.expect("the binary runs")
}

/// Files and folders that only exist while something is written, but for those of the command that was cut off, whose name it chose.
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

#[test]
fn gw_031_commands_that_are_cut_off_can_be_repeated_and_leave_nothing_running() {
    let project = Project::new();
    project.write(
        "migrations/20260101000000_notes.sql",
        "create table notes (id int); insert into notes select generate_series(1, 10000);",
    );
    project.write(
        "tests/first.sql",
        "begin; select plan(1); select pass('it works'); select * from finish(); rollback;",
    );
    project.run_and_expect_success(&["reset", "--yes"]);
    run_in(&project, &["backup", "kept.tar"]);
    let kills = std::env::var("SELVEDGE_TEST_KILLS").ok();
    let kills: u64 = kills.and_then(|kills| kills.parse().ok()).unwrap_or(5);
    let seed = u64::from(std::process::id());
    let begin = usize::try_from(seed).expect("small") % COMMANDS.len();
    for number in 0..kills {
        // A sequence of which each run takes another part.
        let chance = (seed + number).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 33;
        let index = |length: usize| usize::try_from(number).expect("small") % length;
        let (arguments, repeated) = COMMANDS[(index(COMMANDS.len()) + begin) % COMMANDS.len()];
        let signal = SIGNALS[index(SIGNALS.len())];
        let moment = Duration::from_millis(chance % LONGEST_MS);

        let mut child = project
            .command(arguments)
            .current_dir(project.path("."))
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .expect("the binary runs");
        std::thread::sleep(moment);
        // The command may have ended before.
        let _ = Command::new("kill")
            .args([signal, &child.id().to_string()])
            .stderr(Stdio::null())
            .status();
        child.wait().expect("a child");

        let what = format!("{arguments:?} after {moment:?} by {signal}");
        let deadline = Instant::now() + Duration::from_secs(60);
        while is_used(&project.path(".selvedge/pgdata")) {
            assert!(Instant::now() < deadline, "{what}: PostgreSQL is left");
            std::thread::sleep(Duration::from_millis(20));
        }
        let dump = std::fs::read_to_string(project.path("schema.sql")).unwrap_or_default();
        let is_whole = dump.is_empty() || dump.contains("CREATE TABLE") && dump.trim_end().ends_with(';');
        assert!(is_whole, "{what}: half a file: {dump}");
        let output = run_in(&project, repeated);
        let printed = String::from_utf8_lossy(&output.stderr);
        // Some commands need a running project, and say so.
        let says_what_to_do = printed.contains("start it with:  selvedge start");
        assert!(output.status.success() || says_what_to_do, "{what}: {printed}");
        assert_eq!(list_half_files(&project), Vec::<String>::new(), "{what}");
        let rows =
            project.run_and_expect_success(&["db", "query", "-o", "csv", "select count(*) from notes"]);
        assert_eq!(rows, "count\n10000\n", "{what}");
        for name in ["cut-off.tar", "cut-off.tar.partial", "again.tar", "schema.sql"] {
            std::fs::remove_file(project.path(name)).ok();
        }
    }
}
