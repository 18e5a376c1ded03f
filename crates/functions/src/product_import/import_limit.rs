//! How often one person may import within a minute, so that a stolen session cannot use this server to load a retailer.

use std::collections::{HashMap, VecDeque};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use super::response::ImportFailure;

const WINDOW: Duration = Duration::from_secs(60);

/// The imports of the last minute, by person. Kept in memory, so each node of several counts for itself.
pub(super) struct ImportLimit {
    per_minute: usize,
    imports: Mutex<HashMap<String, VecDeque<Instant>>>,
}

impl ImportLimit {
    pub(super) fn new(per_minute: usize) -> Self {
        Self {
            per_minute,
            imports: Mutex::default(),
        }
    }

    /// Counts one import of this person.
    ///
    /// # Errors
    /// [`ImportFailure::TooMany`] when the minute is used up; such a call is not counted.
    pub(super) fn count_import(&self, person: &str) -> Result<(), ImportFailure> {
        self.count_at(person, Instant::now())
    }

    fn count_at(&self, person: &str, now: Instant) -> Result<(), ImportFailure> {
        let mut imports = self.imports.lock().unwrap_or_else(PoisonError::into_inner);
        // Persons without an import within the window are forgotten, so that the map stays as small as the number of
        // administrators at work.
        imports.retain(|_, times| {
            times.retain(|time| now.duration_since(*time) < WINDOW);
            !times.is_empty()
        });
        let times = imports.entry(person.to_owned()).or_default();
        if times.len() >= self.per_minute {
            let oldest = times.front().copied().unwrap_or(now);
            let retry_after = WINDOW.saturating_sub(now.duration_since(oldest));
            return Err(ImportFailure::TooMany { retry_after });
        }
        times.push_back(now);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_person_has_a_number_of_imports_within_a_minute() {
        let limit = ImportLimit::new(2);
        let start = Instant::now();
        let at = |person, seconds| {
            limit
                .count_at(person, start + Duration::from_secs(seconds))
                .is_ok()
        };

        assert!(at("ana", 0) && at("ana", 20));
        assert!(!at("ana", 50), "the minute is used up");
        assert!(at("ben", 50), "another person has a minute of their own");
        assert!(at("ana", 61), "the first import is more than a minute ago");
        assert!(!at("ana", 62));
    }
}
