//! `GET /user`: the caller, with identities and factors. Source: Auth contract §2.8, AUTH-008.

use actix_web::HttpResponse;

use crate::error::AuthError;
use crate::request::{RequestInfo, SignedIn};

/// `GET /user`
pub(crate) async fn get_user(info: RequestInfo, caller: SignedIn) -> Result<HttpResponse, AuthError> {
    check_audience(&info, &caller)?;
    Ok(HttpResponse::Ok().json(caller.user.body()))
}

/// A token is good for the audience it was made for.
pub(crate) fn check_audience(info: &RequestInfo, caller: &SignedIn) -> Result<(), AuthError> {
    if info.audience == caller.audience() {
        return Ok(());
    }
    Err(AuthError::invalid(
        "Token audience doesn't match request audience",
    ))
}
