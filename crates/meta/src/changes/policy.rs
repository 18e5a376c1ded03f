//! `POST /pg/policies` and `PATCH`, `DELETE /pg/policies/{oid}`.
//!
//! Bodies: [`NewPolicy`] and [`PolicyChanges`]. Source: postgres-meta 0.99, recorded in `e2e/golden/pg/policies.json`.

use selvedge_postgres::quote_identifier;
use serde::Deserialize;

use super::kind::ObjectKind;
use super::table::public_schema;
use super::transaction::Change;
use crate::error::MetaError;
use crate::sql_text::{join_roles, qualify};

/// Returns the oid of policy `$3` on table `$1.$2`.
const FIND_POLICY: &str = "select p.oid::text from pg_catalog.pg_policy p
    join pg_catalog.pg_class c on c.oid = p.polrelid
    join pg_catalog.pg_namespace n on n.oid = c.relnamespace
    where n.nspname = $1 and c.relname = $2 and p.polname = $3";

/// Row-level security policies.
pub(super) struct Policies;

/// Body of `POST /pg/policies`. By default the policy is permissive, for all commands and to `public`.
#[derive(Deserialize)]
pub(super) struct NewPolicy {
    name: String,
    table: String,
    #[serde(default = "public_schema")]
    schema: String,
    /// SQL of USING.
    definition: Option<String>,
    /// SQL of WITH CHECK.
    check: Option<String>,
    #[serde(default)]
    action: Action,
    #[serde(default)]
    command: Command,
    #[serde(default = "all_roles")]
    roles: Vec<String>,
}

fn all_roles() -> Vec<String> {
    vec!["public".to_owned()]
}

/// Body of `PATCH /pg/policies/{id}`; a missing member leaves that property unchanged.
#[derive(Deserialize)]
pub(super) struct PolicyChanges {
    name: Option<String>,
    definition: Option<String>,
    check: Option<String>,
    roles: Option<Vec<String>>,
}

#[derive(Clone, Copy, Default, Deserialize)]
#[serde(rename_all = "UPPERCASE")]
enum Action {
    #[default]
    Permissive,
    Restrictive,
}

#[derive(Clone, Copy, Default, Deserialize)]
#[serde(rename_all = "UPPERCASE")]
enum Command {
    #[default]
    All,
    Select,
    Insert,
    Update,
    Delete,
}

/// The members of a policy in `GET /pg/policies` that its statements need.
#[derive(Deserialize)]
pub(super) struct Policy {
    id: u32,
    schema: String,
    table: String,
    name: String,
}

impl ObjectKind for Policies {
    const PATH: &'static str = "/policies";
    type New = NewPolicy;
    type Changes = PolicyChanges;
    type Object = Policy;

    async fn create(change: &Change<'_>, new: NewPolicy) -> Result<String, MetaError> {
        change.run(&create_statement(&new)).await?;
        let missing = || format!("Cannot find a policy named {} on {}", new.name, new.table);
        change
            .query_text(FIND_POLICY, &[&new.schema, &new.table, &new.name], missing)
            .await
    }

    async fn alter(change: &Change<'_>, policy: Policy, changes: PolicyChanges) -> Result<String, MetaError> {
        // ALTER POLICY cannot rename and change a policy in one statement, so each change gets its own.
        let mut actions = Vec::new();
        if let Some(definition) = &changes.definition {
            actions.push(format!("using ({definition})"));
        }
        if let Some(check) = &changes.check {
            actions.push(format!("with check ({check})"));
        }
        if let Some(roles) = &changes.roles {
            actions.push(format!("to {}", join_roles(roles)));
        }
        if let Some(name) = changes.name.as_ref().filter(|name| **name != policy.name) {
            actions.push(format!("rename to {}", quote_identifier(name)));
        }
        let subject = name_on_table(&policy);
        for action in actions {
            change.run(&format!("alter policy {subject} {action}")).await?;
        }
        Ok(policy.id.to_string())
    }

    fn drop_statement(policy: &Policy, _: bool) -> String {
        format!("drop policy {}", name_on_table(policy))
    }
}

/// Writes `name ON schema.table`, as statements about policies expect it.
fn name_on_table(policy: &Policy) -> String {
    let table = qualify(&policy.schema, &policy.table);
    format!("{} on {table}", quote_identifier(&policy.name))
}

fn create_statement(new: &NewPolicy) -> String {
    let action = match new.action {
        Action::Permissive => "permissive",
        Action::Restrictive => "restrictive",
    };
    let command = match new.command {
        Command::All => "all",
        Command::Select => "select",
        Command::Insert => "insert",
        Command::Update => "update",
        Command::Delete => "delete",
    };
    let mut statement = format!(
        "create policy {} on {} as {action} for {command} to {}",
        quote_identifier(&new.name),
        qualify(&new.schema, &new.table),
        join_roles(&new.roles)
    );
    if let Some(definition) = &new.definition {
        statement.push_str(&format!(" using ({definition})"));
    }
    if let Some(check) = &new.check {
        statement.push_str(&format!(" with check ({check})"));
    }
    statement
}
