//! The summary that an import prints: what was copied, and what was left out.

use std::collections::BTreeMap;

use selvedge_terminal::{DIM, GOOD, WARN, show_foreign};

/// Largest number of objects without bytes that the report lists by name.
const MAX_NAMES: usize = 20;

/// Counts of one import. Those of the database are zero when an earlier import had copied it already.
#[derive(Debug, Default)]
pub(crate) struct Report {
    pub(crate) roles: u64,
    /// Number of copied rows by table.
    pub(crate) rows: BTreeMap<String, u64>,
    pub(crate) secrets: u64,
    pub(crate) objects: ObjectCounts,
    left_out: Vec<String>,
}

/// Counts of storage objects.
#[derive(Debug, Default)]
pub(crate) struct ObjectCounts {
    pub(crate) copied: u64,
    /// Objects whose bytes an earlier import had copied already.
    pub(crate) already_there: u64,
    pub(crate) bytes: u64,
    /// Objects of which the source has a row but no bytes.
    pub(crate) lost: Vec<String>,
    /// Objects that could not be copied, with the reason. The next import tries them again.
    pub(crate) not_copied: Vec<(String, String)>,
    /// Objects whose names or rows people have changed at the target since, which stays as they have left it.
    pub(crate) changed_here: Vec<String>,
}

impl Report {
    /// Adds a line about something that is not copied, and why.
    pub(crate) fn leave_out(&mut self, what: String) {
        self.left_out.push(what);
    }

    /// Prints the counts to standard output and what was left out to standard error.
    pub(crate) fn print(&self, project: &str) {
        let of_table = |name: &str| self.rows.get(name).copied().unwrap_or_default();
        let is_platform = |name: &str| {
            ["auth.", "storage.", "cron."]
                .iter()
                .any(|start| name.starts_with(start))
        };
        let own: Vec<(&String, &u64)> = self.rows.iter().filter(|(name, _)| !is_platform(name)).collect();
        if !self.rows.is_empty() {
            anstream::println!(
                "{GOOD}imported{GOOD:#} the database: {} tables with {} rows, {} users, {} identities, {} factors, {} \
                 sessions, {} buckets, {} jobs, {} roles, {} secrets",
                own.len(),
                own.iter().map(|(_, rows)| **rows).sum::<u64>(),
                of_table("auth.users"),
                of_table("auth.identities"),
                of_table("auth.mfa_factors"),
                of_table("auth.sessions"),
                of_table("storage.buckets"),
                of_table("cron.job"),
                self.roles,
                self.secrets
            );
            for (name, rows) in own {
                anstream::println!("  {DIM}{}{DIM:#} {rows}", show_foreign(name));
            }
        }
        let objects = &self.objects;
        anstream::println!(
            "{GOOD}imported{GOOD:#} {} objects of {} bytes, of which {} were there already, into {project}",
            objects.copied + objects.already_there,
            objects.bytes,
            objects.already_there
        );
        self.print_missing();
    }

    fn print_missing(&self) {
        let lost = &self.objects.lost;
        if !lost.is_empty() {
            anstream::eprintln!(
                "{WARN}{} objects have no bytes at the source, and were left out{WARN:#}",
                lost.len()
            );
            for name in lost.iter().take(MAX_NAMES) {
                anstream::eprintln!("  {}", show_foreign(name));
            }
        }
        let changed = &self.objects.changed_here;
        if !changed.is_empty() {
            anstream::eprintln!(
                "{WARN}{} objects are not as at the source{WARN:#}: here they were stored, moved, changed or deleted since the import \
                 began, which stays so",
                changed.len()
            );
            for name in changed.iter().take(MAX_NAMES) {
                anstream::eprintln!("  {}", show_foreign(name));
            }
        }
        let not_copied = &self.objects.not_copied;
        if !not_copied.is_empty() {
            anstream::eprintln!("{WARN}{} objects were not copied{WARN:#}", not_copied.len());
            for (name, reason) in not_copied.iter().take(MAX_NAMES) {
                anstream::eprintln!("  {}: {}", show_foreign(name), show_foreign(reason));
            }
        }
        for line in &self.left_out {
            anstream::eprintln!("{WARN}left out{WARN:#} {}", show_foreign(line));
        }
    }
}
