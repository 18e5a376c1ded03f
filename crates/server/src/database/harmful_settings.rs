//! Settings of the whole database (`alter database … set`) with which its services cannot work.
//!
//! `postgres` owns the database, so any migration can make them, and they hold for every login. Sessions of the superuser and of
//! migrations do not take them; those of the services do, as a project may want a limit of its own.

use anyhow::Result;
use tokio_postgres::Client;

/// The settings of the connected database, without those of single roles.
const SETTINGS: &str = "
    select pg_catalog.split_part(entry, '=', 1),
      pg_catalog.substr(entry, pg_catalog.strpos(entry, '=') operator(pg_catalog.+) 1), d.datname::pg_catalog.text
    from pg_catalog.pg_db_role_setting as s
    join pg_catalog.pg_database as d on d.oid operator(pg_catalog.=) s.setdatabase
    cross join pg_catalog.unnest(s.setconfig) as entry
    where s.setrole operator(pg_catalog.=) 0::pg_catalog.oid and d.datname operator(pg_catalog.=) pg_catalog.current_database()
    order by 1";

/// Limits of less than this cut off statements of the services themselves.
const SHORTEST_LIMIT_MS: u64 = 1000;

/// A setting, and the database that has it.
pub(crate) struct HarmfulSetting {
    name: String,
    value: String,
    database: String,
    consequence: &'static str,
}

impl HarmfulSetting {
    /// What is set, and what it leads to.
    pub(crate) fn describe(&self) -> String {
        format!(
            "the database has the setting {} = {}: {}",
            self.name, self.value, self.consequence
        )
    }

    /// How to take it back.
    pub(crate) fn advice(&self) -> String {
        format!(
            "take it back with:  selvedge db query 'alter database \"{}\" reset {}'",
            self.database, self.name
        )
    }
}

/// Lists the settings of the connected database that keep services from working.
///
/// # Errors
/// When the query fails.
pub(crate) async fn list_harmful_settings(client: &Client) -> Result<Vec<HarmfulSetting>> {
    let rows = client.query(SETTINGS, &[]).await?;
    Ok(rows
        .iter()
        .filter_map(|row| {
            let (name, value): (String, String) = (row.get(0), row.get(1));
            Some(HarmfulSetting {
                consequence: find_consequence(&name, &value)?,
                name,
                value,
                database: row.get(2),
            })
        })
        .collect())
}

/// What a setting leads to, if it is harmful.
fn find_consequence(name: &str, value: &str) -> Option<&'static str> {
    let is_on = matches!(value.to_ascii_lowercase().as_str(), "on" | "true" | "yes" | "1");
    match name {
        "local_preload_libraries" if !value.is_empty() => {
            Some("a login fails where one of the libraries is missing")
        }
        "role" | "session_authorization" => Some("every login begins with the rights of another role"),
        "session_replication_role" if value != "origin" => {
            Some("triggers and foreign keys are off in every session")
        }
        "default_transaction_read_only" if is_on => Some("nothing can be written"),
        "exit_on_error" if is_on => Some("every error ends its connection"),
        "statement_timeout"
        | "lock_timeout"
        | "transaction_timeout"
        | "idle_session_timeout"
        | "idle_in_transaction_session_timeout" => parse_milliseconds(value)
            .is_some_and(|limit| (1..SHORTEST_LIMIT_MS).contains(&limit))
            .then_some("statements of the services are cut off"),
        "standard_conforming_strings" if !is_on => Some("backslashes in strings mean something else"),
        _ => None,
    }
}

/// A duration as PostgreSQL writes settings: a number of milliseconds, or one with a unit.
fn parse_milliseconds(value: &str) -> Option<u64> {
    let value = value.trim();
    let digits = value
        .find(|char: char| !char.is_ascii_digit())
        .unwrap_or(value.len());
    let number: u64 = value[..digits].parse().ok()?;
    match value[digits..].trim() {
        "" | "ms" => Some(number),
        "us" => Some(number.div_ceil(1000)),
        "s" => number.checked_mul(1000),
        // Minutes and longer units.
        _ => number.checked_mul(60_000),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_settings_that_stop_services_are_harmful() {
        for (name, value) in [
            ("role", "postgres"),
            ("statement_timeout", "1"),
            ("lock_timeout", "20ms"),
            ("transaction_timeout", "900000us"),
            ("default_transaction_read_only", "on"),
            ("session_replication_role", "replica"),
        ] {
            assert!(find_consequence(name, value).is_some(), "{name} = {value}");
        }
        for (name, value) in [
            ("statement_timeout", "0"),
            ("statement_timeout", "8s"),
            ("lock_timeout", "2min"),
            ("default_transaction_read_only", "off"),
            ("app.settings.jwt_exp", "3600"),
        ] {
            assert!(find_consequence(name, value).is_none(), "{name} = {value}");
        }
    }
}
