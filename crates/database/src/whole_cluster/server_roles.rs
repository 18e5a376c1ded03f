//! Roles of an external server by which `postgres` would be a superuser: checked before `migrate up` changes anything.
//!
//! The server may have other users than this project, so what they may have meant is named and refused, and not taken from them. In the
//! embedded cluster nobody else is, and the same is taken back at each start.

use anyhow::{Result, bail};
use selvedge_config::SelvedgeSection;
use selvedge_postgres::migrate::{
    TakenMembership, list_grantable_file_roles, list_taken_memberships, release_file_roles,
    reserve_file_roles, take_back_memberships,
};
use selvedge_terminal::print_warnings;
use tokio_postgres::{Client, Error};

/// Roles that log in with a verifier of md5, and are superusers, have an attribute or a role of PostgreSQL's that leads to one, or are members of
/// such a role. This program stores none of md5, also not for the service's own.
const WITH_MD5: &str = "
    select pg_catalog.string_agg(pg_catalog.quote_ident(a.rolname), ', '::pg_catalog.text order by a.rolname)
    from pg_catalog.pg_authid as a
    where a.rolcanlogin and a.rolpassword operator(pg_catalog.~) '^md5'::pg_catalog.text
      and a.rolname operator(pg_catalog.<>) 'postgres'::pg_catalog.name
      and exists (
        select from pg_catalog.pg_authid as r
        where (r.rolsuper or r.rolreplication or r.rolcreaterole or r.rolname operator(pg_catalog.=) any (array[
            'pg_execute_server_program', 'pg_read_server_files', 'pg_write_server_files'
          ]::pg_catalog.name[]))
          and r.rolname operator(pg_catalog.<>) 'postgres'::pg_catalog.name
          and (r.oid operator(pg_catalog.=) a.oid or not a.rolsuper and pg_catalog.pg_has_role(a.oid, r.oid, 'member'::pg_catalog.text))
      )";

/// The warning about roles with md5 passwords where they are accepted.
pub const MD5_IS_ACCEPTED: &str = "whoever has the password of postgres may log in as roles with more rights, whose passwords are stored by md5 (SELVEDGE_ACCEPT_MD5_ROLES)";

/// Refuses a server on which `postgres` can become a superuser through another role, PostgreSQL 15 without a decision about the roles
/// that reach files (SELVEDGE_RESERVE_FILE_ROLES), and passwords by md5 without one (SELVEDGE_ACCEPT_MD5_ROLES). Returns memberships of `postgres` itself, which end without a question.
///
/// # Errors
/// Says what to decide, or the statements that end the memberships.
pub async fn check_server_roles(
    section: &SelvedgeSection,
    superuser: &Client,
) -> Result<Vec<TakenMembership>> {
    let reserve = section.reserve_file_roles;
    check_md5(section.accept_md5_roles, superuser).await?;
    let grantable = list_grantable_file_roles(superuser).await?;
    if reserve.is_none() && !grantable.is_empty() {
        bail!(
            "PostgreSQL 15 lets postgres make itself a member of {}, and so be PostgreSQL's user of the operating system. Decide by a \
             variable of this command:\n  SELVEDGE_RESERVE_FILE_ROLES=true   these roles become superusers in the \
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

/// Refuses a server whose privileged roles have passwords of the kind `md5`: what PostgreSQL stores of one is enough to log in with, and `postgres`
/// reads all tables. The roles may be another team's, so `is_accepted` allows all of them. A list of names would not cover a role that gets such a
/// password later.
async fn check_md5(is_accepted: bool, superuser: &Client) -> Result<()> {
    let Some(names) = list_md5_roles(superuser).await? else {
        return Ok(());
    };
    if is_accepted {
        print_warnings(&[format!("{}: {names}", MD5_IS_ACCEPTED)]);
        return Ok(());
    }
    bail!(
        "PostgreSQL stores passwords of roles with more rights than postgres as md5: {names}. Whoever reads what is stored can log in with it, and \
         postgres reads all tables. Set each anew as a superuser:\n  set password_encryption = 'scram-sha-256'; alter role NAME password '…';\n\
         or, where others have these roles, decide that whoever has the password of postgres may log in as them:\n  \
         SELVEDGE_ACCEPT_MD5_ROLES=true  (docs/operations.md, \"Passwords stored by md5\")"
    )
}

/// Names the roles with more rights than `postgres` whose stored password is of the kind `md5`; `None` if there are none, or the session may not know.
///
/// # Errors
/// When the query fails.
pub async fn list_md5_roles(client: &Client) -> Result<Option<String>, Error> {
    let may_read = "select pg_catalog.has_table_privilege('pg_catalog.pg_authid'::pg_catalog.text, 'select'::pg_catalog.text)";
    if !client.query_one(may_read, &[]).await?.get::<_, bool>(0) {
        return Ok(None);
    }
    Ok(client.query_one(WITH_MD5, &[]).await?.get(0))
}

/// Makes the roles that reach files superusers, or ordinary roles again where the project says so.
///
/// # Errors
/// When PostgreSQL refuses.
pub async fn settle_file_roles(reserve: Option<bool>, superuser: &Client) -> Result<()> {
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
pub(crate) async fn reserve(superuser: &Client) -> Result<()> {
    for _ in 0..3 {
        if list_grantable_file_roles(superuser).await?.is_empty() {
            break;
        }
        reserve_file_roles(superuser).await?;
        let taken = list_taken_memberships(superuser, true).await?;
        print_warnings(&take_back_memberships(superuser, &taken).await?);
    }
    Ok(())
}
