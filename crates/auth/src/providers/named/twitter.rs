//! Twitter's older sign-in (`twitter`): OAuth 1.0a, implemented in [`crate::providers::oauth1`]. The provider `x` is
//! its OAuth 2.0.

use crate::providers::definition::{
    Definition, Endpoints, NO_ID_TOKENS, NamedProvider, ProfileSource, choose_base_url,
};

pub(super) const PROVIDER: NamedProvider = NamedProvider {
    name: "twitter",
    define,
    id_token_rules: NO_ID_TOKENS,
};

/// OAuth 1.0a has no scopes: what an app may read is configured at Twitter.
fn define(url: Option<&str>) -> Option<Definition> {
    let api = choose_base_url(url, "https://api.twitter.com");
    Some(Definition {
        accepts_scopes: false,
        ..Definition::new(
            Endpoints::OAuth1 { api: api.clone() },
            ProfileSource::OAuth1 { api },
            &[],
        )
    })
}
