//! Writes: the INSERT, UPDATE or DELETE behind the source expression.

use super::Sql;
use super::filter::Rows;
use crate::identifier::QualifiedName;
use crate::plan::{Conflict, JsonBody, MutatePlan, WriteColumn};
use crate::request::preferences::Resolution;

/// The name under which the payload's rows are known.
const BODY: &str = "pgrst_body";

impl Sql {
    pub(super) fn mutation(&mut self, table: &QualifiedName, plan: &MutatePlan) {
        match plan {
            MutatePlan::Insert {
                columns,
                body,
                conflict,
                put_filters,
                returning,
                apply_defaults,
                ..
            } => {
                self.insert_into(table, columns);
                self.push(" SELECT ");
                self.list(columns, ", ", |sql, column| {
                    sql.column(Rows::Alias(BODY), &column.name);
                });
                self.push(" ");
                self.body_rows(body, columns, *apply_defaults);
                let counts = conflict
                    .as_ref()
                    .is_some_and(|c| c.resolution == Resolution::MergeDuplicates);
                if counts {
                    self.push(" WHERE ");
                    self.count_inserted(true);
                    for condition in put_filters {
                        self.push(" AND ");
                        self.condition(Rows::Alias(BODY), condition, None, false);
                    }
                }
                if let Some(conflict) = conflict {
                    self.on_conflict(conflict, columns);
                }
                self.returning(table, returning);
            }
            MutatePlan::Update {
                columns,
                filters,
                returning,
                ..
            } if columns.is_empty() => {
                // Nothing to set is no valid UPDATE; an empty result has the columns that the answer needs.
                self.push("SELECT ");
                if returning.is_empty() {
                    self.push("NULL");
                }
                self.list(returning, ", ", |sql, name| {
                    sql.column(Rows::Alias(&table.name), name);
                });
                self.push(" FROM ").qualified(table).push(" WHERE false");
                let _ = filters;
            }
            MutatePlan::Update {
                columns,
                body,
                filters,
                returning,
                apply_defaults,
            } => {
                self.push("UPDATE ").qualified(table).push(" SET ");
                self.list(columns, ", ", |sql, column| {
                    sql.ident(&column.name)
                        .push(" = ")
                        .column(Rows::Alias(BODY), &column.name);
                });
                self.push(" ");
                self.body_rows(body, columns, *apply_defaults);
                self.conditions(Rows::Table(table), filters, None);
                self.returning(table, returning);
            }
            MutatePlan::Delete { filters, returning } => {
                self.push("DELETE FROM ").qualified(table);
                self.conditions(Rows::Table(table), filters, None);
                self.returning(table, returning);
            }
        }
    }

    /// Inserts the one row that an object is.
    pub(super) fn insert_object(&mut self, table: &QualifiedName, columns: &[WriteColumn], body: &JsonBody) {
        self.insert_into(table, columns);
        self.push(" SELECT ");
        self.read_columns(columns);
        self.push(" FROM json_to_record(")
            .param_bytes(body.document.clone())
            .push("::json) AS _(");
        self.declared_columns(columns);
        self.push(")");
    }

    fn insert_into(&mut self, table: &QualifiedName, columns: &[WriteColumn]) {
        self.push("INSERT INTO ").qualified(table);
        if !columns.is_empty() {
            self.push("(");
            self.list(columns, ", ", |sql, column| {
                sql.ident(&column.name);
            });
            self.push(")");
        }
    }

    /// The payload's columns as those of the table.
    fn read_columns(&mut self, columns: &[WriteColumn]) {
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

    /// The payload's columns with the types that they are read as.
    fn declared_columns(&mut self, columns: &[WriteColumn]) {
        self.list(columns, ", ", |sql, column| {
            sql.ident(&column.name).push(" ").push(&column.type_name);
        });
    }

    /// `FROM` the payload: its document once, then rows of typed columns.
    pub(super) fn body_rows(&mut self, body: &JsonBody, columns: &[WriteColumn], apply_defaults: bool) {
        self.push("FROM (SELECT ").param_bytes(body.document.clone());
        self.push(if apply_defaults { "::jsonb" } else { "::json" });
        self.push(" AS json_data) pgrst_payload, ");
        let document = if apply_defaults {
            self.defaults(body.is_object, columns);
            "pgrst_defaults.val"
        } else {
            "pgrst_payload.json_data"
        };
        self.push("LATERAL (SELECT ");
        self.read_columns(columns);
        self.push(" FROM ");
        let prefix = if apply_defaults { "jsonb" } else { "json" };
        match (columns.is_empty(), body.is_object) {
            (true, true) => self.push("(VALUES(1)) _"),
            (true, false) => self
                .push(prefix)
                .push("_array_elements(")
                .push(document)
                .push(") _"),
            (false, is_object) => {
                self.push(prefix).push(if is_object {
                    "_to_record("
                } else {
                    "_to_recordset("
                });
                self.push(document).push(") AS _(");
                self.declared_columns(columns);
                self.push(")")
            }
        };
        self.push(") ").push(BODY);
    }

    /// Puts the columns' defaults under each element of the document.
    fn defaults(&mut self, is_object: bool, columns: &[WriteColumn]) {
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

    fn on_conflict(&mut self, conflict: &Conflict, columns: &[WriteColumn]) {
        if conflict.columns.is_empty() {
            return;
        }
        self.push(" ON CONFLICT(");
        self.list(&conflict.columns, ", ", |sql, column| {
            sql.ident(column);
        });
        self.push(")");
        if conflict.resolution == Resolution::IgnoreDuplicates || columns.is_empty() {
            self.push(" DO NOTHING");
            return;
        }
        self.push(" DO UPDATE SET ");
        self.list(columns, ", ", |sql, column| {
            sql.ident(&column.name).push(" = EXCLUDED.").ident(&column.name);
        });
        self.push(" WHERE ");
        self.count_inserted(false);
    }

    /// Counts rows that were really inserted: up for each source row, down for each that met an old one.
    fn count_inserted(&mut self, up: bool) {
        self.push("set_config('pgrst.inserted', (coalesce(nullif(current_setting('pgrst.inserted', true), '')::int, 0) ");
        self.push(if up {
            "+ 1)::text, true) <> '0'"
        } else {
            "- 1)::text, true) <> '-1'"
        });
    }

    fn returning(&mut self, table: &QualifiedName, columns: &[String]) {
        self.push(" RETURNING ");
        if columns.is_empty() {
            self.push("1");
        }
        self.list(columns, ", ", |sql, column| {
            sql.column(Rows::Table(table), column);
        });
    }
}
