//! Features of the contract that this server does not offer: they answer as switched-off features of upstream do, never as a
//! success and never with a 5xx, which clients would retry. Source: AUTH-095.

use actix_web::web;

use crate::error::AuthError;
use crate::routes::at;

type Refusal = Result<String, AuthError>;

/// Mounts all of them.
pub(crate) fn configure(config: &mut web::ServiceConfig) {
    config
        .service(at("/sso").post(sso))
        .service(at("/sso/saml/metadata").get(sso))
        .service(at("/sso/saml/acs").post(sso))
        .service(at("/scim/v2/ServiceProviderConfig").get(scim))
        .service(at("/scim/v2/ResourceTypes").get(scim))
        .service(at("/scim/v2/Schemas").get(scim));
}

const SAML_OFF: AuthError = AuthError::FeatureOff {
    status: 404,
    code: "saml_provider_disabled",
    text: "SAML 2.0 is disabled",
};

async fn scim() -> Refusal {
    Err(AuthError::FeatureOff {
        status: 404,
        code: "feature_disabled",
        text: "SCIM server is disabled",
    })
}

async fn sso() -> Refusal {
    Err(SAML_OFF)
}
