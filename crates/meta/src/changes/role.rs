//! `POST /pg/roles` and `PATCH`, `DELETE /pg/roles/{oid}`.
//!
//! Bodies: [`NewRole`] and [`RoleChanges`]. Source: postgres-meta 0.99, recorded in `e2e/golden/pg/roles.json`.

use std::collections::BTreeMap;

use secrecy::{ExposeSecret, SecretString};
use selvedge_postgres::migrate::scram_verifier;
use selvedge_postgres::{quote_identifier, quote_literal};
use serde::Deserialize;

use super::kind::ObjectKind;
use super::transaction::Change;
use crate::error::MetaError;
use crate::sql_text::join_identifiers;

/// Roles of the cluster.
pub(super) struct Roles;

/// Body of `POST /pg/roles`.
#[derive(Deserialize)]
pub(super) struct NewRole {
    name: String,
    #[serde(flatten)]
    options: RoleOptions,
    /// Roles of which the new one becomes a member.
    member_of: Option<Vec<String>>,
    /// Roles that become members of the new one.
    members: Option<Vec<String>>,
    /// Roles that become members of the new one and may add others.
    admins: Option<Vec<String>>,
    /// Settings for the role's sessions, by name.
    config: Option<BTreeMap<String, String>>,
}

/// Body of `PATCH /pg/roles/{id}`; a missing member leaves that property unchanged.
#[derive(Deserialize)]
pub(super) struct RoleChanges {
    name: Option<String>,
    #[serde(flatten)]
    options: RoleOptions,
    config: Option<Vec<ConfigChange>>,
}

/// The options that CREATE ROLE and ALTER ROLE have in common.
#[derive(Deserialize)]
struct RoleOptions {
    is_superuser: Option<bool>,
    can_create_db: Option<bool>,
    can_create_role: Option<bool>,
    inherit_role: Option<bool>,
    can_login: Option<bool>,
    is_replication_role: Option<bool>,
    can_bypass_rls: Option<bool>,
    connection_limit: Option<i32>,
    password: Option<SecretString>,
    /// When the password expires, as SQL text such as `2027-01-01` or `infinity`.
    valid_until: Option<String>,
}

/// A JSON Patch operation (RFC 6902) on a role's settings. `path` is the setting's name, without a slash.
#[derive(Deserialize)]
struct ConfigChange {
    op: ConfigOperation,
    path: String,
    value: Option<String>,
}

#[derive(Clone, Copy, Deserialize)]
#[serde(rename_all = "lowercase")]
enum ConfigOperation {
    Add,
    Replace,
    Remove,
}

/// The members of a role in `GET /pg/roles` that its statements need.
#[derive(Deserialize)]
pub(super) struct Role {
    id: u32,
    name: String,
}

impl ObjectKind for Roles {
    const PATH: &'static str = "/roles";
    type New = NewRole;
    type Changes = RoleChanges;
    type Object = Role;

    async fn create(change: &Change<'_>, new: NewRole) -> Result<String, MetaError> {
        let name = quote_identifier(&new.name);
        let mut options = write_options(&new.options);
        let lists = [
            ("in role", &new.member_of),
            ("role", &new.members),
            ("admin", &new.admins),
        ];
        for (keyword, roles) in lists {
            let roles = roles.as_deref().unwrap_or_default();
            // `IN ROLE` without a role would be a syntax error.
            if !roles.is_empty() {
                let roles = join_identifiers(roles.iter().map(String::as_str));
                options.push(format!("{keyword} {roles}"));
            }
        }
        change
            .run(&format!("create role {name} {}", options.join(" ")))
            .await?;
        for (setting, value) in new.config.iter().flatten() {
            if !value.is_empty() {
                change.run(&write_role_setting(&name, setting, value)).await?;
            }
        }
        let find = "select oid::text from pg_catalog.pg_roles where rolname = $1";
        let missing = || format!("Cannot find a role named {}", new.name);
        change.query_text(find, &[&new.name], missing).await
    }

    async fn alter(change: &Change<'_>, role: Role, changes: RoleChanges) -> Result<String, MetaError> {
        let name = quote_identifier(&role.name);
        let options = write_options(&changes.options);
        if !options.is_empty() {
            change
                .run(&format!("alter role {name} {}", options.join(" ")))
                .await?;
        }
        for step in changes.config.iter().flatten() {
            let statement = match (step.op, &step.value) {
                (ConfigOperation::Add | ConfigOperation::Replace, Some(value)) => {
                    write_role_setting(&name, &step.path, value)
                }
                _ => format!("alter role {name} reset {}", quote_identifier(&step.path)),
            };
            change.run(&statement).await?;
        }
        if let Some(new_name) = changes.name.filter(|name| *name != role.name) {
            let new_name = quote_identifier(&new_name);
            change
                .run(&format!("alter role {name} rename to {new_name}"))
                .await?;
        }
        Ok(role.id.to_string())
    }

    fn drop_statement(role: &Role, _: bool) -> String {
        format!("drop role {}", quote_identifier(&role.name))
    }
}

/// Writes the options that the request contains, each as SQL.
fn write_options(options: &RoleOptions) -> Vec<String> {
    let flags = [
        (options.is_superuser, "superuser", "nosuperuser"),
        (options.can_create_db, "createdb", "nocreatedb"),
        (options.can_create_role, "createrole", "nocreaterole"),
        (options.inherit_role, "inherit", "noinherit"),
        (options.can_login, "login", "nologin"),
        (options.is_replication_role, "replication", "noreplication"),
        (options.can_bypass_rls, "bypassrls", "nobypassrls"),
    ];
    let mut written = Vec::new();
    // Options that the request does not contain are left out: PostgreSQL refuses ALTER ROLE … NOSUPERUSER to `postgres`, for
    // example, even for a role that is no superuser.
    for (value, on, off) in flags {
        written.extend(value.map(|value| if value { on } else { off }.to_owned()));
    }
    if let Some(limit) = options.connection_limit {
        written.push(format!("connection limit {limit}"));
    }
    if let Some(password) = &options.password {
        written.push(format!("password {}", write_password(password)));
    }
    if let Some(end) = &options.valid_until {
        written.push(format!("valid until {}", quote_literal(end)));
    }
    written
}

/// Writes a password as its SCRAM verifier, so that PostgreSQL does not log the password when the statement fails.
fn write_password(password: &SecretString) -> String {
    match password.expose_secret() {
        // PostgreSQL treats an empty password as no password.
        "" => "null".to_owned(),
        hashed if hashed.starts_with("SCRAM-SHA-256$") => quote_literal(hashed),
        _ => quote_literal(&scram_verifier(password)),
    }
}

/// Writes `ALTER ROLE … SET`. The value is split at commas, because list settings such as `search_path` need one literal per
/// item.
fn write_role_setting(role: &str, setting: &str, value: &str) -> String {
    let setting = quote_identifier(setting);
    let items = value.split(',').map(|item| quote_literal(item.trim()));
    let items = items.collect::<Vec<_>>().join(", ");
    format!("alter role {role} set {setting} = {items}")
}
