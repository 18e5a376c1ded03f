//! `GET /.well-known/jwks.json`: public halves of asymmetric keys; never the shared secret. Source: AUTH-050.

use actix_web::{HttpResponse, web};

use crate::state::AuthState;

pub(crate) async fn jwks(state: web::Data<AuthState>) -> HttpResponse {
    HttpResponse::Ok()
        .insert_header(("Cache-Control", "public, max-age=600"))
        .json(state.keys.public_jwks())
}
