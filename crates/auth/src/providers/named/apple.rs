//! Sign in with Apple: OpenID Connect.
//!
//! Apple sends the user's name only once, at the first consent: in the form that it posts to the callback, next to the
//! code (read in `api::callback`), and never in the ID token.

use serde_json::{Map, Value, json};

use crate::providers::definition::{Definition, IdTokenRules, NamedProvider};
use crate::providers::issuer::Issuer;
use crate::providers::json_fields::Fields;
use crate::providers::profile::Profile;

const ISSUER: &str = "https://appleid.apple.com";

pub(super) const PROVIDER: NamedProvider = NamedProvider {
    name: "apple",
    define,
    id_token_rules: |url, _| Some(Ok(build_id_token_rules(url))),
};

/// `url` replaces Apple's issuer, for example with a test provider; it then has no aliases.
fn build_id_token_rules(url: Option<&str>) -> IdTokenRules {
    IdTokenRules {
        // Apple's tokens name either host, depending on where the user signed in.
        aliases: if url.is_some() {
            &[]
        } else {
            &[ISSUER, "https://account.apple.com"]
        },
        ..IdTokenRules::new(Issuer::new(url.unwrap_or(ISSUER)), read_claims)
    }
}

fn define(url: Option<&str>) -> Option<Definition> {
    Some(Definition {
        accepts_scopes: false,
        // Apple reads the client's credentials from the form only.
        secret_in_form: true,
        // Apple rejects a request for name or e-mail address unless the response is posted as a form.
        params: vec![("response_mode".to_owned(), "form_post".to_owned())],
        ..Definition::discovered(build_id_token_rules(url), &["email", "name"])
    })
}

/// Reads Apple's claims. `is_private_email` (a relay address made for this app) arrives as a boolean or as a string.
fn read_claims(claims: &Map<String, Value>) -> Profile {
    let claims = Fields::from(claims);
    let is_private = match claims.value("is_private_email") {
        Value::Null => Value::Null,
        _ => json!(claims.is_true("is_private_email")),
    };
    Profile::new(claims.text("iss"), claims.text("sub"))
        .with_custom_claim("is_private_email", is_private)
        .with_custom_claim("auth_time", claims.value("auth_time"))
        .with_custom_text("transfer_sub", claims.text("transfer_sub"))
        // Apple returns only verified addresses.
        .with_email(claims.text("email"), true)
}
