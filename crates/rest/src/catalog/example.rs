//! A small catalog made by hand: tests of the pure stages need no database.

use std::collections::HashMap;
use std::sync::Arc;

use super::derive_relationships::{Constraint, ConstraintKind, KeyRelation, Keys};
use super::relation::{Column, Distribution, Relation};
use super::snapshot::Catalog;
use crate::identifier::QualifiedName;

fn column(name: &str, type_name: &str) -> Column {
    Column {
        name: name.to_owned(),
        comment: None,
        nullable: true,
        data_type: type_name.to_owned(),
        declared_type: type_name.to_owned(),
        base_type: type_name.to_owned(),
        base_type_oid: match type_name {
            "bigint" => 20,
            "integer" => 23,
            "text" => 25,
            "text[]" => 1009,
            "jsonb" => 3802,
            _ => 16384,
        },
        max_length: None,
        default: None,
        enum_labels: Vec::new(),
    }
}

fn relation(name: &str, columns: &[(&str, &str)]) -> Relation {
    Relation {
        name: QualifiedName::new("public", name),
        comment: None,
        is_view: false,
        insertable: true,
        updatable: true,
        deletable: true,
        inserts_plainly: true,
        primary_key: vec!["id".to_owned()],
        columns: columns
            .iter()
            .map(|(name, kind)| ((*name).to_owned(), column(name, kind)))
            .collect(),
        distribution: Distribution::Local,
        computed_columns: HashMap::new(),
    }
}

/// `comments.post_id` references `posts.id`.
fn comments_post_key() -> Constraint {
    Constraint {
        name: "comments_post_id_fkey".to_owned(),
        kind: ConstraintKind::Foreign {
            relation: 1,
            columns: vec![1],
        },
        relation: 2,
        columns: vec![2],
    }
}

fn key_relation(relation: &Relation) -> KeyRelation {
    KeyRelation {
        name: relation.name.clone(),
        is_view: false,
        columns: (1..).zip(relation.columns.keys().cloned()).collect(),
    }
}

impl Catalog {
    /// Tables `posts` and `comments`, related by a foreign key.
    pub(crate) fn example() -> Self {
        let posts = [
            ("id", "integer"),
            ("title", "text"),
            ("data", "jsonb"),
            ("tags", "text[]"),
        ];
        let comments = [("id", "integer"), ("post_id", "integer"), ("body", "text")];
        let relations = [relation("posts", &posts), relation("comments", &comments)];
        let keys = Keys {
            relations: (1..).zip(relations.iter().map(key_relation)).collect(),
            constraints: vec![comments_post_key()],
            ..Keys::default()
        };
        Self {
            relationships: keys
                .relationships(&["public".to_owned()])
                .into_iter()
                .map(|(key, list)| (key, list.into_iter().map(Arc::new).collect()))
                .collect(),
            relations: relations
                .into_iter()
                .map(|relation| (relation.name.clone(), Arc::new(relation)))
                .collect(),
            ..Self::default()
        }
    }

    /// The example catalog in a database with Citus that distributes none of its tables.
    #[cfg(test)]
    pub(crate) fn example_beside_citus() -> Self {
        Self {
            has_citus: true,
            ..Self::example()
        }
    }

    /// The example catalog in a database with Citus: `posts` is a reference table, `comments` is sharded.
    #[cfg(test)]
    pub(crate) fn example_with_citus() -> Self {
        let mut catalog = Self::example_beside_citus();
        for relation in catalog.relations.values_mut() {
            Arc::make_mut(relation).distribution = if relation.name.name == "posts" {
                Distribution::Reference
            } else {
                Distribution::Sharded
            };
        }
        catalog
    }

    /// Distributes a table.
    #[cfg(test)]
    pub(crate) fn shard(&mut self, table: &str) {
        let relation = self.relations.get_mut(&QualifiedName::new("public", table));
        Arc::make_mut(relation.expect("a table of the example")).distribution = Distribution::Sharded;
    }

    /// Adds a computed column, a function of the same name, to a table that Citus distributes.
    #[cfg(test)]
    pub(crate) fn compute_column(&mut self, table: &str, column: &str) {
        let relation = self.relations.get_mut(&QualifiedName::new("public", table));
        let relation = Arc::make_mut(relation.expect("a table of the example"));
        let function = QualifiedName::new("public", column);
        relation.computed_columns.insert(column.to_owned(), function);
    }
}
