//! Writes the condition that finds one row by its identity.

use selvedge_introspection::TableShape;

use super::cell::whole_cell_expression;
use super::statement::Statement;
use crate::error::ConsoleError;
use crate::rows::request::{RowId, Texts};

/// Appends the condition that finds a row (CONSOLE-055). `base` holds the values that were read, by which alone a row
/// of a foreign table can be found.
pub(in crate::rows) fn push_row(
    statement: &mut Statement,
    table: &TableShape,
    row: &RowId,
    base: Option<&Texts>,
) -> Result<(), ConsoleError> {
    match row {
        RowId::Key { key, .. } => {
            if table.key.len() != key.len() || key.is_empty() {
                return Err(ConsoleError::invalid(
                    "The key of the table has changed; read the rows again",
                ));
            }
            // Compared in the column's own type, so that the key's index finds the row.
            for (index, (column, value)) in table.key_columns().zip(key).enumerate() {
                statement.sql(if index == 0 { "t." } else { " and t." });
                statement
                    .name(&column.name)
                    .sql(" = ")
                    .value(Some(value), &column.cast_type);
            }
        }
        // The place alone is not unique below a partitioned table.
        RowId::Place { tableoid, ctid, .. } => {
            statement
                .sql("t.tableoid = ")
                .value(Some(tableoid), "pg_catalog.oid");
            statement
                .sql(" and t.ctid = ")
                .value(Some(ctid), "pg_catalog.tid");
        }
        RowId::Values {} => {
            let base = base.filter(|base| !base.is_empty());
            let base = base.ok_or_else(|| ConsoleError::invalid("Nothing tells the row apart"))?;
            for (index, (name, value)) in base.iter().enumerate() {
                let column = table
                    .column(name)
                    .ok_or_else(|| ConsoleError::invalid(format!("There is no column {name}")))?;
                statement.sql(if index == 0 { "" } else { " and " });
                // As text, because not every type can be compared.
                statement
                    .sql("(")
                    .expression(&whole_cell_expression(column))
                    .sql(") is not distinct from ");
                statement.value(value.as_deref(), "pg_catalog.text");
            }
        }
    }
    Ok(())
}
