//! `POST /token?grant_type=refresh_token` → a session. Source: Auth contract §4.3, AUTH-009 to AUTH-013, AUTH-087.

use actix_web::HttpResponse;
use serde::Deserialize;

use super::session_response::respond_with_session;
use crate::error::AuthError;
use crate::flows::refresh_session::refresh_session;
use crate::request::{AuthRequest, read_text};

/// Body of the grant: `{refresh_token}`.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(crate) struct RefreshBody {
    #[serde(deserialize_with = "read_text")]
    refresh_token: String,
}

/// `POST /token?grant_type=refresh_token` → 200 with a session: the same `session_id`, new tokens.
///
/// # Errors
/// See [`refresh_session`].
pub(crate) async fn exchange_refresh_token(
    request: &AuthRequest,
    body: RefreshBody,
) -> Result<HttpResponse, AuthError> {
    let tokens = refresh_session(request, &body.refresh_token, None).await?;
    Ok(respond_with_session(&tokens))
}
