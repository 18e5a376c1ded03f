//! Calls: the function, where its arguments come from, and the columns that are needed of its result.

use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;

use bytes::Bytes;
use selvedge_memory::MemoryBudget;

use super::mutate::{JsonBody, returning_columns, write_csv_as_json};
use super::tree::{ColumnRef, Condition, ReadNode};
use crate::catalog::{Function, Parameter};
use crate::error::RestError;
use crate::request::body::Payload;
use crate::request::{ApiRequest, Invoke};

/// The value of one named argument.
#[derive(Debug, Clone)]
pub enum Argument {
    /// Text that PostgreSQL casts to the parameter's type.
    Text(String),
    /// All values of a VARIADIC parameter.
    Many(Vec<String>),
}

/// Where the arguments come from. Numbers index [`Function::parameters`].
#[derive(Debug)]
pub enum Arguments {
    /// The function is called without arguments.
    None,
    /// Each is a parameter of the statement, cast to its type.
    Named(Vec<(usize, Option<Argument>)>),
    /// Positions of the parameters whose values are keys of a JSON document.
    Json(Vec<usize>, JsonBody),
    /// The whole body, for the function's one unnamed parameter.
    Body(Bytes),
}

/// A function call.
#[derive(Debug)]
pub struct CallPlan {
    /// The overload that was chosen.
    pub function: Arc<Function>,
    pub arguments: Arguments,
    /// Columns of the result that the response needs; empty for all.
    pub returning: Vec<ColumnRef>,
}

/// Plans a call of the chosen function.
///
/// # Errors
/// 503 when there is no memory for the JSON of a CSV document.
pub(super) fn plan_call(
    request: &mut ApiRequest,
    function: &Arc<Function>,
    invoke: Invoke,
    read: &mut ReadNode,
    memory: &MemoryBudget,
) -> Result<CallPlan, RestError> {
    // Every function takes the rows of a CSV document as JSON.
    request.payload = match request.payload.take() {
        Some(Payload::Csv(document)) => Some(Payload::Json(write_csv_as_json(document, memory)?)),
        payload => payload,
    };
    Ok(CallPlan {
        function: Arc::clone(function),
        arguments: take_arguments(request, &function.parameters, invoke),
        returning: take_result_columns(read),
    })
}

/// Names of the call's arguments, which choose among overloads.
pub(super) fn argument_names(request: &ApiRequest, invoke: Invoke) -> Vec<&str> {
    match invoke {
        Invoke::Read { .. } => {
            let arguments = request.query.arguments.iter();
            arguments.map(|(name, _)| name.as_str()).collect()
        }
        Invoke::Post => request.columns.iter().map(String::as_str).collect(),
    }
}

/// The arguments, moved out of the request: from the query string, a form, a JSON document, or the whole body.
fn take_arguments(request: &mut ApiRequest, parameters: &[Parameter], invoke: Invoke) -> Arguments {
    let payload = request.payload.take();
    // A function with one unnamed parameter takes the whole body, whatever keys that has.
    if let [unnamed] = parameters
        && unnamed.name.is_empty()
    {
        return Arguments::Body(match payload {
            Some(Payload::Json(body) | Payload::Raw(body)) => body,
            _ => Bytes::new(),
        });
    }
    let names = argument_names(request, invoke);
    let given: Vec<usize> = (0..parameters.len())
        .filter(|index| names.contains(&parameters[*index].name.as_str()))
        .collect();
    // Parameters that no argument names are left out, so that their defaults apply.
    match (invoke, payload) {
        _ if given.is_empty() => Arguments::None,
        (Invoke::Read { .. }, _) => {
            Arguments::Named(take_named(given, parameters, &mut request.query.arguments))
        }
        (Invoke::Post, Some(Payload::Arguments(mut pairs))) => {
            Arguments::Named(take_named(given, parameters, &mut pairs))
        }
        (Invoke::Post, Some(Payload::Json(body))) => Arguments::Json(given, JsonBody::new(body)),
        (Invoke::Post, _) => Arguments::None,
    }
}

/// Moves each parameter's values out of the pairs. If a parameter that is not VARIADIC has several values, the last one is
/// used.
fn take_named(
    given: Vec<usize>,
    parameters: &[Parameter],
    pairs: &mut [(String, String)],
) -> Vec<(usize, Option<Argument>)> {
    given
        .into_iter()
        .map(|index| {
            let parameter = &parameters[index];
            let mut values = pairs
                .iter_mut()
                .filter(|(key, _)| *key == parameter.name)
                .map(|(_, value)| std::mem::take(value));
            let argument = if parameter.variadic {
                Some(Argument::Many(values.collect()))
            } else {
                values.next_back().map(Argument::Text)
            };
            (index, argument)
        })
        .collect()
}

/// Returns the columns that the response needs of the result; empty for all. Columns that are computed with Citus are computed with
/// the result, as PostgreSQL does without it, so they are removed from `read`.
fn take_result_columns(read: &mut ReadNode) -> Vec<ColumnRef> {
    let mut computed = HashMap::new();
    read.visit_columns(&mut |column| {
        if let Some(function) = column.computed.take() {
            computed.insert(column.name.clone(), function);
        }
    });
    let names = result_columns(read).into_iter();
    names
        .map(|name| ColumnRef {
            computed: computed.remove(&name),
            name,
            ..ColumnRef::default()
        })
        .collect()
}

/// The columns that the response shows, sorts embeds by or filters by; empty for all.
fn result_columns(read: &ReadNode) -> Vec<String> {
    let mut columns: BTreeSet<String> = returning_columns(read, &[]).into_iter().collect();
    // A function's result cannot be narrowed where all of it is shown.
    if columns.contains("*") {
        return vec!["*".to_owned()];
    }
    if !columns.is_empty() {
        for condition in &read.filters {
            collect_filtered_columns(condition, &mut columns);
        }
    }
    columns.into_iter().collect()
}

/// Adds the columns that a condition looks at, although the response may not show them.
fn collect_filtered_columns(condition: &Condition, columns: &mut BTreeSet<String>) {
    match condition {
        Condition::Filter { column, .. } => {
            columns.insert(column.name.clone());
        }
        Condition::Embed { .. } => {}
        Condition::Group { children, .. } => {
            for child in children {
                collect_filtered_columns(child, columns);
            }
        }
    }
}
