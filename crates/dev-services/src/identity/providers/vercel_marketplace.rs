//! Vercel Marketplace. Source: <https://vercel.com/docs/integrations/create-integration/marketplace-api#user-authentication>.

use serde_json::{Value, json};

use crate::identity::provider::{Account, DEFAULT, IdToken, Provider};
use crate::identity::subject::SubjectStyle;

pub(super) static PROVIDER: Provider = Provider {
    name: "vercel_marketplace",
    title: "Vercel Marketplace",
    authorize_path: "/oauth/v2/authorization",
    token_path: "/oauth/v2/accessToken",
    subject: SubjectStyle::Lower(24),
    token_type: "Bearer",
    id_token: Some(IdToken {
        issuer: |_| "https://marketplace.vercel.com".to_owned(),
        claims: read_claims,
        is_issued: |_| true,
        userinfo_path: None,
    }),
    ..DEFAULT
};

fn read_claims(account: &Account<'_>) -> Value {
    let person = account.person;
    let account_id = SubjectStyle::Lower(24).make_id("vercel-account", "");
    json!({
        // The subject names account and user, so that it differs between installations of an integration.
        "sub": format!("account:{account_id}:user:{}", account.subject),
        "account_id": account_id, "user_id": account.subject, "user_role": "ADMIN",
        "installation_id": format!("icfg_{}", SubjectStyle::Lower(24).make_id("vercel-installation", "")),
        "user_name": person.name, "user_avatar_url": account.picture, "user_email": person.email,
    })
}
