//! `/scim/v2/…`: discovery of a SCIM server (RFC 7644 §4) that provisions nothing yet, as upstream's. Off, which is the default, every
//! path below is 404 `feature_disabled`. Source: Auth contract §2.17, AUTH-095, AUTH-210.

use actix_web::http::StatusCode;
use actix_web::{HttpResponse, web};
use serde_json::{Value, json};

use crate::state::AuthState;

/// `GET /scim/v2/ServiceProviderConfig` → 200: what the server can do, which is nothing.
pub(crate) async fn get_service_provider_config(state: web::Data<AuthState>) -> HttpResponse {
    let unsupported = json!({ "supported": false });
    let location = format!("{}/scim/v2/ServiceProviderConfig", state.config.external_url);
    respond(
        StatusCode::OK,
        &json!({
            "schemas": ["urn:ietf:params:scim:schemas:core:2.0:ServiceProviderConfig"],
            "patch": unsupported,
            "bulk": {"supported": false, "maxOperations": 0, "maxPayloadSize": 0},
            "filter": {"supported": false, "maxResults": 0},
            "changePassword": unsupported,
            "sort": unsupported,
            "etag": unsupported,
            "authenticationSchemes": [{
                "type": "oauthbearertoken",
                "name": "OAuth Bearer Token",
                "description": "Authentication scheme using the OAuth Bearer Token Standard",
                "specUri": "http://www.rfc-editor.org/info/rfc6750",
                "primary": true,
            }],
            "meta": {"resourceType": "ServiceProviderConfig", "location": location},
        }),
    )
}

/// `GET /scim/v2/ResourceTypes` and `/Schemas` → 200 with an empty list.
pub(crate) async fn list_nothing() -> HttpResponse {
    respond(
        StatusCode::OK,
        &json!({
            "schemas": ["urn:ietf:params:scim:api:messages:2.0:ListResponse"],
            "totalResults": 0,
            "startIndex": 1,
            "itemsPerPage": 0,
            "Resources": [],
        }),
    )
}

/// Any other path below `/scim` → 404 with an error of SCIM's form.
pub(crate) async fn respond_not_found() -> HttpResponse {
    respond(
        StatusCode::NOT_FOUND,
        &json!({
            "schemas": ["urn:ietf:params:scim:api:messages:2.0:Error"],
            "status": "404",
            "detail": "Resource not found",
        }),
    )
}

fn respond(status: StatusCode, body: &Value) -> HttpResponse {
    HttpResponse::build(status)
        .content_type("application/scim+json")
        .body(body.to_string())
}
