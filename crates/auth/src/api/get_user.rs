//! `GET /user`: the caller, with identities and factors. Source: Auth contract §2.8, AUTH-008.

use actix_web::HttpResponse;

use crate::error::AuthError;
use crate::request::{AuthRequest, ClientVersion, OTHER_AUDIENCE, SignedIn};

/// `GET /user` → 200 with the User. `listFactors()` of older clients throws where the factors have recovery codes among them, which
/// another app of the same user may have made; they do not get this one. Source: AUTH-209.
///
/// # Errors
/// 400 `validation_failed` when the audience of the token is not that of the request.
pub(crate) async fn get_user(
    request: AuthRequest,
    caller: SignedIn,
    client: ClientVersion,
) -> Result<HttpResponse, AuthError> {
    // Tokens of several audiences may be signed by the same key; each audience has its own users.
    check_audience(&request, &caller)?;
    let user = match client.knows_recovery_codes() {
        true => caller.user,
        false => caller.user.without_recovery_codes(),
    };
    Ok(HttpResponse::Ok().json(user.body()))
}

/// Refuses a token that was issued for another audience than the request's, which `X-JWT-AUD` may choose.
///
/// # Errors
/// 400 `validation_failed`.
pub(crate) fn check_audience(request: &AuthRequest, caller: &SignedIn) -> Result<(), AuthError> {
    if caller.is_for(&request.info.audience) {
        return Ok(());
    }
    Err(AuthError::invalid(OTHER_AUDIENCE))
}
