//! Identifies a process beyond its number, which the system gives to another process later, and which means something else in
//! another container.

use serde::{Deserialize, Serialize};

/// What Linux says about a process besides its number; both parts are unknown on other systems.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ProcessMark {
    /// When the process began, in clock ticks since the start of the machine.
    pub start_ticks: Option<u64>,
    /// The inode of its namespace of process numbers. Processes of two containers differ in it.
    pub pid_namespace: Option<u64>,
}

impl ProcessMark {
    /// The mark of this process.
    pub(crate) fn of_this_process() -> Self {
        Self {
            start_ticks: start_ticks(std::process::id()),
            pid_namespace: own_pid_namespace(),
        }
    }

    /// Whether the process number was given in a namespace that this process does not see.
    pub(crate) fn is_of_other_namespace(&self) -> bool {
        matches!((self.pid_namespace, own_pid_namespace()), (Some(its), Some(own)) if its != own)
    }

    /// Whether the process with this number is the one that was marked. False when nothing is known about it.
    pub(crate) fn is_alive(&self, pid: u32) -> bool {
        !self.is_of_other_namespace() && self.start_ticks.is_some() && start_ticks(pid) == self.start_ticks
    }
}

/// The 22nd field of `/proc/PID/stat`. The second field is the program's name in parentheses, which may hold anything. `None` for a process
/// that has ended and whose parent has not asked how: its number is taken, and nothing runs.
fn start_ticks(pid: u32) -> Option<u64> {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    let (_, after_name) = stat.rsplit_once(')')?;
    let mut fields = after_name.split_whitespace();
    let state = fields.next()?;
    if state == "Z" {
        return None;
    }
    fields.nth(18)?.parse().ok()
}

fn own_pid_namespace() -> Option<u64> {
    use std::os::unix::fs::MetadataExt as _;
    std::fs::metadata("/proc/self/ns/pid").ok().map(|file| file.ino())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[cfg(target_os = "linux")]
    #[test]
    fn a_process_is_told_from_others_of_its_number() {
        let own = ProcessMark::of_this_process();
        let earlier = ProcessMark {
            start_ticks: own.start_ticks.map(|ticks| ticks - 1),
            ..own
        };
        let elsewhere = ProcessMark {
            pid_namespace: own.pid_namespace.map(|inode| inode + 1),
            ..own
        };

        let mut ended = std::process::Command::new("true").spawn().expect("it runs");
        let mark = ProcessMark {
            start_ticks: start_ticks(ended.id()),
            ..own
        };
        let deadline = std::time::Instant::now() + std::time::Duration::from_secs(60);
        while mark.is_alive(ended.id()) {
            assert!(
                std::time::Instant::now() < deadline,
                "it has ended, and counts as alive until somebody waits for it"
            );
        }
        ended.wait().expect("ended");

        assert!(own.is_alive(std::process::id()));
        assert!(!earlier.is_alive(std::process::id()));
        assert!(!elsewhere.is_alive(std::process::id()) && elsewhere.is_of_other_namespace());
    }
}
