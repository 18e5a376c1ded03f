//! `DELETE /factors/{id}`: removes a second factor; sessions that showed it fall back to `aal1`. Source: Auth contract §2.12,
//! AUTH-077, AUTH-078.

use actix_web::{HttpResponse, web};
use selvedge_mail::MailKind;
use serde_json::json;

use crate::accounts;
use crate::error::AuthError;
use crate::letters::{self, Notice};
use crate::mfa;
use crate::request::{RequestInfo, SignedIn};
use crate::state::AuthState;
use crate::store::audit::{Action, Actor};
use crate::store::factors;

/// `DELETE /factors/{id}` → `{id}`
pub(crate) async fn unenroll_factor(
    state: web::Data<AuthState>,
    info: RequestInfo,
    caller: SignedIn,
    id: web::Path<String>,
) -> Result<HttpResponse, AuthError> {
    let session = mfa::session_of(&caller)?;
    let mut client = state.client().await?;
    let db = client.transaction().await?;
    let factor = mfa::get_factor(&db, caller.user.id, &id).await?;
    if factor.is_verified && session.aal == "aal1" {
        return Err(AuthError::coded(
            422,
            "insufficient_aal",
            "AAL2 required to unenroll verified factor",
        ));
    }
    factors::delete(&db, factor.id).await?;
    let mut traits = mfa::traits(&factor);
    traits["session_id"] = json!(session.id);
    let actor = Actor::User(&caller.user);
    accounts::log_as(&state, &db, &info, actor, Action::FactorUnenrolled, traits).await?;
    factors::downgrade_sessions(&db, caller.user.id, factor.id).await?;
    db.commit().await?;
    drop(client);
    let notice = Notice {
        factor_type: factor.kind.as_str(),
        ..Notice::default()
    };
    letters::notify(&state, &info, &caller.user, MailKind::MfaFactorUnenrolled, notice).await;
    Ok(HttpResponse::Ok().json(json!({ "id": factor.id })))
}
