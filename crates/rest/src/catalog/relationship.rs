//! How relations are related: by foreign keys, through junctions, by functions.

use crate::identifier::QualifiedName;

/// Two foreign keys of one relation, seen from the ends.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Junction {
    pub table: QualifiedName,
    pub origin_constraint: String,
    pub target_constraint: String,
    /// Pairs (origin column, junction column).
    pub origin_columns: Vec<(String, String)>,
    /// Pairs (target column, junction column).
    pub target_columns: Vec<(String, String)>,
}

/// How many rows meet how many. Ordered as the reference lists candidates.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub enum Cardinality {
    /// Pairs (origin column, target column) here and below.
    OneToMany {
        constraint: String,
        columns: Vec<(String, String)>,
    },
    ManyToOne {
        constraint: String,
        columns: Vec<(String, String)>,
    },
    OneToOne {
        constraint: String,
        columns: Vec<(String, String)>,
        from_parent: bool,
    },
    ManyToMany(Junction),
    /// A function of the origin's row; the name is that of the function.
    Computed {
        function: QualifiedName,
        single: bool,
    },
}

/// A way from one relation to another.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Relationship {
    pub origin: QualifiedName,
    pub target: QualifiedName,
    pub is_self: bool,
    pub cardinality: Cardinality,
    pub origin_is_view: bool,
    pub target_is_view: bool,
}

impl Relationship {
    /// Whether at most one row of the target belongs to a row of the origin.
    pub fn is_to_one(&self) -> bool {
        matches!(
            self.cardinality,
            Cardinality::ManyToOne { .. }
                | Cardinality::OneToOne { .. }
                | Cardinality::Computed { single: true, .. }
        )
    }

    /// Columns of the origin that the join needs; `None` if that cannot be said (computed).
    pub fn origin_columns(&self) -> Option<Vec<&str>> {
        match &self.cardinality {
            Cardinality::OneToMany { columns, .. }
            | Cardinality::ManyToOne { columns, .. }
            | Cardinality::OneToOne { columns, .. } => {
                Some(columns.iter().map(|(column, _)| column.as_str()).collect())
            }
            Cardinality::ManyToMany(junction) => Some(
                junction
                    .origin_columns
                    .iter()
                    .map(|(column, _)| column.as_str())
                    .collect(),
            ),
            Cardinality::Computed { .. } => None,
        }
    }

    /// The pairs of a direct relationship with its constraint.
    pub fn direct(&self) -> Option<(&str, &[(String, String)])> {
        match &self.cardinality {
            Cardinality::OneToMany { constraint, columns }
            | Cardinality::ManyToOne { constraint, columns }
            | Cardinality::OneToOne {
                constraint, columns, ..
            } => Some((constraint, columns)),
            _ => None,
        }
    }
}
