//! Checks, before the platform schema is applied, that nobody without a superuser's rights has prepared what it builds on.
//!
//! `create schema if not exists` and `create role` only where it is missing take what is there. A schema of somebody else would let
//! them replace what runs with a superuser's rights later.

use tokio_postgres::Client;

use super::error::MigrateError;

const PROBLEMS: &str = include_str!("ownership.sql");

/// Checks owners of the platform's schemas and tables. On a database without platform schema also attributes and members of its roles.
///
/// # Errors
/// [`MigrateError::NotOwned`] names what has to be dropped, given to the superuser, or renamed.
pub(super) async fn check_ownership(client: &Client) -> Result<(), MigrateError> {
    let rows = client.query(PROBLEMS, &[]).await?;
    if rows.is_empty() {
        return Ok(());
    }
    Err(MigrateError::NotOwned(
        rows.iter().map(|row| row.get(0)).collect(),
    ))
}
