//! What `start` prints once it answers: addresses, keys, what was done, how long it took.

use std::time::Duration;

use secrecy::ExposeSecret;
use selvedge_storage::SeedReport;

use crate::config::Config;
use crate::embedded::Report;
use crate::key_set::KeySet;
use crate::output::{BOLD, DIM, GOOD, LINK};
use crate::status;

/// Prints the summary of a start.
pub(crate) fn print(
    config: &Config,
    keys: &KeySet,
    report: &Report,
    buckets: &SeedReport,
    elapsed: Duration,
) {
    let api = config.api_url();
    anstream::println!(
        "\n  {BOLD}{}{BOLD:#} {GOOD}is ready{GOOD:#} {DIM}after {}{DIM:#}\n",
        config.project.id,
        seconds(elapsed)
    );
    if config.own.site.is_some() {
        line("Site", &link(&api));
    }
    line("API", &link(&api));
    line("Database", &link(&status::database_url(config.db.port)));
    if config.inbox.enabled {
        line("Mail inbox", &link(&status::inbox_url(config.inbox.port)));
    }
    anstream::println!();
    line("Publishable key", keys.browser_key());
    if let Some(key) = &keys.secret_key {
        line("Secret key", key.expose_secret());
    }
    line("More", "selvedge status");
    if let Some(done) = work_done(report, buckets) {
        anstream::println!("\n  {GOOD}✓{GOOD:#} {done}");
    }
    if !config.own.notes.is_empty() {
        anstream::println!();
    }
    for note in &config.own.notes {
        anstream::println!("  {note}");
    }
    anstream::println!("\n  {DIM}Ctrl-C stops it.{DIM:#}\n");
}

fn work_done(report: &Report, buckets: &SeedReport) -> Option<String> {
    if report.is_first {
        return Some(format!("first start: {}", first_start(report, buckets)));
    }
    (!report.migrations.is_empty()).then(|| format!("applied {}", report.migrations.join(", ")))
}

/// What a fresh database was filled with.
pub(crate) fn first_start(report: &Report, buckets: &SeedReport) -> String {
    let parts = [
        counted(report.migrations.len(), "migration"),
        counted(report.seeds.len(), "seed file"),
        counted(buckets.buckets, "bucket"),
        counted(buckets.written, "object"),
    ];
    let parts: Vec<String> = parts.into_iter().flatten().collect();
    if parts.is_empty() {
        "an empty project".to_owned()
    } else {
        parts.join(", ")
    }
}

fn counted(count: usize, noun: &str) -> Option<String> {
    match count {
        0 => None,
        1 => Some(format!("1 {noun}")),
        _ => Some(format!("{count} {noun}s")),
    }
}

fn line(name: &str, value: &str) {
    anstream::println!("  {DIM}{name:>15}{DIM:#}  {value}");
}

fn link(url: &str) -> String {
    format!("{LINK}{url}{LINK:#}")
}

/// `0.84 s`.
fn seconds(elapsed: Duration) -> String {
    format!("{:.2} s", elapsed.as_secs_f64())
}
