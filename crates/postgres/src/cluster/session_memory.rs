//! What sessions of the embedded cluster hold in memory, and cancelling the one that holds most: a statement can make PostgreSQL build a text
//! of a gigabyte, and a process that exceeds the limit of the control group is killed, upon which PostgreSQL ends all sessions.

use std::collections::HashMap;
use std::fs;
use std::time::{Duration, Instant};

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;

/// How long a cancelled statement may take to end, before its session is ended.
const GRACE: Duration = Duration::from_secs(1);
/// Time between two cancellations, in which the memory of the first one becomes free, and between two of the same session.
const PAUSE: Duration = Duration::from_millis(10);
const PAUSE_OF_SESSION: Duration = Duration::from_millis(50);
/// How long the process of PostgreSQL that was found is taken for the cluster's: finding it takes a look at each thread of this process.
const KEPT: Duration = Duration::from_secs(1);
/// After this time without a shortage nothing is known of earlier ones.
const FORGET: Duration = Duration::from_secs(2);

/// Looks after the sessions of the cluster that this process has started.
#[derive(Debug, Default)]
pub struct SessionMemory {
    /// Sessions that were cancelled and have held too much ever since.
    cancelled: HashMap<i32, Cancelled>,
    last: Option<Instant>,
    /// The processes of PostgreSQL that this process has started, and when they were found.
    postmasters: Vec<i32>,
    found: Option<Instant>,
}

/// When the statements of a session were cancelled.
#[derive(Debug, Clone, Copy)]
struct Cancelled {
    first: Instant,
    last: Instant,
}

/// A session whose statement was cancelled.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CancelledSession {
    /// The process.
    pub pid: i32,
    /// What it held that no file backs.
    pub bytes: u64,
    /// Its login, as PostgreSQL writes it into the title of the process.
    pub login: String,
    /// Whether the session itself was ended, because its statement did not end.
    pub is_ended: bool,
}

impl SessionMemory {
    /// Cancels the statement of the session that holds most, of those that were not cancelled a moment ago and whose login is not spared. `None`
    /// when none holds `least` bytes.
    pub fn cancel_largest(&mut self, least: u64, spared: &[&str]) -> Option<CancelledSession> {
        if self.last.is_some_and(|at| at.elapsed() < PAUSE) {
            return None;
        }
        let sessions = self.postmasters().iter().flat_map(|pid| children_of(*pid));
        let large: Vec<Session> = sessions
            .filter_map(|pid| Session::read(pid, least))
            .filter(|session| !spared.contains(&session.login.as_str()))
            .collect();
        // What a session holds that has released its memory in between is of another statement.
        self.cancelled.retain(|pid, cancelled| {
            cancelled.last.elapsed() < FORGET && large.iter().any(|session| session.pid == *pid)
        });
        let is_ending = |pid| {
            let cancelled = self.cancelled.get(&pid);
            cancelled.is_some_and(|cancelled| cancelled.last.elapsed() < PAUSE_OF_SESSION)
        };
        let largest = large
            .into_iter()
            .filter(|session| !is_ending(session.pid))
            .max_by_key(|session| session.bytes)?;
        let now = Instant::now();
        let cancelled = self.cancelled.entry(largest.pid).or_insert(Cancelled {
            first: now,
            last: now,
        });
        let is_ended = cancelled.first.elapsed() >= GRACE;
        let signal = if is_ended { Signal::SIGTERM } else { Signal::SIGINT };
        cancelled.last = now;
        self.last = Some(now);
        // Fails when it has ended already.
        kill(Pid::from_raw(largest.pid), signal).ok()?;
        Some(CancelledSession {
            pid: largest.pid,
            bytes: largest.bytes,
            login: largest.login,
            is_ended,
        })
    }

    fn postmasters(&mut self) -> &[i32] {
        if self.found.is_none_or(|at| at.elapsed() >= KEPT) {
            self.postmasters = find_postmasters();
            self.found = Some(Instant::now());
        }
        &self.postmasters
    }

    /// Whether a statement was cancelled a moment ago, which may not have ended yet.
    pub fn is_waiting(&self) -> bool {
        self.last.is_some_and(|at| at.elapsed() < GRACE)
    }
}

/// A session of a client.
#[derive(Debug, PartialEq, Eq)]
struct Session {
    pid: i32,
    bytes: u64,
    login: String,
}

impl Session {
    /// `None` for one that holds less than `least` bytes or has ended, and for other processes of PostgreSQL.
    fn read(pid: i32, least: u64) -> Option<Self> {
        let status = fs::read_to_string(format!("/proc/{pid}/status")).ok()?;
        let line = status.lines().find_map(|line| line.strip_prefix("RssAnon:"))?;
        let kibibytes: u64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
        let bytes = kibibytes.saturating_mul(1024);
        if bytes < least {
            return None;
        }
        let title = fs::read(format!("/proc/{pid}/cmdline")).ok()?;
        let login = login_of(&String::from_utf8_lossy(&title))?;
        Some(Self { pid, bytes, login })
    }
}

/// The login of a session by the title of its process: `postgres: CLUSTER: LOGIN DATABASE [local] SELECT`. Other processes have other
/// titles, such as `postgres: CLUSTER: walsender LOGIN [local] START_REPLICATION`.
fn login_of(title: &str) -> Option<String> {
    let title = title.trim_end_matches('\0').strip_prefix("postgres: ")?;
    let title = title.split_once(": ").map_or(title, |(_cluster, title)| title);
    let words: Vec<&str> = title.split(' ').collect();
    if let ["walsender" | "autovacuum" | "parallel" | "logical", ..] = words.as_slice() {
        return None;
    }
    // Names may have spaces. `(aborted)` of an activity is no address.
    let is_place = |word: &&str| {
        let is_address = word.ends_with(')') && word.find('(').is_some_and(|at| at > 0);
        *word == "[local]" || is_address
    };
    let place = words.iter().position(is_place)?;
    let login = words.get(..place.checked_sub(1)?)?.join(" ");
    (!login.is_empty()).then_some(login)
}

/// The processes of PostgreSQL that this process has started.
fn find_postmasters() -> Vec<i32> {
    let is_postgres = |pid: &i32| {
        fs::read_to_string(format!("/proc/{pid}/comm")).is_ok_and(|name| name.trim_end() == "postgres")
    };
    let own = i32::try_from(std::process::id()).unwrap_or_default();
    children_of(own).into_iter().filter(is_postgres).collect()
}

/// The processes that a process has started, by any of its threads. None where the system does not say it.
fn children_of(pid: i32) -> Vec<i32> {
    let Ok(tasks) = fs::read_dir(format!("/proc/{pid}/task")) else {
        return Vec::new();
    };
    let children = tasks
        .flatten()
        .filter_map(|task| fs::read_to_string(task.path().join("children")).ok());
    children
        .flat_map(|pids| {
            let pids: Vec<i32> = pids
                .split_whitespace()
                .filter_map(|pid| pid.parse().ok())
                .collect();
            pids
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sessions_of_clients_are_told_from_other_processes_by_their_titles() {
        let login = |title: &str| login_of(title).unwrap_or_default();

        assert_eq!(
            login("postgres: selvedge my-app 1a2b: authenticator postgres [local] SELECT\0\0"),
            "authenticator"
        );
        assert_eq!(
            login("postgres: authenticator postgres 127.0.0.1(51234) idle"),
            "authenticator"
        );
        assert_eq!(
            login("postgres: my app: night job postgres [local] idle in transaction (aborted)"),
            "night job"
        );
        for other in [
            "postgres: x: authenticator postgres (aborted)",
            "postgres: selvedge my-app 1a2b: checkpointer ",
            "postgres: selvedge my-app 1a2b: autovacuum worker postgres",
            "postgres: selvedge my-app 1a2b: walsender supabase_replication_admin [local] START_REPLICATION",
            "postgres: selvedge my-app 1a2b: parallel worker for PID 4711",
            "/usr/lib/postgresql/15/bin/postgres -D /data -p 1",
            "",
        ] {
            assert_eq!(login(other), "", "{other}");
        }
    }

    #[test]
    fn a_process_knows_its_children() {
        let mut child = std::process::Command::new("sleep")
            .arg("60")
            .spawn()
            .expect("started");
        let own = i32::try_from(std::process::id()).expect("a pid");

        let found = children_of(own);

        child.kill().expect("killed");
        child.wait().expect("ended");
        assert!(found.contains(&child.id().cast_signed()), "{found:?}");
    }
}
