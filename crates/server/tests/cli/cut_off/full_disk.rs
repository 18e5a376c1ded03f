//! Commands on a disk that has no room for what they write.

use std::process::{Command, Output};

use super::{expect_success, list_half_files, run_in, text_of, wait_until_unused, write_project};
use crate::support::Project;

/// A command that needs more than the room that is left.
struct Case {
    left_kib: u32,
    arguments: &'static str,
    /// What must succeed once there is room again.
    again: &'static [&'static str],
}

const CASES: [Case; 6] = [
    Case {
        left_kib: 20_000,
        arguments: "backup cut-off.tar",
        again: &["backup", "again.tar"],
    },
    Case {
        left_kib: 4000,
        arguments: "db query 'insert into notes select generate_series(1, 1000000)'",
        again: &["migration", "list"],
    },
    Case {
        left_kib: 20_000,
        arguments: "restore --yes kept.tar",
        again: &["restore", "--yes", "kept.tar"],
    },
    Case {
        left_kib: 12_000,
        arguments: "migration up",
        again: &["migration", "up"],
    },
    Case {
        left_kib: 0,
        arguments: "reset --yes",
        again: &["reset", "--yes"],
    },
    Case {
        left_kib: 0,
        arguments: "db reset --yes",
        again: &["db", "reset", "--yes"],
    },
];

/// Runs a command while the project is on a disk of its own, which is nearly full, and puts it back on the disk of the machine.
///
/// The disk is in memory and seen by this command alone. Only root can make one; others get files of a limited size, at which writing
/// fails as well.
const SCRIPT: &str = r#"
set -e
disk="$PROJECT" kept="$PROJECT.kept"
if [ "$(id -u)" = 0 ]; then
  mv "$disk" "$kept"; mkdir -m 755 "$disk"
  trap 'cd /; rm -f "$disk/filler"; rm -rf "$kept"/* "$kept/.selvedge"; cp -a "$disk/." "$kept"; umount -l "$disk"; rmdir "$disk"; mv "$kept" "$disk"' EXIT
  mount -t tmpfs -o size=$(( $(du -sm "$kept" | cut -f1) + 64 ))m,mode=755 none "$disk"
  cp -a "$kept/." "$disk"
  cd "$disk"
  "$BINARY" --project "$disk" trust > /dev/null
  dd if=/dev/zero of=filler bs=64k 2> /dev/null || true
  truncate -s -"$LEFT"K filler
else
  cd "$disk"
  trap '' XFSZ
  ulimit -f 20000
fi
set +e
eval "\"$BINARY\" --project \"$disk\" $ARGUMENTS" < /dev/null
"#;

fn run_on_full_disk(project: &Project, case: &Case) -> Output {
    let is_root = nix::unistd::geteuid().is_root();
    let mut command = match is_root {
        true => {
            let mut command = Command::new("unshare");
            command.args(["-m", "sh", "-c"]);
            command
        }
        false => {
            let mut command = Command::new("sh");
            command.arg("-c");
            command
        }
    };
    command
        .arg(SCRIPT)
        .env(
            "PROJECT",
            project
                .path("")
                .as_os_str()
                .to_str()
                .expect("a path")
                .trim_end_matches('/'),
        )
        .env("LEFT", case.left_kib.to_string())
        .env("ARGUMENTS", case.arguments)
        .env("BINARY", env!("CARGO_BIN_EXE_selvedge"))
        .env_remove("DATABASE_URL")
        .env("SELVEDGE_STATE_HOME", project.state_home());
    command.output().expect("a shell")
}

#[test]
fn gw_031_a_command_on_a_full_disk_says_so_and_can_be_repeated_once_there_is_room() {
    let project = Project::new();
    write_project(&project);
    project.run_and_expect_success(&["reset", "--yes"]);
    expect_success(&run_in(&project, &["backup", "kept.tar"]), "a backup");
    let is_long = std::env::var("SELVEDGE_TEST_KILLS").is_ok();
    let begin = usize::try_from(std::process::id()).expect("small");
    for number in 0..if is_long { CASES.len() } else { 2 } {
        let case = &CASES[(begin + number) % CASES.len()];
        let what = case.arguments;
        if what == "migration up" {
            project.write(
                "migrations/20260103000000_much.sql",
                "create table much as select generate_series(1, 1000000) as number;",
            );
        }

        let output = run_on_full_disk(&project, case);

        let printed = text_of(&output);
        assert!(
            !output.status.success() && !printed.contains("panicked"),
            "{what}: {printed}"
        );
        assert!(
            [
                "No space left on device",
                "Check free disk space",
                "File too large"
            ]
            .iter()
            .any(|cause| printed.contains(cause)),
            "{what}: {printed}"
        );
        wait_until_unused(&project, false, what);
        assert!(!project.path("cut-off.tar").exists(), "{what}");
        project.run_and_expect_success(&["trust"]);
        expect_success(&run_in(&project, case.again), what);
        assert_eq!(list_half_files(&project), Vec::<String>::new(), "{what}");
        let rows =
            project.run_and_expect_success(&["db", "query", "-o", "csv", "select count(*) from notes"]);
        assert_eq!(rows, "count\n10000\n", "{what}");
    }
}
