//! `POST /pg/triggers` and `PATCH`, `DELETE /pg/triggers/{oid}`.
//!
//! Bodies: [`NewTrigger`] and [`TriggerChanges`]. Source: postgres-meta 0.99, recorded in `e2e/golden/pg/triggers.json`.

use selvedge_postgres::{quote_identifier, quote_literal};
use serde::Deserialize;

use super::kind::ObjectKind;
use super::table::{drop_behavior, public_schema};
use super::transaction::Change;
use crate::error::MetaError;
use crate::sql_text::qualify;

/// Returns the oid of trigger `$3` on table `$1.$2`.
const FIND_TRIGGER: &str = "select t.oid::text from pg_catalog.pg_trigger t
    join pg_catalog.pg_class c on c.oid = t.tgrelid
    join pg_catalog.pg_namespace n on n.oid = c.relnamespace
    where n.nspname = $1 and c.relname = $2 and t.tgname = $3";

/// Triggers on tables and views.
pub(super) struct Triggers;

/// Body of `POST /pg/triggers`.
#[derive(Deserialize)]
pub(super) struct NewTrigger {
    name: String,
    table: String,
    #[serde(default = "public_schema")]
    schema: String,
    function_name: String,
    #[serde(default = "public_schema")]
    function_schema: String,
    function_args: Option<Vec<String>>,
    activation: Activation,
    /// The events in SQL, such as `INSERT` or `UPDATE OF name`.
    events: Vec<String>,
    orientation: Option<Orientation>,
    /// SQL of WHEN.
    condition: Option<String>,
}

/// Body of `PATCH /pg/triggers/{id}`; a missing member leaves that property unchanged.
#[derive(Deserialize)]
pub(super) struct TriggerChanges {
    name: Option<String>,
    enabled_mode: Option<EnabledMode>,
}

#[derive(Clone, Copy, Deserialize)]
enum Activation {
    #[serde(rename = "BEFORE")]
    Before,
    #[serde(rename = "AFTER")]
    After,
    #[serde(rename = "INSTEAD OF")]
    InsteadOf,
}

#[derive(Clone, Copy, Deserialize)]
#[serde(rename_all = "UPPERCASE")]
enum Orientation {
    Row,
    Statement,
}

/// In which sessions a trigger fires, by their `session_replication_role`: `ORIGIN` in ordinary ones, `REPLICA` in those that
/// apply replicated changes.
#[derive(Clone, Copy, Deserialize)]
#[serde(rename_all = "UPPERCASE")]
enum EnabledMode {
    Origin,
    Replica,
    Always,
    Disabled,
}

/// The members of a trigger in `GET /pg/triggers` that its statements need.
#[derive(Deserialize)]
pub(super) struct Trigger {
    id: u32,
    schema: String,
    table: String,
    name: String,
}

impl ObjectKind for Triggers {
    const PATH: &'static str = "/triggers";
    type New = NewTrigger;
    type Changes = TriggerChanges;
    type Object = Trigger;

    async fn create(change: &Change<'_>, new: NewTrigger) -> Result<String, MetaError> {
        change.run(&create_statement(&new)).await?;
        let missing = || format!("Cannot find a trigger with name {} on {}", new.name, new.table);
        change
            .query_text(FIND_TRIGGER, &[&new.schema, &new.table, &new.name], missing)
            .await
    }

    async fn alter(
        change: &Change<'_>,
        trigger: Trigger,
        changes: TriggerChanges,
    ) -> Result<String, MetaError> {
        // Triggers are enabled and disabled by ALTER TABLE, but renamed by ALTER TRIGGER.
        let table = qualify(&trigger.schema, &trigger.table);
        let name = quote_identifier(&trigger.name);
        if let Some(mode) = changes.enabled_mode {
            let verb = match mode {
                EnabledMode::Origin => "enable",
                EnabledMode::Replica => "enable replica",
                EnabledMode::Always => "enable always",
                EnabledMode::Disabled => "disable",
            };
            change
                .run(&format!("alter table {table} {verb} trigger {name}"))
                .await?;
        }
        if let Some(new_name) = changes.name.filter(|name| *name != trigger.name) {
            let new_name = quote_identifier(&new_name);
            change
                .run(&format!("alter trigger {name} on {table} rename to {new_name}"))
                .await?;
        }
        Ok(trigger.id.to_string())
    }

    fn drop_statement(trigger: &Trigger, cascades: bool) -> String {
        let table = qualify(&trigger.schema, &trigger.table);
        let name = quote_identifier(&trigger.name);
        format!("drop trigger {name} on {table} {}", drop_behavior(cascades))
    }
}

fn create_statement(new: &NewTrigger) -> String {
    let activation = match new.activation {
        Activation::Before => "before",
        Activation::After => "after",
        Activation::InsteadOf => "instead of",
    };
    let orientation = match new.orientation {
        None => "",
        Some(Orientation::Row) => "for each row",
        Some(Orientation::Statement) => "for each statement",
    };
    let condition = match &new.condition {
        Some(condition) if !condition.is_empty() => format!("when ({condition})"),
        _ => String::new(),
    };
    // PostgreSQL passes every trigger argument as a string, so all are quoted.
    let arguments = new.function_args.iter().flatten();
    let arguments: Vec<String> = arguments.map(|argument| quote_literal(argument)).collect();
    format!(
        "create trigger {} {activation} {} on {} {orientation} {condition} execute function {}({})",
        quote_identifier(&new.name),
        new.events.join(" or "),
        qualify(&new.schema, &new.table),
        qualify(&new.function_schema, &new.function_name),
        arguments.join(", ")
    )
}
