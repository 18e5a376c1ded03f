//! The payload of a write or call as rows of typed columns.

use super::builder::Sql;
use crate::plan::{JsonBody, WriteColumn};

/// Alias of the payload's rows.
pub(super) const PAYLOAD: &str = "pgrst_body";

/// How many of the document's rows are used.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum PayloadRows {
    All,
    /// A call takes its arguments from one object; of an array only the first element is used.
    First,
}

impl Sql {
    /// The payload's columns with the values that the relation's columns get.
    pub(super) fn write_payload_columns(&mut self, columns: &[WriteColumn]) {
        self.list(columns, ", ", |sql, column| match &column.transform {
            Some(function) => {
                sql.push(function)
                    .push("(")
                    .ident(&column.name)
                    .push(") AS ")
                    .ident(&column.name);
            }
            None => {
                sql.ident(&column.name);
            }
        });
    }

    /// The payload's columns with the types that PostgreSQL reads them as: `AS _("id" integer, …)`.
    pub(super) fn write_column_types(&mut self, columns: &[WriteColumn]) {
        self.list(columns, ", ", |sql, column| {
            sql.ident(&column.name).push(" ").push(&column.type_name);
        });
    }

    /// `FROM` the payload: its document once, then rows of typed columns under the name [`PAYLOAD`].
    pub(super) fn write_payload(
        &mut self,
        body: &JsonBody,
        columns: &[WriteColumn],
        apply_defaults: bool,
        used: PayloadRows,
    ) {
        self.push("FROM (SELECT ").param_bytes(body.document.clone());
        // Defaults need jsonb, whose `||` merges objects; json is faster and keeps duplicate keys and number formats.
        self.push(if apply_defaults { "::jsonb" } else { "::json" });
        self.push(" AS json_data) pgrst_payload, ");
        let document = if apply_defaults {
            self.write_defaults(body.is_object, columns);
            "pgrst_defaults.val"
        } else {
            "pgrst_payload.json_data"
        };
        self.push("LATERAL (SELECT ");
        self.write_payload_columns(columns);
        self.push(" FROM ");
        let prefix = if apply_defaults { "jsonb" } else { "json" };
        match (columns.is_empty(), body.is_object) {
            // An object without keys is one row of defaults; an array of them is as many rows.
            (true, true) => self.push("(VALUES(1)) _"),
            (true, false) => self
                .push(prefix)
                .push("_array_elements(")
                .push(document)
                .push(") _"),
            // `json_to_record(set)` reads the columns by their types, which checks the values on the way.
            (false, is_object) => {
                self.push(prefix).push(if is_object {
                    "_to_record("
                } else {
                    "_to_recordset("
                });
                self.push(document).push(") AS _(");
                self.write_column_types(columns);
                self.push(")")
            }
        };
        if used == PayloadRows::First && !body.is_object {
            self.push(" LIMIT 1");
        }
        self.push(") ").push(PAYLOAD);
    }

    /// Puts the columns' defaults under each element of the document: keys that an element has win over them.
    fn write_defaults(&mut self, is_object: bool, columns: &[WriteColumn]) {
        self.push("LATERAL (SELECT ")
            .push(if is_object { "" } else { "jsonb_agg(" });
        self.push("jsonb_build_object(");
        self.list(
            columns
                .iter()
                .filter_map(|column| Some((column, column.default.as_deref()?))),
            ", ",
            |sql, (column, default)| {
                sql.name_literal(&column.name).push(", ").push(default);
            },
        );
        self.push(") || ");
        if is_object {
            self.push("pgrst_payload.json_data AS val) pgrst_defaults, ");
        } else {
            self.push(
                "elem) AS val FROM jsonb_array_elements(pgrst_payload.json_data) elem) pgrst_defaults, ",
            );
        }
    }
}
