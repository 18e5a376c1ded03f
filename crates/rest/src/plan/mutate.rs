//! Writes: what is inserted, changed or deleted, and which columns come back.

use super::Planner;
use super::read::{Condition, ReadNode};
use super::resolve::Resolver;
use crate::catalog::Relation;
use crate::error::{CatalogError, RequestError, RestError};
use crate::request::Mutation;
use crate::request::ast::{Operation, QuantOperator};
use crate::request::body::{Payload, looks_like_object};
use crate::request::preferences::{Missing, Representation, Resolution};
use bytes::Bytes;
use std::collections::BTreeSet;
use std::sync::Arc;

/// A column that the payload fills.
#[derive(Debug, Clone)]
pub struct WriteColumn {
    pub name: String,
    /// Type that PostgreSQL reads the JSON value as.
    pub type_name: String,
    /// Function from that type to the column's.
    pub transform: Option<String>,
    /// SQL of the default value.
    pub default: Option<String>,
}

/// What happens to rows that exist already.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Conflict {
    pub resolution: Resolution,
    pub columns: Vec<String>,
}

/// A write.
#[derive(Debug)]
pub enum MutatePlan {
    Insert {
        columns: Vec<WriteColumn>,
        body: JsonBody,
        conflict: Option<Conflict>,
        /// PUT: the payload's row must meet these.
        put_filters: Vec<Condition>,
        returning: Vec<String>,
        apply_defaults: bool,
        /// Primary key for a `Location` header, if one is wanted.
        location: Option<Vec<String>>,
    },
    Update {
        columns: Vec<WriteColumn>,
        body: JsonBody,
        filters: Vec<Condition>,
        returning: Vec<String>,
        apply_defaults: bool,
    },
    Delete {
        filters: Vec<Condition>,
        returning: Vec<String>,
    },
}

/// A JSON document, and whether it is one object or a list of them.
#[derive(Debug, Clone)]
pub struct JsonBody {
    pub document: Bytes,
    pub is_object: bool,
}

impl JsonBody {
    /// Looks at the first byte of a document.
    pub fn new(document: Bytes) -> Self {
        Self {
            is_object: looks_like_object(&document),
            document,
        }
    }
}

pub(super) fn plan(
    planner: &Planner<'_>,
    relation: &Arc<Relation>,
    mutation: Mutation,
    read: &ReadNode,
) -> Result<MutatePlan, RestError> {
    let request = planner.request;
    let preferences = &request.preferences;
    let resolver = Resolver::new(planner.catalog, &relation.name);
    let filters = || -> Vec<Condition> {
        let plain = request.query.root_filters().map(|filter| resolver.filter(filter));
        let logic = request.query.logic.iter().filter(|(path, _)| path.is_empty());
        plain.chain(logic.map(|(_, tree)| resolver.tree(tree))).collect()
    };
    let returning = match preferences.representation {
        Some(Representation::Full | Representation::HeadersOnly) => returning(read, &relation.primary_key),
        _ => Vec::new(),
    };
    let columns = || -> Result<Vec<WriteColumn>, CatalogError> {
        request
            .columns
            .iter()
            .map(|name| write_column(planner, relation, name))
            .collect()
    };
    let body = || match &request.payload {
        Some(Payload::Json(document)) => JsonBody::new(document.clone()),
        _ => JsonBody::new(Bytes::from_static(b"[]")),
    };
    let apply_defaults = preferences.missing == Some(Missing::Default);
    Ok(match mutation {
        Mutation::Create => {
            let conflict_columns = request
                .query
                .on_conflict
                .clone()
                .unwrap_or_else(|| relation.primary_key.clone());
            let headers_only = preferences.representation == Some(Representation::HeadersOnly);
            MutatePlan::Insert {
                columns: columns()?,
                body: body(),
                conflict: preferences.resolution.map(|resolution| Conflict {
                    resolution,
                    columns: conflict_columns,
                }),
                put_filters: Vec::new(),
                returning,
                apply_defaults,
                location: headers_only.then(|| relation.primary_key.clone()),
            }
        }
        Mutation::SingleUpsert => {
            check_put_filters(planner, relation)?;
            MutatePlan::Insert {
                columns: columns()?,
                body: body(),
                conflict: Some(Conflict {
                    resolution: Resolution::MergeDuplicates,
                    columns: relation.primary_key.clone(),
                }),
                put_filters: filters(),
                returning,
                apply_defaults: false,
                location: None,
            }
        }
        Mutation::Update => MutatePlan::Update {
            columns: columns()?,
            body: body(),
            filters: filters(),
            returning,
            apply_defaults,
        },
        Mutation::Delete => MutatePlan::Delete {
            filters: filters(),
            returning,
        },
    })
}

fn write_column(planner: &Planner<'_>, relation: &Relation, name: &str) -> Result<WriteColumn, CatalogError> {
    let column = relation.columns.get(name).ok_or_else(|| CatalogError::NoColumn {
        relation: relation.name.name.clone(),
        column: name.to_owned(),
    })?;
    let transform = planner.catalog.representation("json", &column.declared_type);
    Ok(WriteColumn {
        name: name.to_owned(),
        type_name: if transform.is_some() {
            "json".to_owned()
        } else {
            column.declared_type.clone()
        },
        transform: transform.map(str::to_owned),
        default: column.default.clone(),
    })
}

/// PUT names its row by the whole primary key, and by nothing else.
fn check_put_filters(planner: &Planner<'_>, relation: &Relation) -> Result<(), RequestError> {
    let query = &planner.request.query;
    let keys: BTreeSet<&str> = query.filter_keys.iter().map(String::as_str).collect();
    let primary: BTreeSet<&str> = relation.primary_key.iter().map(String::as_str).collect();
    let all_equal = query.root_filters().all(|filter| {
        !filter.negated && matches!(filter.operation, Operation::Quant(QuantOperator::Equal, None, _))
    });
    if query.logic.is_empty() && keys == primary && !primary.is_empty() && all_equal {
        Ok(())
    } else {
        Err(RequestError::PutFilters)
    }
}

/// The columns that the answer needs from the written rows: those it shows, those its embeds join by, and the key.
pub(super) fn returning(read: &ReadNode, primary_key: &[String]) -> Vec<String> {
    let mut names: BTreeSet<&str> = read
        .select
        .iter()
        .map(|column| column.column.name.as_str())
        .collect();
    if names.contains("*") {
        return vec!["*".to_owned()];
    }
    for child in &read.children {
        let Some(join) = &child.join else { continue };
        match join.relationship.origin_columns() {
            Some(columns) => names.extend(columns),
            // nobody knows what the function looks at
            None => return vec!["*".to_owned()],
        }
    }
    names.extend(primary_key.iter().map(String::as_str));
    names.into_iter().map(str::to_owned).collect()
}
