//! The two forms of a request's path. A check that reads one and a router that reads the other can be told apart by an encoded
//! letter (`/%72est/v1`), so every reader takes its form from here. `clippy.toml` refuses all others.

use actix_web::dev::Url;
use actix_web::http::Uri;

/// The path as the router compares it with routes: percent-encoded bytes are decoded, except for `%`, `/` and `+`. Whatever
/// decides by a path before the router has run takes this form; afterwards there is `match_info`.
pub fn routed_path(uri: &Uri) -> String {
    Url::new(uri.clone()).path().to_owned()
}

/// The path as it was sent. It is for handlers that read names out of it, in which `%2F` is no separator, for what is passed
/// on or signed, and for logs. Rights are never decided by it.
#[inline]
#[expect(clippy::disallowed_methods, reason = "this is the one place that reads it")]
pub fn sent_path(uri: &Uri) -> &str {
    uri.path()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn gw_001_letters_are_decoded_for_the_router_and_slashes_are_not() {
        let uri: Uri = "/%72est/v1/a%2Fb%25?x=%61".parse().expect("a target");

        assert_eq!(routed_path(&uri), "/rest/v1/a%2Fb%25");
        assert_eq!(sent_path(&uri), "/%72est/v1/a%2Fb%25");
    }
}
