//! LinkedIn's older API. Source:
//! <https://learn.microsoft.com/linkedin/consumer/integrations/self-serve/sign-in-with-linkedin>.

use serde_json::{Value, json};

use crate::identity::provider::{Account, DEFAULT, Provider, Resource};
use crate::identity::subject::SubjectStyle;

pub(super) static PROVIDER: Provider = Provider {
    name: "linkedin",
    title: "LinkedIn",
    authorize_path: "/oauth/v2/authorization",
    token_path: "/oauth/v2/accessToken",
    subject: SubjectStyle::Mixed(10),
    access_token_prefix: "AQ",
    token_type: "Bearer",
    expires_in: Some(5_184_000),
    resources: &[
        Resource::new("/v2/me", read_user),
        Resource::new("/v2/emailAddress", read_address),
    ],
    denial: ("user_cancelled_authorize", "The user cancelled the authorization"),
    ..DEFAULT
};

fn read_user(account: &Account<'_>) -> Value {
    let person = account.person;
    // Names come per locale, with the locale that the person prefers.
    let localized = |text: &str| json!({"localized": {"en_US": text}, "preferredLocale": {"country": "US", "language": "en"}});
    json!({
        "id": account.subject, "firstName": localized(person.given_name()),
        "lastName": localized(person.family_name()),
        "profilePicture": {
            "displayImage": "urn:li:digitalmediaAsset:development",
            "displayImage~": {"elements": [{
                "artifact": "urn:li:digitalmediaMediaArtifact:development",
                "authorizationMethod": "PUBLIC",
                "identifiers": [{
                    "identifier": account.picture, "index": 0, "mediaType": "image/jpeg",
                    "identifierType": "EXTERNAL_URL", "identifierExpiresInSeconds": 2_147_483_647,
                }],
            }]},
        },
    })
}

fn read_address(account: &Account<'_>) -> Value {
    let elements: Vec<Value> = account
        .person
        .email
        .iter()
        .map(|email| json!({"handle": "urn:li:emailAddress:1", "handle~": {"emailAddress": email}}))
        .collect();
    json!({"elements": elements})
}
