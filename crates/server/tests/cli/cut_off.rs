//! Commands that are ended at moments that come by chance, as by a closed terminal, Ctrl-C or the kernel for lack of memory.
//! Afterwards the project works, and no PostgreSQL is left. `SELVEDGE_TEST_KILLS` says how often; `make test-all` does it
//! 50 times.

use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use crate::support::Project;

/// The commands that start PostgreSQL by themselves, with what must succeed after one was cut off.
const COMMANDS: [(&[&str], &[&str]); 5] = [
    (&["reset", "--yes"], &["reset", "--yes"]),
    (&["migration", "up"], &["migration", "up"]),
    (
        &["db", "query", "select count(*) from notes"],
        &["db", "query", "select 1"],
    ),
    (&["gen", "types", "typescript"], &["gen", "types", "typescript"]),
    (&["backup", "cut-off.tar"], &["db", "query", "select 1"]),
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

#[test]
fn gw_031_commands_that_are_cut_off_can_be_repeated_and_leave_nothing_running() {
    let project = Project::new();
    project.write(
        "migrations/20260101000000_notes.sql",
        "create table notes (id int); insert into notes select generate_series(1, 10000);",
    );
    project.run_and_expect_success(&["reset", "--yes"]);
    let kills = std::env::var("SELVEDGE_TEST_KILLS").ok();
    let kills: u64 = kills.and_then(|kills| kills.parse().ok()).unwrap_or(4);
    let seed = u64::from(std::process::id());
    for number in 0..kills {
        // A sequence of which each run takes another part.
        let chance = (seed + number).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 33;
        let index = |length: usize| usize::try_from(number).expect("small") % length;
        let (arguments, repeated) = COMMANDS[index(COMMANDS.len())];
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
        let output = project.run(repeated);
        assert!(
            output.status.success(),
            "{what}: {}",
            String::from_utf8_lossy(&output.stderr)
        );
        let rows =
            project.run_and_expect_success(&["db", "query", "-o", "csv", "select count(*) from notes"]);
        assert_eq!(rows, "count\n10000\n", "{what}");
        std::fs::remove_file(project.path("cut-off.tar")).ok();
    }
}
