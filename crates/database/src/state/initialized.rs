//! Whether the project's own database is complete. As long as it is not, each start runs `roles.sql` and seeds and fills buckets again, so that a
//! first start, or a reset, that was cut off is completed.

use std::io::ErrorKind;
use std::path::PathBuf;

use anyhow::{Context, Result};
use selvedge_config::Config;
use selvedge_postgres::migrate::replace_file;
use tokio_postgres::Client;

/// A file in the data folder: empty when the database is complete. While a reset commits the emptying of the database, it has the number of that
/// transaction, because nobody else knows afterwards whether it was committed.
const FILE: &str = "initialized";

/// What has become of a transaction: `committed`, `aborted` or `in progress`. One that is too old to be known was committed.
const STATUS: &str = "
    select coalesce(pg_catalog.pg_xact_status($1::pg_catalog.text::pg_catalog.xid8), 'committed')";

/// The file that says so.
pub fn initialized_file(config: &Config) -> PathBuf {
    config.selvedge.data_dir.join(FILE)
}

/// Whether a first start has succeeded, so that the database is complete. False as long as nobody knows what has become of a reset.
pub fn is_initialized(config: &Config) -> bool {
    std::fs::read(initialized_file(config)).is_ok_and(|text| text.is_empty())
}

/// Whether a first start has succeeded, and no reset is known to have emptied the database since: one may have been cut off.
pub fn may_be_initialized(config: &Config) -> bool {
    initialized_file(config).is_file()
}

/// Records that the database is complete, so that the next start neither seeds it nor fills buckets.
///
/// # Errors
/// When the file cannot be written.
pub fn mark_initialized(config: &Config) -> Result<()> {
    let file = initialized_file(config);
    std::fs::write(&file, "").with_context(|| format!("cannot write {}", file.display()))
}

/// Notes the open transaction of `client`, which empties the database, before it is committed.
///
/// # Errors
/// When the file cannot be written, or the query fails.
pub(crate) async fn note_emptying(config: &Config, client: &Client) -> Result<()> {
    if !is_initialized(config) {
        return forget_initialized(config);
    }
    let number = "select pg_catalog.pg_current_xact_id()::pg_catalog.text";
    let number: String = client.query_one(number, &[]).await?.get(0);
    Ok(replace_file(&initialized_file(config), &number)?)
}

/// Finds out whether a reset that was cut off has emptied the database, so that the next start completes it.
///
/// # Errors
/// When the file cannot be read or written, or the connection is lost.
pub async fn settle_emptying(config: &Config, client: &Client) -> Result<()> {
    let file = initialized_file(config);
    let text = match std::fs::read_to_string(&file) {
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(()),
        read => read.with_context(|| format!("cannot read {}", file.display()))?,
    };
    if text.is_empty() {
        return Ok(());
    }
    let status: String = match client.query_one(STATUS, &[&text]).await {
        Ok(row) => row.try_get(0)?,
        // It is no number, or one of another database.
        Err(error) if error.as_db_error().is_some() => "committed".to_owned(),
        Err(error) => return Err(error.into()),
    };
    settle(config, &text, &status)
}

/// Notes what has become of the transaction with this number, unless the reset has gone on and noted it itself meanwhile.
fn settle(config: &Config, number: &str, status: &str) -> Result<()> {
    let is_noted = std::fs::read_to_string(initialized_file(config)).is_ok_and(|text| text == number);
    match status {
        "aborted" if is_noted => mark_initialized(config),
        "committed" if is_noted => forget_initialized(config),
        // Or the connection of the command is lost, and its session has not ended yet.
        _ => Ok(()),
    }
}

/// Makes the next start a first start: seeds and buckets are applied again.
fn forget_initialized(config: &Config) -> Result<()> {
    let file = initialized_file(config);
    match std::fs::remove_file(&file) {
        Err(error) if error.kind() != ErrorKind::NotFound => {
            Err(error).with_context(|| format!("cannot delete {}", file.display()))
        }
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use selvedge_config::{Environment, Flags, Project};

    use super::*;

    #[test]
    fn gw_025_a_reset_that_has_ended_meanwhile_is_not_taken_for_one_that_was_cut_off() {
        let folder = tempfile::tempdir().unwrap();
        let project = Project::find(Some(folder.path()), folder.path()).unwrap();
        let environment: Environment = [("A", "b")].into_iter().collect();
        let loaded = Config::load_project(project, environment, &Flags::default()).unwrap();
        let config = loaded.config;
        let file = initialized_file(&config);
        std::fs::create_dir(&config.selvedge.data_dir).unwrap();
        let settle = |noted: &str, status: &str| {
            std::fs::write(&file, noted).unwrap();
            settle(&config, "712", status).unwrap();
            std::fs::read_to_string(&file).ok()
        };

        assert_eq!(settle("712", "committed"), None);
        assert_eq!(settle("712", "aborted").as_deref(), Some(""));
        assert_eq!(settle("712", "in progress").as_deref(), Some("712"));
        // The reset has ended, or another one has begun.
        assert_eq!(settle("", "committed").as_deref(), Some(""));
        assert_eq!(settle("713", "committed").as_deref(), Some("713"));
    }
}
