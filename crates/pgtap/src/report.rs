//! Prints the results of test files as pg_prove does: a line per file, a summary of the failures, the counts.

use std::time::Duration;

use selvedge_terminal::{BAD, GOOD};

use super::tap::TapReport;

/// A test file that has run.
pub(super) struct FileReport {
    /// Its path as printed.
    pub(super) name: String,
    pub(super) tap: TapReport,
}

/// The name of a file, filled up with dots to the width of the longest one.
pub(super) fn print_name(name: &str, longest: usize) {
    anstream::print!("{name} {} ", ".".repeat(longest + 2 - name.len().min(longest)));
    // The result follows when the file has run; until then the reader sees which one is running.
    std::io::Write::flush(&mut anstream::stdout()).ok();
}

/// The result behind the name, with diagnostics of a file that failed.
pub(super) fn print_result(name: &str, tap: &TapReport) {
    if tap.has_passed() {
        match tap.skipped() {
            Some("") => anstream::println!("skipped: (no reason given)"),
            Some(reason) => anstream::println!("skipped: {reason}"),
            None => anstream::println!("{GOOD}ok{GOOD:#}"),
        }
        return;
    }
    anstream::println!();
    for comment in tap.comments() {
        anstream::println!("{comment}");
    }
    if let Some(error) = tap.error() {
        anstream::println!("{BAD}{error}{BAD:#}");
    }
    let count = tap.planned_count().unwrap_or_else(|| tap.ran_count());
    // Assertions that the plan promises and that did not run, for example after an error, count as failed.
    let failed = tap.failed().len() + count.saturating_sub(tap.ran_count());
    anstream::println!("{name} .. {BAD}Failed {failed}/{count} subtests{BAD:#}");
}

/// Everything below the files' lines. Returns whether all of them have passed.
pub(super) fn print_summary(files: &[FileReport], elapsed: Duration) -> bool {
    let failing: Vec<&FileReport> = files.iter().filter(|file| !file.tap.has_passed()).collect();
    let unexpected: usize = files.iter().map(|file| file.tap.unexpected()).sum();
    if failing.is_empty() {
        anstream::println!("{GOOD}All tests successful.{GOOD:#}");
    } else {
        anstream::println!("\nTest Summary Report\n-------------------");
    }
    for file in &failing {
        let failed = file.tap.failed();
        anstream::println!(
            "{} (Tests: {} Failed: {})",
            file.name,
            file.tap.ran_count(),
            failed.len()
        );
        if !failed.is_empty() {
            let noun = if failed.len() == 1 { "test:  " } else { "tests:  " };
            anstream::println!("  Failed {noun}{}", list_numbers(failed));
        }
        for problem in file.tap.problems() {
            anstream::println!("  {problem}");
        }
    }
    if unexpected > 0 {
        anstream::println!("{unexpected} assertions marked as TODO passed");
    }
    anstream::println!(
        "Files={}, Tests={}, {:.2} wallclock secs",
        files.len(),
        files.iter().map(|file| file.tap.ran_count()).sum::<usize>(),
        elapsed.as_secs_f64()
    );
    let (style, result) = if failing.is_empty() {
        (GOOD, "PASS")
    } else {
        (BAD, "FAIL")
    };
    anstream::println!("{style}Result: {result}{style:#}");
    failing.is_empty()
}

/// Numbers with runs of three and more written as a range: `1, 4-6, 9`.
fn list_numbers(numbers: &[usize]) -> String {
    let mut parts: Vec<String> = Vec::new();
    let mut rest = numbers;
    while let Some(first) = rest.first() {
        let run = rest
            .iter()
            .zip(*first..)
            .take_while(|(number, expected)| **number == *expected)
            .count();
        if run > 2 {
            parts.push(format!("{first}-{}", rest[run - 1]));
        } else {
            parts.extend(rest[..run].iter().map(ToString::to_string));
        }
        rest = &rest[run..];
    }
    parts.join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn runs_of_failed_numbers_are_ranges() {
        assert_eq!(list_numbers(&[1, 4, 5, 6, 9, 10]), "1, 4-6, 9, 10");
        assert_eq!(list_numbers(&[]), "");
    }
}
