//! Bitbucket. Source: <https://developer.atlassian.com/cloud/bitbucket/rest/api-group-users/>.

use serde_json::{Value, json};

use crate::identity::provider::{Account, DEFAULT, Provider, RefreshTokens, Resource};
use crate::identity::subject::SubjectStyle;

pub(super) static PROVIDER: Provider = Provider {
    name: "bitbucket",
    title: "Bitbucket",
    authorize_path: "/site/oauth2/authorize",
    token_path: "/site/oauth2/access_token",
    subject: SubjectStyle::BracedUuid,
    expires_in: Some(7200),
    refresh_tokens: RefreshTokens::Always,
    resources: &[
        Resource::new("/2.0/user", read_user),
        Resource::new("/2.0/user/emails", read_emails),
    ],
    ..DEFAULT
};

fn read_user(account: &Account<'_>) -> Value {
    let person = account.person;
    json!({
        "type": "user", "uuid": account.subject, "username": person.user_name(), "display_name": person.name,
        "nickname": person.user_name(), "account_id": account.subject.trim_matches(['{', '}']),
        "account_status": "active", "has_2fa_enabled": null, "is_staff": false,
        // Bitbucket nests the picture below `links`, where GoTrue does not look for it.
        "links": {"avatar": {"href": account.picture}},
    })
}

fn read_emails(account: &Account<'_>) -> Value {
    let person = account.person;
    let values: Vec<Value> = person
        .email
        .iter()
        .map(|email| {
            json!({"type": "email", "email": email, "is_primary": true, "is_confirmed": person.email_verified})
        })
        .collect();
    json!({"pagelen": 10, "page": 1, "size": values.len(), "values": values})
}
