//! From keys and view columns to relationships.
//!
//! Foreign keys give many-to-one (or one-to-one) relationships; views repeat those of the tables whose columns they
//! show; two of them in one primary key make a many-to-many; all have inverses; functions override.

use super::relationship::{Cardinality, Junction, Relationship};
use super::view_trace::ViewColumns;
use crate::identifier::QualifiedName;
use std::collections::{HashMap, HashSet};

/// A relation as far as keys are concerned.
#[derive(Debug, Clone)]
pub(super) struct KeyRelation {
    pub(super) name: QualifiedName,
    pub(super) is_view: bool,
    pub(super) columns: HashMap<i16, String>,
}

impl KeyRelation {
    fn names(&self, numbers: &[i16]) -> Vec<String> {
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
    pub(super) relation: u32,
    pub(super) columns: Vec<i16>,
}

#[derive(Debug, Clone)]
pub(super) enum ConstraintKind {
    Primary,
    Unique,
    Foreign { relation: u32, columns: Vec<i16> },
}

/// Everything that relationships are derived from.
#[derive(Debug, Default)]
pub(super) struct Keys {
    pub(super) relations: HashMap<u32, KeyRelation>,
    pub(super) constraints: Vec<Constraint>,
    /// Views of the exposed schemas, by oid.
    pub(super) views: Vec<(u32, ViewColumns)>,
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
                let mut names = relation.names(&constraint.columns);
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
                        .extend(view.names(&first));
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
        let mut all = self.of_foreign_keys();
        all.extend(many_to_many(&all, &primary_keys));
        let inverses: Vec<_> = all.iter().filter_map(inverse).collect();
        all.extend(inverses);
        let is_exposed = |name: &QualifiedName| exposed.contains(&name.schema);
        let overridden: HashSet<(&QualifiedName, &QualifiedName)> = self
            .computed
            .iter()
            .filter_map(|computed| match &computed.cardinality {
                Cardinality::Computed { function, .. } => Some((&computed.origin, function)),
                _ => None,
            })
            .collect();
        let mut found: HashMap<(QualifiedName, String), Vec<Relationship>> = HashMap::new();
        for relationship in &all {
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
            if through_exposed && !overridden.contains(&(&relationship.origin, &relationship.target)) {
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
            list.sort();
            list.dedup();
        }
        found
    }

    fn of_foreign_keys(&self) -> Vec<Relationship> {
        let unique: HashSet<(u32, Vec<i16>)> = self
            .constraints
            .iter()
            .filter(|c| matches!(c.kind, ConstraintKind::Primary | ConstraintKind::Unique))
            .map(|c| (c.relation, sorted(&c.columns)))
            .collect();
        let mut all = Vec::new();
        for constraint in &self.constraints {
            let ConstraintKind::Foreign { relation, columns } = &constraint.kind else {
                continue;
            };
            let one_to_one = unique.contains(&(constraint.relation, sorted(&constraint.columns)));
            let origins = self.variants(constraint.relation, &constraint.columns);
            let targets = self.variants(*relation, columns);
            for origin in &origins {
                for target in &targets {
                    all.push(relationship_of(constraint, one_to_one, origin, target));
                }
            }
        }
        all
    }

    /// A relation and its columns, and every view that shows all of them.
    fn variants(&self, relation: u32, columns: &[i16]) -> Vec<(&KeyRelation, Vec<String>)> {
        let mut variants = Vec::new();
        if let Some(found) = self.relations.get(&relation) {
            variants.push((found, found.names(columns)));
        }
        for (view, traced) in &self.views {
            let Some(view) = self.relations.get(view) else {
                continue;
            };
            for combination in traced.combinations(relation, columns).unwrap_or_default() {
                variants.push((view, view.names(&combination)));
            }
        }
        variants
    }
}

fn sorted(columns: &[i16]) -> Vec<i16> {
    let mut columns = columns.to_vec();
    columns.sort_unstable();
    columns
}

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

fn swapped(pairs: &[(String, String)]) -> Vec<(String, String)> {
    pairs.iter().map(|(a, b)| (b.clone(), a.clone())).collect()
}

fn inverse(of: &Relationship) -> Option<Relationship> {
    let cardinality = match &of.cardinality {
        Cardinality::ManyToOne { constraint, columns } => Cardinality::OneToMany {
            constraint: constraint.clone(),
            columns: swapped(columns),
        },
        Cardinality::OneToOne {
            constraint,
            columns,
            from_parent: false,
        } => Cardinality::OneToOne {
            constraint: constraint.clone(),
            columns: swapped(columns),
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

/// Two many-to-one relationships of one relation whose columns all belong to its primary key.
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
    for (table, legs) in by_origin {
        let Some(key) = primary_keys.get(table) else {
            continue;
        };
        for first in &legs {
            for second in &legs {
                let (Some((one, columns)), Some((other, far_columns))) = (first.direct(), second.direct())
                else {
                    continue;
                };
                let in_key =
                    |pairs: &[(String, String)]| pairs.iter().all(|(column, _)| key.contains(column));
                if one == other || !in_key(columns) || !in_key(far_columns) {
                    continue;
                }
                found.push(Relationship {
                    origin: first.target.clone(),
                    target: second.target.clone(),
                    is_self: first.target == second.target,
                    cardinality: Cardinality::ManyToMany(Junction {
                        table: table.clone(),
                        origin_constraint: one.to_owned(),
                        target_constraint: other.to_owned(),
                        origin_columns: swapped(columns),
                        target_columns: swapped(far_columns),
                    }),
                    origin_is_view: first.target_is_view,
                    target_is_view: second.target_is_view,
                });
            }
        }
    }
    found
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

    fn foreign(name: &str, relation: u32, column: i16, target: u32) -> Constraint {
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

    fn primary(relation: u32, columns: &[i16]) -> Constraint {
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
                primary(1, &[1]),
                primary(2, &[1]),
                primary(3, &[1, 2]),
                primary(4, &[1]),
                foreign("pt_post", 3, 1, 1),
                foreign("pt_tag", 3, 2, 2),
                foreign("details_post", 4, 1, 1),
            ],
            ..Keys::default()
        }
    }

    fn between(origin: &str, target: &str) -> Vec<Cardinality> {
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
    fn rest_026_a_junction_whose_key_holds_both_makes_many_to_many() {
        assert!(matches!(
            between("posts", "tags").as_slice(),
            [Cardinality::ManyToMany(_)]
        ));
        assert!(matches!(
            between("tags", "posts").as_slice(),
            [Cardinality::ManyToMany(_)]
        ));
    }

    #[test]
    fn rest_024_foreign_keys_have_inverses() {
        assert!(matches!(
            between("post_tags", "posts").as_slice(),
            [Cardinality::ManyToOne { .. }]
        ));
        assert!(matches!(
            between("posts", "post_tags").as_slice(),
            [Cardinality::OneToMany { .. }]
        ));
    }

    #[test]
    fn rest_110_a_foreign_key_that_is_the_primary_key_is_one_to_one() {
        assert!(matches!(
            between("details", "posts").as_slice(),
            [Cardinality::OneToOne {
                from_parent: false,
                ..
            }]
        ));
        assert!(matches!(
            between("posts", "details").as_slice(),
            [Cardinality::OneToOne {
                from_parent: true,
                ..
            }]
        ));
    }
}
