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
        let status =
            std::fs::read_to_string(format!("/proc/{}/status", self.pid)).context("no such process")?;
        let line = status
            .lines()
            .find_map(|line| line.strip_prefix("VmRSS:"))
            .context("malformed status")?;
        let kilobytes: u64 = line.trim().trim_end_matches("kB").trim().parse()?;
        Ok(kilobytes * 1024)
    }
}
