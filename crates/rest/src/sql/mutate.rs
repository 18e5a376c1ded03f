//! Writes: the INSERT, UPDATE or DELETE behind the source expression.

use super::builder::Sql;
use super::filter::RowsName;
use super::payload::{PAYLOAD, PayloadRows};
use crate::catalog::{Distribution, Relation};
use crate::identifier::QualifiedName;
use crate::plan::{Condition, Conflict, JsonBody, MutatePlan, WriteColumn};
use crate::request::preferences::Resolution;

impl Sql {
    /// The write of a plan, with the columns that it returns.
    pub(super) fn write_mutation(&mut self, relation: &Relation, plan: &MutatePlan) {
        let table = &relation.name;
        let returning = match plan {
            MutatePlan::Insert {
                columns,
                body,
                conflict,
                put_filters,
                returning,
                apply_defaults,
                ..
            } => {
                self.write_insert(table, columns, body, *apply_defaults);
                self.write_upsert(columns, conflict.as_ref(), put_filters);
                returning
            }
            MutatePlan::Update {
                columns, returning, ..
            } if columns.is_empty() => {
                self.write_empty_update(table, returning);
                return;
            }
            MutatePlan::Update {
                columns,
                body,
                filters,
                returning,
                apply_defaults,
            } => {
                let takes_subquery = body.is_object && !apply_defaults;
                if relation.distribution == Distribution::Sharded && takes_subquery {
                    self.write_sharded_update(table, columns, body);
                } else {
                    self.write_update(table, columns, body, *apply_defaults);
                }
                self.write_conditions(RowsName::Table(table), filters, None);
                returning
            }
            MutatePlan::Delete { filters, returning } => {
                self.push("DELETE FROM ").qualified(table);
                self.write_conditions(RowsName::Table(table), filters, None);
                returning
            }
        };
        self.write_returning(table, returning);
    }

    /// `INSERT INTO … SELECT …` from the payload.
    fn write_insert(
        &mut self,
        table: &QualifiedName,
        columns: &[WriteColumn],
        body: &JsonBody,
        apply_defaults: bool,
    ) {
        self.write_insert_into(table, columns);
        self.push(" SELECT ");
        self.list(columns, ", ", |sql, column| {
            sql.written_column(RowsName::Alias(PAYLOAD), &column.name);
        });
        self.push(" ");
        self.write_payload(body, columns, apply_defaults, PayloadRows::All);
    }

    /// The parts that make an INSERT an upsert. Its `WHERE` clauses count inserted rows and check that a PUT writes
    /// the row that its URL names.
    fn write_upsert(
        &mut self,
        columns: &[WriteColumn],
        conflict: Option<&Conflict>,
        put_filters: &[Condition],
    ) {
        let Some(conflict) = conflict else { return };
        if conflict.resolution == Resolution::MergeDuplicates {
            self.push(" WHERE ");
            self.write_count_inserted(1);
            for condition in put_filters {
                self.push(" AND ");
                self.write_plain_condition(RowsName::Alias(PAYLOAD), condition);
            }
        }
        self.write_on_conflict(conflict, columns, true);
    }

    /// `UPDATE … SET …` from the payload, which is one object.
    fn write_update(
        &mut self,
        table: &QualifiedName,
        columns: &[WriteColumn],
        body: &JsonBody,
        apply_defaults: bool,
    ) {
        self.push("UPDATE ").qualified(table).push(" SET ");
        self.list(columns, ", ", |sql, column| {
            sql.ident(&column.name)
                .push(" = ")
                .written_column(RowsName::Alias(PAYLOAD), &column.name);
        });
        self.push(" ");
        self.write_payload(body, columns, apply_defaults, PayloadRows::All);
    }

    /// Writes an UPDATE that takes its values from a subquery, because Citus refuses an UPDATE of several shards that joins the
    /// payload. The document is a column of a subquery, because Citus evaluates functions of constants before it sends a statement
    /// to a single shard, and `json_to_record` cannot be evaluated outside of FROM.
    fn write_sharded_update(&mut self, table: &QualifiedName, columns: &[WriteColumn], body: &JsonBody) {
        self.push("UPDATE ").qualified(table).push(" SET (");
        self.list(columns, ", ", |sql, column| {
            sql.ident(&column.name);
        });
        self.push(") = (SELECT ");
        self.list(columns, ", ", |sql, column| {
            let value = RowsName::Alias(PAYLOAD);
            match &column.transform {
                Some(function) => sql
                    .push(function)
                    .push("(")
                    .written_column(value, &column.name)
                    .push(")"),
                None => sql.written_column(value, &column.name),
            };
        });
        self.push(" FROM (SELECT ").param_bytes(body.document.clone());
        self.push("::json AS json_data) pgrst_payload, LATERAL json_to_record(pgrst_payload.json_data) AS ")
            .push(PAYLOAD)
            .push("(");
        self.write_column_types(columns);
        self.push("))");
    }

    /// Writes an upsert that returns for each row whether it was inserted. Without Citus a condition of DO UPDATE counts the
    /// updated rows, but Citus accepts no condition with side effects.
    pub(super) fn write_counted_upsert(&mut self, table: &QualifiedName, plan: &MutatePlan) {
        let MutatePlan::Insert {
            columns,
            body,
            conflict: Some(conflict),
            put_filters,
            returning,
            apply_defaults,
            ..
        } = plan
        else {
            return;
        };
        self.write_insert(table, columns, body, *apply_defaults);
        for (index, condition) in put_filters.iter().enumerate() {
            self.push(if index == 0 { " WHERE " } else { " AND " });
            self.write_plain_condition(RowsName::Alias(PAYLOAD), condition);
        }
        self.write_on_conflict(conflict, columns, false);
        self.write_returning(table, returning);
        // xmax is 0 in inserted rows; in updated ones it is the id of the transaction that locked the row.
        self.push(", (xmax = 0) AS pgrst_inserted");
    }

    /// Writes the columns that a counted upsert returns, without `pgrst_inserted`.
    pub(super) fn write_written_columns(&mut self, relation: &Relation, plan: &MutatePlan) {
        let MutatePlan::Insert { returning, .. } = plan else {
            return;
        };
        self.push("SELECT ");
        if returning.is_empty() {
            self.push("1");
        }
        if returning.iter().any(|column| column == "*") {
            self.list(relation.columns.keys(), ", ", |sql, column| {
                sql.ident(column);
            });
        } else {
            self.list(returning, ", ", |sql, column| {
                sql.ident(column);
            });
        }
        self.push(" FROM pgrst_written");
    }

    /// PATCH with `{}`: an UPDATE cannot set nothing, so this is an empty result with the columns that are needed.
    fn write_empty_update(&mut self, table: &QualifiedName, returning: &[String]) {
        self.push("SELECT ");
        if returning.is_empty() {
            self.push("NULL");
        }
        self.list(returning, ", ", |sql, name| {
            sql.column(RowsName::Alias(&table.name), name);
        });
        self.push(" FROM ").qualified(table).push(" WHERE false");
    }

    /// The INSERT of a single object as one row, without a source expression around it.
    pub(super) fn write_object_insert(
        &mut self,
        table: &QualifiedName,
        columns: &[WriteColumn],
        body: &JsonBody,
    ) {
        self.write_insert_into(table, columns);
        self.push(" SELECT ");
        self.write_payload_columns(columns);
        self.write_payload_record(columns, body);
    }

    /// Writes ` FROM` the payload, a single object, as one row of typed columns.
    fn write_payload_record(&mut self, columns: &[WriteColumn], body: &JsonBody) {
        self.push(" FROM json_to_record(")
            .param_bytes(body.document.clone())
            .push("::json) AS _(");
        self.write_column_types(columns);
        self.push(")");
    }

    /// `INSERT INTO "schema"."table"(columns)`.
    fn write_insert_into(&mut self, table: &QualifiedName, columns: &[WriteColumn]) {
        self.push("INSERT INTO ").qualified(table);
        if !columns.is_empty() {
            self.push("(");
            self.list(columns, ", ", |sql, column| {
                sql.ident(&column.name);
            });
            self.push(")");
        }
    }

    /// Writes ` ON CONFLICT (…) DO …`; nothing without a primary key or `on_conflict`. `counts` adds the condition that counts
    /// the updated rows.
    fn write_on_conflict(&mut self, conflict: &Conflict, columns: &[WriteColumn], counts: bool) {
        if conflict.columns.is_empty() {
            return;
        }
        self.push(" ON CONFLICT(");
        self.list(&conflict.columns, ", ", |sql, column| {
            sql.ident(column);
        });
        self.push(")");
        // Without columns there is nothing to update, so the existing row stays as it is.
        if conflict.resolution == Resolution::IgnoreDuplicates || columns.is_empty() {
            self.push(" DO NOTHING");
            return;
        }
        self.push(" DO UPDATE SET ");
        self.list(columns, ", ", |sql, column| {
            sql.ident(&column.name).push(" = EXCLUDED.").ident(&column.name);
        });
        if counts {
            self.push(" WHERE ");
            self.write_count_inserted(-1);
        }
    }

    /// Writes a condition that is always true and counts inserted rows in the setting `pgrst.inserted`: plus one for each
    /// row of the payload, minus one for each that conflicted with an existing row. `RETURNING` cannot distinguish the two.
    fn write_count_inserted(&mut self, step: i8) {
        self.push("set_config('pgrst.inserted', (coalesce(nullif(current_setting('pgrst.inserted', true), '')::int, 0) ");
        // The setting is at least 1 after adding one, and at least 0 after subtracting one, so both comparisons are
        // always true.
        self.push(if step > 0 {
            "+ 1)::text, true) <> '0'"
        } else {
            "- 1)::text, true) <> '-1'"
        });
    }

    /// ` RETURNING …`; `1` where no columns are needed, so that rows are still counted.
    fn write_returning(&mut self, table: &QualifiedName, columns: &[String]) {
        self.push(" RETURNING ");
        if columns.is_empty() {
            self.push("1");
        }
        self.list(columns, ", ", |sql, column| {
            sql.column(RowsName::Table(table), column);
        });
    }
}

/// Whether the inserted rows of an upsert are counted by `xmax`: on distributed tables. Views have no `xmax`.
pub(super) fn counts_by_row_version(relation: &Relation, plan: &MutatePlan) -> bool {
    let MutatePlan::Insert { conflict, .. } = plan else {
        return false;
    };
    relation.distribution != Distribution::Local
        && conflict.as_ref().is_some_and(|conflict| {
            conflict.resolution == Resolution::MergeDuplicates && !conflict.columns.is_empty()
        })
}
