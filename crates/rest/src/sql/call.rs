//! Calls: the function scan behind the source expression.

use selvedge_postgres::Param;

use super::builder::Sql;
use super::filter::{RowsName, array_literal};
use super::payload::{PAYLOAD, PayloadRows};
use crate::catalog::{Function, Parameter};
use crate::plan::{Argument, Arguments, CallPlan, WriteColumn};

/// The name under which the function's result is known.
const CALL: &str = "pgrst_call";
/// The name of the result's value, where the function returns values without columns.
const SCALAR: &str = "pgrst_scalar";

impl Sql {
    /// `SELECT … FROM function(…)`, with the payload beside it where the arguments come from a JSON document.
    pub(super) fn write_call(&mut self, plan: &CallPlan) {
        let function = plan.function.as_ref();
        self.push("SELECT ");
        if is_scalar(function) {
            self.push(CALL).push(".").push(SCALAR);
        } else if plan.returning.is_empty() {
            self.push("*");
        } else {
            self.list(&plan.returning, ", ", |sql, column| {
                sql.field(RowsName::Alias(CALL), column);
                if column.computed.is_some() {
                    sql.push(" AS ").ident(&column.name);
                }
            });
        }
        self.push(" ");
        match &plan.arguments {
            Arguments::Json(given, body) => {
                let parameters = given.iter().map(|index| &function.parameters[*index]);
                let columns: Vec<WriteColumn> = parameters.map(payload_column).collect();
                self.write_payload(body, &columns, false, PayloadRows::First);
                self.push(", LATERAL ");
            }
            _ => {
                self.push("FROM ");
            }
        }
        // In a SELECT list a set-returning function of scalars yields a row per value, under a name of our choice.
        if is_scalar(function) {
            self.push("(SELECT ");
            self.write_function_call(function, &plan.arguments);
            self.push(" ").push(SCALAR).push(") ").push(CALL);
        } else if self.for_citus {
            match &function.returns.only_column {
                Some(column) => {
                    self.push("(SELECT ");
                    self.write_function_call(function, &plan.arguments);
                    self.push(" AS ").ident(column).push(" OFFSET 0)");
                }
                None => self.write_opaque_rows(|sql| sql.write_function_call(function, &plan.arguments)),
            }
            self.push(" ").push(CALL);
        } else {
            self.write_function_call(function, &plan.arguments);
            self.push(" ").push(CALL);
        }
    }

    /// Writes the rows of a function as a subquery with the call in its SELECT list.
    ///
    /// PostgreSQL inlines an SQL function that is called in FROM after Citus has planned the query, so it would read the empty local
    /// tables. A call in the SELECT list is not inlined: Citus plans the function's statements, and refuses those it cannot run.
    pub(super) fn write_opaque_rows(&mut self, write_call: impl FnOnce(&mut Self)) {
        self.push("(SELECT (").push(CALL).push(").* FROM (SELECT ");
        write_call(self);
        self.push(" AS ").push(CALL).push(" OFFSET 0) _)");
    }

    /// `"schema"."function"(…)` with named arguments, or with the whole body as its only argument.
    fn write_function_call(&mut self, function: &Function, arguments: &Arguments) {
        self.qualified(&function.name).push("(");
        match arguments {
            Arguments::None => {}
            Arguments::Body(body) => {
                let type_name = function
                    .parameters
                    .first()
                    .map_or("text", |parameter| &parameter.type_name);
                let param = match type_name {
                    "bytea" => Param::Binary(body.clone()),
                    _ => Param::Text(body.clone()),
                };
                self.push_param(param).push("::").push(type_name);
            }
            Arguments::Named(named) => {
                self.list(named, ", ", |sql, (index, argument)| {
                    let parameter = &function.parameters[*index];
                    sql.write_argument_name(parameter);
                    match argument {
                        Some(Argument::Text(value)) => sql.param(value),
                        Some(Argument::Many(values)) => sql.param(&array_literal(values)),
                        None => sql.push("NULL"),
                    };
                    sql.push("::").push(&parameter.wide_type);
                });
            }
            Arguments::Json(given, _) => {
                self.list(given, ", ", |sql, index| {
                    let parameter = &function.parameters[*index];
                    sql.write_argument_name(parameter);
                    sql.push(PAYLOAD).push(".").ident(&parameter.name);
                });
            }
        }
        self.push(")");
    }

    /// `"name" := `, in front of an argument.
    fn write_argument_name(&mut self, parameter: &Parameter) {
        if parameter.variadic {
            self.push("VARIADIC ");
        }
        self.ident(&parameter.name).push(" := ");
    }
}

/// Whether the result's rows are values without columns.
fn is_scalar(function: &Function) -> bool {
    function.returns_scalar() || function.returns_set_of_scalar()
}

/// A parameter as a column of the payload, read by its type without a length: `character(1)` would cut the value.
fn payload_column(parameter: &Parameter) -> WriteColumn {
    WriteColumn {
        name: parameter.name.clone(),
        type_name: parameter.wide_type.clone(),
        transform: None,
        default: None,
    }
}
