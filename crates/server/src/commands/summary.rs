//! The summary that `start` prints when it is ready: addresses, keys, what was applied, and how long the start took.

use std::time::Duration;

use secrecy::ExposeSecret;
use selvedge_config::Config;
use selvedge_database::embedded::Report;
use selvedge_database::instance;
use selvedge_keys::KeySet;
use selvedge_storage::SeedReport;
use selvedge_terminal::{BOLD, DIM, GOOD, LINK};

/// Prints the summary of a start.
pub(super) fn print_summary(
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
        format_seconds(elapsed)
    );
    if config.selvedge.site.is_some() {
        print_line("Site", &format_link(&api));
    }
    print_line("API", &format_link(&api));
    print_line(
        "Database",
        &format_link(&instance::database_url(config.db.port, &config.db.name)),
    );
    if config.inbox.enabled {
        print_line(
            "Mail inbox",
            &format_link(&instance::inbox_url(config.inbox.port)),
        );
    }
    if config.console.enabled_in_start {
        print_line(
            "Console",
            &format_link(&instance::console_url(config.console.port)),
        );
    }
    anstream::println!();
    print_line("Publishable key", keys.browser_key());
    if let Some(key) = &keys.secret_key {
        print_line("Secret key", key.expose_secret());
    }
    print_line("More", "selvedge status");
    if let Some(done) = describe_start(report, buckets) {
        anstream::println!("\n  {GOOD}✓{GOOD:#} {done}");
    }
    if !config.selvedge.notes.is_empty() {
        anstream::println!();
    }
    for note in &config.selvedge.notes {
        anstream::println!("  {note}");
    }
    anstream::println!("\n  {DIM}Ctrl-C stops it.{DIM:#}\n");
}

fn describe_start(report: &Report, buckets: &SeedReport) -> Option<String> {
    if report.is_first {
        return Some(format!("first start: {}", describe_first_start(report, buckets)));
    }
    (!report.migrations.is_empty()).then(|| format!("applied {}", report.migrations.join(", ")))
}

/// Describes the contents of a fresh database, such as `25 migrations, 1 seed file, 7 buckets, 120 objects`.
pub(super) fn describe_first_start(report: &Report, buckets: &SeedReport) -> String {
    let parts = [
        count_of(report.migrations.len(), "migration"),
        count_of(report.seeds.len(), "seed file"),
        count_of(buckets.buckets, "bucket"),
        count_of(buckets.written, "object"),
    ];
    let parts: Vec<String> = parts.into_iter().flatten().collect();
    if parts.is_empty() {
        "an empty project".to_owned()
    } else {
        parts.join(", ")
    }
}

/// A number with its noun, such as `3 buckets`; empty for zero.
fn count_of(count: usize, noun: &str) -> Option<String> {
    match count {
        0 => None,
        1 => Some(format!("1 {noun}")),
        _ => Some(format!("{count} {noun}s")),
    }
}

fn print_line(name: &str, value: &str) {
    anstream::println!("  {DIM}{name:>15}{DIM:#}  {value}");
}

fn format_link(url: &str) -> String {
    format!("{LINK}{url}{LINK:#}")
}

/// A duration in seconds, such as `0.84 s`.
fn format_seconds(elapsed: Duration) -> String {
    format!("{:.2} s", elapsed.as_secs_f64())
}
