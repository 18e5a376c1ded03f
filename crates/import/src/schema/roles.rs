//! Copies the project's roles with their memberships and settings, and the settings of the database.
//!
//! The source sends rows; the statements are formed here, every name and value quoted. A role of the source may have chosen
//! them. The statements run as `postgres`, so that it administers the roles, as if its migrations had created them.

use anyhow::{Context, Result};
use selvedge_postgres::migrate::{is_platform_role, substitute_superuser_statement};
use selvedge_postgres::quote_identifier;
use tokio_postgres::{Client, Row};

use crate::report::Report;
use crate::source::Source;
use crate::target::{Writer, try_statement};

/// Roles of PostgreSQL with whose rights a session leaves the database.
const SERVER_ROLES: [&str; 4] = [
    "pg_execute_server_program",
    "pg_read_server_files",
    "pg_write_server_files",
    "pg_create_subscription",
];

/// Settings whose value is a list of names, each quoted by itself. Source: `variable_is_guc_list_quote` of pg_dump.
const LIST_SETTINGS: [&str; 5] = [
    "local_preload_libraries",
    "search_path",
    "session_preload_libraries",
    "shared_preload_libraries",
    "temp_tablespaces",
];

/// Roles to which the writer may give objects.
const POSSIBLE_OWNERS: &str = "select r.rolname::text from pg_catalog.pg_roles as r
    where not r.rolsuper and r.rolname !~ '^(pg_|selvedge_)' and pg_has_role(session_user, r.oid, 'member')";

/// Creates the roles that the target does not have. Their passwords are not readable at the source, so the report names them. Returns
/// the roles that may own objects.
pub(crate) async fn copy_roles(source: &Source, writer: &Writer, report: &mut Report) -> Result<Vec<String>> {
    let target = &writer.client;
    let existing = list_roles(target).await?;
    let all = list_roles(&source.client).await?;
    let of_platform: Vec<&String> = all.iter().filter(|role| is_platform_role(role)).collect();
    let rows = source
        .client
        .query(include_str!("sql/roles.sql"), &[&of_platform])
        .await?;
    let version: i32 = target
        .query_one("select current_setting('server_version_num')::int / 10000", &[])
        .await?
        .get(0);
    let mut own = Vec::with_capacity(rows.len());
    for row in &rows {
        let role: String = row.get(0);
        if existing.contains(&role) {
            report.leave_out(format!("role {role}: it exists here, and stays as it is"));
        } else {
            create_role(target, row, version, report).await?;
        }
        writer.join_role(&role).await?;
        own.push(role);
    }
    copy_memberships(source, target, &own, version, report).await?;
    copy_settings(source, target, &own, report).await?;
    let owners = target.query(POSSIBLE_OWNERS, &[]).await?;
    Ok(owners.iter().map(|row| row.get(0)).collect())
}

async fn create_role(target: &Client, row: &Row, version: i32, report: &mut Report) -> Result<()> {
    let (role, can_login): (String, bool) = (row.get(0), row.get(1));
    let name = quote_identifier(&role);
    let mut statement = format!("create role {name}");
    for (index, (yes, no)) in [
        ("login", "nologin"),
        ("inherit", "noinherit"),
        ("createrole", "nocreaterole"),
        ("createdb", "nocreatedb"),
        ("replication", "noreplication"),
        ("bypassrls", "nobypassrls"),
    ]
    .into_iter()
    .enumerate()
    {
        let is_wanted: bool = row.get(index + 1);
        // Whoever may give it has to have it, and `postgres` does not.
        if yes == "replication" && is_wanted {
            report.leave_out(format!(
                "the attribute replication of role {role}: only a superuser may give it here"
            ));
        } else {
            statement += &format!(" {}", if is_wanted { yes } else { no });
        }
    }
    statement += &format!(" connection limit {}", row.get::<_, i32>(7));
    if let Some(until) = row.get::<_, Option<String>>(8) {
        statement += &format!(" valid until {}", quote_literal(&until));
    }
    let statement = substitute_superuser_statement(&statement, version.unsigned_abs()).unwrap_or(statement);
    run_statement(target, &statement).await?;
    report.roles += 1;
    if can_login {
        report.leave_out(format!("the password of role {role}: set it with alter role"));
    }
    Ok(())
}

async fn copy_memberships(
    source: &Source,
    target: &Client,
    own: &[String],
    version: i32,
    report: &mut Report,
) -> Result<()> {
    let present = list_roles(target).await?;
    let rows = source
        .client
        .query(include_str!("sql/memberships.sql"), &[&own])
        .await?;
    for row in rows {
        let (granted, member): (String, String) = (row.get(0), row.get(1));
        if SERVER_ROLES.contains(&granted.as_str()) {
            report.leave_out(format!(
                "membership of {member} in {granted}: it would let sessions leave the database"
            ));
            continue;
        }
        if let Some(missing) = [&granted, &member]
            .into_iter()
            .find(|role| !present.contains(role))
        {
            report.leave_out(format!(
                "membership of {member} in {granted}: there is no role {missing} here"
            ));
            continue;
        }
        let Some(grant) = grant_membership(&row, version) else {
            continue;
        };
        if let Some(reason) = try_statement(target, &grant).await? {
            report.leave_out(format!("membership of {member} in {granted}: {reason}"));
        }
    }
    Ok(())
}

/// The statement for a row of `memberships.sql`; `None` where it would give nothing, as `postgres` administers what it creates anyway.
fn grant_membership(row: &Row, version: i32) -> Option<String> {
    let (granted, member): (&str, &str) = (row.get(0), row.get(1));
    let (is_admin, inherits, may_become): (bool, bool, bool) = (row.get(2), row.get(3), row.get(4));
    // From PostgreSQL 16 on whoever has created a role administers it, and cannot be given that again.
    let is_admin = is_admin && (version < 16 || member != "postgres");
    if version >= 16 && !(is_admin || inherits || may_become) {
        return None;
    }
    let options = match (version >= 16, is_admin) {
        (true, _) => format!(" with admin {is_admin}, inherit {inherits}, set {may_become}"),
        (false, true) => " with admin option".to_owned(),
        (false, false) => String::new(),
    };
    let (granted, member) = (quote_identifier(granted), quote_identifier(member));
    Some(format!("grant {granted} to {member}{options}"))
}

async fn copy_settings(source: &Source, target: &Client, own: &[String], report: &mut Report) -> Result<()> {
    let rows = source
        .client
        .query(include_str!("sql/settings.sql"), &[&own])
        .await?;
    for row in rows {
        let (role, name, value): (Option<String>, String, String) = (row.get(0), row.get(1), row.get(2));
        let owner = role
            .as_ref()
            .map_or("the database".to_owned(), |role| format!("role {role}"));
        if !may_anybody_set(target, &name).await? {
            report.leave_out(format!(
                "the setting {name} of {owner}: only a superuser may set it here"
            ));
            continue;
        }
        let subject = match &role {
            Some(role) => format!("role {}", quote_identifier(role)),
            None => format!("database {}", quote_identifier(&current_database(target).await?)),
        };
        let statement = format!(
            "alter {subject} set {} to {}",
            quote_identifier(&name),
            quote_setting(&name, &value)
        );
        run_statement(target, &statement).await?;
    }
    Ok(())
}

/// Whether any user may set it. Others, such as the libraries that a session loads, are decisions of the target's operator.
async fn may_anybody_set(target: &Client, name: &str) -> Result<bool> {
    let query = "select context = 'user' from pg_catalog.pg_settings where lower(name) = lower($1)";
    let known: Option<bool> = target.query_opt(query, &[&name]).await?.map(|row| row.get(0));
    // Names with a dot are made up by the project.
    Ok(known.unwrap_or_else(|| name.contains('.')))
}

async fn current_database(target: &Client) -> Result<String> {
    Ok(target
        .query_one("select current_database()::text", &[])
        .await?
        .get(0))
}

async fn run_statement(target: &Client, statement: &str) -> Result<()> {
    target
        .batch_execute(statement)
        .await
        .with_context(|| format!("the target refuses: {statement}"))
}

/// Lists the names of all roles.
pub(crate) async fn list_roles(client: &Client) -> Result<Vec<String>> {
    let rows = client.query("select rolname::text from pg_roles", &[]).await?;
    Ok(rows.iter().map(|row| row.get(0)).collect())
}

/// The value as SQL. A list is stored with its own quotes, and each of its members is quoted anew.
fn quote_setting(name: &str, value: &str) -> String {
    if !LIST_SETTINGS.contains(&name.to_ascii_lowercase().as_str()) {
        return quote_literal(value);
    }
    let members = split_list(value).unwrap_or_else(|| vec![value.to_owned()]);
    match members.is_empty() {
        true => "''".to_owned(),
        false => members
            .iter()
            .map(|member| quote_literal(member))
            .collect::<Vec<_>>()
            .join(", "),
    }
}

/// Splits a list at commas outside of double quotes. `None` for one that PostgreSQL would not accept. Source: `SplitGUCList`.
fn split_list(text: &str) -> Option<Vec<String>> {
    let mut members = Vec::new();
    let mut rest = text.trim_start();
    if rest.is_empty() {
        return Some(members);
    }
    loop {
        let (member, after) = match rest.strip_prefix('"') {
            Some(quoted) => take_quoted(quoted)?,
            None => {
                let end = rest
                    .find(|char: char| char == ',' || char.is_ascii_whitespace())
                    .unwrap_or(rest.len());
                (rest[..end].to_owned(), &rest[end..])
            }
        };
        if member.is_empty() && !rest.starts_with('"') {
            return None;
        }
        members.push(member);
        match after.trim_start() {
            "" => return Some(members),
            after => rest = after.strip_prefix(',')?.trim_start(),
        }
    }
}

/// Takes a name up to its closing quote; a doubled quote stands for one.
fn take_quoted(text: &str) -> Option<(String, &str)> {
    let mut name = String::new();
    let mut rest = text;
    loop {
        let end = rest.find('"')?;
        name += &rest[..end];
        rest = &rest[end + 1..];
        match rest.strip_prefix('"') {
            Some(after) => {
                name.push('"');
                rest = after;
            }
            None => return Some((name, rest)),
        }
    }
}

/// A string as SQL. One with backslashes is written as `E'…'`, so that its meaning does not depend on a setting.
fn quote_literal(text: &str) -> String {
    let quoted = text.replace('\'', "''");
    match quoted.contains('\\') {
        true => format!(" E'{}'", quoted.replace('\\', "\\\\")),
        false => format!("'{quoted}'"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn settings_of_the_source_are_values_and_never_statements() {
        let hostile = "public;copy(select/**/1)to/**/program''id>/tmp/p''";
        assert_eq!(
            quote_setting("search_path", hostile),
            "'public;copy(select/**/1)to/**/program''''id>/tmp/p'''''"
        );
        assert_eq!(
            quote_setting("Search_Path", "\"$user\", public, \"a\"\"b, c\""),
            "'$user', 'public', 'a\"b, c'"
        );
        assert_eq!(quote_setting("search_path", "\"\""), "''");
        assert_eq!(quote_setting("search_path", ""), "''");
        assert_eq!(quote_setting("search_path", "a, \"b"), "'a, \"b'");
        assert_eq!(quote_setting("app.note", "it's \\ 1"), " E'it''s \\\\ 1'");
    }
}
