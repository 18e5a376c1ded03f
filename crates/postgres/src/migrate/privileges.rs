//! Compares a database's catalog with the rules by which `postgres` is never more than `postgres` (docs/decisions.md).

use tokio_postgres::{Client, Error};

const FAULTS: &str = include_str!("privileges.sql");
const FAULTS_OF_ROLES: &str = include_str!("role_privileges.sql");

/// An object that breaks a rule.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PrivilegeFault {
    /// The rule, as a sentence that is true of a database as it was shipped.
    pub rule: String,
    /// The object, by its SQL name.
    pub object: String,
}

/// Returns what in the database gives more rights than the platform schema does. It is empty in a database as it was shipped. Every role
/// may ask, as only catalogs are read.
///
/// # Errors
/// When the query fails.
pub async fn find_privilege_faults(client: &Client) -> Result<Vec<PrivilegeFault>, Error> {
    find(client, FAULTS).await
}

/// Returns what roles of the server have more than the platform schema gives them: memberships, attributes, superusers.
///
/// # Errors
/// When the query fails.
pub async fn find_role_faults(client: &Client) -> Result<Vec<PrivilegeFault>, Error> {
    find(client, FAULTS_OF_ROLES).await
}

async fn find(client: &Client, query: &str) -> Result<Vec<PrivilegeFault>, Error> {
    let rows = client.query(query, &[]).await?;
    let faults = rows.iter().map(|row| PrivilegeFault {
        rule: row.get(0),
        object: row.get(1),
    });
    Ok(faults.collect())
}
