//! Compares a database's catalog with the rules by which `postgres` is never more than `postgres` (docs/decisions.md).

use tokio_postgres::types::ToSql;
use tokio_postgres::{Client, Error};

use super::platform::is_of_this_version;
use super::readable_passwords::find_readable_passwords;
use super::shipped_functions::list_changed_functions;

const FAULTS: &str = include_str!("privileges.sql");
/// The rule about what [`list_changed_functions`] finds.
const SHIPPED_FUNCTIONS: &str = "functions of the platform's own schemas are those that were shipped";
const FAULTS_OF_ROLES: &str = include_str!("role_privileges.sql");

/// An object that breaks a rule.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PrivilegeFault {
    /// The rule, as a sentence that is true of a database as it was shipped.
    pub rule: String,
    /// The object, by its SQL name.
    pub object: String,
}

/// Returns what in the database gives more rights than the platform schema does, and which of its functions are not as they were shipped.
/// It is empty in a database as it was shipped. Every role may ask, as only catalogs and the register of the platform's files are read.
///
/// # Errors
/// When the query fails.
pub async fn find_privilege_faults(client: &Client) -> Result<Vec<PrivilegeFault>, Error> {
    let is_current = is_of_this_version(client).await?;
    let mut faults = find(client, FAULTS, &[&is_current]).await?;
    let changed = list_changed_functions(client).await?.into_iter();
    faults.extend(changed.map(|object| PrivilegeFault {
        rule: SHIPPED_FUNCTIONS.to_owned(),
        object,
    }));
    Ok(faults)
}

/// Returns what roles of the server have more than the platform schema gives them: memberships, attributes, superusers, and passwords that
/// `postgres` could read, as far as the session may read them ([`ReadablePasswords`](super::ReadablePasswords)).
///
/// # Errors
/// When a query fails.
pub async fn find_role_faults(client: &Client) -> Result<Vec<PrivilegeFault>, Error> {
    let mut faults = find(client, FAULTS_OF_ROLES, &[]).await?;
    let passwords = find_readable_passwords(client).await?.into_iter();
    faults.extend(passwords.map(|(rule, object)| PrivilegeFault {
        rule: rule.to_owned(),
        object,
    }));
    Ok(faults)
}

async fn find(
    client: &Client,
    query: &str,
    parameters: &[&(dyn ToSql + Sync)],
) -> Result<Vec<PrivilegeFault>, Error> {
    let rows = client.query(query, parameters).await?;
    let faults = rows.iter().map(|row| PrivilegeFault {
        rule: row.get(0),
        object: row.get(1),
    });
    Ok(faults.collect())
}
