//! Settings of the whole database (`alter database … set`), or of a service's login (`alter role … set`), with which services cannot
//! work, or that weaken what administrators do in their sessions.
//!
//! `postgres` owns the database, so any migration can make them, and they hold for every login. On PostgreSQL 15 it may also make those of
//! logins, later on those of `authenticator`. Sessions of the superuser and of migrations do not take them; those of the services do, as a
//! project may want a limit of its own.

use anyhow::Result;
use selvedge_postgres::quote_identifier;
use tokio_postgres::Client;

/// The settings of the connected database, and those of the services' logins there and in every database: as bytes, because one that was made in
/// a database of another encoding need not be UTF-8.
const SETTINGS: &str = "
    select pg_catalog.textsend(entry), d.datname::pg_catalog.text, r.rolname::pg_catalog.text
    from pg_catalog.pg_db_role_setting as s
    left join pg_catalog.pg_database as d on d.oid operator(pg_catalog.=) s.setdatabase
    left join pg_catalog.pg_roles as r on r.oid operator(pg_catalog.=) s.setrole
    cross join pg_catalog.unnest(s.setconfig) as entry
    where (d.datname operator(pg_catalog.=) pg_catalog.current_database() or s.setdatabase operator(pg_catalog.=) 0::pg_catalog.oid)
      and (
        s.setrole operator(pg_catalog.=) 0::pg_catalog.oid and s.setdatabase operator(pg_catalog.<>) 0::pg_catalog.oid
        or r.rolname operator(pg_catalog.=) any (array[
          'authenticator', 'supabase_auth_admin', 'supabase_storage_admin', 'supabase_replication_admin', 'selvedge_console_reader',
          'selvedge_console_operator', 'selvedge_console_service'
        ]::pg_catalog.name[])
        or r.rolname operator(pg_catalog.~) '^selvedge_console_reader_[0-9]+$'::pg_catalog.text
      )
    order by 1, 2, 3";

/// Limits of less than this cut off statements of the services themselves.
const SHORTEST_LIMIT_MS: u64 = 1000;

/// A setting, and the database or the login that has it.
pub struct HarmfulSetting {
    name: String,
    value: String,
    /// `None` for one of a login in every database.
    database: Option<String>,
    /// `None` for one of every login.
    login: Option<String>,
    consequence: &'static str,
}

impl HarmfulSetting {
    /// What is set, and what it leads to.
    pub fn describe(&self) -> String {
        let owner = match &self.login {
            Some(login) => format!("the login {login}"),
            None => "the database".to_owned(),
        };
        format!(
            "{owner} has the setting {} = {}: {}",
            self.name, self.value, self.consequence
        )
    }

    /// Whether nobody can have meant it: a login of the platform that loads libraries.
    fn is_taken_back(&self) -> bool {
        self.login.is_some() && self.name == "local_preload_libraries"
    }

    fn reset_statement(&self) -> String {
        // One of `find_consequence`, which need no quoting.
        let name = &self.name;
        match (&self.login, &self.database) {
            (Some(login), Some(database)) => format!(
                "alter role {} in database {} reset {name}",
                quote_identifier(login),
                quote_identifier(database)
            ),
            (Some(login), None) => format!("alter role {} reset {name}", quote_identifier(login)),
            (None, database) => format!(
                "alter database {} reset {name}",
                quote_identifier(database.as_deref().unwrap_or_default())
            ),
        }
    }

    /// How to take it back.
    pub fn advice(&self) -> String {
        // As a shell reads it.
        let statement = self.reset_statement().replace('\'', "'\\''");
        format!("take it back with:  selvedge db query '{statement}'")
    }
}

/// Lists the settings of the connected database that keep services from working.
///
/// # Errors
/// When the query fails.
pub async fn list_harmful_settings(client: &Client) -> Result<Vec<HarmfulSetting>> {
    let rows = client.query(SETTINGS, &[]).await?;
    Ok(rows
        .iter()
        .filter_map(|row| {
            let entry = String::from_utf8_lossy(row.get(0));
            let (name, value) = entry.split_once('=')?;
            Some(HarmfulSetting {
                consequence: find_consequence(name, value)?,
                name: name.to_owned(),
                value: value.to_owned(),
                database: row.get(1),
                login: row.get(2),
            })
        })
        .collect())
}

/// Resets the libraries that logins of the platform load, as a login fails where one is missing, and says so.
///
/// # Errors
/// When PostgreSQL refuses; `superuser` must be one.
pub async fn take_back_libraries(superuser: &Client) -> Result<Vec<String>> {
    let mut reset = Vec::new();
    for setting in list_harmful_settings(superuser).await? {
        if setting.is_taken_back() {
            superuser.batch_execute(&setting.reset_statement()).await?;
            reset.push(format!("{}; it was reset", setting.describe()));
        }
    }
    Ok(reset)
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
        "password_encryption" if !value.eq_ignore_ascii_case("scram-sha-256") => Some(
            "a password that is set here is stored by md5, which is enough to log in with for whoever reads it",
        ),
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
            ("password_encryption", "md5"),
        ] {
            assert!(find_consequence(name, value).is_some(), "{name} = {value}");
        }
        for (name, value) in [
            ("statement_timeout", "0"),
            ("statement_timeout", "8s"),
            ("lock_timeout", "2min"),
            ("default_transaction_read_only", "off"),
            ("password_encryption", "scram-sha-256"),
            ("password_encryption", "SCRAM-SHA-256"),
            ("app.settings.jwt_exp", "3600"),
        ] {
            assert!(find_consequence(name, value).is_none(), "{name} = {value}");
        }
    }
}
