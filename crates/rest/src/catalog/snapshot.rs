//! The catalog itself: relations, relationships, functions and handlers by name.

use std::collections::HashMap;
use std::sync::Arc;

use foldhash::fast::RandomState;

use super::function::Function;
use super::hints;
use super::relation::{Distribution, Relation};
use super::relationship::Relationship;
use crate::error::CatalogError;
use crate::identifier::QualifiedName;
use crate::request::media::MediaType;

/// A map that every request looks into. Only the database puts names in, so a fast hash will do; a map that clients
/// could fill would need one that resists collisions made on purpose.
pub(super) type Names<K, V> = HashMap<K, V, RandomState>;

/// Schemas with this many relations get no "Perhaps you meant": comparing so many names takes too long for a 404.
const MAX_RELATIONS_FOR_HINTS: usize = 500;

/// The relation or function to which a custom media type handler applies.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum HandlerTarget {
    /// Rows of this relation, or the result of this function.
    Object(QualifiedName),
    /// Rows of any relation (`anyelement`).
    AnyElement,
}

/// Relations, relationships, functions and handlers of the exposed schemas.
#[derive(Debug, Clone, Default)]
pub struct Catalog {
    pub(super) relations: Names<QualifiedName, Arc<Relation>>,
    /// By origin, and schema of the target. An origin without any is absent, one whose relationships are all hidden has an
    /// empty list.
    pub(super) relationships: Names<(QualifiedName, String), Vec<Arc<Relationship>>>,
    pub(super) functions: Names<QualifiedName, Vec<Arc<Function>>>,
    /// Domain representations: SQL function from a source type to a target type.
    pub(super) representations: HashMap<(String, String), String>,
    pub(super) handlers: HashMap<(HandlerTarget, MediaType), QualifiedName>,
    /// Whether the database has Citus, which supports only part of PostgreSQL's SQL.
    pub(super) has_citus: bool,
}

impl Catalog {
    /// The relation of this name.
    ///
    /// # Errors
    /// PGRST205, with a hint at a relation of a similar name.
    pub fn relation(&self, name: &QualifiedName) -> Result<&Arc<Relation>, CatalogError> {
        self.relations.get(name).ok_or_else(|| CatalogError::NoRelation {
            relation: name.to_string(),
            hint: self.similar_relation(name),
        })
    }

    /// Whether statements are written in the form that Citus supports.
    pub(crate) fn has_citus(&self) -> bool {
        self.has_citus
    }

    /// Returns where the relation's rows are stored; [`Distribution::Local`] for relations that are not in the catalog.
    pub(crate) fn distribution(&self, name: &QualifiedName) -> Distribution {
        self.relations
            .get(name)
            .map_or(Distribution::Local, |relation| relation.distribution)
    }

    /// The relation of this name, if there is one.
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

    /// All relationships, by origin and target.
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

    /// Whether a function of this name is exposed.
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

    /// The SQL function that converts values of type `source` to `target`, where one of them is a domain.
    pub fn representation(&self, source: &str, target: &str) -> Option<&str> {
        // Most databases have none; then the key need not be built, which takes two allocations per column.
        if self.representations.is_empty() {
            return None;
        }
        self.representations
            .get(&(source.to_owned(), target.to_owned()))
            .map(String::as_str)
    }

    /// The custom handler that renders rows of `target` as this media type.
    pub fn handler(&self, target: &HandlerTarget, media: &MediaType) -> Option<&QualifiedName> {
        // Most databases have none; then the key need not be built.
        if self.handlers.is_empty() {
            return None;
        }
        self.handlers.get(&(target.clone(), media.clone()))
    }

    /// Numbers of objects, for the log.
    pub fn summary(&self) -> String {
        format!(
            "{} relations, {} relationships, {} functions",
            self.relations.len(),
            self.relationships.values().map(Vec::len).sum::<usize>(),
            self.functions.values().map(Vec::len).sum::<usize>(),
        )
    }

    /// A hint at the relation with the most similar name in the same schema.
    fn similar_relation(&self, name: &QualifiedName) -> Option<String> {
        let names: Vec<&str> = self
            .relations
            .keys()
            .filter(|known| known.schema == name.schema)
            .map(|known| known.name.as_str())
            .collect();
        // A hint costs more than the rest of the 404, so it must not grow with the schema.
        if names.len() >= MAX_RELATIONS_FOR_HINTS {
            return None;
        }
        hints::most_similar(&name.name, names, hints::MIN_NAME_SIMILARITY)
            .map(|found| format!("Perhaps you meant the table '{}.{found}'", name.schema))
    }
}
