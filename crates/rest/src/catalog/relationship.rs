//! How relations are related: by foreign keys, through junction tables, by functions.

use crate::identifier::QualifiedName;

/// The table in the middle of a many-to-many relationship, and its two foreign keys.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Junction {
    pub table: QualifiedName,
    /// Foreign key to the origin.
    pub origin_constraint: String,
    /// Foreign key to the target.
    pub target_constraint: String,
    /// Pairs (origin column, junction column).
    pub origin_columns: Vec<(String, String)>,
    /// Pairs (target column, junction column).
    pub target_columns: Vec<(String, String)>,
}

/// How many rows of the origin belong to how many of the target. The order of variants is the order in which PostgREST
/// lists the candidates of an ambiguous embed.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub enum Cardinality {
    /// The target has the foreign key. `columns` are pairs (origin column, target column), here and below.
    OneToMany {
        constraint: String,
        columns: Vec<(String, String)>,
    },
    /// The origin has the foreign key.
    ManyToOne {
        constraint: String,
        columns: Vec<(String, String)>,
    },
    /// The foreign key is unique; `from_parent` says that the target's table contains it.
    OneToOne {
        constraint: String,
        columns: Vec<(String, String)>,
        from_parent: bool,
    },
    /// A junction table has a foreign key to each side.
    ManyToMany(Junction),
    /// A computed relationship: a function of the origin's row, whose name is the word that embeds it.
    Computed { function: QualifiedName, single: bool },
}

/// A relationship in the direction in which an embed uses it.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Relationship {
    pub origin: QualifiedName,
    pub target: QualifiedName,
    /// Whether origin and target are the same relation.
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

    /// Columns of the origin that the join needs; `None` for a computed relationship, which may look at any of them.
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

    /// The foreign key behind a relationship and its pairs of columns; `None` for junctions and functions.
    pub fn foreign_key(&self) -> Option<(&str, &[(String, String)])> {
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
