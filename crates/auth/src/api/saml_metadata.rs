//! `GET /sso/saml/metadata`: what identity providers must know about this service. Source: SAML contract §2.

use actix_web::http::header;
use actix_web::{HttpResponse, web};
use serde::Deserialize;

use crate::error::AuthError;
use crate::flows::saml::start_sign_in::get_config;
use crate::state::AuthState;

/// The query: `download=true` for an administrator who installs the document by hand.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(crate) struct MetadataQuery {
    download: String,
}

/// `GET /sso/saml/metadata` → 200 with the document.
///
/// # Errors
/// 404 `saml_provider_disabled`.
pub(crate) async fn get_metadata(
    state: web::Data<AuthState>,
    query: web::Query<MetadataQuery>,
) -> Result<HttpResponse, AuthError> {
    let service = &get_config(&state)?.service;
    let is_download = query.download == "true";
    // While a key is announced, identity providers shall notice soon that it is used.
    let max_age = if service.has_next_key() { 60 } else { 600 };
    let mut response = HttpResponse::Ok();
    response
        .insert_header((header::CONTENT_TYPE, "application/xml"))
        .insert_header((header::CACHE_CONTROL, format!("public, max-age={max_age}")));
    if is_download {
        response.insert_header((
            header::CONTENT_DISPOSITION,
            "attachment; filename=\"metadata.xml\"",
        ));
    }
    Ok(response.body(service.metadata(state.now(), is_download)))
}
