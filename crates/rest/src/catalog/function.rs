//! Functions that can be called.

use std::collections::BTreeSet;

use selvedge_postgres::Isolation;
use serde::Deserialize;

use crate::identifier::QualifiedName;
use crate::request::media::MediaType;

/// An input parameter of a function.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Deserialize)]
pub struct Parameter {
    /// Empty for an unnamed parameter.
    pub name: String,
    /// SQL type as declared.
    #[serde(rename = "type")]
    pub type_name: String,
    /// SQL type for casts: without the length that would cut values, as `character` would to one.
    pub wide_type: String,
    /// Whether it has no default.
    pub required: bool,
    /// Whether it takes any number of values.
    pub variadic: bool,
}

/// The result type of a function.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ReturnType {
    /// The type, or the relation behind a row type.
    pub name: QualifiedName,
    /// Whether it is `SETOF` or `TABLE`.
    pub is_set: bool,
    /// Whether it is rows with columns: a table's, a composite type's, or those of OUT parameters.
    pub is_composite: bool,
    /// The column's name, for functions that return a single column whose type is not a row type.
    pub only_column: Option<String>,
}

/// The volatility category; only a volatile function may write.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Volatility {
    Immutable,
    Stable,
    Volatile,
}

/// A callable function.
#[derive(Debug, Clone)]
pub struct Function {
    pub oid: u32,
    pub name: QualifiedName,
    pub comment: Option<String>,
    pub parameters: Vec<Parameter>,
    pub returns: ReturnType,
    pub volatility: Volatility,
    /// Isolation level in the function's `SET` clause.
    pub isolation: Option<Isolation>,
    /// Other settings of its `SET` clauses that are applied to the whole transaction (`db-hoisted-tx-settings`).
    pub settings: Vec<(String, String)>,
}

impl Function {
    /// Whether it returns one value without columns.
    pub fn returns_scalar(&self) -> bool {
        !self.returns.is_set && !self.returns.is_composite
    }

    /// Whether it returns many values without columns.
    pub fn returns_set_of_scalar(&self) -> bool {
        self.returns.is_set && !self.returns.is_composite
    }

    /// Whether it returns one row or value.
    pub fn returns_single(&self) -> bool {
        !self.returns.is_set
    }

    /// Whether it returns nothing (`void`).
    pub fn returns_void(&self) -> bool {
        self.returns_scalar() && self.returns.name.schema == "pg_catalog" && self.returns.name.name == "void"
    }

    /// Whether it returns nothing, or one value of a type whose values are short.
    pub fn returns_short_value(&self) -> bool {
        const SHORT: [&str; 14] = [
            "void",
            "bool",
            "int2",
            "int4",
            "int8",
            "float4",
            "float8",
            "uuid",
            "date",
            "time",
            "timetz",
            "timestamp",
            "timestamptz",
            "interval",
        ];
        let QualifiedName { schema, name } = &self.returns.name;
        self.returns_scalar() && schema == "pg_catalog" && SHORT.contains(&name.as_str())
    }

    /// The name by which the result's columns are resolved: that of the relation behind a row type, else the function's.
    pub fn result_name(&self) -> QualifiedName {
        let name = if self.returns.is_composite {
            &self.returns.name.name
        } else {
            &self.name.name
        };
        QualifiedName::new(&self.name.schema, name)
    }

    /// Whether arguments of these names fit the parameters.
    pub(super) fn accepts(&self, keys: &BTreeSet<&str>, has_raw_body: bool) -> bool {
        if self.parameters.is_empty() {
            return keys.is_empty() && !has_raw_body;
        }
        let of = |required: bool| -> BTreeSet<&str> {
            self.parameters
                .iter()
                .filter(|p| p.required == required)
                .map(|p| p.name.as_str())
                .collect()
        };
        let (required, optional) = (of(true), of(false));
        // All parameters have defaults, so any of them may be left out.
        if required.is_empty() {
            return keys.is_subset(&optional);
        }
        // Keys that are not optional have to be exactly the required ones.
        keys.difference(&optional).copied().collect::<BTreeSet<_>>() == required
    }

    /// Whether the whole body can be the function's one, unnamed parameter.
    pub(super) fn takes_body(&self, content_type: &MediaType) -> bool {
        let [parameter] = self.parameters.as_slice() else {
            return false;
        };
        parameter.name.is_empty()
            && matches!(
                (content_type, parameter.type_name.as_str()),
                (MediaType::Json, "json" | "jsonb")
                    | (MediaType::Text, "text")
                    | (MediaType::Xml, "xml")
                    | (MediaType::Bytes, "bytea")
            )
    }

    /// `schema.name(parameter => type, …)`, for messages.
    pub(super) fn signature(&self) -> String {
        let parameters: Vec<String> = self
            .parameters
            .iter()
            .map(|p| format!("{} => {}", p.name, p.type_name))
            .collect();
        format!("{}({})", self.name, parameters.join(", "))
    }
}
