//! Watches how much memory is really in use: budgets count what is large, and this counts everything.

use std::fs;
use std::io;
use std::thread;
use std::time::{Duration, Instant};

use crate::{ControlGroup, MemoryBudget, machine_memory, metrics};

/// Requests are refused above the first percentage of the limit, until less than the second one is in use.
const HIGH_MARK: u64 = 85;
const LOW_MARK: u64 = 75;
/// Above the first percentage of a control group's limit what takes very much is given up, and above the second what takes much.
const RELIEF_MARK: u64 = 68;
const URGENT_RELIEF_MARK: u64 = 78;
/// Nothing is given up while more bytes than these are left: in a large group other programs may hold most, and what is left is still enough.
const PLENTY: u64 = 1 << 30;
const URGENT_PLENTY: u64 = 704 << 20;
/// Above this percentage what takes very much is given up also in a large group, as requests are refused soon.
const LAST_RELIEF_MARK: u64 = 84;
/// Percentage of the limit above which the allocator is made to return memory.
const ALERT_MARK: u64 = 40;
/// The shortest and the longest time between two readings of the memory in use, in milliseconds.
const SHORTEST_INTERVAL: u64 = 3;
const LONGEST_INTERVAL: u64 = 500;
/// The longest time between two readings while too much is in use, in milliseconds, and the growth in bytes that makes it the shortest again.
const LONGEST_PAUSE: u64 = 50;
const GROWTH: u64 = 1 << 20;
/// How fast a few sessions of PostgreSQL fill memory together, in bytes: the next reading comes before they can reach the mark.
const BYTES_PER_MILLISECOND: u64 = 4_000_000;

/// How much is in use.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Shortage {
    /// What takes very much should be given up.
    Begins,
    /// What takes much should be given up, or requests are refused.
    Urgent,
}

/// How often the allocator is made to return memory that no thread has, and how often the threads are asked to give back theirs.
const RETURN_INTERVAL: Duration = Duration::from_millis(50);
const THREADS_INTERVAL: Duration = Duration::from_millis(250);

/// The memory that this process may use.
#[derive(Debug)]
pub struct MemoryLimit {
    bytes: u64,
    /// The group that has the limit; `None` where it is a configured one, or the machine's memory.
    group: Option<ControlGroup>,
}

impl MemoryLimit {
    /// The configured limit, or else the lowest one of the control groups around this process, or else the memory of the
    /// machine. `None` where nothing says it.
    pub fn find(configured_bytes: Option<u64>) -> Option<Self> {
        let of_machine = machine_memory();
        if let Some(bytes) = configured_bytes {
            return Some(Self { bytes, group: None });
        }
        match ControlGroup::find() {
            // A limit above the machine's memory limits nothing.
            Some(group) if of_machine.is_none_or(|machine| group.limit_bytes() <= machine) => Some(Self {
                bytes: group.limit_bytes(),
                group: Some(group),
            }),
            _ => of_machine.map(|bytes| Self { bytes, group: None }),
        }
    }

    /// The limit in bytes.
    pub fn bytes(&self) -> u64 {
        self.bytes
    }

    /// Whether it is that of a control group, all of whose processes count, and of which one is killed when they exceed it.
    pub fn is_of_group(&self) -> bool {
        self.group.is_some()
    }

    /// The memory in use: that of the whole group, since its processes are killed together; else that of this process.
    fn used_bytes(&self) -> Option<u64> {
        match &self.group {
            Some(group) => group.used_bytes(),
            None => used_by_process(),
        }
    }
}

/// Memory of this process that is backed by no file.
fn used_by_process() -> Option<u64> {
    let status = fs::read_to_string("/proc/self/status").ok()?;
    let kibibytes = |name: &str| -> Option<u64> {
        let line = status.lines().find_map(|line| line.strip_prefix(name))?;
        line.trim().strip_suffix("kB")?.trim().parse().ok()
    };
    Some((kibibytes("RssAnon:")? + kibibytes("RssShmem:")?) * 1024)
}

/// Starts a thread that looks at the memory in use and makes the budget say when it runs short. `relieve` is called, again and again, while
/// so much of a control group's memory is in use that something should be given up; it returns whether it has cancelled a statement. Where the
/// limit is that of this process alone nothing is given up, as other processes' memory does not count towards it. The thread ends after everybody else has dropped the budget.
///
/// # Errors
/// When the system cannot start a thread.
pub fn watch_memory(
    limit: MemoryLimit,
    budget: MemoryBudget,
    mut relieve: impl FnMut(Shortage) -> bool + Send + 'static,
) -> io::Result<()> {
    metrics::set_limit(limit.bytes);
    let (mut returned, mut asked) = (Instant::now(), Instant::now());
    let mut pace = Pace::default();
    thread::Builder::new().name("memory".to_owned()).spawn(move || {
        while budget.is_shared() {
            let Some(used) = limit.used_bytes() else {
                tracing::warn!("the memory in use cannot be read, so it is not watched");
                return;
            };
            metrics::set_used(used);
            let share = share_of(used, limit.bytes);
            update(&budget, share, used, limit.bytes);
            let shortage = Shortage::of(used, limit.bytes).filter(|_| limit.is_of_group());
            if shortage.is_some_and(&mut relieve) {
                budget.note_relief();
            }
            if share >= ALERT_MARK && returned.elapsed() >= RETURN_INTERVAL {
                returned = Instant::now();
                return_freed_memory();
                if asked.elapsed() >= THREADS_INTERVAL {
                    asked = Instant::now();
                    budget.note_crowded();
                }
            }
            thread::sleep(pace.next(used, limit.bytes));
        }
    })?;
    Ok(())
}

impl Shortage {
    /// Whether something should be given up where so much of a control group's limit is in use.
    fn of(used: u64, limit: u64) -> Option<Self> {
        let urgent_mark = (limit / 100 * URGENT_RELIEF_MARK).max(limit.saturating_sub(URGENT_PLENTY));
        if used >= urgent_mark {
            Some(Self::Urgent)
        } else {
            (used >= relief_mark(limit)).then_some(Self::Begins)
        }
    }
}

/// The bytes in use from which on something is given up.
fn relief_mark(limit: u64) -> u64 {
    let hundredth = limit / 100;
    let little_left = limit.saturating_sub(PLENTY).min(hundredth * LAST_RELIEF_MARK);
    little_left.max(hundredth * RELIEF_MARK)
}

/// When the memory is read next.
#[derive(Debug, Default)]
struct Pace {
    used: u64,
    milliseconds: u64,
}

impl Pace {
    /// How long until the next reading: the shorter, the less is left before something is given up. While too much is in use that does not
    /// grow, what can be given up has been, so the time doubles, up to half of that in which a few sessions could reach the limit.
    fn next(&mut self, used: u64, limit: u64) -> Duration {
        let left = relief_mark(limit).saturating_sub(used);
        let has_grown = used > self.used.saturating_add(GROWTH);
        let milliseconds = if left == 0 && !has_grown {
            let rest = limit.saturating_sub(used) / 2 / BYTES_PER_MILLISECOND;
            (self.milliseconds * 2).min(rest.min(LONGEST_PAUSE))
        } else {
            left / BYTES_PER_MILLISECOND
        };
        self.milliseconds = milliseconds.clamp(SHORTEST_INTERVAL, LONGEST_INTERVAL);
        self.used = used;
        Duration::from_millis(self.milliseconds)
    }
}

/// How many hundredths of the limit are in use.
fn share_of(used: u64, limit: u64) -> u64 {
    used.saturating_mul(100) / limit.max(1)
}

fn update(budget: &MemoryBudget, share: u64, used_bytes: u64, limit_bytes: u64) {
    match (budget.is_short(), share) {
        (false, HIGH_MARK..) => {
            tracing::warn!(used_bytes, limit_bytes, "memory runs short: requests are refused");
            budget.set_short(true);
        }
        (true, ..LOW_MARK) => {
            tracing::info!(used_bytes, limit_bytes, "there is memory again");
            budget.set_short(false);
        }
        _ => {}
    }
}

/// Returns what the calling thread has freed whenever much memory is in use. Only a thread itself can give back the pages from which it has
/// allocated: after a flood of requests the server would otherwise keep most of what it took at its peak.
pub async fn return_memory_of_thread(budget: MemoryBudget) {
    loop {
        budget.wait_until_crowded().await;
        return_freed_memory();
    }
}

/// Returns freed memory to the system, of threads that have ended and of the calling one. mimalloc, the allocator, would keep it for a
/// second, and within that second a client can fill its share again and again, each time in other memory.
#[expect(unsafe_code, reason = "the allocator is a library in C")]
fn return_freed_memory() {
    // SAFETY: any thread may call it at any time, and it frees nothing that is in use.
    unsafe { libmimalloc_sys::mi_collect(true) };
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn requests_are_refused_from_the_high_mark_until_the_low_one() {
        let budget = MemoryBudget::new(1);
        let mut is_short = |used| {
            update(&budget, share_of(used, 1000), used, 1000);
            budget.is_short()
        };

        assert_eq!(
            [700, 849, 850, 800, 750, 749, 800].map(&mut is_short),
            [false, false, true, true, true, false, false]
        );
    }

    #[test]
    fn gw_049_the_memory_is_read_more_often_the_less_of_it_is_left() {
        const MB: u64 = 1_000_000;
        let milliseconds = |used, limit| Pace::default().next(used * MB, limit * MB).as_millis();

        assert_eq!(milliseconds(100, 500), 60);
        assert_eq!(milliseconds(300, 500), 10);
        assert_eq!(milliseconds(400, 500), 3);
        assert_eq!(milliseconds(100, 24_000), 500);
    }

    #[test]
    fn gw_049_a_watch_that_cannot_help_reads_less_often_until_memory_grows_again() {
        const MB: u64 = 1_000_000;
        let mut pace = Pace::default();
        let mut milliseconds = |used| pace.next(used * MB, 500 * MB).as_millis();

        assert_eq!([350; 5].map(&mut milliseconds), [3, 6, 12, 18, 18]);
        assert_eq!([360, 360, 300].map(&mut milliseconds), [3, 6, 10]);
    }

    #[test]
    fn gw_049_nothing_is_given_up_while_gigabytes_are_left() {
        const MIB: u64 = 1 << 20;
        let shortage = |used, limit| Shortage::of(used * MIB, limit * MIB);

        assert_eq!(shortage(340, 512), None);
        assert_eq!(shortage(360, 512), Some(Shortage::Begins));
        assert_eq!(shortage(405, 512), Some(Shortage::Urgent));
        // Seven tenths of four gigabytes, as an editor and a compiler take them beside a start, and eleven of sixteen.
        assert_eq!(shortage(2867, 4096), None);
        assert_eq!(shortage(3073, 4096), Some(Shortage::Begins));
        assert_eq!(shortage(11 * 1024, 16 * 1024), None);
        assert_eq!(shortage(14 * 1024, 16 * 1024), Some(Shortage::Begins));
        assert_eq!(shortage(16_000, 16 * 1024), Some(Shortage::Urgent));
    }

    #[test]
    fn this_process_uses_less_than_its_limit() {
        let limit = MemoryLimit::find(None).expect("Linux says it");

        let used = limit.used_bytes().expect("Linux says it");

        assert!(0 < used && used < limit.bytes(), "{used} of {}", limit.bytes());
        let configured = MemoryLimit::find(Some(5)).expect("it is configured");
        assert_eq!((configured.bytes(), configured.is_of_group()), (5, false));
    }
}
