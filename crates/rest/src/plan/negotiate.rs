//! Which of the accepted media types is answered, and what renders it.

use crate::catalog::{Catalog, HandlerTarget};
use crate::error::RequestError;
use crate::identifier::QualifiedName;
use crate::request::media::MediaType;

/// What renders the rows into a body, inside PostgreSQL.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Handler {
    /// No body.
    Nothing,
    /// A JSON array, or the form that a function's result has.
    Json {
        stripped: bool,
    },
    /// One JSON object.
    JsonObject {
        stripped: bool,
    },
    Csv,
    GeoJson,
    /// A function or aggregate of the database.
    Custom {
        function: QualifiedName,
        target: HandlerTarget,
    },
}

/// Finds the first accepted type that can be served.
///
/// # Errors
/// PGRST107.
pub(super) fn negotiate(
    accept: &[MediaType],
    catalog: &Catalog,
    identifier: &QualifiedName,
    default_select: bool,
    plan_enabled: bool,
) -> Result<(Handler, MediaType), RequestError> {
    accept
        .iter()
        .find_map(|media| match media {
            MediaType::Object { stripped } => {
                Some((Handler::JsonObject { stripped: *stripped }, media.clone()))
            }
            MediaType::ArrayStripped => Some((Handler::Json { stripped: true }, media.clone())),
            MediaType::Plan { target, .. } if plan_enabled => {
                let handler = match target.as_ref() {
                    MediaType::Object { stripped } => Handler::JsonObject { stripped: *stripped },
                    MediaType::ArrayStripped => Handler::Json { stripped: true },
                    target => find(catalog, identifier, default_select, target)?.0,
                };
                Some((handler, media.clone()))
            }
            MediaType::Plan { .. } => None,
            other => find(catalog, identifier, default_select, other),
        })
        .ok_or_else(|| none_available(accept))
}

/// The refusal that lists what was asked for.
pub(super) fn none_available(accept: &[MediaType]) -> RequestError {
    let asked: Vec<String> = accept.iter().map(MediaType::mime).collect();
    RequestError::MediaType(asked.join(", "))
}

fn find(
    catalog: &Catalog,
    identifier: &QualifiedName,
    default_select: bool,
    media: &MediaType,
) -> Option<(Handler, MediaType)> {
    let custom = |target: HandlerTarget, media: &MediaType| {
        let function = catalog.handler(&target, media)?.clone();
        let answered = if *media == MediaType::Any {
            MediaType::Bytes
        } else {
            media.clone()
        };
        Some((Handler::Custom { function, target }, answered))
    };
    let object = || HandlerTarget::Object(identifier.clone());
    let of_object = default_select
        .then(|| custom(object(), &MediaType::Any).or_else(|| custom(object(), media)))
        .flatten();
    of_object
        .or_else(|| custom(HandlerTarget::AnyElement, media))
        .or_else(|| {
            let handler = match media {
                MediaType::Any | MediaType::Json => {
                    return Some((Handler::Json { stripped: false }, MediaType::Json));
                }
                MediaType::Csv => Handler::Csv,
                MediaType::GeoJson => Handler::GeoJson,
                _ => return None,
            };
            Some((handler, media.clone()))
        })
}
