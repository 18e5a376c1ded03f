//! Chooses the versions of new migrations.

use chrono::{DateTime, NaiveDateTime, TimeDelta, Utc};
use selvedge_postgres::migrate::Migration;

use crate::error::ConsoleError;

/// The format in which the Supabase CLI writes the time of a migration, in UTC.
const VERSION_FORMAT: &str = "%Y%m%d%H%M%S";

/// Returns the version of a new migration. It must sort after all others, because a file that sorts before an applied one is
/// refused. Therefore it may be later than now, when a clock was wrong or two changes are made within a second.
///
/// # Errors 409 when the newest version cannot be increased.
pub(super) fn choose_version(now: DateTime<Utc>, existing: &[Migration]) -> Result<String, ConsoleError> {
    let version = now.format(VERSION_FORMAT).to_string();
    let newest = existing.iter().map(|migration| migration.version.as_str()).max();
    let Some(newest) = newest.filter(|newest| *newest >= version.as_str()) else {
        return Ok(version);
    };
    NaiveDateTime::parse_from_str(newest, VERSION_FORMAT)
        .ok()
        .and_then(|time| time.checked_add_signed(TimeDelta::seconds(1)))
        .map(|time| time.format(VERSION_FORMAT).to_string())
        .filter(|version| version.as_str() > newest)
        .ok_or_else(|| {
            ConsoleError::conflict(format!("No time sorts after the newest migration, {newest}"))
                .with_hint("Give that file a version of 14 digits, such as 20260131120000.")
        })
}

#[cfg(test)]
mod tests {
    use std::path::PathBuf;

    use super::*;

    fn next(existing: &[&str]) -> Option<String> {
        let now = DateTime::parse_from_rfc3339("2026-03-31T23:59:59Z").expect("a time");
        let migrations: Vec<Migration> = existing
            .iter()
            .map(|version| Migration {
                version: (*version).to_owned(),
                name: String::new(),
                path: PathBuf::new(),
            })
            .collect();
        choose_version(now.to_utc(), &migrations).ok()
    }

    #[test]
    fn console_071_versions_are_the_time_and_sort_after_all_others() {
        assert_eq!(next(&[]).as_deref(), Some("20260331235959"));
        assert_eq!(next(&["1", "20260331235958"]).as_deref(), Some("20260331235959"));
        assert_eq!(next(&["20260331235959"]).as_deref(), Some("20260401000000"));
        assert_eq!(next(&["20991231235959"]).as_deref(), Some("21000101000000"));
        assert_eq!(next(&["9"]), None);
    }
}
