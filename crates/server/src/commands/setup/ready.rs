//! Waits for the first answer of the server, and says why there is none.

use std::path::Path;
use std::time::{Duration, Instant};

use anyhow::{Result, anyhow};
use selvedge_postgres::cluster::is_production_home;

use super::places::{COMMAND, POSTGRES_UNIT, SERVER_UNIT};
use super::process::Command;

/// How long the first start may take: it makes the database and the platform's schema.
const START_TIME: Duration = Duration::from_secs(90);
/// The pause between two questions.
const PAUSE: Duration = Duration::from_millis(500);
/// After so many starts that failed the next one will not do better.
const MOST_FAILURES: u32 = 3;

/// The question whether the server is ready.
pub(super) fn question() -> Command {
    Command::new(&[COMMAND, "serve", "--ready"])
}

/// Waits until the server is ready.
///
/// # Errors
/// When it is not in time, or a unit fails again and again. The message has the last lines of the log.
pub(super) fn wait_until_ready(home: &Path) -> Result<()> {
    let deadline = Instant::now() + START_TIME;
    let mut server = count_restarts(SERVER_UNIT)?;
    let postgres = count_restarts(POSTGRES_UNIT)?;
    loop {
        let Err(error) = question().run() else {
            return Ok(());
        };
        let restarts = count_restarts(SERVER_UNIT)?;
        // Until PostgreSQL has made the database, the server fails, and is started again.
        if !is_production_home(home) {
            server = restarts;
        }
        let has_failed = |now: u32, before: u32| now.saturating_sub(before) >= MOST_FAILURES;
        let fails = has_failed(restarts, server) || has_failed(count_restarts(POSTGRES_UNIT)?, postgres);
        if fails || Instant::now() >= deadline {
            return Err(anyhow!("the server does not start: {error}\n{}", read_log()));
        }
        std::thread::sleep(PAUSE);
    }
}

/// How often systemd has started a unit again by itself.
fn count_restarts(unit: &str) -> Result<u32> {
    let shown = Command::new(&["systemctl", "show", "--property=NRestarts", "--value", unit]).print()?;
    Ok(shown.trim().parse().unwrap_or(0))
}

fn read_log() -> String {
    let units = ["-u", SERVER_UNIT, "-u", POSTGRES_UNIT];
    let words = [
        &[
            "journalctl",
            "--no-pager",
            "--quiet",
            "--lines=20",
            "--output=cat",
        ][..],
        &units,
    ]
    .concat();
    let lines = Command::new(&words).print().unwrap_or_default();
    format!(
        "the last lines of its log (all of them:  journalctl {}):\n{}",
        units.join(" "),
        lines.trim_end()
    )
}
