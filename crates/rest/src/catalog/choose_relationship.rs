//! Which relationship an embed means. Source: REST contract §4.3.

use std::sync::Arc;

use serde_json::{Value, json};

use super::hints;
use super::relationship::{Cardinality, Relationship};
use super::snapshot::Catalog;
use crate::error::CatalogError;
use crate::identifier::QualifiedName;

impl Catalog {
    /// The one relationship from `origin` that an embed's `target` and `hint` mean (`target!hint(…)`).
    ///
    /// # Errors
    /// PGRST200 for none, PGRST201 for several.
    pub fn choose_relationship(
        &self,
        origin: &QualifiedName,
        target: &str,
        hint: Option<&str>,
    ) -> Result<Arc<Relationship>, CatalogError> {
        let candidates: Vec<&Arc<Relationship>> = self
            .relationships(origin, &origin.schema)
            .iter()
            .filter(|relationship| matches_embed(relationship, target, hint))
            .collect();
        match candidates.as_slice() {
            [] => Err(self.no_relationship(origin, target, hint)),
            [one] => Ok(Arc::clone(one)),
            several => Err(ambiguity_error(origin, target, several)),
        }
    }

    /// Returns PGRST200 with PostgREST's description of what was searched.
    fn no_relationship(&self, origin: &QualifiedName, target: &str, hint: Option<&str>) -> CatalogError {
        let using = hint
            .map(|hint| format!("' using the hint '{hint}"))
            .unwrap_or_default();
        CatalogError::NoRelationship {
            origin: origin.name.clone(),
            target: target.to_owned(),
            details: format!(
                "Searched for a foreign key relationship between '{}' and '{target}{using}' in the schema '{}', but no \
                 matches were found.",
                origin.name, origin.schema
            ),
            hint: self.similar_relationship(origin, target),
        }
    }

    /// A hint at the origin with the most similar name if this one has no relationships, else at the most similar target.
    fn similar_relationship(&self, origin: &QualifiedName, target: &str) -> Option<String> {
        let key = (origin.clone(), origin.schema.clone());
        let Some(relationships) = self.relationships.get(&key) else {
            let origins = self
                .relationships
                .keys()
                .filter(|(_, schema)| *schema == origin.schema)
                .map(|(o, _)| o.name.as_str());
            return hints::most_similar(&origin.name, origins, hints::MIN_PART_SIMILARITY)
                .map(|found| format!("Perhaps you meant '{found}' instead of '{}'.", origin.name));
        };
        let targets = relationships
            .iter()
            .map(|relationship| relationship.target.name.as_str());
        hints::rank_similar(target, targets, hints::MIN_PART_SIMILARITY)
            .into_iter()
            // A target with exactly this name cannot have been meant: it would have been found.
            .find(|(score, _)| *score < 1.0)
            .map(|(_, found)| format!("Perhaps you meant '{found}' instead of '{target}'."))
    }
}

/// Whether an embed may mean this relationship: by its target, or by the name or single column of its foreign key.
fn matches_embed(relationship: &Relationship, target: &str, hint: Option<&str>) -> bool {
    let is_target = target == relationship.target.name;
    let single = |side: fn(&(String, String)) -> &String, name: &str| match relationship.foreign_key() {
        Some((_, [pair])) => side(pair) == name,
        _ => false,
    };
    let origin_column = |name: &str| single(|pair| &pair.0, name);
    let target_column = |name: &str| single(|pair| &pair.1, name);
    let is_constraint = |name: &str| {
        relationship
            .foreign_key()
            .is_some_and(|(constraint, _)| constraint == name)
    };
    match (&relationship.cardinality, relationship.is_self, hint) {
        // A computed relationship is identified by its function's name, so hints do not apply.
        (Cardinality::Computed { function, .. }, _, _) => target == function.name,
        // On a self-reference both directions have the same target: the table's name means the children, the column of
        // the foreign key means the parent.
        (cardinality, true, None) => {
            (is_target && matches!(cardinality, Cardinality::OneToMany { .. }))
                || (origin_column(target) && matches!(cardinality, Cardinality::ManyToOne { .. }))
        }
        (cardinality, true, Some(hint)) => {
            is_target && matches!(cardinality, Cardinality::OneToMany { .. }) && target_column(hint)
        }
        // Columns and constraints of a table name the embed only if the target is a table: a view has neither.
        (_, false, None) => {
            is_target || (!relationship.target_is_view && (is_constraint(target) || origin_column(target)))
        }
        (cardinality, false, Some(hint)) => {
            is_target
                && (is_constraint(hint)
                    || origin_column(hint)
                    || target_column(hint)
                    || matches!(cardinality, Cardinality::ManyToMany(junction) if junction.table.name == hint))
        }
    }
}

/// PGRST201, which lists the candidates.
fn ambiguity_error(origin: &QualifiedName, target: &str, candidates: &[&Arc<Relationship>]) -> CatalogError {
    let words: Vec<String> = candidates
        .iter()
        .map(|candidate| {
            let how = match &candidate.cardinality {
                Cardinality::ManyToMany(junction) => &junction.table.name,
                _ => candidate.foreign_key().map_or("", |(constraint, _)| constraint),
            };
            format!("'{}!{how}'", candidate.target.name)
        })
        .collect();
    CatalogError::AmbiguousRelationship {
        origin: origin.name.clone(),
        target: target.to_owned(),
        details: Box::new(
            candidates
                .iter()
                .map(|candidate| describe_relationship(candidate))
                .collect(),
        ),
        hint: format!(
            "Try changing '{target}' to one of the following: {}. Find the desired relationship in the 'details' key.",
            words.join(", ")
        ),
    }
}

/// A candidate in the `details` of PGRST201.
fn describe_relationship(relationship: &Relationship) -> Value {
    let list = |columns: Vec<&String>| {
        let names: Vec<&str> = columns.into_iter().map(String::as_str).collect();
        format!("({})", names.join(", "))
    };
    let (origin, target) = (&relationship.origin.name, &relationship.target.name);
    let (cardinality, sentence) = match &relationship.cardinality {
        Cardinality::ManyToMany(junction) => (
            "many-to-many",
            format!(
                "{} using {}{} and {}{}",
                junction.table.name,
                junction.origin_constraint,
                list(junction.origin_columns.iter().map(|pair| &pair.1).collect()),
                junction.target_constraint,
                list(junction.target_columns.iter().map(|pair| &pair.1).collect()),
            ),
        ),
        other => {
            let name = match other {
                Cardinality::OneToMany { .. } => "one-to-many",
                Cardinality::OneToOne { .. } => "one-to-one",
                _ => "many-to-one",
            };
            let (constraint, pairs) = relationship.foreign_key().unwrap_or(("", &[]));
            let from = list(pairs.iter().map(|pair| &pair.0).collect());
            let to = list(pairs.iter().map(|pair| &pair.1).collect());
            (
                name,
                format!("{constraint} using {origin}{from} and {target}{to}"),
            )
        }
    };
    json!({
        "cardinality": cardinality,
        "embedding": format!("{origin} with {target}"),
        "relationship": sentence,
    })
}
