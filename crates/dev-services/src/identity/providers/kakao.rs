//! Kakao. Source: <https://developers.kakao.com/docs/latest/en/kakaologin/rest-api#req-user-info>.

use serde_json::{Value, json};

use crate::identity::provider::{Account, DEFAULT, IdToken, Provider, RefreshTokens, Resource};
use crate::identity::subject::SubjectStyle;

pub(super) static PROVIDER: Provider = Provider {
    name: "kakao",
    title: "Kakao",
    subject: SubjectStyle::Number(10),
    expires_in: Some(21_599),
    refresh_tokens: RefreshTokens::Always,
    id_token: Some(IdToken {
        issuer: |_| "https://kauth.kakao.com".to_owned(),
        claims: read_claims,
        is_issued: |account| account.has_scope("openid"),
        userinfo_path: None,
    }),
    resources: &[Resource::new("/v2/user/me", read_user)],
    denial: ("access_denied", "User denied access"),
    ..DEFAULT
};

fn read_user(account: &Account<'_>) -> Value {
    let person = account.person;
    // Members about consent come with every piece of information that needs it.
    let mut kakao_account = json!({
        "profile_nickname_needs_agreement": false, "profile_image_needs_agreement": false,
        "profile": {
            "nickname": person.name, "thumbnail_image_url": account.picture,
            "profile_image_url": account.picture, "is_default_image": person.picture.is_none(),
        },
        "has_email": person.email.is_some(),
    });
    if let Some(email) = &person.email {
        kakao_account["email_needs_agreement"] = json!(false);
        kakao_account["is_email_valid"] = json!(true);
        kakao_account["is_email_verified"] = json!(person.email_verified);
        kakao_account["email"] = json!(email);
    }
    json!({
        "id": account.numeric_subject(), "connected_at": "2026-01-01T00:00:00Z",
        "properties": {
            "nickname": person.name, "profile_image": account.picture, "thumbnail_image": account.picture,
        },
        "kakao_account": kakao_account,
    })
}

fn read_claims(account: &Account<'_>) -> Value {
    let person = account.person;
    json!({
        "auth_time": account.issued_at, "nickname": person.name, "picture": account.picture,
        "email": person.email,
    })
}
