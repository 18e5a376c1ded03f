//! What an import has brought over, and what it has left out.

use std::collections::BTreeMap;

use crate::output::{DIM, GOOD, WARN};

/// The number of lost objects that are named.
const MAX_NAMES: usize = 20;

/// Counts of one import; those of the database are empty when an earlier attempt has copied it.
#[derive(Debug, Default)]
pub(super) struct Report {
    pub(super) roles: u64,
    /// Rows by table.
    pub(super) rows: BTreeMap<String, u64>,
    pub(super) secrets: u64,
    pub(super) objects: ObjectCounts,
    left_out: Vec<String>,
}

/// Counts of objects.
#[derive(Debug, Default)]
pub(super) struct ObjectCounts {
    pub(super) copied: u64,
    /// Those whose bytes an earlier attempt has copied.
    pub(super) already_there: u64,
    pub(super) bytes: u64,
    /// Objects whose bytes the source itself lacks.
    pub(super) lost: Vec<String>,
}

impl Report {
    /// Notes what is not brought over, and why.
    pub(super) fn leave_out(&mut self, what: String) {
        self.left_out.push(what);
    }

    /// Prints counts to standard output, and what is missing to standard error.
    pub(super) fn print(&self, project: &str) {
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
                anstream::println!("  {DIM}{name}{DIM:#} {rows}");
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
                anstream::eprintln!("  {name}");
            }
        }
        for line in &self.left_out {
            anstream::eprintln!("{WARN}left out{WARN:#} {line}");
        }
    }
}
