//! Which page has sent a request (CONSOLE-011).
//!
//! A page of another origin cannot send the console's header without asking first, and no answer here allows it. Browsers
//! also say themselves where a request comes from. Another port of this machine is the same site but not the same origin.

use actix_web::http::header;
use actix_web::http::header::{HeaderMap, HeaderName};

use super::hosts::AllowedHosts;
use crate::error::ConsoleError;

/// The header that only the console's own page can send. Its value is the second secret of the session; any value if the
/// console has no sign-in.
const CONSOLE_HEADER: HeaderName = HeaderName::from_static("x-selvedge-console");
const FETCH_SITE: HeaderName = HeaderName::from_static("sec-fetch-site");

/// Checks that the console's own page has sent the request, as far as browsers say so themselves.
pub(super) fn check(headers: &HeaderMap, hosts: &AllowedHosts) -> Result<(), ConsoleError> {
    if single(headers, &FETCH_SITE) != Some("same-origin") {
        return Err(ConsoleError::forbidden(
            "Only the console's own page may call this",
        ));
    }
    // Browsers omit `Origin` in GET requests of the same origin, so its absence is not an error.
    let sent_origin = headers.contains_key(header::ORIGIN);
    if sent_origin && !single(headers, &header::ORIGIN).is_some_and(|origin| hosts.is_own_origin(origin)) {
        return Err(ConsoleError::forbidden(
            "Pages of another origin may not call this",
        ));
    }
    Ok(())
}

/// Returns the value of the console's header.
pub(super) fn console_header(headers: &HeaderMap) -> Result<&str, ConsoleError> {
    single(headers, &CONSOLE_HEADER)
        .filter(|value| !value.is_empty())
        .ok_or_else(|| ConsoleError::forbidden("The request lacks the header x-selvedge-console"))
}

/// The value of a header that is sent exactly once.
fn single<'a>(headers: &'a HeaderMap, name: &HeaderName) -> Option<&'a str> {
    let mut values = headers.get_all(name);
    match (values.next(), values.next()) {
        (Some(value), None) => value.to_str().ok(),
        _ => None,
    }
}
