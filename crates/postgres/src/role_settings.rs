//! What `alter role anon set statement_timeout = '3s'` and its kin ask for.
//!
//! PostgreSQL applies such settings at login only, and requests do not log in as the caller's role: they log in as
//! `authenticator` and become it. So the request transaction applies them. Source: REST contract §4.6.

use std::collections::HashMap;

use tokio_postgres::error::SqlState;
use tokio_postgres::{Client, Error};

use crate::Isolation;

const SQL: &str = include_str!("sql/role_settings.sql");

/// The part of the query that needs PostgreSQL 15.
const BY_PRIVILEGE: &str = "or (p.name is not null and has_parameter_privilege(current_user, p.name, 'set'))";

/// Settings by role.
#[derive(Debug, Default)]
pub struct RoleSettings {
    by_role: HashMap<String, OneRole>,
}

#[derive(Debug, Default)]
struct OneRole {
    settings: Vec<(String, String)>,
    isolation: Option<Isolation>,
}

impl RoleSettings {
    /// Reads the settings of every role that the connection's role may become, without those it may not set.
    pub(crate) async fn load(client: &Client) -> Result<Self, Error> {
        let rows = match client.query_typed(SQL, &[]).await {
            // before PostgreSQL 15 nobody could be allowed to set single parameters
            Err(error) if error.code() == Some(&SqlState::UNDEFINED_FUNCTION) => {
                client.query_typed(&SQL.replace(BY_PRIVILEGE, ""), &[]).await?
            }
            answer => answer?,
        };
        let mut by_role: HashMap<String, OneRole> = HashMap::new();
        for row in rows {
            let role = by_role.entry(row.get("role")).or_default();
            let (name, value): (String, String) = (row.get("name"), row.get("value"));
            if name == "default_transaction_isolation" {
                role.isolation = Isolation::parse(&value);
            } else {
                role.settings.push((name, value));
            }
        }
        Ok(Self { by_role })
    }

    /// Names and values to set for a role.
    pub fn of(&self, role: &str) -> &[(String, String)] {
        self.by_role.get(role).map_or(&[], |found| &found.settings)
    }

    /// The isolation level that a role asks for.
    pub fn isolation_of(&self, role: &str) -> Option<Isolation> {
        self.by_role.get(role).and_then(|found| found.isolation)
    }
}

#[cfg(test)]
mod tests {
    use super::{BY_PRIVILEGE, SQL};

    #[test]
    fn the_part_for_newer_versions_can_be_taken_out() {
        assert!(SQL.contains(BY_PRIVILEGE));
    }
}
