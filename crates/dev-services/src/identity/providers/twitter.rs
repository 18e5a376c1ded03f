//! Twitter's older sign-in by OAuth 1.0a. Source:
//! <https://developer.x.com/en/docs/x-api/v1/accounts-and-users/manage-account-settings/api-reference/get-account-verify_credentials>.

use serde_json::{Value, json};

use crate::identity::provider::{Account, DEFAULT, Provider, Resource};
use crate::identity::subject::SubjectStyle;

pub(super) static PROVIDER: Provider = Provider {
    name: "twitter",
    title: "Twitter",
    authorize_path: "/oauth/authenticate",
    token_path: "/oauth/access_token",
    subject: SubjectStyle::Digits(19),
    resources: &[Resource::new("/1.1/account/verify_credentials.json", read_user)],
    is_oauth1: true,
    ..DEFAULT
};

/// Twitter returns an empty address for one that is not verified.
fn read_user(account: &Account<'_>) -> Value {
    let person = account.person;
    let email = if person.email_verified {
        person.address()
    } else {
        ""
    };
    json!({
        "id": account.numeric_subject(), "id_str": account.subject, "name": person.name,
        "screen_name": person.user_name(), "location": "", "description": "", "url": null, "protected": false,
        "verified": false, "followers_count": 0, "friends_count": 0, "created_at": "Thu Jan 01 00:00:00 +0000 2026",
        // The only picture that GoTrue reads; the one by plain HTTP is left out.
        "profile_image_url_https": account.picture, "email": email,
    })
}
