//! A small catalog made by hand, for tests of the pure stages.

use super::derive::{Constraint, ConstraintKind, KeyRelation, Keys};
use super::{Catalog, Column, Relation};
use crate::identifier::QualifiedName;
use std::sync::Arc;

fn column(name: &str, type_name: &str) -> Column {
    Column {
        name: name.to_owned(),
        comment: None,
        nullable: true,
        data_type: type_name.to_owned(),
        declared_type: type_name.to_owned(),
        base_type: type_name.to_owned(),
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
    }
}

impl Catalog {
    /// Posts and their comments.
    pub(crate) fn example() -> Self {
        let relations = [
            relation(
                "posts",
                &[
                    ("id", "integer"),
                    ("title", "text"),
                    ("data", "jsonb"),
                    ("tags", "text[]"),
                ],
            ),
            relation(
                "comments",
                &[("id", "integer"), ("post_id", "integer"), ("body", "text")],
            ),
        ];
        let keys = Keys {
            relations: (1..)
                .zip(&relations)
                .map(|(oid, relation)| {
                    let key_relation = KeyRelation {
                        name: relation.name.clone(),
                        is_view: false,
                        columns: (1..).zip(relation.columns.keys().cloned()).collect(),
                    };
                    (oid, key_relation)
                })
                .collect(),
            constraints: vec![Constraint {
                name: "comments_post_id_fkey".to_owned(),
                kind: ConstraintKind::Foreign {
                    relation: 1,
                    columns: vec![1],
                },
                relation: 2,
                columns: vec![2],
            }],
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
}
