//! Verdicts of expressions for rows, evaluated by PostgreSQL under the subject's role and claims.

use std::fmt::Write;

use selvedge_postgres::quote_identifier;
use tokio_postgres::{Error, GenericClient, Row};

use super::operands::list_operands;
use crate::catalog::Table;
use crate::decision::Verdict;

/// An expression of a policy, to be evaluated for rows of a table.
#[derive(Debug, Clone)]
pub(crate) struct Expression {
    pub(crate) sql: String,
    pub(crate) operands: Vec<String>,
}

/// A part of an expression with its value for one row.
#[derive(Debug, Clone, serde::Serialize)]
pub(crate) struct Operand {
    pub(crate) text: String,
    pub(crate) value: Option<String>,
}

/// An expression's value for each row, in the order of the rows.
#[derive(Debug, Clone, Default)]
pub(crate) struct Evaluated {
    pub(crate) verdicts: Vec<Verdict>,
    pub(crate) operands: Vec<Vec<Operand>>,
    /// An error that occurs without any row, for example a missing right: it refuses every statement on the table.
    pub(crate) fixed_error: Option<(String, String)>,
}

impl Expression {
    pub(crate) fn new(sql: &str) -> Self {
        Self {
            sql: sql.to_owned(),
            operands: list_operands(sql),
        }
    }
}

/// Evaluates expressions for rows, given as literals of the table's row type.
///
/// # Errors
/// A lost connection or an ended transaction; errors of the expressions themselves are verdicts.
pub(crate) async fn evaluate_expressions(
    caller: &impl GenericClient,
    table: &Table,
    expressions: &[Expression],
    rows: &[String],
) -> Result<Vec<Evaluated>, Error> {
    if let Ok(answer) = in_savepoint(caller, &evaluation_sql(table, expressions), rows).await? {
        return Ok(collect_all(expressions, &answer));
    }
    // One of the expressions raised an error. To find out which, each is evaluated separately.
    let mut evaluated = Vec::with_capacity(expressions.len());
    for expression in expressions {
        evaluated.push(evaluate_alone(caller, table, expression, rows).await?);
    }
    Ok(evaluated)
}

/// The statement that evaluates expressions and their operands: one array of texts for each row.
pub(crate) fn evaluation_sql(table: &Table, expressions: &[Expression]) -> String {
    let mut sql = String::from("select array[");
    for (index, expression) in expressions.iter().enumerate() {
        let separator = if index == 0 { "" } else { ", " };
        // `AND` raises an error for values that are not boolean. The line break before the parenthesis ends a comment at the
        // end of the expression.
        write!(sql, "{separator}(({}\n) and true)::text", expression.sql).expect("writing to a string");
        for operand in &expression.operands {
            write!(sql, ", ({operand}\n)::text").expect("writing to a string");
        }
    }
    // The alias is the table's name, by which subqueries of a policy refer to the row.
    let alias = quote_identifier(&table.name);
    write!(
        sql,
        "]::text[] from unnest($1::text[]::{}[]) as {alias}",
        row_type(table)
    )
    .expect("writing to a string");
    sql
}

/// Returns the qualified name of the table's row type.
pub(crate) fn row_type(table: &Table) -> String {
    format!(
        "{}.{}",
        quote_identifier(&table.schema),
        quote_identifier(&table.name)
    )
}

pub(crate) fn collect_all(expressions: &[Expression], rows: &[Row]) -> Vec<Evaluated> {
    let mut evaluated = vec![Evaluated::default(); expressions.len()];
    for row in rows {
        let mut values = row.get::<_, Vec<Option<String>>>(0).into_iter();
        for (expression, result) in expressions.iter().zip(&mut evaluated) {
            result
                .verdicts
                .push(read_verdict(values.next().flatten().as_deref()));
            let operands = expression.operands.iter().map(|text| Operand {
                text: text.clone(),
                value: values.next().flatten(),
            });
            result.operands.push(operands.collect());
        }
    }
    evaluated
}

fn read_verdict(text: Option<&str>) -> Verdict {
    match text {
        Some("true") => Verdict::Pass,
        Some(_) => Verdict::Fail,
        None => Verdict::Null,
    }
}

async fn evaluate_alone(
    caller: &impl GenericClient,
    table: &Table,
    expression: &Expression,
    rows: &[String],
) -> Result<Evaluated, Error> {
    let bare = [Expression {
        sql: expression.sql.clone(),
        operands: Vec::new(),
    }];
    let sql = evaluation_sql(table, &bare);
    let mut evaluated = match in_savepoint(caller, &sql, rows).await? {
        Ok(answer) => collect_all(&bare, &answer).remove(0),
        Err(_) => evaluate_row_by_row(caller, &sql, &bare, rows).await?,
    };
    if evaluated.fixed_error.is_none() {
        for operand in &expression.operands {
            add_operand(caller, table, operand, rows, &mut evaluated).await?;
        }
    }
    Ok(evaluated)
}

async fn evaluate_row_by_row(
    caller: &impl GenericClient,
    sql: &str,
    expression: &[Expression],
    rows: &[String],
) -> Result<Evaluated, Error> {
    let mut evaluated = Evaluated {
        operands: vec![Vec::new(); rows.len()],
        ..Evaluated::default()
    };
    if let Err(error) = in_savepoint(caller, sql, &[]).await? {
        let error = describe_error(&error);
        evaluated.verdicts = vec![Verdict::Error(error.0.clone(), error.1.clone()); rows.len()];
        evaluated.fixed_error = Some(error);
        return Ok(evaluated);
    }
    // The error depends on the row, so each row is asked on its own and the others keep their verdicts.
    for row in rows {
        let verdict = match in_savepoint(caller, sql, std::slice::from_ref(row)).await? {
            Ok(answer) => collect_all(expression, &answer).remove(0).verdicts.remove(0),
            Err(error) => {
                let (code, message) = describe_error(&error);
                Verdict::Error(code, message)
            }
        };
        evaluated.verdicts.push(verdict);
    }
    Ok(evaluated)
}

/// Adds the value of an operand to each row. One that cannot be evaluated on its own is left out.
async fn add_operand(
    caller: &impl GenericClient,
    table: &Table,
    operand: &str,
    rows: &[String],
    evaluated: &mut Evaluated,
) -> Result<(), Error> {
    let alias = quote_identifier(&table.name);
    let sql = format!(
        "select ({operand}\n)::text from unnest($1::text[]::{}[]) as {alias}",
        row_type(table)
    );
    if let Ok(answer) = in_savepoint(caller, &sql, rows).await? {
        for (row, operands) in answer.iter().zip(&mut evaluated.operands) {
            operands.push(Operand {
                text: operand.to_owned(),
                value: row.get(0),
            });
        }
    }
    Ok(())
}

/// Runs a query on rows in a savepoint, so that an error of it does not end the transaction.
async fn in_savepoint(
    caller: &impl GenericClient,
    sql: &str,
    rows: &[String],
) -> Result<Result<Vec<Row>, Error>, Error> {
    caller.batch_execute("savepoint selvedge_policy").await?;
    let answer = caller.query(sql, &[&rows]).await;
    match &answer {
        Ok(_) => caller.batch_execute("release savepoint selvedge_policy").await?,
        // A lost connection cannot roll back; the next statement reports the loss.
        Err(error) if error.is_closed() => {}
        Err(_) => {
            caller
                .batch_execute("rollback to savepoint selvedge_policy; release savepoint selvedge_policy")
                .await?;
        }
    }
    Ok(answer)
}

/// Returns the SQLSTATE and the message of a database error.
pub(crate) fn describe_error(error: &Error) -> (String, String) {
    match error.as_db_error() {
        Some(database) => (database.code().code().to_owned(), database.message().to_owned()),
        None => ("XX000".to_owned(), error.to_string()),
    }
}
