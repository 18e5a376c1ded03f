//! Calls: the function scan behind the source expression.

use super::Sql;
use super::filter::{Rows, array_literal};
use crate::catalog::{Function, Parameter};
use crate::plan::{Argument, Arguments, CallPlan, WriteColumn};
use selvedge_postgres::Param;

/// The name under which the function's result is known, and that of its value if it has no columns.
const CALL: &str = "pgrst_call";
const SCALAR: &str = "pgrst_scalar";

impl Sql {
    pub(super) fn call(&mut self, plan: &CallPlan) {
        let function = plan.function.as_ref();
        self.push("SELECT ");
        if is_scalar(function) {
            self.push(CALL).push(".").push(SCALAR);
        } else if plan.returning.is_empty() {
            self.push("*");
        } else {
            self.list(&plan.returning, ", ", |sql, name| {
                sql.column(Rows::Alias(CALL), name);
            });
        }
        self.push(" ");
        match &plan.arguments {
            Arguments::Json(parameters, body) => {
                let columns: Vec<WriteColumn> = parameters.iter().map(column_of).collect();
                self.body_rows(body, &columns, false);
                // of an array only the first element counts
                if !body.is_object {
                    self.text.truncate(self.text.len() - ") pgrst_body".len());
                    self.push(" LIMIT 1) pgrst_body");
                }
                self.push(", LATERAL ");
            }
            _ => {
                self.push("FROM ");
            }
        }
        if is_scalar(function) {
            self.push("(SELECT ");
            self.function_call(function, &plan.arguments);
            self.push(" ").push(SCALAR).push(") ").push(CALL);
        } else {
            self.function_call(function, &plan.arguments);
            self.push(" ").push(CALL);
        }
    }

    fn function_call(&mut self, function: &Function, arguments: &Arguments) {
        self.qualified(&function.name).push("(");
        match arguments {
            Arguments::None => {}
            Arguments::Body(parameter, body) if parameter.type_name == "bytea" => {
                self.push_param(Param::Binary(body.clone())).push("::bytea");
            }
            Arguments::Body(parameter, body) => {
                self.param_bytes(body.clone())
                    .push("::")
                    .push(&parameter.type_name);
            }
            Arguments::Named(named) => {
                self.list(named, ", ", |sql, (parameter, argument)| {
                    sql.argument_name(parameter);
                    match argument {
                        Some(Argument::Text(value)) => sql.param(value),
                        Some(Argument::Many(values)) => sql.param(&array_literal(values)),
                        None => sql.push("NULL"),
                    };
                    sql.push("::").push(&parameter.wide_type);
                });
            }
            Arguments::Json(parameters, _) => {
                self.list(parameters, ", ", |sql, parameter| {
                    sql.argument_name(parameter);
                    sql.push("pgrst_body.").ident(&parameter.name);
                });
            }
        }
        self.push(")");
    }

    fn argument_name(&mut self, parameter: &Parameter) {
        if parameter.variadic {
            self.push("VARIADIC ");
        }
        self.ident(&parameter.name).push(" := ");
    }
}

fn is_scalar(function: &Function) -> bool {
    function.returns_scalar() || function.returns_set_of_scalar()
}

fn column_of(parameter: &Parameter) -> WriteColumn {
    WriteColumn {
        name: parameter.name.clone(),
        type_name: parameter.wide_type.clone(),
        transform: None,
        default: None,
    }
}
