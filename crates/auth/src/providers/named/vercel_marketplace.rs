//! Vercel Marketplace: the profile of a Vercel user who opens an integration comes from Vercel's ID token.

use serde_json::{Map, Value};

use crate::providers::definition::{
    Definition, Endpoints, IdTokenRules, NamedProvider, ProfileSource, choose_base_url,
};
use crate::providers::issuer::Issuer;
use crate::providers::json_fields::Fields;
use crate::providers::profile::Profile;

pub(super) const PROVIDER: NamedProvider = NamedProvider {
    name: "vercel_marketplace",
    define,
    id_token_rules: |_, _| Some(Ok(build_id_token_rules())),
};

fn build_id_token_rules() -> IdTokenRules {
    IdTokenRules::new(Issuer::new("https://marketplace.vercel.com"), read_claims)
}

fn define(url: Option<&str>) -> Option<Definition> {
    let api = choose_base_url(url, "https://api.vercel.com");
    let endpoints = Endpoints::Fixed {
        authorize: format!("{api}/oauth/v2/authorization"),
        token: format!("{api}/oauth/v2/accessToken"),
    };
    let source = ProfileSource::IdToken {
        rules: build_id_token_rules(),
        fallback: None,
    };
    Some(Definition::new(endpoints, source, &[]))
}

/// Reads the claims of the ID token.
///
/// `sub` differs between installations of one integration; `global_user_id`, if Vercel sends it, is the same in all of
/// them. The prefix keeps the two kinds of ids apart.
fn read_claims(claims: &Map<String, Value>) -> Profile {
    let claims = Fields::from(claims);
    let subject = match claims.text("global_user_id") {
        "" => claims.text("sub").to_owned(),
        global => format!("global_user_id:{global}"),
    };
    Profile::new(claims.text("iss"), subject)
        .with_claim("name", claims.text("user_name"))
        .with_claim("picture", claims.text("user_avatar_url"))
        // Vercel's accounts begin with a confirmed address.
        .with_email(claims.text("user_email"), true)
}
