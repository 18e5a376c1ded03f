//! `POST /api/auth/impersonate`: an access token with which requests run as a user, for a short time (CONSOLE-112).
//!
//! The claims are those of a sign-in, made by Auth with the hook `custom_access_token`, so that policies decide as for the user.
//! The token belongs to no session and nothing can renew it. Its claim `act` names who asked for it, as RFC 8693 does.

use actix_web::{HttpResponse, web};
use serde::Deserialize;
use serde_json::{Value, json};
use uuid::Uuid;

use crate::audit::{self, AuditEntry};
use crate::error::ConsoleError;
use crate::session::Session;
use crate::state::ConsoleState;

/// How long a token is valid, in seconds, unless the project's own tokens live shorter.
const LONGEST_LIFETIME: i64 = 600;

/// The body of the request.
#[derive(Deserialize)]
pub(super) struct Wish {
    user_id: Uuid,
}

/// `POST /api/auth/impersonate {user_id}` → `{access_token, expires_at}`, which no other answer repeats
pub(super) async fn create_token(
    state: web::Data<ConsoleState>,
    session: Session,
    wish: web::Json<Wish>,
) -> Result<HttpResponse, ConsoleError> {
    let Some(user_claims) = &state.handles.user_claims else {
        return Err(ConsoleError::unavailable("Auth is switched off"));
    };
    // Before the claims are made, because the hook is a program of the project that may already be called for them.
    let target = wish.user_id.to_string();
    let entry = AuditEntry::new("auth.impersonate", &target).with_result("started");
    audit::record(&state, &session, entry).await?;
    let claims = user_claims(wish.user_id, "aal1".to_owned()).await;
    let claims = limit_claims(claims.map_err(ConsoleError::invalid)?, session.account_name())?;
    let expires_at = claims["exp"].clone();
    let signed = (state.api()?.sign_token)(&claims);
    let access_token = signed.map_err(ConsoleError::unavailable)?;
    Ok(HttpResponse::Ok().json(json!({ "access_token": access_token, "expires_at": expires_at })))
}

/// The claims without a session, with the acting account, and with an early end whatever the hook has written.
fn limit_claims(mut claims: Value, account: &str) -> Result<Value, ConsoleError> {
    let now = chrono::Utc::now().timestamp();
    let latest = now + LONGEST_LIFETIME;
    let Some(members) = claims.as_object_mut() else {
        return Err(ConsoleError::invalid(
            "The hook custom_access_token has not answered with claims",
        ));
    };
    let wanted = members.get("exp").and_then(Value::as_i64).unwrap_or(latest);
    members.insert("exp".to_owned(), json!(wanted.min(latest)));
    members.insert("act".to_owned(), json!({ "sub": account }));
    // The id of the claims belongs to no row, and Auth would look for it.
    members.remove("session_id");
    Ok(claims)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn console_112_a_token_ends_within_ten_minutes_has_no_session_and_names_who_acts() {
        let far = chrono::Utc::now().timestamp() + 86_400;
        let written_by_hook =
            json!({ "sub": "u", "exp": far, "session_id": "s", "act": { "sub": "somebody" } });

        let claims = limit_claims(written_by_hook, "ana").unwrap();

        assert!(claims["exp"].as_i64().unwrap() <= chrono::Utc::now().timestamp() + LONGEST_LIFETIME);
        assert_eq!(claims.get("session_id"), None);
        assert_eq!(claims["act"], json!({ "sub": "ana" }));
        assert_eq!(limit_claims(json!({ "exp": 5 }), "ana").unwrap()["exp"], 5);
        assert!(limit_claims(json!("text"), "ana").is_err());
    }
}
