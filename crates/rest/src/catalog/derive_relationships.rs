//! From keys and view columns to relationships. Source: REST contract §4.2.
//!
//! A foreign key is a many-to-one relationship, or one-to-one if its columns are unique. Views have the relationships of
//! the tables whose key columns they show. Two foreign keys within one primary key make a many-to-many relationship.
//! Each relationship has an inverse. A function of the same name as a target replaces what was detected.

use std::collections::{HashMap, HashSet};

use selvedge_postgres::ViewColumns;

use super::relationship::{Cardinality, Junction, Relationship};
use crate::identifier::QualifiedName;

/// The parts of a relation that keys need.
#[derive(Debug, Clone)]
pub(super) struct KeyRelation {
    pub(super) name: QualifiedName,
    pub(super) is_view: bool,
    /// Names by `attnum`.
    pub(super) columns: HashMap<i16, String>,
}

impl KeyRelation {
    /// The names of columns given by number; unknown numbers are left out.
    fn column_names(&self, numbers: &[i16]) -> Vec<String> {
        numbers
            .iter()
            .filter_map(|number| self.columns.get(number).cloned())
            .collect()
    }
}

/// A primary, unique or foreign key.
#[derive(Debug, Clone)]
pub(super) struct Constraint {
    pub(super) name: String,
    pub(super) kind: ConstraintKind,
    /// Oid of the relation that has it.
    pub(super) relation: u32,
    /// Numbers of its columns (`attnum`).
    pub(super) columns: Vec<i16>,
}

/// The kind of a key.
#[derive(Debug, Clone)]
pub(super) enum ConstraintKind {
    Primary,
    Unique,
    /// The relation and columns that it references.
    Foreign {
        relation: u32,
        columns: Vec<i16>,
    },
}

/// Everything that relationships are derived from, in all schemas: keys may pass through schemas without endpoints.
#[derive(Debug, Default)]
pub(super) struct Keys {
    /// Relations by oid.
    pub(super) relations: HashMap<u32, KeyRelation>,
    pub(super) constraints: Vec<Constraint>,
    /// Views of the exposed schemas, by oid, with the origins of their columns.
    pub(super) views: Vec<(u32, ViewColumns)>,
    /// Relationships that functions compute.
    pub(super) computed: Vec<Relationship>,
}

impl Keys {
    /// Primary keys of all relations, those of views included.
    pub(super) fn primary_keys(&self) -> HashMap<QualifiedName, Vec<String>> {
        let mut keys: HashMap<QualifiedName, Vec<String>> = HashMap::new();
        for constraint in &self.constraints {
            if !matches!(constraint.kind, ConstraintKind::Primary) {
                continue;
            }
            if let Some(relation) = self.relations.get(&constraint.relation) {
                let mut names = relation.column_names(&constraint.columns);
                names.sort();
                keys.insert(relation.name.clone(), names);
            }
            for (view, columns) in &self.views {
                let Some(view) = self.relations.get(view) else {
                    continue;
                };
                if let Some(combinations) = columns.combinations(constraint.relation, &constraint.columns) {
                    let first = combinations.into_iter().next().unwrap_or_default();
                    keys.entry(view.name.clone())
                        .or_default()
                        .extend(view.column_names(&first));
                }
            }
        }
        keys
    }

    /// All relationships between relations of the `exposed` schemas, by origin and schema of the target.
    pub(super) fn relationships(
        &self,
        exposed: &[String],
    ) -> HashMap<(QualifiedName, String), Vec<Relationship>> {
        let primary_keys = self.primary_keys();
        let mut all = self.foreign_key_relationships();
        all.extend(many_to_many(&all, &primary_keys));
        let inverses: Vec<_> = all.iter().filter_map(invert_relationship).collect();
        all.extend(inverses);
        let is_exposed = |name: &QualifiedName| exposed.contains(&name.schema);
        let find_overridden_pairs = self.find_overridden_pairs();
        let mut found: HashMap<(QualifiedName, String), Vec<Relationship>> = HashMap::new();
        for relationship in &all {
            // A junction without an endpoint must not be read through its neighbours.
            let through_exposed = match &relationship.cardinality {
                Cardinality::ManyToMany(junction) => is_exposed(&junction.table),
                _ => true,
            };
            if !is_exposed(&relationship.origin) || !is_exposed(&relationship.target) {
                continue;
            }
            let key = (relationship.origin.clone(), relationship.target.schema.clone());
            // Compat: an origin whose relationships are all hidden is known, so no other origin is suggested for it.
            let known = found.entry(key).or_default();
            if through_exposed
                && !find_overridden_pairs.contains(&(&relationship.origin, &relationship.target))
            {
                known.push(relationship.clone());
            }
        }
        for computed in &self.computed {
            let Cardinality::Computed { function, .. } = &computed.cardinality else {
                continue;
            };
            if is_exposed(&computed.origin) && is_exposed(&computed.target) {
                let key = (computed.origin.clone(), function.schema.clone());
                found.entry(key).or_default().push(computed.clone());
            }
        }
        for list in found.values_mut() {
            // A view that shows a key column twice leads to the same relationship twice; the order is that of PGRST201's details.
            list.sort();
            list.dedup();
        }
        found
    }

    /// Pairs (origin, target) whose detected relationships a computed one replaces, so that a schema can correct them.
    fn find_overridden_pairs(&self) -> HashSet<(&QualifiedName, &QualifiedName)> {
        self.computed
            .iter()
            .filter_map(|computed| match &computed.cardinality {
                Cardinality::Computed { function, .. } => Some((&computed.origin, function)),
                _ => None,
            })
            .collect()
    }

    /// The many-to-one and one-to-one relationships of foreign keys, between tables and views in any combination.
    fn foreign_key_relationships(&self) -> Vec<Relationship> {
        let unique: HashSet<(u32, Vec<i16>)> = self
            .constraints
            .iter()
            .filter(|c| matches!(c.kind, ConstraintKind::Primary | ConstraintKind::Unique))
            .map(|c| (c.relation, sort_columns(&c.columns)))
            .collect();
        let mut all = Vec::new();
        for constraint in &self.constraints {
            let ConstraintKind::Foreign { relation, columns } = &constraint.kind else {
                continue;
            };
            let one_to_one = unique.contains(&(constraint.relation, sort_columns(&constraint.columns)));
            let origins = self.with_views(constraint.relation, &constraint.columns);
            let targets = self.with_views(*relation, columns);
            for origin in &origins {
                for target in &targets {
                    all.push(relationship_of(constraint, one_to_one, origin, target));
                }
            }
        }
        all
    }

    /// A relation with these columns, and every view that shows all of them, with the view's names for them.
    fn with_views(&self, relation: u32, columns: &[i16]) -> Vec<(&KeyRelation, Vec<String>)> {
        let mut variants = Vec::new();
        if let Some(found) = self.relations.get(&relation) {
            variants.push((found, found.column_names(columns)));
        }
        for (view, traced) in &self.views {
            let Some(view) = self.relations.get(view) else {
                continue;
            };
            for combination in traced.combinations(relation, columns).unwrap_or_default() {
                variants.push((view, view.column_names(&combination)));
            }
        }
        variants
    }
}

/// The columns in one order, so that keys over the same columns are equal.
fn sort_columns(columns: &[i16]) -> Vec<i16> {
    let mut columns = columns.to_vec();
    columns.sort_unstable();
    columns
}

/// The relationship of a foreign key between one origin and one target.
fn relationship_of(
    constraint: &Constraint,
    one_to_one: bool,
    (origin, origin_columns): &(&KeyRelation, Vec<String>),
    (target, target_columns): &(&KeyRelation, Vec<String>),
) -> Relationship {
    let columns = origin_columns
        .iter()
        .cloned()
        .zip(target_columns.iter().cloned())
        .collect();
    let constraint = constraint.name.clone();
    Relationship {
        origin: origin.name.clone(),
        target: target.name.clone(),
        is_self: origin.name == target.name,
        cardinality: if one_to_one {
            Cardinality::OneToOne {
                constraint,
                columns,
                from_parent: false,
            }
        } else {
            Cardinality::ManyToOne { constraint, columns }
        },
        origin_is_view: origin.is_view,
        target_is_view: target.is_view,
    }
}

/// The pairs with their sides exchanged.
fn swap_pairs(pairs: &[(String, String)]) -> Vec<(String, String)> {
    pairs.iter().map(|(a, b)| (b.clone(), a.clone())).collect()
}

/// Returns the relationship from the other end; `None` for a many-to-many one, which is created in both directions.
fn invert_relationship(of: &Relationship) -> Option<Relationship> {
    let cardinality = match &of.cardinality {
        Cardinality::ManyToOne { constraint, columns } => Cardinality::OneToMany {
            constraint: constraint.clone(),
            columns: swap_pairs(columns),
        },
        Cardinality::OneToOne {
            constraint,
            columns,
            from_parent: false,
        } => Cardinality::OneToOne {
            constraint: constraint.clone(),
            columns: swap_pairs(columns),
            from_parent: true,
        },
        _ => return None,
    };
    Some(Relationship {
        origin: of.target.clone(),
        target: of.origin.clone(),
        is_self: of.is_self,
        cardinality,
        origin_is_view: of.target_is_view,
        target_is_view: of.origin_is_view,
    })
}

/// Pairs of many-to-one relationships of one relation, the junction, whose columns all belong to its primary key.
fn many_to_many(
    relationships: &[Relationship],
    primary_keys: &HashMap<QualifiedName, Vec<String>>,
) -> Vec<Relationship> {
    let mut by_origin: HashMap<&QualifiedName, Vec<&Relationship>> = HashMap::new();
    for relationship in relationships {
        if matches!(relationship.cardinality, Cardinality::ManyToOne { .. }) {
            by_origin
                .entry(&relationship.origin)
                .or_default()
                .push(relationship);
        }
    }
    let mut found = Vec::new();
    for (table, foreign_keys) in by_origin {
        let Some(key) = primary_keys.get(table) else {
            continue;
        };
        for first in &foreign_keys {
            let others = foreign_keys.iter();
            found.extend(others.filter_map(|second| relate_through_junction(table, key, first, second)));
        }
    }
    found
}

/// The many-to-many relationship through two foreign keys of a junction, if they are two of which the primary key
/// consists.
fn relate_through_junction(
    table: &QualifiedName,
    primary_key: &[String],
    first: &Relationship,
    second: &Relationship,
) -> Option<Relationship> {
    let (one, columns) = first.foreign_key()?;
    let (other, far_columns) = second.foreign_key()?;
    // With columns outside of its primary key, a junction could link the same pair by several rows.
    let in_key = |pairs: &[(String, String)]| pairs.iter().all(|(column, _)| primary_key.contains(column));
    // Using the same foreign key for both sides would link every row only with itself.
    if one == other || !in_key(columns) || !in_key(far_columns) {
        return None;
    }
    Some(Relationship {
        origin: first.target.clone(),
        target: second.target.clone(),
        is_self: first.target == second.target,
        cardinality: Cardinality::ManyToMany(Junction {
            table: table.clone(),
            origin_constraint: one.to_owned(),
            target_constraint: other.to_owned(),
            origin_columns: swap_pairs(columns),
            target_columns: swap_pairs(far_columns),
        }),
        origin_is_view: first.target_is_view,
        target_is_view: second.target_is_view,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn relation(name: &str, columns: &[&str]) -> KeyRelation {
        KeyRelation {
            name: QualifiedName::new("public", name),
            is_view: false,
            columns: (1..).zip(columns.iter().map(|c| (*c).to_owned())).collect(),
        }
    }

    fn foreign_key(name: &str, relation: u32, column: i16, target: u32) -> Constraint {
        Constraint {
            name: name.to_owned(),
            kind: ConstraintKind::Foreign {
                relation: target,
                columns: vec![1],
            },
            relation,
            columns: vec![column],
        }
    }

    fn primary_key(relation: u32, columns: &[i16]) -> Constraint {
        Constraint {
            name: format!("pk{relation}"),
            kind: ConstraintKind::Primary,
            relation,
            columns: columns.to_vec(),
        }
    }

    fn keys() -> Keys {
        Keys {
            relations: HashMap::from([
                (1, relation("posts", &["id"])),
                (2, relation("tags", &["id"])),
                (3, relation("post_tags", &["post_id", "tag_id"])),
                (4, relation("details", &["post_id"])),
            ]),
            constraints: vec![
                primary_key(1, &[1]),
                primary_key(2, &[1]),
                primary_key(3, &[1, 2]),
                primary_key(4, &[1]),
                foreign_key("pt_post", 3, 1, 1),
                foreign_key("pt_tag", 3, 2, 2),
                foreign_key("details_post", 4, 1, 1),
            ],
            ..Keys::default()
        }
    }

    fn cardinalities_between(origin: &str, target: &str) -> Vec<Cardinality> {
        keys()
            .relationships(&["public".to_owned()])
            .remove(&(QualifiedName::new("public", origin), "public".to_owned()))
            .unwrap_or_default()
            .into_iter()
            .filter(|relationship| relationship.target.name == target)
            .map(|relationship| relationship.cardinality)
            .collect()
    }

    #[test]
    fn rest_026_two_foreign_keys_in_a_primary_key_make_many_to_many() {
        assert!(matches!(
            cardinalities_between("posts", "tags").as_slice(),
            [Cardinality::ManyToMany(_)]
        ));
        assert!(matches!(
            cardinalities_between("tags", "posts").as_slice(),
            [Cardinality::ManyToMany(_)]
        ));
    }

    #[test]
    fn rest_024_a_foreign_key_embeds_in_both_directions() {
        assert!(matches!(
            cardinalities_between("post_tags", "posts").as_slice(),
            [Cardinality::ManyToOne { .. }]
        ));
        assert!(matches!(
            cardinalities_between("posts", "post_tags").as_slice(),
            [Cardinality::OneToMany { .. }]
        ));
    }

    #[test]
    fn rest_110_a_foreign_key_over_the_primary_key_is_one_to_one() {
        assert!(matches!(
            cardinalities_between("details", "posts").as_slice(),
            [Cardinality::OneToOne {
                from_parent: false,
                ..
            }]
        ));
        assert!(matches!(
            cardinalities_between("posts", "details").as_slice(),
            [Cardinality::OneToOne {
                from_parent: true,
                ..
            }]
        ));
    }
}
