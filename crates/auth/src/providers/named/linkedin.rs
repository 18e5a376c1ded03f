//! LinkedIn's older API (`linkedin`): OAuth 2.0 with the scope `r_liteprofile`. New LinkedIn apps use `linkedin_oidc`.

use crate::http_client::Call;
use crate::providers::definition::{Definition, NO_ID_TOKENS, NamedProvider, choose_base_url};
use crate::providers::json_fields::Fields;
use crate::providers::profile::Profile;
use crate::providers::profile_api::{ApiContext, ProfileApi, Responses};

pub(super) const PROVIDER: NamedProvider = NamedProvider {
    name: "linkedin",
    define,
    id_token_rules: NO_ID_TOKENS,
};

fn define(url: Option<&str>) -> Option<Definition> {
    let base = choose_base_url(url, "https://api.linkedin.com");
    let authorize = format!("{base}/oauth/v2/authorization");
    let token = format!("{base}/oauth/v2/accessToken");
    let api = ProfileApi {
        base,
        build_calls,
        read_profile,
    };
    let scopes = ["r_emailaddress", "r_liteprofile"];
    Some(Definition::with_api(authorize, token, api, &scopes))
}

/// The API returns only the fields that `projection` lists, and the address by a call of its own.
fn build_calls(api: &ApiContext<'_>) -> Vec<Call> {
    let fields = "(id,firstName,lastName,profilePicture(displayImage~:playableStreams))";
    vec![
        api.get(&format!("/v2/me?projection={fields}")),
        api.get("/v2/emailAddress?q=members&projection=(elements*(handle~))"),
    ]
}

/// Reads `{id, firstName, lastName, profilePicture: {"displayImage~": {elements: [{identifiers: [{identifier}]}]}}}`
/// and `{elements: [{"handle~": {emailAddress}}]}`.
///
/// The API does not say whether the address is verified.
fn read_profile(api: &ApiContext<'_>, responses: &Responses) -> Profile {
    let user = responses.object(0);
    let name = format!(
        "{} {}",
        read_localized_text(user.object("firstName")),
        read_localized_text(user.object("lastName"))
    );
    let image = user
        .object("profilePicture")
        .object("displayImage~")
        .first("elements")
        .first("identifiers");
    let address = responses.object(1).first("elements").object("handle~");
    Profile::new(api.base, user.text("id"))
        .with_full_name(name.trim())
        .with_picture(image.text("identifier"))
        .with_email(address.text("emailAddress"), false)
}

/// A name in the user's preferred locale; empty when that locale is missing. The JSON is
/// `{localized: {en_US: "Ana"}, preferredLocale: {language: "en", country: "US"}}`.
fn read_localized_text(name: Fields<'_>) -> &str {
    let locale = name.object("preferredLocale");
    let key = format!("{}_{}", locale.text("language"), locale.text("country"));
    name.object("localized").text(&key)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn linkedin_names_are_read_in_the_preferred_locale() {
        let name = json!({
            "localized": {"en_US": "Ana", "de_DE": "Anna"},
            "preferredLocale": {"language": "de", "country": "DE"},
        });

        assert_eq!(read_localized_text(Fields::from(&name)), "Anna");
        assert_eq!(read_localized_text(Fields::from(&json!({}))), "");
    }
}
