//! Makes the claims of a user without a sign-in, for the console's simulator of policies.

use actix_web::web;
use serde_json::Value;
use uuid::Uuid;

use crate::error::AuthError;
use crate::flows::sign_in::preview_claims;
use crate::request::{AuthRequest, RequestInfo};
use crate::state::AuthState;

/// The reason why no claims can be made.
#[derive(Debug, thiserror::Error)]
pub enum ClaimsPreviewError {
    #[error("There is no user with this id.")]
    NoUser,
    /// The sentence with which the hook `custom_access_token` or the database refuses.
    #[error("{0}")]
    Refused(String),
}

/// Makes the claims that an access token of the user would have, those of the hook `custom_access_token` included.
/// Writes of a hook in the database are rolled back; a hook that is called by HTTP is really called.
///
/// # Errors
/// [`ClaimsPreviewError`]
pub async fn preview_access_claims(
    state: web::Data<AuthState>,
    user_id: Uuid,
    aal: &str,
) -> Result<Value, ClaimsPreviewError> {
    let info = RequestInfo::without_client(&state);
    let request = AuthRequest { state, info };
    let mut client = request.connect().await.map_err(describe)?;
    let transaction = client
        .transaction()
        .await
        .map_err(|error| describe(error.into()))?;
    // The hook may write, and a preview must leave nothing behind, so the transaction is always rolled back.
    let claims = preview_claims(&request, &transaction, user_id, aal).await;
    transaction
        .rollback()
        .await
        .map_err(|error| describe(error.into()))?;
    claims.map_err(describe)
}

fn describe(error: AuthError) -> ClaimsPreviewError {
    match error {
        AuthError::UserNotFound(_) => ClaimsPreviewError::NoUser,
        other => ClaimsPreviewError::Refused(other.to_string()),
    }
}
