//! Features of the contract that this server does not offer: they answer as switched-off features of upstream do, never as a
//! success and never with a 5xx, which clients would retry. Source: AUTH-043, AUTH-083, AUTH-095.

use actix_web::web;

use crate::error::AuthError;
use crate::request::{Admin, SignedIn};
use crate::routes::at;

type Refusal = Result<String, AuthError>;

/// Mounts all of them.
pub(crate) fn configure(config: &mut web::ServiceConfig) {
    config
        .service(at("/factors").post(enroll_factor))
        .service(at("/factors/{id}").delete(unknown_factor))
        .service(at("/factors/{id}/challenge").post(unknown_factor))
        .service(at("/factors/{id}/verify").post(unknown_factor))
        .service(at("/sso").post(sso))
        .service(at("/sso/saml/metadata").get(sso))
        .service(at("/sso/saml/acs").post(sso))
        .service(
            at("/admin/sso/providers{rest:.*}")
                .get(admin_sso)
                .post(admin_sso)
                .put(admin_sso)
                .delete(admin_sso),
        )
        .service(
            at("/admin/oauth/clients{rest:.*}")
                .get(admin_feature)
                .post(admin_feature)
                .put(admin_feature)
                .delete(admin_feature),
        )
        .service(
            at("/admin/custom-providers{rest:.*}")
                .get(admin_feature)
                .post(admin_feature)
                .put(admin_feature)
                .delete(admin_feature),
        )
        .service(
            at("/passkeys{rest:.*}")
                .get(passkeys)
                .post(passkeys)
                .patch(passkeys)
                .delete(passkeys),
        )
        .service(at("/oauth{rest:.*}").get(oauth_server).post(oauth_server))
        .service(at("/user/oauth/grants").get(oauth_server).delete(oauth_server))
        .service(at("/.well-known/oauth-authorization-server").get(oauth_server));
}

async fn enroll_factor(_: SignedIn) -> Refusal {
    Err(AuthError::FeatureOff {
        status: 422,
        code: "mfa_totp_enroll_not_enabled",
        text: "MFA enroll is disabled for TOTP",
    })
}

async fn unknown_factor(_: SignedIn) -> Refusal {
    Err(AuthError::FeatureOff {
        status: 404,
        code: "mfa_factor_not_found",
        text: "Factor not found",
    })
}

const SAML_OFF: AuthError = AuthError::FeatureOff {
    status: 404,
    code: "saml_provider_disabled",
    text: "SAML 2.0 is disabled",
};

async fn sso() -> Refusal {
    Err(SAML_OFF)
}

async fn admin_sso(_: Admin) -> Refusal {
    Err(SAML_OFF)
}

async fn admin_feature(_: Admin) -> Refusal {
    oauth_server().await
}

async fn passkeys() -> Refusal {
    Err(AuthError::FeatureOff {
        status: 404,
        code: "passkey_disabled",
        text: "Passkeys are disabled",
    })
}

async fn oauth_server() -> Refusal {
    Err(AuthError::FeatureOff {
        status: 404,
        code: "feature_disabled",
        text: "OAuth server is disabled",
    })
}
