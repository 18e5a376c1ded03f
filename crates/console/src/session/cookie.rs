//! The session's cookie. Cookies are shared by all ports of a host, so another server on this machine receives it and can
//! set it. Therefore the session has a second secret, which the page keeps in its origin's storage and sends in a header.

use actix_web::http::header::{self, HeaderMap, HeaderValue};

/// Beyond loopback the prefix makes browsers refuse this cookie from other hosts and without TLS.
fn name(is_secure: bool) -> &'static str {
    if is_secure {
        "__Host-selvedge_console"
    } else {
        "selvedge_console"
    }
}

/// Makes the header that gives the browser a session's first secret.
pub(super) fn set(secret: &str, is_secure: bool) -> (header::HeaderName, HeaderValue) {
    // Without Max-Age the cookie goes with the browser; the server's own limits end the session anyway.
    let secure = if is_secure { "; Secure" } else { "" };
    let cookie = format!(
        "{}={secret}; Path=/; HttpOnly; SameSite=Strict{secure}",
        name(is_secure)
    );
    let value = HeaderValue::from_str(&cookie).expect("secrets have only letters, digits, - and _");
    (header::SET_COOKIE, value)
}

/// Makes the header that removes the cookie from the browser.
pub(super) fn remove(is_secure: bool) -> (header::HeaderName, HeaderValue) {
    let (header, value) = set("", is_secure);
    let text = value.to_str().unwrap_or_default();
    let value = HeaderValue::from_str(&format!("{text}; Max-Age=0")).expect("made of header text");
    (header, value)
}

/// Reads the first secret of the request's session. If several cookies have the name, none is used, because another server
/// on this machine may have set one of them.
pub(super) fn read(headers: &HeaderMap, is_secure: bool) -> Option<&str> {
    let name = name(is_secure);
    let mut values = headers
        .get_all(header::COOKIE)
        .filter_map(|value| value.to_str().ok())
        .flat_map(|list| list.split(';'))
        .filter_map(|pair| pair.trim().split_once('='))
        .filter(|(known, _)| *known == name)
        .map(|(_, value)| value);
    match (values.next(), values.next()) {
        (Some(value), None) => Some(value),
        _ => None,
    }
}
