//! Bitbucket: OAuth 2.0. The profile and the e-mail addresses come from two API calls.

use crate::http_client::Call;
use crate::providers::definition::{Definition, NO_ID_TOKENS, NamedProvider, choose_base_url};
use crate::providers::profile::{Profile, read_emails};
use crate::providers::profile_api::{ApiContext, ProfileApi, Responses};

pub(super) const PROVIDER: NamedProvider = NamedProvider {
    name: "bitbucket",
    define,
    id_token_rules: NO_ID_TOKENS,
};

fn define(url: Option<&str>) -> Option<Definition> {
    let auth = choose_base_url(url, "https://bitbucket.org");
    let api = ProfileApi {
        base: format!("{}/2.0", choose_base_url(url, "https://api.bitbucket.org")),
        build_calls,
        read_profile,
    };
    let authorize = format!("{auth}/site/oauth2/authorize");
    let token = format!("{auth}/site/oauth2/access_token");
    Some(Definition {
        accepts_scopes: false,
        ..Definition::with_api(authorize, token, api, &["account", "email"])
    })
}

/// `/user` returns no e-mail address, so a second call reads the list of addresses.
fn build_calls(api: &ApiContext<'_>) -> Vec<Call> {
    vec![api.get("/user"), api.get("/user/emails")]
}

/// Reads `{uuid, display_name, avatar: {href}}` and `{values: [{email, is_confirmed, is_primary}]}`.
fn read_profile(api: &ApiContext<'_>, responses: &Responses) -> Profile {
    let user = responses.object(0);
    let emails = responses.object(1);
    Profile::new(api.base, user.text("uuid"))
        .with_full_name(user.text("display_name"))
        .with_picture(user.object("avatar").text("href"))
        .with_emails(read_emails(emails.list("values"), "is_confirmed", "is_primary"))
}
