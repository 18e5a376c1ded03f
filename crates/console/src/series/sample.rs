//! A snapshot of all counters, and the measurements between two snapshots.

use std::time::Instant;

use selvedge_gateway::metrics::{self, RequestCounts};

/// Measurements besides the requests of each service, in the order of [`Sample::measure`].
const PROCESS_MEASUREMENTS: [&str; 8] = [
    "errors.4xx",
    "errors.5xx",
    "p50_ms",
    "p95_ms",
    "p99_ms",
    "connections",
    "cpu",
    "memory_bytes",
];

/// The clock ticks of one CPU second in `/proc/self/stat`, which are the same on every Linux.
#[cfg(target_os = "linux")]
const TICKS_PER_SECOND: f64 = 100.0;

/// The values of all counters at one moment.
#[derive(Clone)]
pub(super) struct Sample {
    at: Instant,
    counts: RequestCounts,
    cpu_seconds: Option<f64>,
    memory_bytes: Option<f64>,
    connections: Option<f64>,
}

/// Returns the names of the measurements in the order of [`Sample::measure`].
pub(super) fn measurement_names() -> Vec<String> {
    let requests = metrics::service_names()
        .iter()
        .map(|name| format!("requests.{name}"));
    requests.chain(PROCESS_MEASUREMENTS.map(str::to_owned)).collect()
}

impl Sample {
    /// Reads the counters of this process. `connections` is the number of database connections, or `None` if they were not
    /// counted.
    pub(super) fn read(connections: Option<f64>) -> Self {
        Self {
            at: Instant::now(),
            counts: metrics::request_counts(),
            cpu_seconds: read_cpu_seconds(),
            memory_bytes: read_memory_bytes(),
            connections,
        }
    }

    /// Computes the measurements since an earlier sample: requests and errors a second, percentiles of durations, and
    /// the present use of resources. An unknown value is NaN.
    pub(super) fn measure(&self, earlier: &Self) -> Box<[f32]> {
        let seconds = self.at.duration_since(earlier.at).as_secs_f64().max(0.001);
        let services = self.counts.by_service.iter().zip(&earlier.counts.by_service);
        let deltas: Vec<[u64; 5]> = services
            .map(|(now, then)| std::array::from_fn(|class| now[class].saturating_sub(then[class])))
            .collect();
        let errors = |class: usize| deltas.iter().map(|counts| counts[class]).sum::<u64>() as f64 / seconds;
        let durations: Vec<(f64, u64)> = self
            .counts
            .durations
            .iter()
            .zip(&earlier.counts.durations)
            .map(|((bound, now), (_, then))| (*bound, now.saturating_sub(*then)))
            .collect();
        let percentile = |share| quantile(share, &durations).map_or(f64::NAN, |seconds| seconds * 1000.0);
        let cpu = self.cpu_seconds.zip(earlier.cpu_seconds);
        let others = [
            errors(3),
            errors(4),
            percentile(0.5),
            percentile(0.95),
            percentile(0.99),
            self.connections.unwrap_or(f64::NAN),
            cpu.map_or(f64::NAN, |(now, then)| (now - then) / seconds * 100.0),
            self.memory_bytes.unwrap_or(f64::NAN),
        ];
        let requests = deltas
            .iter()
            .map(|counts| counts.iter().sum::<u64>() as f64 / seconds);
        requests.chain(others).map(|value| value as f32).collect()
    }
}

/// Returns the value below which a share of the samples lies, interpolated linearly within its bucket, as Prometheus'
/// `histogram_quantile` computes it from `/metrics`. `None` without samples.
fn quantile(share: f64, cumulative: &[(f64, u64)]) -> Option<f64> {
    let total = cumulative
        .last()
        .map(|(_, count)| *count)
        .filter(|count| *count > 0)?;
    let rank = share * total as f64;
    let index = cumulative.iter().position(|(_, count)| *count as f64 >= rank)?;
    let (bound, count) = cumulative[index];
    let (lower, before) = match index.checked_sub(1) {
        Some(previous) => cumulative[previous],
        None => (0.0, 0),
    };
    // The last bucket has no upper bound, so nothing but its lower bound is known.
    if bound.is_infinite() {
        return Some(lower);
    }
    let within = (count - before) as f64;
    Some(lower + (bound - lower) * ((rank - before as f64) / within.max(1.0)))
}

/// Reads the CPU seconds that this process has used since its start.
#[cfg(target_os = "linux")]
fn read_cpu_seconds() -> Option<f64> {
    let stat = std::fs::read_to_string("/proc/self/stat").ok()?;
    // The second field is the program's name, which may contain blanks; it ends at the last parenthesis.
    let (_, after_name) = stat.rsplit_once(')')?;
    let mut fields = after_name.split_whitespace().skip(11);
    let user: f64 = fields.next()?.parse().ok()?;
    let system: f64 = fields.next()?.parse().ok()?;
    Some((user + system) / TICKS_PER_SECOND)
}

/// Reads the resident memory of this process in bytes.
#[cfg(target_os = "linux")]
fn read_memory_bytes() -> Option<f64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"))?;
    let kilobytes: f64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    Some(kilobytes * 1024.0)
}

#[cfg(not(target_os = "linux"))]
fn read_cpu_seconds() -> Option<f64> {
    None
}

#[cfg(not(target_os = "linux"))]
fn read_memory_bytes() -> Option<f64> {
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn console_040_percentiles_are_those_of_prometheus() {
        let buckets = [(0.001, 50), (0.01, 90), (0.1, 100), (f64::INFINITY, 100)];
        let ms = |share| quantile(share, &buckets).map(|value| (value * 1e6).round() / 1e3);
        assert_eq!(ms(0.5), Some(1.0));
        assert_eq!(ms(0.9), Some(10.0));
        assert_eq!(ms(0.95), Some(55.0));
        assert_eq!(quantile(0.5, &[(0.1, 0), (f64::INFINITY, 0)]), None);
        assert_eq!(quantile(0.99, &[(0.1, 1), (f64::INFINITY, 100)]), Some(0.1));
    }

    #[test]
    fn console_040_every_name_has_a_measurement() {
        let first = Sample::read(None);
        let second = Sample::read(Some(3.0));
        assert_eq!(second.measure(&first).len(), measurement_names().len());
    }
}
