//! GitLab: OAuth 2.0. `url` is a self-hosted GitLab server.

use crate::http_client::Call;
use crate::providers::definition::{Definition, NO_ID_TOKENS, NamedProvider, choose_base_url};
use crate::providers::profile::{Profile, read_emails};
use crate::providers::profile_api::{ApiContext, ProfileApi, Responses};

pub(super) const PROVIDER: NamedProvider = NamedProvider {
    name: "gitlab",
    define,
    id_token_rules: NO_ID_TOKENS,
};

fn define(url: Option<&str>) -> Option<Definition> {
    let base = choose_base_url(url, "https://gitlab.com");
    let authorize = format!("{base}/oauth/authorize");
    let token = format!("{base}/oauth/token");
    let api = ProfileApi {
        base,
        build_calls,
        read_profile,
    };
    Some(Definition::with_api(authorize, token, api, &["read_user"]))
}

/// `/user` has the primary address, `/user/emails` the further ones.
fn build_calls(api: &ApiContext<'_>) -> Vec<Call> {
    vec![api.get("/api/v4/user"), api.get("/api/v4/user/emails")]
}

/// Reads `{id, name, avatar_url, email, confirmed_at}` and `[{email}]`. `id` is a number; `confirmed_at` is null until
/// the user has confirmed `email`.
fn read_profile(api: &ApiContext<'_>, responses: &Responses) -> Profile {
    let user = responses.object(0);
    Profile::new(api.base, user.id("id"))
        .with_full_name(user.text("name"))
        .with_picture(user.text("avatar_url"))
        // The list of further addresses does not say whether they are verified, so they count as unverified.
        .with_emails(read_emails(responses.list(1), "", ""))
        .with_email(user.text("email"), !user.text("confirmed_at").is_empty())
}
