//! What the database holds, as the planner needs it: one snapshot, swapped as a whole.

mod choose;
mod derive;
#[cfg(test)]
mod example;
mod function;
mod hints;
mod load;
mod relation;
mod relationship;
mod view_trace;

pub use function::{Function, Parameter, ReturnType, Volatility};
pub use relation::{Column, Relation};
pub use relationship::{Cardinality, Junction, Relationship};

use crate::error::CatalogError;
use crate::identifier::QualifiedName;
use crate::request::media::MediaType;
use foldhash::fast::RandomState;
use indexmap::IndexMap;
use std::collections::HashMap;
use std::sync::Arc;

/// What every request looks into. Only the database puts names in, so a hash that is fast will do.
type Names<K, V> = HashMap<K, V, RandomState>;

/// Columns by name, in the relation's order.
pub type Columns = IndexMap<String, Column, RandomState>;

/// Schemas with more relations than this get no "perhaps you meant": comparing names would take too long.
const MOST_RELATIONS_FOR_HINTS: usize = 500;

/// What a media handler applies to.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum HandlerTarget {
    /// Rows of this relation, or this function.
    Object(QualifiedName),
    /// Any row.
    AnyElement,
}

/// A snapshot of the exposed schemas.
#[derive(Debug, Default)]
pub struct Catalog {
    relations: Names<QualifiedName, Arc<Relation>>,
    /// By origin, and schema of the target.
    relationships: Names<(QualifiedName, String), Vec<Arc<Relationship>>>,
    functions: Names<QualifiedName, Vec<Arc<Function>>>,
    /// SQL function from a source type to a target type.
    representations: HashMap<(String, String), String>,
    handlers: HashMap<(HandlerTarget, MediaType), QualifiedName>,
}

impl Catalog {
    /// Finds a relation.
    ///
    /// # Errors
    /// PGRST205, with a relation of a similar name.
    pub fn relation(&self, name: &QualifiedName) -> Result<&Arc<Relation>, CatalogError> {
        self.relations.get(name).ok_or_else(|| CatalogError::NoRelation {
            relation: name.to_string(),
            hint: self.similar_relation(name),
        })
    }

    /// Finds a relation, if there is one.
    pub fn find_relation(&self, name: &QualifiedName) -> Option<&Arc<Relation>> {
        self.relations.get(name)
    }

    /// Relations of one schema, by name.
    pub fn relations_in(&self, schema: &str) -> Vec<&Arc<Relation>> {
        let mut found: Vec<_> = self
            .relations
            .values()
            .filter(|relation| relation.name.schema == schema)
            .collect();
        found.sort_by(|a, b| a.name.name.cmp(&b.name.name));
        found
    }

    /// All relations, by name.
    pub(crate) fn all_relations(&self) -> Vec<&Arc<Relation>> {
        let mut found: Vec<_> = self.relations.values().collect();
        found.sort_by(|a, b| a.name.cmp(&b.name));
        found
    }

    /// All relationships, by their ends.
    pub(crate) fn all_relationships(&self) -> Vec<&Arc<Relationship>> {
        let mut found: Vec<_> = self.relationships.values().flatten().collect();
        found.sort();
        found
    }

    /// All functions, by name.
    pub(crate) fn all_functions(&self) -> Vec<&Arc<Function>> {
        let mut found: Vec<_> = self.functions.values().flatten().collect();
        found.sort_by(|a, b| a.name.cmp(&b.name));
        found
    }

    /// Whether a function has this name.
    pub(crate) fn has_function(&self, schema: &str, name: &str) -> bool {
        self.functions.contains_key(&QualifiedName::new(schema, name))
    }

    /// Functions of one schema, by name.
    pub fn functions_in(&self, schema: &str) -> Vec<&Arc<Function>> {
        let mut found: Vec<_> = self
            .functions
            .iter()
            .filter(|(name, _)| name.schema == schema)
            .flat_map(|(_, overloads)| overloads)
            .collect();
        found.sort_by(|a, b| a.name.name.cmp(&b.name.name));
        found
    }

    /// The relationships that start at `origin` and end in `schema`.
    pub fn relationships(&self, origin: &QualifiedName, schema: &str) -> &[Arc<Relationship>] {
        self.relationships
            .get(&(origin.clone(), schema.to_owned()))
            .map_or(&[], Vec::as_slice)
    }

    /// The function that turns values of type `source` into `target`.
    pub fn representation(&self, source: &str, target: &str) -> Option<&str> {
        if self.representations.is_empty() {
            return None;
        }
        self.representations
            .get(&(source.to_owned(), target.to_owned()))
            .map(String::as_str)
    }

    /// The custom handler for a media type.
    pub fn handler(&self, target: &HandlerTarget, media: &MediaType) -> Option<&QualifiedName> {
        if self.handlers.is_empty() {
            return None;
        }
        self.handlers.get(&(target.clone(), media.clone()))
    }

    /// Objects found, for the log.
    pub fn summary(&self) -> String {
        format!(
            "{} relations, {} relationships, {} functions",
            self.relations.len(),
            self.relationships.values().map(Vec::len).sum::<usize>(),
            self.functions.values().map(Vec::len).sum::<usize>(),
        )
    }

    fn similar_relation(&self, name: &QualifiedName) -> Option<String> {
        let names: Vec<&str> = self
            .relations
            .keys()
            .filter(|known| known.schema == name.schema)
            .map(|known| known.name.as_str())
            .collect();
        if names.len() >= MOST_RELATIONS_FOR_HINTS {
            return None;
        }
        hints::most_similar(&name.name, names, hints::NAMES)
            .map(|found| format!("Perhaps you meant the table '{}.{found}'", name.schema))
    }
}
