//! Compares a database's catalog with the rules by which `postgres` is never more than `postgres` (docs/decisions.md).

use tokio_postgres::{Client, Error};

const FAULTS: &str = include_str!("privileges.sql");

/// An object that breaks a rule.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PrivilegeFault {
    /// The rule, as a sentence that is true of a database as it was shipped.
    pub rule: String,
    /// The object, by its SQL name.
    pub object: String,
}

/// Returns what gives more rights than the platform schema does. It is empty in a database as it was shipped. Every role may ask, as only
/// catalogs are read.
///
/// # Errors
/// When the query fails.
pub async fn find_privilege_faults(client: &Client) -> Result<Vec<PrivilegeFault>, Error> {
    let rows = client.query(FAULTS, &[]).await?;
    let faults = rows.iter().map(|row| PrivilegeFault {
        rule: row.get(0),
        object: row.get(1),
    });
    Ok(faults.collect())
}
