//! The statement of a page: plan and SQL, without a database.

use selvedge_introspection::{ColumnShape, TableShape};
use selvedge_postgres::quote_identifier;

use super::cursor::Cursor;
use crate::error::ConsoleError;
use crate::rows::request::{Filter, Sort};
use crate::rows::sql::{
    Bound, CELL_BYTES, OrderKey, Statement, cell_expression, identity_expression, order_of, push_filters,
    push_order, range_after, size_expression,
};

/// The position of a page in the sorted rows: at one end, or next to a row.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum PagePosition {
    Start,
    After(Cursor),
    Before(Cursor),
    End,
}

/// A page whose columns and order were checked against the catalog, with the statement that reads it.
#[derive(Debug)]
pub(super) struct PagePlan<'a> {
    pub(super) columns: Vec<&'a ColumnShape>,
    pub(super) keys: Vec<OrderKey>,
    pub(super) position: PagePosition,
    pub(super) limit: u32,
    pub(super) statement: Statement,
    pub(super) readable: String,
}

/// A request for a page before its names are checked against the system catalog.
pub(super) struct PageQuery<'a> {
    pub(super) columns: Option<&'a [String]>,
    pub(super) filters: &'a [Filter],
    pub(super) sort: &'a [Sort],
    pub(super) limit: u32,
    pub(super) after: Option<&'a str>,
    pub(super) before: Option<&'a str>,
    pub(super) end: bool,
}

impl PagePosition {
    /// Whether the statement reads the rows in the opposite order, because the page ends at a known row or at the
    /// table's end.
    pub(super) fn is_backward(&self) -> bool {
        matches!(self, Self::Before(_) | Self::End)
    }

    pub(super) fn cursor(&self) -> Option<&Cursor> {
        match self {
            Self::After(cursor) | Self::Before(cursor) => Some(cursor),
            Self::Start | Self::End => None,
        }
    }
}

/// Checks a request against the table's columns and writes the statement that reads the page.
pub(super) fn plan_page<'a>(
    table: &'a TableShape,
    query: &PageQuery<'_>,
) -> Result<PagePlan<'a>, ConsoleError> {
    let columns = choose_columns(table, query.columns)?;
    let mut keys = order_of(table, query.sort)?;
    let position = match (query.after, query.before, query.end) {
        (Some(after), None, false) => PagePosition::After(Cursor::decode(after, keys.len())?),
        (None, Some(before), false) => PagePosition::Before(Cursor::decode(before, keys.len())?),
        (None, None, true) => PagePosition::End,
        (None, None, false) => PagePosition::Start,
        _ => {
            return Err(ConsoleError::invalid(
                "Only one of after, before and end can be given",
            ));
        }
    };
    if position.is_backward() {
        keys = keys.iter().map(OrderKey::reversed).collect();
    }
    // One row more shows whether there is a next page; equal rows that were shown before are skipped.
    let fetched = query.limit + 1 + position.cursor().map_or(0, |cursor| cursor.shown);
    let ranges = match position.cursor() {
        Some(cursor) => range_after(&keys, &cursor.values),
        None => vec![Vec::new()],
    };
    let mut statement = Statement::default();
    push_ranges(&mut statement, table, query, &columns, &keys, &ranges, fetched)?;
    let readable = write_readable(table, query, &columns, &keys, &ranges)?;
    Ok(PagePlan {
        columns,
        position,
        limit: query.limit,
        statement,
        readable,
        keys,
    })
}

/// The named columns in the table's order; without names, all that the role may read.
pub(in crate::rows) fn choose_columns<'a>(
    table: &'a TableShape,
    names: Option<&[String]>,
) -> Result<Vec<&'a ColumnShape>, ConsoleError> {
    let Some(names) = names else {
        return Ok(table.columns.iter().filter(|column| column.readable).collect());
    };
    names
        .iter()
        .map(|name| {
            table
                .column(name)
                .ok_or_else(|| ConsoleError::invalid(format!("There is no column {name}")))
        })
        .collect()
}

/// Writes the statement: each range finds its rows in an inner query, and only those of the page are turned into text.
/// Otherwise PostgreSQL would compute the texts of all rows before it sorts them. If it must sort the whole table, the inner query
/// returns only what identifies a row, because every further column would be copied for every row of the table.
fn push_ranges(
    statement: &mut Statement,
    table: &TableShape,
    query: &PageQuery<'_>,
    columns: &[&ColumnShape],
    keys: &[OrderKey],
    ranges: &[Vec<Bound<'_>>],
    limit: u32,
) -> Result<(), ConsoleError> {
    let output = output_list(table, columns, keys);
    let names: Vec<String> = (0..keys.len()).map(|index| format!("k{index}")).collect();
    for (index, range) in ranges.iter().enumerate() {
        if index > 0 {
            statement.sql(" union all ");
        }
        statement
            .sql("(select ")
            .expression(&output)
            .sql(", ")
            .number(index as u64)
            .sql(" as range");
        for (key, name) in keys.iter().zip(&names) {
            statement
                .sql(", ")
                .expression(&key.expression)
                .sql(" as ")
                .name(name);
        }
        push_rows_of_range(statement, table, query, columns, keys, range, limit)?;
        statement.sql(")");
    }
    // Each range is in order by itself; together they are sorted by range first, which is only a merge of few rows.
    statement.sql(if ranges.len() > 1 {
        " order by range, "
    } else {
        " order by "
    });
    push_order(statement, keys, names.iter().map(String::as_str));
    statement.sql(" limit ").number(limit.into());
    Ok(())
}

/// Writes the `from` of a range: the inner query with its order and limit, under the name `t`.
fn push_rows_of_range(
    statement: &mut Statement,
    table: &TableShape,
    query: &PageQuery<'_>,
    columns: &[&ColumnShape],
    keys: &[OrderKey],
    range: &[Bound<'_>],
    limit: u32,
) -> Result<(), ConsoleError> {
    let sorts_whole_table = table.has_system_columns() && !has_index(table, query.sort);
    statement
        .sql(" from (select ")
        .expression(&match sorts_whole_table {
            true => identity_names(table)
                .iter()
                .map(|name| format!("t.{name}"))
                .collect::<Vec<_>>()
                .join(", "),
            false => source_list(table, columns, query.sort),
        });
    push_source(statement, table, query.filters, range)?;
    statement.sql(" order by ");
    push_order(statement, keys, keys.iter().map(|key| key.expression.as_str()));
    statement.sql(" limit ").number(limit.into());
    if sorts_whole_table {
        push_join_by_identity(statement, table);
    } else {
        statement.sql(") as t");
    }
    Ok(())
}

/// Ends the inner query and joins the table, so that the other columns are read for the rows that it has found.
fn push_join_by_identity(statement: &mut Statement, table: &TableShape) {
    let is_same: Vec<String> = identity_names(table)
        .iter()
        .map(|name| format!("t.{name} = found.{name}"))
        .collect();
    statement
        .sql(") as found join ")
        .qualified(&table.schema, &table.name)
        .sql(" as t on ")
        .expression(&is_same.join(" and "));
}

/// The quoted columns that identify a row of a table: its key, or its place where it has no key.
fn identity_names(table: &TableShape) -> Vec<String> {
    if table.key.is_empty() {
        return ["tableoid", "ctid"].map(str::to_owned).to_vec();
    }
    table
        .key_columns()
        .map(|column| quote_identifier(&column.name))
        .collect()
}

/// Whether an index returns rows in this order, so that a page costs the same wherever it is.
pub(super) fn has_index(table: &TableShape, sort: &[Sort]) -> bool {
    match sort.first() {
        None => !table.key.is_empty(),
        Some(first) => table
            .indexes
            .iter()
            .any(|columns| columns.first().is_some_and(|column| *column == first.column)),
    }
}

/// The columns of the inner query, under their own names: those that are shown, and those that the identity and the order
/// are made of. A view's order is made of all its readable columns.
fn source_list(table: &TableShape, shown: &[&ColumnShape], sort: &[Sort]) -> String {
    let is_shown = |column: &ColumnShape| shown.iter().any(|one| one.name == column.name);
    let is_key =
        |column: &ColumnShape| column.readable && table.key_columns().any(|key| key.name == column.name);
    let is_sorted = |column: &ColumnShape| sort.iter().any(|key| key.column == column.name);
    let is_readable_in_view = |column: &ColumnShape| !table.has_system_columns() && column.readable;
    let mut names: Vec<String> = table
        .columns
        .iter()
        .filter(|column| {
            is_shown(column) || is_key(column) || is_sorted(column) || is_readable_in_view(column)
        })
        .map(|column| format!("t.{}", quote_identifier(&column.name)))
        .collect();
    if table.has_system_columns() {
        names.extend(["t.tableoid", "t.ctid", "t.xmin"].map(str::to_owned));
    }
    names.join(", ")
}

/// Identity, cells, sizes and values of the order. Arrays, because a result has at most 1 664 columns and a table may have
/// 1 600 of which each needs two.
fn output_list(table: &TableShape, columns: &[&ColumnShape], keys: &[OrderKey]) -> String {
    let array = |expressions: Vec<String>, of: &str| format!("array[{}]::{of}[]", expressions.join(", "));
    let cells = columns
        .iter()
        .map(|column| cell_expression(column, CELL_BYTES))
        .collect();
    let sizes = columns
        .iter()
        .map(|column| size_expression(column, CELL_BYTES))
        .collect();
    let places = keys.iter().map(|key| key.text.clone()).collect();
    format!(
        "{} as identity, {} as cells, {} as sizes, {} as place",
        identity_expression(table),
        array(cells, "text"),
        array(sizes, "int8"),
        array(places, "text")
    )
}

fn push_source(
    statement: &mut Statement,
    table: &TableShape,
    filters: &[Filter],
    range: &[Bound<'_>],
) -> Result<(), ConsoleError> {
    statement
        .sql(" from ")
        .qualified(&table.schema, &table.name)
        .sql(" as t where ");
    push_filters(statement, table, filters)?;
    for bound in range {
        statement.sql(" and ");
        bound.push(statement);
    }
    Ok(())
}

/// Writes the query that is shown to people: it returns the same rows as the page, without the console's own columns.
fn write_readable(
    table: &TableShape,
    query: &PageQuery<'_>,
    columns: &[&ColumnShape],
    keys: &[OrderKey],
    ranges: &[Vec<Bound<'_>>],
) -> Result<String, ConsoleError> {
    let mut statement = Statement::new("select ");
    let names: Vec<String> = columns
        .iter()
        .map(|column| quote_identifier(&column.name))
        .collect();
    statement.expression(&names.join(", "));
    statement
        .sql("\nfrom ")
        .qualified(&table.schema, &table.name)
        .sql(" as t\nwhere ");
    push_filters(&mut statement, table, query.filters)?;
    if ranges.iter().any(|range| !range.is_empty()) {
        statement.sql("\n  and (");
        for (index, range) in ranges.iter().enumerate() {
            statement.sql(if index == 0 { "(" } else { " or (" });
            for (position, bound) in range.iter().enumerate() {
                statement.sql(if position == 0 { "" } else { " and " });
                bound.push(&mut statement);
            }
            statement.sql(")");
        }
        statement.sql(")");
    }
    statement.sql("\norder by ");
    push_order(
        &mut statement,
        keys,
        keys.iter().map(|key| key.expression.as_str()),
    );
    statement.sql("\nlimit ").number(query.limit.into());
    Ok(statement.readable().to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rows::testing::table;

    fn query<'a>() -> PageQuery<'a> {
        PageQuery {
            columns: None,
            filters: &[],
            sort: &[],
            limit: 100,
            after: None,
            before: None,
            end: false,
        }
    }

    #[test]
    fn console_050_pages_are_read_by_ranges_and_never_by_offset() {
        let mut shape = table(&["id", "a"]);
        shape.key = vec![0];
        let cursor = Cursor {
            values: vec![Some("x".into()), Some("7".into())],
            shown: 0,
        };
        let after = cursor.encode().expect("short");
        let sort = [Sort {
            column: "a".into(),
            descending: true,
            nulls_first: false,
        }];
        let plan = plan_page(
            &shape,
            &PageQuery {
                after: Some(&after),
                sort: &sort,
                ..query()
            },
        )
        .expect("valid");

        let text = plan.statement.text();
        assert!(!text.to_lowercase().contains("offset"), "{text}");
        assert_eq!(text.matches(" limit 101").count(), 4, "{text}");
        assert_eq!(
            plan.readable,
            "select \"id\", \"a\"\nfrom \"public\".\"t\" as t\nwhere true\n  and ((t.\"a\" = 'x' and t.\"id\" < '7') or \
             (t.\"a\" < 'x') or (t.\"a\" is null))\norder by t.\"a\" desc nulls last, t.\"id\" desc\nlimit 100"
        );
    }

    #[test]
    fn console_052_a_sort_of_the_whole_table_carries_only_what_identifies_its_rows() {
        let mut shape = table(&["id", "a"]);
        let sort = [Sort {
            column: "a".into(),
            descending: false,
            nulls_first: false,
        }];
        let text = |shape: &TableShape| {
            let sorted = PageQuery {
                sort: &sort,
                ..query()
            };
            plan_page(shape, &sorted)
                .expect("valid")
                .statement
                .text()
                .to_owned()
        };

        assert!(text(&shape).contains("(select t.tableoid, t.ctid from "));
        assert!(text(&shape).contains("on t.tableoid = found.tableoid and t.ctid = found.ctid"));
        shape.key = vec![0];
        shape.indexes = vec![vec!["id".into()]];
        assert!(
            text(&shape).contains("(select t.\"id\" from "),
            "{}",
            text(&shape)
        );
        assert!(text(&shape).contains("on t.\"id\" = found.\"id\""));
        shape.indexes.push(vec!["a".into()]);
        assert!(!text(&shape).contains(" join "), "{}", text(&shape));
    }

    #[test]
    fn console_050_only_one_place_can_be_asked_for() {
        let shape = table(&["a"]);
        let both = PageQuery {
            end: true,
            after: Some("x"),
            ..query()
        };
        assert_eq!(plan_page(&shape, &both).expect_err("refused").code(), "invalid");
    }
}
