//! `POST /pg/functions` and `PATCH`, `DELETE /pg/functions/{oid}`.
//!
//! Bodies: [`NewFunction`] and [`FunctionChanges`]. Source: postgres-meta 0.99, recorded in `e2e/golden/pg/functions.json`.

use std::collections::BTreeMap;

use selvedge_postgres::{quote_identifier, quote_literal};
use serde::Deserialize;

use super::kind::ObjectKind;
use super::table::{drop_behavior, public_schema};
use super::transaction::Change;
use crate::error::MetaError;
use crate::sql_text::qualify;

/// Returns the oid of the function `$1.$2` that this transaction created. Overloads of older transactions have the same name, so
/// the row's transaction id (`xmin`) tells them apart.
const FIND_NEW_FUNCTION: &str = "select p.oid::text from pg_catalog.pg_proc p
    join pg_catalog.pg_namespace n on n.oid = p.pronamespace
    where n.nspname = $1 and p.proname = $2 and p.xmin = pg_catalog.pg_current_xact_id()::xid";

/// Functions and procedures.
pub(super) struct Functions;

/// Body of `POST /pg/functions`.
#[derive(Deserialize)]
pub(super) struct NewFunction {
    name: String,
    #[serde(default = "public_schema")]
    schema: String,
    /// One SQL declaration per argument, such as `a int default 1`.
    #[serde(default)]
    args: Vec<String>,
    /// The function's body.
    definition: String,
    #[serde(default = "void")]
    return_type: String,
    #[serde(default = "sql")]
    language: String,
    #[serde(default)]
    behavior: Behavior,
    #[serde(default)]
    security_definer: bool,
    config_params: Option<BTreeMap<String, String>>,
}

fn void() -> String {
    "void".to_owned()
}

fn sql() -> String {
    "sql".to_owned()
}

/// Body of `PATCH /pg/functions/{id}`; a missing member leaves that property unchanged.
#[derive(Deserialize)]
pub(super) struct FunctionChanges {
    name: Option<String>,
    schema: Option<String>,
    definition: Option<String>,
}

#[derive(Clone, Copy, Default, Deserialize)]
#[serde(rename_all = "UPPERCASE")]
enum Behavior {
    Immutable,
    Stable,
    #[default]
    Volatile,
}

/// The members of a function in `GET /pg/functions` that its statements need.
#[derive(Deserialize)]
pub(super) struct Function {
    id: u32,
    schema: String,
    name: String,
    language: String,
    definition: String,
    complete_statement: String,
    argument_types: String,
    identity_argument_types: String,
    return_type: String,
    behavior: Behavior,
    security_definer: bool,
    config_params: Option<BTreeMap<String, String>>,
}

impl ObjectKind for Functions {
    const PATH: &'static str = "/functions";
    type New = NewFunction;
    type Changes = FunctionChanges;
    type Object = Function;

    async fn create(change: &Change<'_>, new: NewFunction) -> Result<String, MetaError> {
        change.run(&create_statement("create function", &new)).await?;
        let missing = || {
            let arguments = new.args.join(", ");
            format!(
                "Cannot find function \"{}\".\"{}\"({arguments})",
                new.schema, new.name
            )
        };
        change
            .query_text(FIND_NEW_FUNCTION, &[&new.schema, &new.name], missing)
            .await
    }

    async fn alter(
        change: &Change<'_>,
        function: Function,
        changes: FunctionChanges,
    ) -> Result<String, MetaError> {
        if let Some(definition) = changes.definition {
            let statement = replace_definition(&function, &definition).unwrap_or_else(|| {
                create_statement(
                    "create or replace function",
                    &to_new_function(&function, definition),
                )
            });
            change.run(&statement).await?;
        }
        // ALTER FUNCTION needs the argument types, because overloads share a name.
        let arguments = &function.identity_argument_types;
        let name = changes.name.as_ref().unwrap_or(&function.name);
        if *name != function.name {
            let before = qualify(&function.schema, &function.name);
            let after = quote_identifier(name);
            change
                .run(&format!("alter function {before}({arguments}) rename to {after}"))
                .await?;
        }
        if let Some(schema) = changes.schema.filter(|schema| *schema != function.schema) {
            let before = qualify(&function.schema, name);
            let schema = quote_identifier(&schema);
            change
                .run(&format!(
                    "alter function {before}({arguments}) set schema {schema}"
                ))
                .await?;
        }
        Ok(function.id.to_string())
    }

    fn drop_statement(function: &Function, cascades: bool) -> String {
        let name = qualify(&function.schema, &function.name);
        let arguments = &function.identity_argument_types;
        format!("drop function {name}({arguments}) {}", drop_behavior(cascades))
    }
}

fn create_statement(verb: &str, new: &NewFunction) -> String {
    let behavior = match new.behavior {
        Behavior::Immutable => "immutable",
        Behavior::Stable => "stable",
        Behavior::Volatile => "volatile",
    };
    let security = if new.security_definer {
        "definer"
    } else {
        "invoker"
    };
    // `SET` clauses apply while the function runs, for example a fixed search_path of a SECURITY DEFINER function.
    let settings = new.config_params.iter().flatten();
    let settings: Vec<String> = settings.map(|(name, value)| write_setting(name, value)).collect();
    format!(
        "{verb} {}({}) returns {} as {} language {} {behavior} called on null input security {security} {}",
        qualify(&new.schema, &new.name),
        new.args.join(", "),
        new.return_type,
        quote_literal(&new.definition),
        quote_identifier(&new.language.to_lowercase()),
        settings.join(" ")
    )
}

/// Writes a `SET` clause of CREATE FUNCTION. The value is SQL, such as `''` or `public, extensions`, or a text that would be none, such
/// as `5s` or `Europe/Berlin`.
fn write_setting(name: &str, value: &str) -> String {
    let name = quote_identifier(name);
    if value == "FROM CURRENT" {
        format!("set {name} from current")
    } else if is_value_list(value) {
        format!("set {name} to {value}")
    } else {
        format!("set {name} to {}", quote_literal(value))
    }
}

/// Whether a text is a list of words, numbers, quoted names and strings, as SET takes it.
fn is_value_list(text: &str) -> bool {
    let mut rest = text.trim();
    loop {
        let Some(after) = skip_value(rest) else {
            return false;
        };
        let after = after.trim_start();
        if after.is_empty() {
            return true;
        }
        let Some(next) = after.strip_prefix(',') else {
            return false;
        };
        rest = next.trim_start();
    }
}

/// What comes after the value at the beginning of a text; `None` when there is none.
fn skip_value(text: &str) -> Option<&str> {
    let first = text.chars().next()?;
    if matches!(first, '\'' | '"') {
        let mut inner = &text[1..];
        loop {
            let (_, after) = inner.split_once(first)?;
            match after.strip_prefix(first) {
                Some(doubled) => inner = doubled,
                None => return Some(after),
            }
        }
    }
    let is_part = |char: char| char.is_ascii_alphanumeric() || matches!(char, '_' | '$' | '.' | '-');
    let end = text.find(|char| !is_part(char)).unwrap_or(text.len());
    let (word, after) = text.split_at(end);
    let is_word = first.is_ascii_alphabetic() || first == '_';
    let is_name = is_word && !word.contains(['.', '-']);
    (is_name || word.parse::<f64>().is_ok_and(f64::is_finite) && !is_word).then_some(after)
}

/// Returns the function's CREATE OR REPLACE statement with another body, so that STRICT, PARALLEL SAFE and other properties stay.
/// `None` when the statement has no quoted body, as for `BEGIN ATOMIC` functions.
fn replace_definition(function: &Function, definition: &str) -> Option<String> {
    let statement = function.complete_statement.trim_end();
    // pg_get_functiondef quotes the body with $function$, or with $functionx$ and so on when the body contains that.
    let tag = &statement[statement.rfind("$function")?..];
    let head = statement
        .strip_suffix(tag)?
        .strip_suffix(function.definition.as_str())?
        .strip_suffix(tag)?;
    head.ends_with("\nAS ")
        .then(|| format!("{head}{}", quote_literal(definition)))
}

/// Describes an existing function, with another body, as the request that would create it.
fn to_new_function(function: &Function, definition: String) -> NewFunction {
    NewFunction {
        name: function.name.clone(),
        schema: function.schema.clone(),
        args: vec![function.argument_types.clone()],
        definition,
        return_type: function.return_type.clone(),
        language: function.language.clone(),
        behavior: function.behavior,
        security_definer: function.security_definer,
        config_params: function.config_params.clone(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn settings_that_are_no_sql_are_quoted() {
        for (value, written) in [
            ("''", "''"),
            ("public, extensions", "public, extensions"),
            ("\"a,b\", 'it''s'", "\"a,b\", 'it''s'"),
            ("on", "on"),
            ("-1.5", "-1.5"),
            ("5s", "'5s'"),
            ("64MB", "'64MB'"),
            ("Europe/Berlin", "'Europe/Berlin'"),
            ("public; drop table t", "'public; drop table t'"),
            ("it's", "'it''s'"),
            ("", "''"),
        ] {
            assert_eq!(write_setting("x", value), format!("set \"x\" to {written}"));
        }
    }
}
