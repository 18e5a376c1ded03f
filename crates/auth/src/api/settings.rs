//! `GET /settings`: which ways to sign in are open. Source: Auth contract §2.2, AUTH-096.

use actix_web::{HttpResponse, web};
use serde_json::{Map, Value, json};

use crate::state::AuthState;

/// External providers in the contract's order.
const PROVIDERS: [&str; 23] = [
    "apple",
    "azure",
    "bitbucket",
    "discord",
    "facebook",
    "snapchat",
    "figma",
    "fly",
    "github",
    "gitlab",
    "google",
    "keycloak",
    "kakao",
    "linkedin",
    "linkedin_oidc",
    "notion",
    "spotify",
    "slack",
    "slack_oidc",
    "workos",
    "twitch",
    "twitter",
    "zoom",
];

pub(crate) async fn settings(state: web::Data<AuthState>) -> HttpResponse {
    let config = &state.config;
    let mut external: Map<String, Value> = PROVIDERS
        .iter()
        .map(|provider| {
            let is_on = config.external.iter().any(|enabled| enabled.name == *provider);
            ((*provider).to_owned(), json!(is_on))
        })
        .collect();
    external.insert(
        "anonymous_users".to_owned(),
        json!(config.anonymous_users_enabled),
    );
    external.insert("email".to_owned(), json!(config.email.enabled));
    external.insert("phone".to_owned(), json!(config.phone.enabled));
    HttpResponse::Ok().json(json!({
        "external": external,
        "disable_signup": config.disable_signup,
        "mailer_autoconfirm": config.email.autoconfirm,
        "phone_autoconfirm": config.phone.autoconfirm,
        "sms_provider": config.phone.provider.as_ref().map_or("", |provider| provider.name()),
        "saml_enabled": false,
        "saml_private_key_next_configured": false,
        "passkeys_enabled": config.webauthn.passkeys_enabled,
    }))
}
