//! Writes: what is inserted, changed or deleted, and which columns come back.

use std::collections::BTreeSet;

use bytes::Bytes;
use selvedge_memory::MemoryBudget;

use super::draft::RootFilters;
use super::resolve_column::Resolver;
use super::tree::{ColumnRef, Condition, ReadNode};
use crate::catalog::{Catalog, Relation};
use crate::error::{CatalogError, RequestError, RestError};
use crate::request::ast::{Operation, QuantOperator};
use crate::request::body::{Payload, looks_like_object};
use crate::request::csv_document::CsvDocument;
use crate::request::preferences::{Missing, Preferences, Representation, Resolution};
use crate::request::{ApiRequest, Mutation};

/// A column that the payload fills.
#[derive(Debug, Clone)]
pub struct WriteColumn {
    /// Key in the payload and column of the relation.
    pub name: String,
    /// Type that PostgreSQL reads the JSON value as.
    pub type_name: String,
    /// Function from that type to the column's domain (a domain representation).
    pub transform: Option<String>,
    /// SQL of the default value, for `Prefer: missing=default`.
    pub default: Option<String>,
}

/// How rows that conflict with an existing one are handled (`ON CONFLICT`).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Conflict {
    /// Update the existing row, or leave it alone.
    pub resolution: Resolution,
    /// Conflict target: `on_conflict`, else the primary key.
    pub columns: Vec<String>,
}

/// A write. Empty `returning` means that no columns come back.
#[derive(Debug)]
pub enum MutatePlan {
    /// POST and PUT.
    Insert {
        columns: Vec<WriteColumn>,
        body: JsonBody,
        conflict: Option<Conflict>,
        /// The conditions of a PUT that the payload's row must fulfil, so that the URL and the payload name the same row.
        put_filters: Vec<Condition>,
        returning: Vec<String>,
        /// Whether keys that an object lacks get the column's default instead of null.
        apply_defaults: bool,
        /// Primary key for a `Location` header, if one is wanted.
        location: Option<Vec<String>>,
    },
    /// PATCH.
    Update {
        columns: Vec<WriteColumn>,
        body: JsonBody,
        filters: Vec<Condition>,
        returning: Vec<String>,
        apply_defaults: bool,
    },
    /// DELETE.
    Delete {
        filters: Vec<Condition>,
        returning: Vec<String>,
    },
}

/// A JSON document, and whether it is one object or a list of them.
#[derive(Debug, Clone)]
pub struct JsonBody {
    /// The document as the client sent it.
    pub document: Bytes,
    /// Whether to read it by `json_to_record` rather than `json_to_recordset`.
    pub is_object: bool,
}

impl JsonBody {
    /// Looks at the first byte of a document; whether it is JSON at all was checked when the request was parsed.
    pub fn new(document: Bytes) -> Self {
        Self {
            is_object: looks_like_object(&document),
            document,
        }
    }
}

/// The rows of a CSV document as a JSON array.
///
/// # Errors
/// 503 when there is no memory for it.
pub(super) fn write_csv_as_json(document: CsvDocument, memory: &MemoryBudget) -> Result<Bytes, RestError> {
    document
        .into_json(memory)
        .ok_or(RestError::OutOfMemory { is_committed: false })
}

/// A write being planned: the request without the parts that shape the select tree, which are `filters` and `read`.
pub(super) struct MutationRequest<'a> {
    pub(super) catalog: &'a Catalog,
    pub(super) request: &'a mut ApiRequest,
    pub(super) relation: &'a Relation,
    pub(super) filters: RootFilters,
    /// Whether the query string has any logic tree, those of embeds included.
    pub(super) has_logic: bool,
    pub(super) read: &'a ReadNode,
    pub(super) memory: &'a MemoryBudget,
}

impl MutationRequest<'_> {
    /// Plans the write.
    ///
    /// # Errors
    /// PGRST105 for a PUT that does not name its row by the primary key, PGRST204 for unknown columns.
    pub(super) fn plan(mut self, mutation: Mutation) -> Result<MutatePlan, RestError> {
        let returning = self.returning();
        let apply_defaults = self.preferences().missing == Some(Missing::Default);
        Ok(match mutation {
            Mutation::Create => self.plan_insert(returning, apply_defaults)?,
            Mutation::SingleUpsert => self.plan_single_upsert(returning)?,
            Mutation::Update => MutatePlan::Update {
                columns: self.write_columns()?,
                body: self.take_body()?,
                filters: self.take_filters(),
                returning,
                apply_defaults,
            },
            Mutation::Delete => MutatePlan::Delete {
                filters: self.take_filters(),
                returning,
            },
        })
    }

    /// POST: an INSERT, or with `Prefer: resolution=` an upsert.
    fn plan_insert(&mut self, returning: Vec<String>, apply_defaults: bool) -> Result<MutatePlan, RestError> {
        let primary_key = &self.relation.primary_key;
        let on_conflict = self.request.query.on_conflict.take();
        // PostgREST's default is the primary key; without one no ON CONFLICT is written.
        let conflict_columns = on_conflict.unwrap_or_else(|| primary_key.clone());
        let headers_only = self.preferences().representation == Some(Representation::HeadersOnly);
        Ok(MutatePlan::Insert {
            columns: self.write_columns()?,
            body: self.take_body()?,
            // Without `Prefer: resolution=` a conflict is an error (23505), also where `on_conflict` names columns.
            conflict: self.preferences().resolution.map(|resolution| Conflict {
                resolution,
                columns: conflict_columns,
            }),
            put_filters: Vec::new(),
            returning,
            apply_defaults,
            location: headers_only.then(|| primary_key.clone()),
        })
    }

    /// PUT: an upsert of the one row that the filters name.
    fn plan_single_upsert(&mut self, returning: Vec<String>) -> Result<MutatePlan, RestError> {
        self.check_put_filters()?;
        Ok(MutatePlan::Insert {
            columns: self.write_columns()?,
            body: self.take_body()?,
            conflict: Some(Conflict {
                resolution: Resolution::MergeDuplicates,
                columns: self.relation.primary_key.clone(),
            }),
            put_filters: self.take_filters(),
            returning,
            apply_defaults: false,
            location: None,
        })
    }

    fn preferences(&self) -> &Preferences {
        &self.request.preferences
    }

    /// The columns that come back: none unless the response or its `Location` header shows some.
    fn returning(&self) -> Vec<String> {
        match self.preferences().representation {
            Some(Representation::Full | Representation::HeadersOnly) => {
                returning_columns(self.read, &self.relation.primary_key)
            }
            _ => Vec::new(),
        }
    }

    /// The columns that the payload fills, with their types.
    fn write_columns(&self) -> Result<Vec<WriteColumn>, CatalogError> {
        let names = self.request.columns.iter();
        names
            .map(|name| write_column(self.catalog, self.relation, name))
            .collect()
    }

    /// The payload; writes without one have an empty list. Only taken when the columns are known.
    ///
    /// # Errors
    /// 503 when there is no memory for the JSON of a CSV document.
    fn take_body(&mut self) -> Result<JsonBody, RestError> {
        Ok(JsonBody::new(match self.request.payload.take() {
            Some(Payload::Json(document)) => document,
            Some(Payload::Csv(document)) => write_csv_as_json(document, self.memory)?,
            _ => Bytes::from_static(b"[]"),
        }))
    }

    /// The conditions on the rows to write.
    fn take_filters(&mut self) -> Vec<Condition> {
        let resolver = Resolver::new(self.catalog, &self.relation.name);
        let filters = std::mem::take(&mut self.filters.filters).into_iter();
        let logic = std::mem::take(&mut self.filters.logic).into_iter();
        filters
            .map(|filter| resolver.resolve_filter(filter))
            .chain(logic.map(|tree| resolver.resolve_logic(tree)))
            .collect()
    }

    /// Checks that a PUT names its row by the whole primary key, and by nothing else.
    ///
    /// # Errors
    /// PGRST105.
    fn check_put_filters(&self) -> Result<(), RequestError> {
        let keys: BTreeSet<&str> = self
            .request
            .query
            .filter_keys
            .iter()
            .map(String::as_str)
            .collect();
        let primary: BTreeSet<&str> = self.relation.primary_key.iter().map(String::as_str).collect();
        let all_equal = self.filters.filters.iter().all(|filter| {
            !filter.negated && matches!(filter.operation, Operation::Quant(QuantOperator::Equal, None, _))
        });
        if !self.has_logic && keys == primary && !primary.is_empty() && all_equal {
            Ok(())
        } else {
            Err(RequestError::PutFilters)
        }
    }
}

/// A column as the payload fills it; with a domain representation it is read as json and converted.
fn write_column(catalog: &Catalog, relation: &Relation, name: &str) -> Result<WriteColumn, CatalogError> {
    let column = relation.columns.get(name).ok_or_else(|| CatalogError::NoColumn {
        relation: relation.name.name.clone(),
        column: name.to_owned(),
    })?;
    // With a representation the value stays json until the function converts it.
    let transform = catalog.representation("json", &column.declared_type);
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

/// The columns that the response needs from the written rows: those it shows, those its embeds join by, and the key.
pub(super) fn returning_columns(read: &ReadNode, primary_key: &[String]) -> Vec<String> {
    let mut names: BTreeSet<&str> = read
        .select
        .iter()
        .map(|column| column.column.name.as_str())
        .collect();
    let is_computed = |column: &ColumnRef| column.computed.is_some();
    // The star includes all columns that embeds and computed columns could need.
    if names.contains("*") || read.select.iter().any(|column| is_computed(&column.column)) {
        return vec!["*".to_owned()];
    }
    for child in &read.children {
        let Some(join) = &child.join else { continue };
        match join.relationship.origin_columns() {
            Some(columns) => names.extend(columns),
            // A computed relationship is a function of the whole row.
            None => return vec!["*".to_owned()],
        }
    }
    // The key is needed for `Location`, also where the client did not select it.
    names.extend(primary_key.iter().map(String::as_str));
    names.into_iter().map(str::to_owned).collect()
}
