//! A process's CPU time and memory, as the kernel reports them.

use std::time::Duration;

/// Processor time and memory of a process.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Usage {
    /// Processor time of all threads: JavaScript runs on the main one, and hashes and compression that it asks for on others.
    pub(crate) cpu: Duration,
    /// Memory that belongs to the process alone: the heap and buffers, not the program.
    pub(crate) memory_bytes: u64,
}

/// Files, sockets and listeners that a process has open.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct OpenFiles {
    pub(crate) number: u64,
    /// The most that the system gives it; `None` for no limit, or one that is not known.
    pub(crate) limit: Option<u64>,
}

/// Reads what a process has open; `None` when it has ended, or the operating system does not report it.
pub(crate) fn read_open_files(pid: u32) -> Option<OpenFiles> {
    let number = std::fs::read_dir(format!("/proc/{pid}/fd")).ok()?.count();
    let limits = std::fs::read_to_string(format!("/proc/{pid}/limits")).ok()?;
    Some(OpenFiles {
        number: u64::try_from(number).ok()?,
        limit: parse_file_limit(&limits),
    })
}

/// The soft limit of `Max open files` in `/proc/…/limits`.
fn parse_file_limit(limits: &str) -> Option<u64> {
    let line = limits
        .lines()
        .find_map(|line| line.strip_prefix("Max open files"))?;
    line.split_ascii_whitespace().next()?.parse().ok()
}

/// Reads the usage of a process; `None` when it has ended, or the operating system does not report it.
#[cfg(target_os = "linux")]
pub(crate) fn read_usage(pid: u32) -> Option<Usage> {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    let status = std::fs::read_to_string(format!("/proc/{pid}/status")).ok()?;
    Some(Usage {
        cpu: parse_cpu(&stat)?,
        memory_bytes: parse_memory(&status)?,
    })
}

/// Other systems have no `/proc`: there, only the limits of time and of V8's heap apply.
#[cfg(not(target_os = "linux"))]
pub(crate) fn read_usage(_pid: u32) -> Option<Usage> {
    None
}

/// User and system time in `/proc/…/stat` (proc(5)): fields 14 and 15, in hundredths of a second on every Linux.
#[cfg(any(target_os = "linux", test))]
fn parse_cpu(stat: &str) -> Option<Duration> {
    // The second field is the program's name in parentheses, which may contain spaces.
    let (_, rest) = stat.rsplit_once(')')?;
    let mut fields = rest.split_ascii_whitespace().skip(11);
    let user: u64 = fields.next()?.parse().ok()?;
    let system: u64 = fields.next()?.parse().ok()?;
    Some(Duration::from_millis((user + system) * 10))
}

/// `RssAnon` in `/proc/…/status`, in KiB there.
#[cfg(any(target_os = "linux", test))]
fn parse_memory(status: &str) -> Option<u64> {
    let line = status.lines().find_map(|line| line.strip_prefix("RssAnon:"))?;
    let kib: u64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    Some(kib * 1024)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn processor_time_and_memory_are_read_from_procs_text() {
        let stat = "77 (de no) S 1 77 77 0 -1 4194560 9 0 0 0 12 3 0 0 20 0 9 0 5 6 7";
        assert_eq!(parse_cpu(stat), Some(Duration::from_millis(150)));
        let limits = "Limit  Soft Limit  Hard Limit  Units\nMax open files            1024                 1048576              files\n";
        assert_eq!(parse_file_limit(limits), Some(1024));
        assert_eq!(
            parse_memory("Name:\tdeno\nRssAnon:\t   2048 kB\n"),
            Some(2 * 1024 * 1024)
        );
        assert_eq!(parse_cpu(""), None);
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn the_usage_of_a_running_process_is_known() {
        let usage = read_usage(std::process::id()).expect("this process runs");

        assert!(usage.memory_bytes > 0);
        assert_eq!(read_usage(u32::MAX), None);
    }
}
