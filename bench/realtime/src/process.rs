//! The server's CPU time and memory, from `/proc`.

use std::time::Duration;

use anyhow::{Context, Result};

/// Linux reports CPU time in hundredths of a second in `/proc`.
const TICK: Duration = Duration::from_millis(10);

/// The process of the server.
pub(crate) struct ServerProcess {
    pid: u32,
}

impl ServerProcess {
    pub(crate) fn new(pid: u32) -> Self {
        Self { pid }
    }

    /// CPU time since its start, user and system.
    pub(crate) fn cpu_time(&self) -> Result<Duration> {
        let stat = std::fs::read_to_string(format!("/proc/{}/stat", self.pid)).context("no such process")?;
        // The name in parentheses may contain spaces; the numbers come after it.
        let (_, fields) = stat.rsplit_once(')').context("malformed stat")?;
        let mut fields = fields.split_whitespace().skip(11);
        let mut next = || -> Result<u32> { Ok(fields.next().context("malformed stat")?.parse()?) };
        let ticks = next()? + next()?;
        Ok(TICK * ticks)
    }

    /// Resident memory in bytes.
    pub(crate) fn memory_bytes(&self) -> Result<u64> {
        self.status("VmRSS:")
    }

    /// The most resident memory since [`ServerProcess::reset_peak_memory`], in bytes.
    pub(crate) fn peak_memory_bytes(&self) -> Result<u64> {
        self.status("VmHWM:")
    }

    /// Lets the peak begin at what is used now.
    pub(crate) fn reset_peak_memory(&self) -> Result<()> {
        let path = format!("/proc/{}/clear_refs", self.pid);
        std::fs::write(path, "5").context("the peak cannot be reset")
    }

    /// A line of `/proc/<pid>/status` that is given in kilobytes, in bytes.
    fn status(&self, name: &str) -> Result<u64> {
        let status =
            std::fs::read_to_string(format!("/proc/{}/status", self.pid)).context("no such process")?;
        let line = status
            .lines()
            .find_map(|line| line.strip_prefix(name))
            .context("malformed status")?;
        let kilobytes: u64 = line.trim().trim_end_matches("kB").trim().parse()?;
        Ok(kilobytes * 1024)
    }
}
