//! The cookie with the node by which a browser last wrote.
//!
//! A node that reads from replicas knows when its own callers wrote, but not when they wrote through other nodes. Browsers
//! send the cookie automatically if page and API have the same origin, so clients need no change.

use std::time::Duration;

use actix_web::http::header::{COOKIE, HeaderMap, HeaderValue, SET_COOKIE};

const NAME: &str = "selvedge-wrote";

/// Names this node as the one that was written through, for as long as the write may not be visible on every replica.
pub fn set_last_writer(headers: &mut HeaderMap, node: &str, visible_after: Duration) {
    // A second more, because browsers count from the response, which comes after the write.
    let max_age = visible_after.as_secs() + 2;
    let cookie = format!("{NAME}={node}; Max-Age={max_age}; Path=/; HttpOnly; SameSite=Lax");
    if let Ok(value) = HeaderValue::try_from(cookie) {
        headers.append(SET_COOKIE, value);
    }
}

/// Whether the cookies of a request name another node than `node`.
pub fn wrote_elsewhere(headers: &HeaderMap, node: &str) -> bool {
    headers
        .get_all(COOKIE)
        .flat_map(|value| value.as_bytes().split(|byte| *byte == b';'))
        .filter_map(|pair| {
            pair.trim_ascii()
                .strip_prefix(NAME.as_bytes())?
                .strip_prefix(b"=")
        })
        .any(|named| named != node.as_bytes())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_cookie_of_a_write_is_recognized_by_other_nodes_only() {
        let mut response = HeaderMap::new();
        set_last_writer(&mut response, "first", Duration::from_secs(10));
        let cookie = response
            .get(SET_COOKIE)
            .and_then(|value| value.to_str().ok())
            .unwrap();
        assert_eq!(
            cookie,
            "selvedge-wrote=first; Max-Age=12; Path=/; HttpOnly; SameSite=Lax"
        );

        let mut request = HeaderMap::new();
        assert!(!wrote_elsewhere(&request, "second"));
        request.insert(
            COOKIE,
            HeaderValue::from_static("theme=dark; selvedge-wrote=first"),
        );
        assert!(wrote_elsewhere(&request, "second"));
        assert!(!wrote_elsewhere(&request, "first"));
    }
}
