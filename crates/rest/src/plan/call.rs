//! Calls: the function, where its arguments come from, and the columns wanted of its result.

use super::Planner;
use super::mutate::{JsonBody, returning};
use super::read::{Condition, ReadNode};
use crate::catalog::{Function, Parameter};
use crate::request::Invoke;
use crate::request::body::Payload;
use bytes::Bytes;
use std::collections::BTreeSet;
use std::sync::Arc;

/// The value of one named argument.
#[derive(Debug, Clone)]
pub enum Argument {
    Text(String),
    /// All values of a VARIADIC parameter.
    Many(Vec<String>),
}

/// Where the arguments come from.
#[derive(Debug)]
pub enum Arguments {
    None,
    /// Each a parameter of the statement, cast to its type.
    Named(Vec<(Parameter, Option<Argument>)>),
    /// Keys of a JSON document.
    Json(Vec<Parameter>, JsonBody),
    /// The whole body, for the one unnamed parameter.
    Body(Parameter, Bytes),
}

/// A function call.
#[derive(Debug)]
pub struct CallPlan {
    pub function: Arc<Function>,
    pub arguments: Arguments,
    /// Columns of the result that the answer needs; empty for all.
    pub returning: Vec<String>,
}

pub(super) fn plan(
    planner: &Planner<'_>,
    function: &Arc<Function>,
    keys: &[String],
    invoke: Invoke,
    read: &ReadNode,
) -> CallPlan {
    let arguments = match (function.parameters.as_slice(), &planner.request.payload) {
        ([unnamed], payload) if unnamed.name.is_empty() => {
            let body = match payload {
                Some(Payload::Json(body) | Payload::Raw(body)) => body.clone(),
                _ => Bytes::new(),
            };
            Arguments::Body(unnamed.clone(), body)
        }
        (parameters, payload) => {
            let given: Vec<Parameter> = parameters
                .iter()
                .filter(|parameter| keys.contains(&parameter.name))
                .cloned()
                .collect();
            match (invoke, payload) {
                _ if given.is_empty() => Arguments::None,
                (Invoke::Read { .. }, _) => Arguments::Named(named(given, &planner.request.query.arguments)),
                (Invoke::Post, Some(Payload::Arguments(pairs))) => Arguments::Named(named(given, pairs)),
                (Invoke::Post, Some(Payload::Json(body))) => {
                    Arguments::Json(given, JsonBody::new(body.clone()))
                }
                (Invoke::Post, _) => Arguments::None,
            }
        }
    };
    let mut columns: BTreeSet<String> = returning(read, &[]).into_iter().collect();
    if columns.contains("*") {
        columns = BTreeSet::from(["*".to_owned()]);
    } else if !columns.is_empty() {
        for condition in &read.filters {
            filtered_columns(condition, &mut columns);
        }
    }
    CallPlan {
        function: Arc::clone(function),
        arguments,
        returning: columns.into_iter().collect(),
    }
}

fn named(parameters: Vec<Parameter>, pairs: &[(String, String)]) -> Vec<(Parameter, Option<Argument>)> {
    parameters
        .into_iter()
        .map(|parameter| {
            let mut values = pairs
                .iter()
                .filter(|(key, _)| *key == parameter.name)
                .map(|(_, value)| value.clone());
            let argument = if parameter.variadic {
                Some(Argument::Many(values.collect()))
            } else {
                values.next_back().map(Argument::Text)
            };
            (parameter, argument)
        })
        .collect()
}

/// Columns that filters look at, although the answer does not show them.
fn filtered_columns(condition: &Condition, columns: &mut BTreeSet<String>) {
    match condition {
        Condition::Filter { column, .. } => {
            columns.insert(column.name.clone());
        }
        Condition::Embed { .. } => {}
        Condition::Group { children, .. } => {
            for child in children {
                filtered_columns(child, columns);
            }
        }
    }
}
