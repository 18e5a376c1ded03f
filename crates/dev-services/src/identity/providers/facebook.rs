//! Facebook. Source: <https://developers.facebook.com/docs/graph-api/reference/user/>, and for ID tokens
//! <https://developers.facebook.com/docs/facebook-login/limited-login/token/>.

use serde_json::{Value, json};

use crate::identity::provider::{Account, DEFAULT, IdToken, Provider, Resource};
use crate::identity::subject::SubjectStyle;

pub(super) static PROVIDER: Provider = Provider {
    name: "facebook",
    title: "Facebook",
    authorize_path: "/dialog/oauth",
    token_path: "/oauth/access_token",
    subject: SubjectStyle::Digits(17),
    access_token_prefix: "EAA",
    expires_in: Some(5_184_000),
    id_token: Some(IdToken {
        issuer: |_| "https://www.facebook.com".to_owned(),
        claims: read_claims,
        // Only the SDK for iOS gets ID tokens.
        is_issued: |_| false,
        userinfo_path: None,
    }),
    resources: &[Resource::new("/me", read_user)],
    denial: ("access_denied", "Permissions error"),
    ..DEFAULT
};

/// Facebook leaves out an address that is not confirmed.
fn read_user(account: &Account<'_>) -> Value {
    let person = account.person;
    let mut user = json!({
        "id": account.subject, "name": person.name, "first_name": person.given_name(),
        "last_name": person.family_name(),
        "picture": {"data": {"height": 50, "width": 50, "is_silhouette": false, "url": account.picture}},
    });
    if person.email_verified && person.email.is_some() {
        user["email"] = json!(person.email);
    }
    user
}

fn read_claims(account: &Account<'_>) -> Value {
    let person = account.person;
    json!({
        "name": person.name, "given_name": person.given_name(), "family_name": person.family_name(),
        "email": person.email, "picture": account.picture,
        "jti": SubjectStyle::Mixed(22).make_id("facebook-jti", &person.id),
    })
}
