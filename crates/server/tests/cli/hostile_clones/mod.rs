//! Hostile clones that are drawn by chance: whatever a stranger's project brings, and whatever its user calls in it, nothing outside of the
//! project and of our own folders changes, no program of the clone runs, and no file of the user comes out.
//!
//! `SELVEDGE_TEST_CLONES` says how many clones, and `SELVEDGE_TEST_CLONES_SEED` the seed of the first one; a failure prints its own. With
//! `SELVEDGE_TEST_CLONES_TRACE=1` every command runs under `strace` where that is possible, which also sees what is outside of the test's
//! folders.

mod parts;
mod trace;
mod world;

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::io::{Read as _, Seek as _};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use crate::support::Ports;
use world::{Draw, Kept, World};

/// What a clone's user calls. `start` lives until it has answered some requests.
const COMMANDS: [&[&str]; 30] = [
    &["start"],
    &["start"],
    &["start"],
    &["stop"],
    &["stop", "--no-backup"],
    &["status"],
    &["doctor"],
    &["reset", "--yes"],
    &["db", "reset", "--yes"],
    &["db", "reset", "--yes"],
    &["migrate", "up"],
    &["migration", "new", "evil"],
    &["backup", "copy.tar"],
    &["backup", "copy.tar"],
    &["restore", "copy.tar", "--yes"],
    &["restore", "shipped.tar", "--yes"],
    &["stack"],
    &["stack"],
    &["sweep"],
    &["seed", "buckets"],
    &["functions", "list"],
    &["functions", "new", "evil"],
    &["db", "dump"],
    &["gen", "types", "--local"],
    &["test", "db"],
    &["extension", "list"],
    &[
        "link",
        "--no-check",
        "--db-url",
        "postgresql://postgres@127.0.0.1:1/postgres",
    ],
    &["link-cli"],
    &["keys"],
    &["unlink"],
];

/// Far more than any command needs on a busy machine: one that waits for a pipe of the clone never ends.
const LIMIT: Duration = Duration::from_secs(120);

/// What is asked of a server that came up.
const REQUESTS: [&str; 7] = [
    "/functions/v1/hello",
    "/functions/v1/away",
    "/functions/v1/..%2f..%2fvictim%2fmodule",
    "/storage/v1/object/public/files/file",
    "/rest/v1/stolen",
    "/ssh/id_ed25519",
    "/..%2fvictim/documents/file",
];

/// One clone with what was done to it, for the message of a failure.
struct Attempt {
    world: World,
    draw: Draw,
    story: String,
    is_traced: bool,
    /// How many commands have succeeded.
    successes: usize,
}

impl Attempt {
    fn new(seed: u64, is_traced: bool) -> Self {
        Self {
            world: World::new(seed),
            draw: Draw::new(seed),
            story: format!("SELVEDGE_TEST_CLONES_SEED={seed}\n"),
            is_traced,
            successes: 0,
        }
    }

    async fn play(&mut self) {
        let kept = self.world.list_kept();
        let has_state = self.draw.chance(50);
        for _ in 0..=self.draw.pick_below(3) {
            let part = parts::draw_outside(&self.world, &mut self.draw);
            self.tell(&part);
        }
        if has_state {
            for _ in 0..=self.draw.pick_below(4) {
                let part = parts::draw_state(&self.world, &mut self.draw);
                self.tell(&part);
            }
        }
        self.world.write_config();
        let count = 4 + self.draw.pick_below(3);
        // A data folder that came with the clone is refused, until the user does what the refusal says.
        let reset_at = self.draw.pick_below(3);
        for number in 0..count {
            let arguments = self.draw.pick(&COMMANDS);
            let arguments = if number == reset_at {
                &["reset", "--yes"]
            } else {
                arguments
            };
            self.run(arguments).await;
            self.compare(&kept);
            if self.draw.chance(20) {
                self.pull();
            }
        }
        let found = self.world.find_secret();
        assert!(
            found.is_empty(),
            "the secret is in {found:?} after {}",
            self.story
        );
    }

    /// Checks that the victim's files are as they were.
    fn compare(&self, kept: &BTreeMap<PathBuf, Kept>) {
        let now = self.world.list_kept();
        let paths = kept.keys().chain(now.keys());
        let changed: BTreeSet<_> = paths.filter(|path| kept.get(*path) != now.get(*path)).collect();
        assert!(changed.is_empty(), "{changed:#?} changed after {}", self.story);
    }

    fn tell(&mut self, what: &str) {
        let _ = writeln!(self.story, "  {what}");
    }

    /// The clone changes, as by `git pull`, after its user has worked in it.
    fn pull(&mut self) {
        let part = parts::draw_outside(&self.world, &mut self.draw);
        self.tell(&format!("then {part}"));
        if self.draw.chance(30) {
            let part = parts::link_in_state(&self.world, &mut self.draw);
            self.tell(&format!("then {part}"));
        }
        self.world.write_config();
    }

    /// Runs a command to its end, and looks at what it printed and, where it is watched, at what it did.
    async fn run(&mut self, arguments: &[&str]) {
        let folder = tempfile::tempdir().expect("a folder");
        let program = Path::new(env!("CARGO_BIN_EXE_selvedge"));
        let mut command = if self.is_traced {
            trace::watch(&self.world, program, folder.path())
        } else {
            self.world.command(program)
        };
        command
            .arg("--project")
            .arg(self.world.clone_path(""))
            .args(arguments);
        let is_start = arguments == ["start"];
        if is_start {
            // A file of the clone may name others.
            let Ports { api, database, inbox } = self.world.ports;
            for (flag, port) in [("--port", api), ("--db-port", database), ("--inbox-port", inbox)] {
                command.args([flag, &port.to_string()]);
            }
        }
        let deno = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../e2e/node_modules/deno/deno");
        if is_start && deno.is_file() {
            command.arg("--deno-bin").arg(deno);
        }
        let (mut child, mut output) = spawn(command);
        let mut answers = String::new();
        if is_start {
            answers = self.send_requests(&mut child, folder.path()).await;
        }
        let is_success = self.wait(&mut child, arguments);
        let mut printed = Vec::new();
        output.rewind().expect("a file");
        output.read_to_end(&mut printed).expect("readable");
        let shown = String::from_utf8_lossy(&printed).into_owned();
        let last = shown.lines().last().unwrap_or_default();
        self.tell(&format!("{arguments:?}: {is_success}, {last}"));
        self.successes += usize::from(is_success);

        let story = &self.story;
        assert!(!shown.contains("panicked at"), "{shown}\nafter {story}");
        // What a command prints, such as a line of a seed with an error, is seen by the owner of the files alone.
        assert!(!answers.contains(&self.world.secret), "{answers}\nafter {story}");
        if self.is_traced {
            let violations = trace::list_violations(&self.world, folder.path());
            assert!(violations.is_empty(), "{violations:#?}\nafter {story}");
        }
    }

    /// Waits until a server answers, asks it for things, and ends it. Returns its answers.
    async fn send_requests(&self, child: &mut Child, traces: &Path) -> String {
        let url = |path: &str| format!("http://127.0.0.1:{}{path}", self.world.ports.api);
        let client = reqwest::Client::builder()
            .timeout(Duration::from_secs(20))
            .build()
            .expect("a client");
        let deadline = Instant::now() + LIMIT / 2;
        let is_ready = async || {
            let answer = client.get(url("/health/ready")).send().await;
            answer.is_ok_and(|answer| answer.status() == 200)
        };
        while !is_ready().await && Instant::now() < deadline {
            if child.try_wait().expect("a child").is_some() {
                return String::new();
            }
            actix_web::rt::time::sleep(Duration::from_millis(30)).await;
        }
        let mut answers = String::new();
        for path in REQUESTS {
            if let Ok(answer) = client.get(url(path)).send().await {
                answers += &answer.text().await.unwrap_or_default();
            }
        }
        // Under `strace` the server is the process with the first file.
        let pid = if self.is_traced {
            trace::first_process(traces)
        } else {
            child.id()
        };
        let status = Command::new("kill").args(["-TERM", &pid.to_string()]).status();
        assert!(status.expect("kill runs").success());
        answers
    }

    fn wait(&self, child: &mut Child, arguments: &[&str]) -> bool {
        let deadline = Instant::now() + LIMIT;
        loop {
            if let Some(status) = child.try_wait().expect("a child") {
                return status.success();
            }
            if Instant::now() > deadline {
                let _ = child.kill();
                panic!("{arguments:?} does not end after {}", self.story);
            }
            std::thread::sleep(Duration::from_millis(10));
        }
    }
}

/// Starts a command without input, with its output in a file without a name.
fn spawn(mut command: Command) -> (Child, std::fs::File) {
    let output = tempfile::tempfile().expect("a file");
    let child = command
        .stdin(Stdio::null())
        .stdout(output.try_clone().expect("a second handle"))
        .stderr(output.try_clone().expect("a second handle"))
        .spawn()
        .expect("the binary starts");
    (child, output)
}

fn read_number(name: &str) -> Option<u64> {
    std::env::var(name).ok()?.parse().ok()
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn gw_109_whatever_a_clone_brings_nothing_outside_of_it_is_written_removed_run_or_shown() {
    let count = read_number("SELVEDGE_TEST_CLONES").unwrap_or(2);
    let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH);
    let now = u64::from(now.expect("after 1970").subsec_nanos());
    let first = read_number("SELVEDGE_TEST_CLONES_SEED").unwrap_or(now);
    let is_traced = read_number("SELVEDGE_TEST_CLONES_TRACE") == Some(1) && trace::is_possible();
    let mut successes = 0;
    for seed in first..first + count {
        let mut attempt = Attempt::new(seed, is_traced);
        attempt.play().await;
        // Shown with `--nocapture`.
        println!("{}", attempt.story);
        successes += attempt.successes;
    }
    // Where every command refuses, nothing was tried.
    assert!(
        count < 10 || successes > 0,
        "no command of {count} clones has succeeded"
    );
}
