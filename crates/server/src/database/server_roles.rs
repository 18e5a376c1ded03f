//! Roles of an external server by which `postgres` would be a superuser: checked before `migrate up` changes anything.
//!
//! The server may have other users than this project, so what they may have meant is named and refused, and not taken from them. In the
//! embedded cluster nobody else is, and the same is taken back at each start.

use anyhow::{Result, bail};
use selvedge_postgres::migrate::{
    TakenMembership, list_grantable_file_roles, list_taken_memberships, release_file_roles,
    reserve_file_roles, take_back_memberships,
};
use tokio_postgres::Client;

use crate::output;

/// Refuses a server on which `postgres` can become a superuser through another role, and PostgreSQL 15 without a decision about the roles
/// that reach files (`[selvedge] reserve_file_roles`). Returns memberships of `postgres` itself, which end without a question.
///
/// # Errors
/// Says what to decide, or the statements that end the memberships.
pub(crate) async fn check_server_roles(
    reserve: Option<bool>,
    superuser: &Client,
) -> Result<Vec<TakenMembership>> {
    let grantable = list_grantable_file_roles(superuser).await?;
    if reserve.is_none() && !grantable.is_empty() {
        bail!(
            "PostgreSQL 15 lets postgres make itself a member of {}, and so be PostgreSQL's user of the operating system. Decide with \
             [selvedge] reserve_file_roles, or the variable:\n  SELVEDGE_RESERVE_FILE_ROLES=true   these roles become superusers in the \
             whole server, so that only superusers grant them: grant them to nobody\n  SELVEDGE_RESERVE_FILE_ROLES=false  whoever has \
             the password of postgres may be that user\nor use PostgreSQL 16, which has no such fault (docs/operations.md, \"External \
             PostgreSQL 15\")",
            grantable.join(", ")
        );
    }
    let taken = list_taken_memberships(superuser, reserve != Some(false)).await?;
    let of_others: Vec<&TakenMembership> = taken
        .iter()
        .filter(|membership| membership.is_of_another_role())
        .collect();
    if !of_others.is_empty() {
        let lines = of_others.iter().map(|membership| {
            format!(
                "  {};  -- postgres can become {}",
                membership.revoke_statement(),
                membership.member
            )
        });
        bail!(
            "postgres can become a superuser of this server through other roles; end that as a superuser:\n{}",
            lines.collect::<Vec<_>>().join("\n")
        );
    }
    Ok(taken)
}

/// Makes the roles that reach files superusers, or ordinary roles again where the project says so.
///
/// # Errors
/// When PostgreSQL refuses.
pub(crate) async fn settle_file_roles(reserve: Option<bool>, superuser: &Client) -> Result<()> {
    match reserve {
        Some(true) => {
            self::reserve(superuser).await?;
            let left = list_grantable_file_roles(superuser).await?;
            if !left.is_empty() {
                bail!(
                    "somebody keeps being made a member of {}, so postgres could be one: run the command again",
                    left.join(", ")
                );
            }
        }
        Some(false) => release_file_roles(superuser).await?,
        // They are reserved already, or the server needs no such thing.
        None => {}
    }
    Ok(())
}

/// Makes the roles that reach files superusers on PostgreSQL 15, and ends memberships that somebody has granted at this moment. A role
/// that got a member meanwhile is tried again.
///
/// # Errors
/// When PostgreSQL refuses.
pub(super) async fn reserve(superuser: &Client) -> Result<()> {
    for _ in 0..3 {
        if list_grantable_file_roles(superuser).await?.is_empty() {
            break;
        }
        reserve_file_roles(superuser).await?;
        let taken = list_taken_memberships(superuser, true).await?;
        output::print_warnings(&take_back_memberships(superuser, &taken).await?);
    }
    Ok(())
}
