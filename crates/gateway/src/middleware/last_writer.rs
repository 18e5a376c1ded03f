//! The cookie with the node by which a browser last wrote.
//!
//! A node that reads from replicas knows when its own callers wrote, but not when they wrote through other nodes. Browsers
//! send the cookie automatically if page and API have the same origin, so clients need no change.
//!
//! It also has the timeline of the primary that was written to, by which a node learns that another server was promoted.

use std::time::Duration;

use actix_web::http::header::{COOKIE, HeaderMap, HeaderValue, SET_COOKIE};

const NAME: &str = "selvedge-wrote";

/// Names this node as the one that was written through, for as long as the write may not be visible on every replica. The `timeline` is 0 where it
/// is not known.
pub fn set_last_writer(headers: &mut HeaderMap, node: &str, timeline: u32, visible_after: Duration) {
    // A second more, because browsers count from the response, which comes after the write.
    let max_age = visible_after.as_secs() + 2;
    let cookie = format!("{NAME}={node}.{timeline}; Max-Age={max_age}; Path=/; HttpOnly; SameSite=Lax");
    if let Ok(value) = HeaderValue::try_from(cookie) {
        headers.append(SET_COOKIE, value);
    }
}

/// Whether the cookies of a request name another node than `node`.
pub fn wrote_elsewhere(headers: &HeaderMap, node: &str) -> bool {
    list_writers(headers).any(|(named, _)| named != node.as_bytes())
}

/// The highest timeline to which the cookies of a request say that something was written; 0 for none. Whoever sends them may name any.
pub fn find_written_timeline(headers: &HeaderMap) -> u32 {
    list_writers(headers)
        .filter_map(|(_, timeline)| std::str::from_utf8(timeline).ok()?.parse().ok())
        .max()
        .unwrap_or(0)
}

/// The nodes that the cookies of a request name, with what stands for a timeline.
fn list_writers(headers: &HeaderMap) -> impl Iterator<Item = (&[u8], &[u8])> {
    headers
        .get_all(COOKIE)
        .flat_map(|value| value.as_bytes().split(|byte| *byte == b';'))
        .filter_map(|pair| {
            pair.trim_ascii()
                .strip_prefix(NAME.as_bytes())?
                .strip_prefix(b"=")
        })
        .map(|value| {
            let end = value.iter().position(|byte| *byte == b'.');
            end.map_or((value, &[][..]), |end| (&value[..end], &value[end + 1..]))
        })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_cookie_of_a_write_is_recognized_by_other_nodes_only() {
        let mut response = HeaderMap::new();
        set_last_writer(&mut response, "first", 3, Duration::from_secs(10));
        let cookie = response
            .get(SET_COOKIE)
            .and_then(|value| value.to_str().ok())
            .unwrap();
        assert_eq!(
            cookie,
            "selvedge-wrote=first.3; Max-Age=12; Path=/; HttpOnly; SameSite=Lax"
        );

        let mut request = HeaderMap::new();
        assert!(!wrote_elsewhere(&request, "second"));
        assert_eq!(find_written_timeline(&request), 0);
        request.insert(
            COOKIE,
            HeaderValue::from_static("theme=dark; selvedge-wrote=first.3"),
        );
        assert!(wrote_elsewhere(&request, "second"));
        assert!(!wrote_elsewhere(&request, "first"));
        assert_eq!(find_written_timeline(&request), 3);
    }

    #[test]
    fn a_cookie_without_a_number_names_no_timeline() {
        for value in [
            "first",
            "first.",
            "first.-1",
            "first.4294967296",
            ".",
            "first.3.3",
        ] {
            let mut request = HeaderMap::new();
            let cookie = format!("selvedge-wrote={value}");
            request.insert(COOKIE, HeaderValue::try_from(cookie).unwrap());
            assert_eq!(find_written_timeline(&request), 0, "{value}");
        }
    }
}
