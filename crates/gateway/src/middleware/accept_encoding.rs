//! Which content codings a client accepts.

use actix_web::http::header::{ACCEPT_ENCODING, HeaderMap};

/// Whether `Accept-Encoding` names the coding (`br`, `gzip`) without refusing it by `q=0`.
///
/// `*` is not understood as any coding: no client that wants compression sends it alone.
pub fn accepts_coding(headers: &HeaderMap, coding: &str) -> bool {
    headers
        .get_all(ACCEPT_ENCODING)
        .filter_map(|value| value.to_str().ok())
        .flat_map(|value| value.split(','))
        .any(|part| names_coding(part, coding))
}

fn names_coding(part: &str, coding: &str) -> bool {
    let mut parameters = part.split(';').map(str::trim);
    let named = parameters
        .next()
        .is_some_and(|name| name.eq_ignore_ascii_case(coding));
    let refused = parameters
        .filter_map(|parameter| parameter.strip_prefix("q="))
        .any(|quality| quality.parse::<f32>().is_ok_and(|quality| quality == 0.0));
    named && !refused
}

#[cfg(test)]
mod tests {
    use actix_web::http::header::HeaderValue;

    use super::*;

    #[test]
    fn a_coding_is_accepted_when_it_is_named_and_not_refused() {
        let cases = [
            ("br", true),
            ("gzip, deflate, br", true),
            ("gzip;q=1.0, BR;q=0.5", true),
            ("br;q=0", false),
            ("br;q=0.000, gzip", false),
            ("brotli", false),
            ("gzip", false),
            ("*", false),
            ("", false),
        ];
        for (value, accepted) in cases {
            let mut headers = HeaderMap::new();
            headers.insert(ACCEPT_ENCODING, HeaderValue::from_static(value));
            assert_eq!(accepts_coding(&headers, "br"), accepted, "{value}");
        }
        assert!(!accepts_coding(&HeaderMap::new(), "br"));
    }
}
