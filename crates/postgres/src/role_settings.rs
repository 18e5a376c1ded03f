//! Settings of roles, such as `alter role anon set statement_timeout = '3s'`.
//!
//! PostgreSQL applies such settings at login only, and requests do not log in as the caller's role: they log in as
//! `authenticator` and switch to it. Therefore the request transaction applies them. Source: REST contract §4.6.

use std::collections::HashMap;

use tokio_postgres::error::SqlState;
use tokio_postgres::{Client, Error};

use crate::Isolation;
use crate::citus::CitusNodes;

const SQL: &str = include_str!("sql/role_settings.sql");

/// Foreign keys have deferrable triggers, too, but those are internal and read no settings.
const DEFERRED_TRIGGERS: &str =
    "select exists (select from pg_catalog.pg_trigger where tgdeferrable and not tgisinternal)";

/// The part of the query that needs PostgreSQL 15.
const OR_HAS_SET_PRIVILEGE: &str =
    "or (p.name is not null and has_parameter_privilege(current_user, p.name, 'set'))";

/// Settings of all roles under which a request can run, by role, and what else a request must know of the database.
#[derive(Debug, Default)]
pub struct RoleSettings {
    by_role: HashMap<String, SettingsOfRole>,
    has_deferred_triggers: bool,
    citus: Option<CitusNodes>,
}

#[derive(Debug, Default)]
struct SettingsOfRole {
    settings: Vec<(String, String)>,
    isolation: Option<Isolation>,
}

impl RoleSettings {
    /// Reads the settings of every role that the connection's role may become, except parameters that it may not set.
    pub(crate) async fn load(client: &Client) -> Result<Self, Error> {
        let rows = match client.query_typed(SQL, &[]).await {
            // PostgreSQL 14 has no GRANT SET ON PARAMETER, hence no function that checks it.
            Err(error) if error.code() == Some(&SqlState::UNDEFINED_FUNCTION) => {
                client
                    .query_typed(&SQL.replace(OR_HAS_SET_PRIVILEGE, ""), &[])
                    .await?
            }
            result => result?,
        };
        let mut by_role: HashMap<String, SettingsOfRole> = HashMap::new();
        for row in rows {
            let role = by_role.entry(row.try_get("role")?).or_default();
            let (name, value): (String, String) = (row.try_get("name")?, row.try_get("value")?);
            if name == "default_transaction_isolation" {
                role.isolation = Isolation::parse(&value);
            } else {
                role.settings.push((name, value));
            }
        }
        let deferred = client.query_typed(DEFERRED_TRIGGERS, &[]).await?;
        Ok(Self {
            by_role,
            has_deferred_triggers: match deferred.first() {
                Some(row) => row.try_get(0)?,
                None => false,
            },
            citus: CitusNodes::load(client).await?,
        })
    }

    /// Whether the database has the extension Citus, which passes settings to its workers only by `SET LOCAL` in an explicit
    /// transaction.
    pub fn has_citus(&self) -> bool {
        self.citus.is_some()
    }

    /// Whether `storage.objects` is a distributed table of Citus. Storage does not support that.
    pub fn distributes_objects(&self) -> bool {
        self.citus.as_ref().is_some_and(|citus| citus.distributes_objects)
    }

    /// Returns the nodes of Citus; `None` in a database without it.
    pub(crate) fn citus(&self) -> Option<&CitusNodes> {
        self.citus.as_ref()
    }

    /// Whether a trigger of the project may run as late as at the commit.
    pub(crate) fn has_deferred_triggers(&self) -> bool {
        self.has_deferred_triggers
    }

    /// Names and values to set for a role, without the isolation level.
    pub fn for_role(&self, role: &str) -> &[(String, String)] {
        self.by_role.get(role).map_or(&[], |found| &found.settings)
    }

    /// The `default_transaction_isolation` of a role.
    pub fn isolation_for(&self, role: &str) -> Option<Isolation> {
        self.by_role.get(role).and_then(|found| found.isolation)
    }
}

#[cfg(test)]
mod tests {
    use super::{OR_HAS_SET_PRIVILEGE, SQL};

    #[test]
    fn the_query_contains_the_part_that_postgresql_14_lacks() {
        assert!(SQL.contains(OR_HAS_SET_PRIVILEGE));
    }
}
