//! Content negotiation: which of the accepted media types the response has, and what renders it.

use crate::catalog::{Catalog, HandlerTarget};
use crate::error::RequestError;
use crate::identifier::QualifiedName;
use crate::request::media::MediaType;

/// How PostgreSQL renders the rows into a body.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Handler {
    /// The response has no body.
    Nothing,
    /// A JSON array, or for a function the form of its result; `stripped` leaves out null keys.
    Json { stripped: bool },
    /// One JSON object; `stripped` leaves out null keys.
    JsonObject { stripped: bool },
    /// A header line and one record per row.
    Csv,
    /// A GeoJSON FeatureCollection, made by PostGIS.
    GeoJson,
    /// A custom media type handler: a function or aggregate of the database.
    Custom {
        function: QualifiedName,
        target: HandlerTarget,
    },
}

/// Finds the first accepted type that can be served.
///
/// `identifier` is the relation or function that is asked for. Its own handlers apply only to whole rows, hence only
/// with the `default_select`.
///
/// # Errors
/// PGRST107.
pub(super) fn negotiate_media_type(
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
                    target => find_handler(catalog, identifier, default_select, target)?.0,
                };
                Some((handler, media.clone()))
            }
            // `db-plan-enabled` is off: the type is not offered, because plans reveal other rows' statistics.
            MediaType::Plan { .. } => None,
            other => find_handler(catalog, identifier, default_select, other),
        })
        .ok_or_else(|| none_available(accept))
}

/// PGRST107, which lists what was asked for.
pub(super) fn none_available(accept: &[MediaType]) -> RequestError {
    let asked: Vec<String> = accept.iter().map(MediaType::mime).collect();
    RequestError::MediaType(asked.join(", "))
}

/// The handler of one media type: one made for this object, then one for any row, then a built-in one.
fn find_handler(
    catalog: &Catalog,
    identifier: &QualifiedName,
    default_select: bool,
    media: &MediaType,
) -> Option<(Handler, MediaType)> {
    let custom = |target: HandlerTarget, media: &MediaType| {
        let function = catalog.handler(&target, media)?.clone();
        // A handler for `*/*` decides about the type by `response.headers`; without that it is unspecific bytes.
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
