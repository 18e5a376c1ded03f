//! Functions that can be called, and which of them a call means.

use super::Catalog;
use super::hints;
use crate::error::CatalogError;
use crate::identifier::QualifiedName;
use crate::request::media::MediaType;
use selvedge_postgres::Isolation;
use serde::Deserialize;
use std::collections::BTreeSet;
use std::sync::Arc;

/// A parameter of a function.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Deserialize)]
pub struct Parameter {
    /// Empty for an unnamed parameter.
    pub name: String,
    #[serde(rename = "type")]
    pub type_name: String,
    /// The type without a length that would cut values.
    pub wide_type: String,
    pub required: bool,
    pub variadic: bool,
}

/// What a function returns.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ReturnType {
    /// The type, or the relation behind a row type.
    pub name: QualifiedName,
    pub is_set: bool,
    /// Rows with columns: a table's, a composite type's, or those of OUT parameters.
    pub is_composite: bool,
}

/// Whether a function may write.
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
    pub isolation: Option<Isolation>,
    /// Settings lifted to the transaction.
    pub settings: Vec<(String, String)>,
}

impl Function {
    /// One value, no columns.
    pub fn returns_scalar(&self) -> bool {
        !self.returns.is_set && !self.returns.is_composite
    }

    /// Many values, no columns.
    pub fn returns_set_of_scalar(&self) -> bool {
        self.returns.is_set && !self.returns.is_composite
    }

    /// One row or value.
    pub fn returns_single(&self) -> bool {
        !self.returns.is_set
    }

    /// Nothing at all.
    pub fn returns_void(&self) -> bool {
        self.returns_scalar() && self.returns.name.schema == "pg_catalog" && self.returns.name.name == "void"
    }

    /// The name under which the result's rows are known: the relation's, or the function's own.
    pub fn result_name(&self) -> QualifiedName {
        let name = if self.returns.is_composite {
            &self.returns.name.name
        } else {
            &self.name.name
        };
        QualifiedName::new(&self.name.schema, name)
    }

    fn accepts(&self, keys: &BTreeSet<&str>, has_raw_body: bool) -> bool {
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
        if required.is_empty() {
            return keys.is_subset(&optional);
        }
        keys.difference(&optional).copied().collect::<BTreeSet<_>>() == required
    }

    /// Whether the whole body can be the function's one, unnamed parameter.
    fn takes_body(&self, content_type: &MediaType) -> bool {
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

    fn signature(&self) -> String {
        let parameters: Vec<String> = self
            .parameters
            .iter()
            .map(|p| format!("{} => {}", p.name, p.type_name))
            .collect();
        format!("{}({})", self.name, parameters.join(", "))
    }
}

impl Catalog {
    /// The one function that a call with these argument names means. Types are never compared.
    ///
    /// # Errors
    /// PGRST202 for none, PGRST203 for several.
    pub fn choose_function(
        &self,
        name: &QualifiedName,
        keys: &[String],
        content_type: &MediaType,
        is_post: bool,
    ) -> Result<Arc<Function>, CatalogError> {
        let overloads = self.functions.get(name).map_or(&[][..], Vec::as_slice);
        let has_raw_body =
            is_post && matches!(content_type, MediaType::Bytes | MediaType::Text | MediaType::Xml);
        let key_set: BTreeSet<&str> = keys.iter().map(String::as_str).collect();
        let named: Vec<_> = overloads
            .iter()
            .filter(|f| f.accepts(&key_set, has_raw_body))
            .collect();
        let whole_body: Vec<_> = overloads
            .iter()
            .filter(|f| is_post && !f.accepts(&key_set, has_raw_body) && f.takes_body(content_type))
            .collect();
        match (named.as_slice(), whole_body.as_slice()) {
            ([one], _) | ([], [one]) => Ok(Arc::clone(one)),
            ([], []) => Err(self.no_function(name, &key_set, content_type, is_post, overloads)),
            ([], several) | (several, _) => Err(CatalogError::AmbiguousFunction(
                several
                    .iter()
                    .map(|f| f.signature())
                    .collect::<Vec<_>>()
                    .join(", "),
            )),
        }
    }

    fn no_function(
        &self,
        name: &QualifiedName,
        keys: &BTreeSet<&str>,
        content_type: &MediaType,
        is_post: bool,
        overloads: &[Arc<Function>],
    ) -> CatalogError {
        let names = keys.iter().copied().collect::<Vec<_>>().join(", ");
        let body_type = match content_type {
            MediaType::Text if is_post => Some("text"),
            MediaType::Xml if is_post => Some("xml"),
            MediaType::Bytes if is_post => Some("bytea"),
            _ => None,
        };
        let searched = match (body_type, keys.len()) {
            (Some(body_type), _) => format!("with a single unnamed {body_type} parameter"),
            (None, 0) => "without parameters".to_owned(),
            (None, 1) => format!("with parameter {names}"),
            (None, _) => format!("with parameters {names}"),
        };
        let or_body = if is_post && *content_type == MediaType::Json {
            " or with a single unnamed json/jsonb parameter"
        } else {
            ""
        };
        CatalogError::NoFunction {
            called: match (body_type, keys.len()) {
                (Some(_), _) => name.to_string(),
                (None, 0) => format!("{name} without parameters"),
                (None, _) => format!("{name}({names})"),
            },
            details: format!(
                "Searched for the function {name} {searched}{or_body}, but no matches were found in the schema cache."
            ),
            hint: if body_type.is_some() {
                None
            } else {
                self.similar_function(name, &names, overloads)
            },
        }
    }

    /// A function of a similar name, or an overload with similar parameters.
    fn similar_function(
        &self,
        name: &QualifiedName,
        parameters: &str,
        overloads: &[Arc<Function>],
    ) -> Option<String> {
        let found = if overloads.is_empty() {
            let names = self
                .functions
                .keys()
                .filter(|f| f.schema == name.schema)
                .map(|f| f.name.as_str());
            hints::most_similar(&name.name, names, hints::NAMES)?.to_owned()
        } else {
            let lists: Vec<String> = overloads
                .iter()
                .map(|f| {
                    let mut names: Vec<&str> = f.parameters.iter().map(|p| p.name.as_str()).collect();
                    names.sort_unstable();
                    format!("({})", names.join(", "))
                })
                .collect();
            let list = hints::most_similar(
                &format!("({parameters})"),
                lists.iter().map(String::as_str),
                hints::PARTS,
            )?;
            format!("{}{list}", name.name)
        };
        Some(format!(
            "Perhaps you meant to call the function {}.{found}",
            name.schema
        ))
    }
}
