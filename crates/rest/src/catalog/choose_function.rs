//! Which of a function's overloads a call means.

use std::collections::BTreeSet;
use std::sync::Arc;

use super::function::Function;
use super::hints;
use super::snapshot::Catalog;
use crate::error::CatalogError;
use crate::identifier::QualifiedName;
use crate::request::media::MediaType;

/// Most names of arguments that an error lists. Functions have at most as many parameters.
const MOST_SHOWN_NAMES: usize = 100;

impl Catalog {
    /// The one function that a call with arguments of these names means.
    ///
    /// Types are never compared: arguments come as text or JSON, which fit any type. An overload with matching names wins
    /// over one that takes the whole body.
    ///
    /// # Errors
    /// PGRST202 for none, PGRST203 for several.
    pub fn choose_function(
        &self,
        name: &QualifiedName,
        names: &[&str],
        content_type: &MediaType,
        is_post: bool,
    ) -> Result<Arc<Function>, CatalogError> {
        let overloads = self.functions.get(name).map_or(&[][..], Vec::as_slice);
        // Such a body is one unnamed argument, so functions without parameters do not accept it.
        let has_raw_body =
            is_post && matches!(content_type, MediaType::Bytes | MediaType::Text | MediaType::Xml);
        let keys: BTreeSet<&str> = names.iter().copied().collect();
        let named: Vec<_> = overloads
            .iter()
            .filter(|f| f.accepts(&keys, has_raw_body))
            .collect();
        let whole_body: Vec<_> = overloads
            .iter()
            .filter(|f| is_post && !f.accepts(&keys, has_raw_body) && f.takes_body(content_type))
            .collect();
        match (named.as_slice(), whole_body.as_slice()) {
            ([one], _) | ([], [one]) => Ok(Arc::clone(one)),
            ([], []) => Err(self.function_not_found(name, &keys, content_type, is_post, overloads)),
            // Compat: overloads that differ only in types are ambiguous; the error (300) asks the developer to rename one.
            ([], several) | (several, _) => Err(CatalogError::AmbiguousFunction(
                several
                    .iter()
                    .map(|f| f.signature())
                    .collect::<Vec<_>>()
                    .join(", "),
            )),
        }
    }

    /// Returns PGRST202 with PostgREST's description of what was searched.
    fn function_not_found(
        &self,
        name: &QualifiedName,
        keys: &BTreeSet<&str>,
        content_type: &MediaType,
        is_post: bool,
        overloads: &[Arc<Function>],
    ) -> CatalogError {
        let mut names = keys
            .iter()
            .copied()
            .take(MOST_SHOWN_NAMES)
            .collect::<Vec<_>>()
            .join(", ");
        if keys.len() > MOST_SHOWN_NAMES {
            names.push_str(", …");
        }
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

    /// A function of a similar name, or of this name with similar parameters.
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
            hints::most_similar(&name.name, names, hints::MIN_NAME_SIMILARITY)?.to_owned()
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
                hints::MIN_PART_SIMILARITY,
            )?;
            format!("{}{list}", name.name)
        };
        Some(format!(
            "Perhaps you meant to call the function {}.{found}",
            name.schema
        ))
    }
}
