//! Google: OpenID Connect. `url` replaces the issuer, for example with a test provider.

use serde_json::{Map, Value};

use crate::http_client::Call;
use crate::providers::definition::{Definition, IdTokenRules, NamedProvider, ProfileSource};
use crate::providers::issuer::Issuer;
use crate::providers::json_fields::Fields;
use crate::providers::profile::Profile;
use crate::providers::profile_api::{ApiContext, ProfileApi, Responses};

const ISSUER: &str = "https://accounts.google.com";

/// Google's older userinfo endpoint, for token responses without an ID token. Source: Auth contract §8.1.
const USERINFO_URL: &str = "https://www.googleapis.com/userinfo/v2/me";

pub(super) const PROVIDER: NamedProvider = NamedProvider {
    name: "google",
    define,
    id_token_rules: |url, _| Some(Ok(build_id_token_rules(url))),
};

/// `url` replaces Google's issuer; it then has no aliases.
fn build_id_token_rules(url: Option<&str>) -> IdTokenRules {
    IdTokenRules {
        // Google documents that `iss` of its tokens may lack `https://`.
        aliases: if url.is_some() {
            &[]
        } else {
            &["accounts.google.com"]
        },
        ..IdTokenRules::new(Issuer::new(url.unwrap_or(ISSUER)), read_claims)
    }
}

fn define(url: Option<&str>) -> Option<Definition> {
    let rules = build_id_token_rules(url);
    // With a configured issuer, its own userinfo endpoint is used instead of Google's.
    let fallback = url.is_none().then(|| ProfileApi {
        base: USERINFO_URL.to_owned(),
        build_calls,
        read_profile,
    });
    Some(Definition {
        profile_source: ProfileSource::IdToken {
            rules: rules.clone(),
            fallback,
        },
        ..Definition::discovered(rules, &["email", "profile"])
    })
}

fn build_calls(api: &ApiContext<'_>) -> Vec<Call> {
    vec![api.get("")]
}

/// Reads `{id, name, picture, email, verified_email}` of the older userinfo endpoint.
fn read_profile(api: &ApiContext<'_>, responses: &Responses) -> Profile {
    let user = responses.object(0);
    Profile::new(api.base, user.text("id"))
        .with_full_name(user.text("name"))
        .with_picture(user.text("picture"))
        .with_email(user.text("email"), user.is_true("verified_email"))
}

/// Reads the claims of an ID token. `hd` is the domain of a Google Workspace account. Compat: GoTrue also accepts
/// `verified_email`, the older name of `email_verified`.
fn read_claims(claims: &Map<String, Value>) -> Profile {
    let claims = Fields::from(claims);
    let is_verified = claims.is_true("email_verified") || claims.is_true("verified_email");
    Profile::new(claims.text("iss"), claims.text("sub"))
        .with_full_name(claims.text("name"))
        .with_picture(claims.text("picture"))
        .with_custom_text("hd", claims.text("hd"))
        .with_email(claims.text("email"), is_verified)
}
