//! Snapchat. Source: <https://developers.snap.com/snap-kit/login-kit/Tutorials/web>.

use serde_json::{Value, json};

use crate::identity::provider::{Account, DEFAULT, IdToken, Provider, RefreshTokens, Resource};
use crate::identity::subject::SubjectStyle;

pub(super) static PROVIDER: Provider = Provider {
    name: "snapchat",
    title: "Snapchat",
    authorize_path: "/accounts/oauth2/auth",
    token_path: "/accounts/oauth2/token",
    subject: SubjectStyle::Mixed(44),
    token_type: "Bearer",
    expires_in: Some(3600),
    refresh_tokens: RefreshTokens::Always,
    id_token: Some(IdToken {
        issuer: |_| "https://accounts.snapchat.com/accounts/oauth2/token".to_owned(),
        claims: |account| json!({"name": account.person.name, "picture": account.picture, "email": account.person.email}),
        // Only Snapchat's SDKs get ID tokens.
        is_issued: |_| false,
        userinfo_path: None,
    }),
    resources: &[Resource::new("/v1/me", read_user)],
    ..DEFAULT
};

fn read_user(account: &Account<'_>) -> Value {
    let person = account.person;
    let avatar_id = SubjectStyle::Uuid.make_id("snapchat-avatar", &person.id);
    json!({
        "data": {"me": {
            "externalId": account.subject, "displayName": person.name,
            "bitmoji": {"avatar": account.picture, "id": avatar_id}, "email": person.email,
        }},
        "errors": [],
    })
}
