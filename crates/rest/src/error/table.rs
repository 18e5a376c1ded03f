//! The table of errors: status, code, message, details and hint of each.
//!
//! Source: REST contract §7 and PostgREST's own texts, which clients compare.

use selvedge_token::TokenError;

use super::types::{AuthError, CatalogError, RequestError, RestError};
use super::wire::Wire;

impl RestError {
    /// Returns the response: status, headers and body.
    pub fn wire(&self) -> Wire {
        match self {
            Self::Request(error) => error.wire(),
            Self::Catalog(error) => error.wire(),
            Self::Token(error) => error.wire(),
            Self::Database(fault) => fault.wire(),
            Self::Unreachable(cause) => Wire::new(503, "PGRST000", "Database connection error.")
                .details(cause.clone())
                .header("Retry-After", "1"),
            Self::ConnectionLost(cause) => {
                Wire::new(503, "PGRST001", "Database client error. Retrying the connection.")
                    .details(cause.clone())
                    .header("Retry-After", "1")
            }
            Self::PoolTimeout => Wire::new(
                504,
                "PGRST003",
                "Timed out acquiring connection from connection pool.",
            ),
            Self::OutOfMemory { is_committed } => Wire::new(503, "53200", self)
                .details(if *is_committed {
                    "The statement has taken effect, but its result does not fit into the memory that is left."
                } else {
                    "The request does not fit into the memory that is left. Nothing was changed."
                })
                .hint("Try again in a moment, or ask for fewer rows at once.")
                .header("Retry-After", "1"),
            Self::DiskFull => Wire::new(503, "53100", self)
                .details("Nothing can be written until there is room again. Nothing was changed.")
                .header("Retry-After", "60"),
            Self::Internal(cause) => {
                tracing::error!(error = %cause, "rest: internal error");
                Wire::new(500, "PGRSTX00", "Internal error")
            }
        }
    }
}

impl RequestError {
    /// A schema that does not exist or is none of those that are `exposed`.
    pub(crate) fn unknown_schema(asked: String, exposed: &[String]) -> Self {
        Self::Schema {
            asked,
            exposed: exposed.join(", "),
        }
    }

    /// One row per error: longer than other functions, because a table is read as a whole.
    fn wire(&self) -> Wire {
        match self {
            Self::Query { details, .. } => Wire::new(400, "PGRST100", self).details(details),
            Self::CallMethod(_) => Wire::new(405, "PGRST101", self),
            Self::Body(_) => Wire::new(400, "PGRST102", self),
            Self::Nul => Wire::new(400, "22021", self),
            Self::OffsetTooLarge(_) => Wire::new(400, "22003", self),
            Self::EmbeddedTwice(_) => Wire::new(400, "42712", self),
            Self::LimitNegative => {
                Wire::new(416, "PGRST103", self).details("Limit should be greater than or equal to zero.")
            }
            Self::RangeReversed => Wire::new(416, "PGRST103", self).details(
                "The lower boundary must be lower than or equal to the upper boundary in the Range header.",
            ),
            Self::OffsetBeyond { offset, total } => Wire::new(416, "PGRST103", self).details(format!(
                "An offset of {offset} was requested, but there are only {total} rows."
            )),
            Self::PutFilters => Wire::new(405, "PGRST105", self),
            Self::Schema { exposed, .. } => Wire::new(406, "PGRST106", self)
                .hint(format!("Only the following schemas are exposed: {exposed}")),
            Self::MediaType(_) => Wire::new(406, "PGRST107", self),
            Self::NotEmbedded { target, alias: None } => Wire::new(400, "PGRST108", self).hint(format!(
                "Verify that '{target}' is included in the 'select' query parameter."
            )),
            Self::NotEmbedded {
                target,
                alias: Some(alias),
            } => Wire::new(400, "PGRST108", self)
                .details("Target names are not allowed in filters if they have an alias")
                .hint(format!(
                    "Change '{target}' to '{alias}' in filters, orders or limits."
                )),
            Self::ResponseHeaders => Wire::new(500, "PGRST111", self),
            Self::ResponseStatus => Wire::new(500, "PGRST112", self),
            Self::PutRange => Wire::new(400, "PGRST114", self),
            Self::PutPayload => Wire::new(400, "PGRST115", self),
            Self::NotSingular(rows) => {
                Wire::new(406, "PGRST116", self).details(format!("The result contains {rows} rows"))
            }
            Self::Method(_) => Wire::new(405, "PGRST117", self),
            Self::RelatedOrder { origin, target } => Wire::new(400, "PGRST118", self).details(format!(
                "'{origin}' and '{target}' do not form a many-to-one or one-to-one relationship"
            )),
            Self::Preferences(invalid) => {
                Wire::new(400, "PGRST122", self).details(format!("Invalid preferences: {invalid}"))
            }
            Self::AggregatesDisabled => Wire::new(400, "PGRST123", self),
            Self::MaxAffected(rows) => {
                Wire::new(400, "PGRST124", self).details(format!("The query affects {rows} rows"))
            }
            Self::Path => Wire::new(404, "PGRST125", self),
            Self::RootDisabled => Wire::new(404, "PGRST126", self),
            Self::SpreadAggregate => Wire::new(400, "PGRST127", self)
                .details("Aggregates are not implemented for one-to-many or many-to-many spreads."),
            Self::PageOfWrite => Wire::new(400, "PGRST122", self),
            Self::MaxAffectedSingle => Wire::new(400, "PGRST128", self),
            Self::BodyTooDeep => Wire::new(400, "PGRST102", self).details("more than 128 levels of nesting"),
            Self::BodyTooLarge(_) => Wire::new(413, "PGRST102", self),
            Self::BodyTooSlow => Wire::new(408, "PGRST102", self),
        }
    }
}

impl AuthError {
    /// 401 responses have a challenge (RFC 6750 §3), with the reason for a refused token.
    fn wire(&self) -> Wire {
        match self {
            Self::NoSecret => Wire::new(500, "PGRST300", self),
            Self::AnonymousDisabled => Wire::new(401, "PGRST302", self).header("WWW-Authenticate", "Bearer"),
            Self::Token(error) => {
                // The message is in a quoted string of the header (RFC 9110 §5.6.4), so its quotes are escaped.
                let wire = token_wire(error);
                let challenge = format!(
                    "Bearer error=\"invalid_token\", error_description=\"{}\"",
                    wire.message.replace('\\', "\\\\").replace('"', "\\\"")
                );
                wire.header("WWW-Authenticate", challenge)
            }
        }
    }
}

/// `PGRST301` for what cannot be decoded, `PGRST303` for claims that do not hold.
fn token_wire(error: &TokenError) -> Wire {
    let undecodable = |message: &str| Wire::new(401, "PGRST301", message);
    let claims = |message: &str| Wire::new(401, "PGRST303", message);
    match error {
        TokenError::Empty => undecodable("Empty JWT is sent in Authorization header"),
        TokenError::Parts(parts) => undecodable(&format!("Expected 3 parts in JWT; got {parts}")),
        TokenError::Undecodable | TokenError::Signing => undecodable("JWT cryptographic operation failed"),
        TokenError::UnsupportedAlgorithm(_) => undecodable("Wrong or unsupported encoding algorithm"),
        TokenError::Unsigned => undecodable("Wrong or unsupported encoding algorithm")
            .details("JWT is unsecured but expected 'alg' was not 'none'"),
        TokenError::NoSuitableKey | TokenError::NoKeyOfAlgorithm(_) => {
            undecodable("No suitable key or wrong key type")
                .details("No suitable key was found to decode the JWT")
        }
        TokenError::BadSignature => undecodable("No suitable key or wrong key type")
            .details("None of the keys was able to decode the JWT"),
        TokenError::ClaimsNotAnObject => claims("Parsing claims failed"),
        TokenError::ClaimNotANumber(name) => claims(&format!("The JWT '{name}' claim must be a number")),
        TokenError::AudienceNotStrings => {
            claims("The JWT 'aud' claim must be a string or an array of strings")
        }
        TokenError::Expired => claims("JWT expired"),
        TokenError::NotYetValid => claims("JWT not yet valid"),
        TokenError::IssuedInFuture => claims("JWT issued at future"),
        TokenError::WrongAudience => claims("JWT not in audience"),
    }
}

impl CatalogError {
    fn wire(&self) -> Wire {
        match self {
            Self::NotLoaded => Wire::new(503, "PGRST002", self).header("Retry-After", "1"),
            Self::NoRelationship { details, hint, .. } => {
                let wire = Wire::new(400, "PGRST200", self).details(details);
                Wire { hint: hint.clone(), ..wire }
            }
            Self::AmbiguousRelationship { details, hint, .. } => {
                let wire = Wire::new(300, "PGRST201", self).hint(hint);
                Wire { details: Some(details.as_ref().clone()), ..wire }
            }
            Self::NoFunction { details, hint, .. } => {
                let wire = Wire::new(404, "PGRST202", self).details(details);
                Wire { hint: hint.clone(), ..wire }
            }
            Self::AmbiguousFunction(_) => Wire::new(300, "PGRST203", self).hint(
                "Try renaming the parameters or the function itself in the database so function overloading can be \
                 resolved",
            ),
            Self::NoColumn { .. } => Wire::new(400, "PGRST204", self),
            Self::NoRelation { hint, .. } => {
                Wire { hint: hint.clone(), ..Wire::new(404, "PGRST205", self) }
            }
        }
    }
}
