//! `WorkOS`: OAuth 2.0 in front of a company's own sign-in. The token response has the profile, so no further call is
//! made.

use crate::providers::definition::{Definition, NO_ID_TOKENS, NamedProvider, choose_base_url};
use crate::providers::json_fields::Fields;
use crate::providers::profile::Profile;
use crate::providers::profile_api::{ApiContext, ProfileApi, Responses};

pub(super) const PROVIDER: NamedProvider = NamedProvider {
    name: "workos",
    define,
    id_token_rules: NO_ID_TOKENS,
};

fn define(url: Option<&str>) -> Option<Definition> {
    let base = choose_base_url(url, "https://api.workos.com");
    let authorize = format!("{base}/sso/authorize");
    let token = format!("{base}/sso/token");
    let api = ProfileApi {
        base,
        build_calls: |_| Vec::new(),
        read_profile,
    };
    Some(Definition {
        accepts_scopes: false,
        // WorkOS reads the client's credentials from the form only.
        secret_in_form: true,
        ..Definition::with_api(authorize, token, api, &[])
    })
}

/// Reads `profile: {id, first_name, last_name, email, connection_id, organization_id}` of the token response. The address is what
/// the directory of some organization says, which its administrator chooses, so it does not count as verified.
fn read_profile(api: &ApiContext<'_>, _: &Responses) -> Profile {
    let user = Fields::from(&api.tokens.response).object("profile");
    Profile::new(api.base, user.text("id"))
        .with_full_name(&user.full_name("first_name", "last_name"))
        .with_custom_claims(user, &["connection_id", "organization_id"])
        .with_email(user.text("email"), false)
}
