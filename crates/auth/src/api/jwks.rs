//! `GET /.well-known/jwks.json`: the JSON Web Key Set (RFC 7517) with which other services verify access tokens.
//! Source: Auth contract §2.2, AUTH-050.

use actix_web::{HttpResponse, web};

use crate::state::AuthState;

/// `GET /.well-known/jwks.json` → 200 `{keys: […]}`, cacheable for 10 minutes. Needs no API key.
///
/// Holds only the public halves of asymmetric keys. A project that signs with the shared HS256 secret responds
/// `{"keys": []}`, because whoever knows that secret can issue tokens.
pub(crate) async fn get_jwks(state: web::Data<AuthState>) -> HttpResponse {
    HttpResponse::Ok()
        .insert_header(("Cache-Control", "public, max-age=600"))
        .json(state.keys.public_jwks())
}
