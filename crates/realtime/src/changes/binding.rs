//! One entry of `config.postgres_changes` in a join: which changes a channel subscribes to.

use serde_json::Value;

use super::filter::{Filter, inspect_filters, inspect_json, inspect_text, parse_filters};

/// A parsed binding. Whether its table is published is checked later, against the catalog.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Binding {
    pub(crate) events: EventMask,
    /// `None` for all schemas.
    pub(crate) schema: Option<String>,
    /// `None` for all tables of the schema.
    pub(crate) table: Option<String>,
    pub(crate) filters: Vec<Filter>,
    /// Names of the wanted columns; `None` for all.
    pub(crate) select: Option<Vec<String>>,
}

/// Which kinds of change a binding covers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum EventMask {
    All,
    Only(ChangeKind),
}

/// The kind of a row change.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum ChangeKind {
    Insert,
    Update,
    Delete,
}

impl ChangeKind {
    /// The word used in events: INSERT, UPDATE or DELETE.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Insert => "INSERT",
            Self::Update => "UPDATE",
            Self::Delete => "DELETE",
        }
    }
}

impl EventMask {
    /// Compat: any word other than the three kinds, also a misspelt one, means all of them.
    fn parse(word: Option<&str>) -> Self {
        match word.map(str::to_uppercase).as_deref() {
            Some("INSERT") => Self::Only(ChangeKind::Insert),
            Some("UPDATE") => Self::Only(ChangeKind::Update),
            Some("DELETE") => Self::Only(ChangeKind::Delete),
            _ => Self::All,
        }
    }

    pub(crate) fn includes(self, kind: ChangeKind) -> bool {
        match self {
            Self::All => true,
            Self::Only(only) => only == kind,
        }
    }
}

impl Binding {
    /// Reads a binding from the join's JSON.
    ///
    /// # Errors
    /// The message of the `system` event that refuses all bindings of the channel (Realtime contract §11.3).
    pub(crate) fn parse(json: &Value) -> Result<Self, String> {
        let text = |key: &str| json.get(key).and_then(Value::as_str);
        let events = EventMask::parse(text("event"));
        let (schema, table) = match (text("schema"), text("table")) {
            (Some(schema), table) => (schema, table.unwrap_or("*")),
            (None, Some(table)) => ("public", table),
            (None, None) => return Err(refuse_parameters(json)),
        };
        let filters = match json.get("filter") {
            None => Vec::new(),
            Some(Value::String(filter)) => {
                parse_filters(filter).map_err(|error| format!("Error parsing `filter` params: {error}"))?
            }
            Some(_) => return Err(refuse_parameters(json)),
        };
        let select = parse_select(json.get("select"))?;
        let is_wildcard = schema == "*" || table == "*";
        if select.is_some() && is_wildcard {
            return Err("Column selection is not supported for wildcard subscriptions. Provide an explicit schema and \
                        table name."
                .to_owned());
        }
        let named = |name: &str| (name != "*").then(|| name.to_owned());
        Ok(Self {
            events,
            schema: named(schema),
            table: named(table),
            filters,
            select,
        })
    }

    /// The binding as error messages show it.
    pub(crate) fn inspect(&self) -> String {
        let event = match self.events {
            EventMask::All => "*",
            EventMask::Only(kind) => kind.name(),
        };
        let select = self.select.as_ref().map_or_else(
            || "nil".to_owned(),
            |names| {
                let names: Vec<String> = names.iter().map(|name| inspect_text(name)).collect();
                format!("[{}]", names.join(", "))
            },
        );
        format!(
            "[event: {event}, schema: {}, table: {}, filters: {}, select: {select}]",
            self.schema.as_deref().unwrap_or("*"),
            self.table.as_deref().unwrap_or("*"),
            inspect_filters(&self.filters),
        )
    }

    /// Whether the binding covers a table.
    pub(crate) fn covers(&self, schema: &str, table: &str) -> bool {
        let is_or_all =
            |wanted: &Option<String>, name: &str| wanted.as_deref().is_none_or(|wanted| wanted == name);
        is_or_all(&self.schema, schema) && is_or_all(&self.table, table)
    }
}

/// The text about a binding whose parts are missing or of the wrong type, such as `"filter": null`.
fn refuse_parameters(json: &Value) -> String {
    format!(
        "No subscription params provided. Please provide at least a `schema` or `table` to subscribe to: {}",
        inspect_json(json)
    )
}

/// The names in `select`. An empty list means all columns; entries that are not text are ignored.
fn parse_select(select: Option<&Value>) -> Result<Option<Vec<String>>, String> {
    let list = match select {
        None | Some(Value::Null) => return Ok(None),
        Some(Value::Array(list)) => list,
        Some(_) => {
            return Err("Error parsing `select` params: expected a list of column name strings, e.g. select: [\"col1\", \
                        \"col2\"]"
                .to_owned());
        }
    };
    let names: Vec<String> = list.iter().filter_map(Value::as_str).map(str::to_owned).collect();
    Ok((!names.is_empty()).then_some(names))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn realtime_004_schema_defaults_to_public_and_table_to_all_tables() {
        let table_only = Binding::parse(&json!({"table": "t", "event": "delete"})).expect("valid");
        let schema_only = Binding::parse(&json!({"schema": "s", "event": "*"})).expect("valid");

        assert!(table_only.covers("public", "t") && !table_only.covers("s", "t"));
        assert_eq!(table_only.events, EventMask::Only(ChangeKind::Delete));
        assert!(schema_only.covers("s", "any") && !schema_only.covers("public", "any"));
    }

    #[test]
    fn realtime_037_malformed_bindings_are_refused_with_upstream_texts() {
        for (binding, start) in [
            (json!({"event": "*"}), "No subscription params provided."),
            (
                json!({"table": "t", "schema": "s", "filter": null, "x": [1, true, {}]}),
                "No subscription params provided. Please provide at least a `schema` or `table` to subscribe to: \
                 %{\"filter\" => nil, \"schema\" => \"s\", \"table\" => \"t\", \"x\" => [1, true, %{}]}",
            ),
            (
                json!({"table": "t", "select": "a"}),
                "Error parsing `select` params: expected a list",
            ),
            (
                json!({"schema": "public", "select": ["a"]}),
                "Column selection is not supported for wildcard",
            ),
        ] {
            let error = Binding::parse(&binding).expect_err("refused");
            assert!(error.starts_with(start), "{error}");
        }
    }

    #[test]
    fn realtime_037_inspect_prints_a_binding_as_upstream_does() {
        let binding = Binding::parse(&json!({
            "event": "INSERT", "schema": "public", "table": "t", "filter": "id=eq.5", "select": ["a", 1, "b"]
        }))
        .expect("valid");

        assert_eq!(
            binding.inspect(),
            r#"[event: INSERT, schema: public, table: t, filters: [{"id", "eq", "5", false}], select: ["a", "b"]]"#
        );
    }
}
