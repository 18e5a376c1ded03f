//! `/pg/roles`: POST, PATCH, DELETE.

use std::collections::BTreeMap;

use secrecy::{ExposeSecret, SecretString};
use selvedge_postgres::migrate::scram_verifier;
use selvedge_postgres::{quote_identifier, quote_literal};
use serde::Deserialize;

use super::kind::ObjectKind;
use super::transaction::Change;
use crate::error::MetaError;
use crate::sql_text::join_identifiers;

pub(super) struct Roles;

#[derive(Deserialize)]
pub(super) struct NewRole {
    name: String,
    #[serde(flatten)]
    options: RoleOptions,
    member_of: Option<Vec<String>>,
    members: Option<Vec<String>>,
    admins: Option<Vec<String>>,
    config: Option<BTreeMap<String, String>>,
}

#[derive(Deserialize)]
pub(super) struct RoleChanges {
    name: Option<String>,
    #[serde(flatten)]
    options: RoleOptions,
    config: Option<Vec<ConfigChange>>,
}

/// What both CREATE ROLE and ALTER ROLE can set.
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
    valid_until: Option<String>,
}

/// A step of a JSON patch on the settings of a role.
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

/// A listed role.
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
        let mut options = describe_options(&new.options);
        let lists = [
            ("in role", &new.member_of),
            ("role", &new.members),
            ("admin", &new.admins),
        ];
        for (keyword, roles) in lists {
            let roles = roles.as_deref().unwrap_or_default();
            // A keyword without a name behind it is a syntax error.
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
                change.run(&set_config(&name, setting, value)).await?;
            }
        }
        let find = "select oid::text from pg_catalog.pg_roles where rolname = $1";
        let missing = || format!("Cannot find a role named {}", new.name);
        change.query_text(find, &[&new.name], missing).await
    }

    async fn alter(change: &Change<'_>, role: Role, changes: RoleChanges) -> Result<String, MetaError> {
        let name = quote_identifier(&role.name);
        let options = describe_options(&changes.options);
        if !options.is_empty() {
            change
                .run(&format!("alter role {name} {}", options.join(" ")))
                .await?;
        }
        for step in changes.config.iter().flatten() {
            let statement = match (step.op, &step.value) {
                (ConfigOperation::Add | ConfigOperation::Replace, Some(value)) => {
                    set_config(&name, &step.path, value)
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

/// Writes the options that a request names.
fn describe_options(options: &RoleOptions) -> Vec<String> {
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
    // Only what is named: PostgreSQL refuses some of these to `postgres` even when they state the default.
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

/// Writes a password as a verifier, so that PostgreSQL's log cannot show it when the statement fails.
fn write_password(password: &SecretString) -> String {
    match password.expose_secret() {
        // PostgreSQL takes an empty password for none.
        "" => "null".to_owned(),
        hashed if hashed.starts_with("SCRAM-SHA-256$") => quote_literal(hashed),
        _ => quote_literal(&scram_verifier(password)),
    }
}

/// The statement that gives a role a setting. Settings that are lists, such as `search_path`, take one literal per item.
fn set_config(role: &str, setting: &str, value: &str) -> String {
    let setting = quote_identifier(setting);
    let items = value.split(',').map(|item| quote_literal(item.trim()));
    let items = items.collect::<Vec<_>>().join(", ");
    format!("alter role {role} set {setting} = {items}")
}
