//! The SQL statement of a verb, as a client of the REST API would cause it.

use std::fmt::Write;

use selvedge_postgres::quote_identifier;

use crate::SimulationError;
use crate::catalog::{ColumnRight, Table};
use crate::request::{Condition, TextParam, Verb, VerbRequest};

/// The SQL of a request, with the rights that it needs.
#[derive(Debug)]
pub(crate) struct Statement {
    pub(crate) sql: String,
    pub(crate) params: Vec<TextParam>,
    pub(crate) verb: Verb,
    /// Whether the statement answers with rows.
    pub(crate) returns_rows: bool,
    /// The columns of the rows with which it answers.
    pub(crate) columns: Vec<String>,
    /// The rights that the statement needs, each with the columns to which it needs them.
    pub(crate) needs: Vec<(ColumnRight, Vec<String>)>,
    /// Whether PostgreSQL requires SELECT on any column, so that SELECT policies apply.
    pub(crate) reads: bool,
}

/// Writes the statement of a request; a read returns `most` rows at most.
///
/// # Errors
/// [`SimulationError::Invalid`] for unknown columns, an update of nothing, and an upsert without a primary key.
pub(crate) fn build_statement(
    table: &Table,
    request: &VerbRequest,
    condition: &Condition,
    most: Option<usize>,
) -> Result<Statement, SimulationError> {
    let columns = shown_columns(table, request)?;
    let returns_rows = request.verb == Verb::Select || request.returning;
    let set: Vec<String> = request.values.keys().cloned().collect();
    let mut statement = Statement {
        sql: String::new(),
        params: Vec::new(),
        verb: request.verb,
        returns_rows,
        needs: Vec::new(),
        reads: returns_rows || !condition.columns.is_empty(),
        columns,
    };
    let target = qualified_name(table);
    match request.verb {
        Verb::Select => {
            let list = texts_of(&statement.columns);
            statement.sql = format!("select {list} from {target}");
        }
        Verb::Insert => statement.write_insert(&target, request),
        Verb::Upsert => {
            statement.write_insert(&target, request);
            statement.write_conflict(table, &set)?;
        }
        Verb::Update => statement.write_update(&target, request)?,
        Verb::Delete => statement.sql = format!("delete from {target}"),
    }
    if matches!(request.verb, Verb::Select | Verb::Update | Verb::Delete) {
        statement.write_condition(condition);
        statement.need(ColumnRight::Select, condition.columns.clone());
        statement.write_page(table, request, most)?;
    }
    // RETURNING reads its columns, so PostgreSQL requires SELECT as for a query.
    if returns_rows {
        if request.verb != Verb::Select {
            let list = texts_of(&statement.columns);
            write!(statement.sql, " returning {list}").expect("writing to a string");
        }
        statement.need(ColumnRight::Select, statement.columns.clone());
    }
    Ok(statement)
}

fn qualified_name(table: &Table) -> String {
    let (schema, name) = (quote_identifier(&table.schema), quote_identifier(&table.name));
    format!("{schema}.{name}")
}

/// Returns the columns of the answer, and refuses a column that the table does not have.
fn shown_columns(table: &Table, request: &VerbRequest) -> Result<Vec<String>, SimulationError> {
    for name in request.values.keys() {
        table.column(name)?;
    }
    if request.columns.is_empty() {
        return Ok(table.columns.iter().map(|column| column.name.clone()).collect());
    }
    for name in &request.columns {
        table.column(name)?;
    }
    Ok(request.columns.clone())
}

fn texts_of(columns: &[String]) -> String {
    let texts: Vec<String> = columns
        .iter()
        .map(|name| format!("{}::text", quote_identifier(name)))
        .collect();
    texts.join(", ")
}

impl Statement {
    fn need(&mut self, right: ColumnRight, columns: Vec<String>) {
        if !columns.is_empty() {
            self.needs.push((right, columns));
        }
    }

    /// Writes `insert into … values (…)`. The parameters have the types of their columns, so a wrong value is refused
    /// with the same error as in a client's request.
    fn write_insert(&mut self, target: &str, request: &VerbRequest) {
        if request.values.is_empty() {
            self.sql = format!("insert into {target} default values");
            return;
        }
        let names: Vec<String> = request.values.keys().map(|name| quote_identifier(name)).collect();
        let places: Vec<String> = (1..=names.len()).map(|place| format!("${place}")).collect();
        self.sql = format!(
            "insert into {target} ({}) values ({})",
            names.join(", "),
            places.join(", ")
        );
        self.params = request.values.values().cloned().map(TextParam).collect();
        self.need(ColumnRight::Insert, request.values.keys().cloned().collect());
    }

    fn write_conflict(&mut self, table: &Table, set: &[String]) -> Result<(), SimulationError> {
        if table.key.is_empty() || table.key.iter().any(|name| !set.contains(name)) {
            return Err(SimulationError::Invalid(
                "An upsert needs a value for each column of the table's primary key.".into(),
            ));
        }
        let quoted = |names: &[String]| {
            names
                .iter()
                .map(|name| quote_identifier(name))
                .collect::<Vec<_>>()
        };
        let assignments: Vec<String> = quoted(set)
            .iter()
            .map(|name| format!("{name} = excluded.{name}"))
            .collect();
        write!(
            self.sql,
            " on conflict ({}) do update set {}",
            quoted(&table.key).join(", "),
            assignments.join(", ")
        )
        .expect("writing to a string");
        self.reads = true;
        // Reading `excluded.column` requires SELECT on the table's column, too.
        self.need(ColumnRight::Select, set.to_vec());
        self.need(ColumnRight::Update, set.to_vec());
        Ok(())
    }

    fn write_update(&mut self, target: &str, request: &VerbRequest) -> Result<(), SimulationError> {
        if request.values.is_empty() {
            return Err(SimulationError::Invalid(
                "An update needs at least one value.".into(),
            ));
        }
        let assignments: Vec<String> = request
            .values
            .keys()
            .enumerate()
            .map(|(place, name)| format!("{} = ${}", quote_identifier(name), place + 1))
            .collect();
        self.sql = format!("update {target} set {}", assignments.join(", "));
        self.params = request.values.values().cloned().map(TextParam).collect();
        self.need(ColumnRight::Update, request.values.keys().cloned().collect());
        Ok(())
    }

    /// Appends the order, limit and offset of a read; a write has none.
    fn write_page(
        &mut self,
        table: &Table,
        request: &VerbRequest,
        most: Option<usize>,
    ) -> Result<(), SimulationError> {
        if request.verb != Verb::Select {
            return Ok(());
        }
        self.sql.push_str(&request.page.order_by(table, &[])?);
        self.sql.push_str(&request.page.limit_clause(most));
        self.need(ColumnRight::Select, request.page.columns());
        Ok(())
    }

    /// Appends the condition, whose parameters come behind those of the values.
    fn write_condition(&mut self, condition: &Condition) {
        let before = self.params.len();
        let mut sql = condition.where_clause();
        // The parameters are renumbered from the last to the first, so that a renumbered `$1` is not taken for another
        // one.
        for place in (1..=condition.params.len()).rev() {
            sql = sql.replace(&format!("${place}::"), &format!("${}::", place + before));
        }
        self.sql.push_str(&sql);
        self.params.extend(condition.params.iter().cloned());
    }
}
