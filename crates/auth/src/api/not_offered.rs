//! Features of the contract that this server does not offer: they answer as switched-off features of upstream do, never as a
//! success and never with a 5xx, which clients would retry. Source: AUTH-043, AUTH-083, AUTH-095.

use actix_web::web;

use crate::error::AuthError;
use crate::request::Admin;
use crate::routes::at;

type Refusal = Result<String, AuthError>;

/// Mounts all of them.
pub(crate) fn configure(config: &mut web::ServiceConfig) {
    config
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
        .service(at("/oauth{rest:.*}").get(oauth_server).post(oauth_server))
        .service(at("/user/oauth/grants").get(oauth_server).delete(oauth_server))
        .service(at("/.well-known/oauth-authorization-server").get(oauth_server));
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

async fn oauth_server() -> Refusal {
    Err(AuthError::FeatureOff {
        status: 404,
        code: "feature_disabled",
        text: "OAuth server is disabled",
    })
}
