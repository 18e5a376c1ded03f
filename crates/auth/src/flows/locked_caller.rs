//! The caller, read again inside the transaction that changes how they sign in.
//!
//! What a handler has checked before may have changed since: the session may have ended, a second factor may have been
//! added, the user may have been banned. So every such change asks once more, with the user's row locked and the session
//! kept from being deleted until the commit. Source: Auth contract §1.2, §13.

use deadpool_postgres::Transaction;
use uuid::Uuid;

use crate::error::AuthError;
use crate::request::{AuthRequest, SignedIn};
use crate::store::{factors, users};
use crate::user::User;

/// A caller whose row is locked until the transaction ends.
#[derive(Debug)]
pub(crate) struct LockedCaller {
    pub(crate) user: User,
    /// `aal1`, or `aal2` after a second factor was verified in the session.
    aal: String,
}

impl LockedCaller {
    /// Whether a second factor was verified in this session.
    pub(crate) fn has_second_factor_session(&self) -> bool {
        matches!(self.aal.as_str(), "aal2" | "aal3")
    }

    /// Whether the user has a second factor that was not verified in this session.
    pub(crate) fn lacks_second_factor(&self) -> bool {
        self.user.has_verified_factor() && !self.has_second_factor_session()
    }

    /// Refuses changes of the ways to sign in without the second factor, and for users whom an identity provider manages.
    ///
    /// # Errors
    /// 401 `insufficient_aal`, 422 `user_sso_managed`.
    pub(crate) fn check_may_change_identities(&self) -> Result<(), AuthError> {
        if self.lacks_second_factor() {
            return Err(AuthError::InsufficientAal);
        }
        if self.user.is_sso_user {
            return Err(AuthError::SsoManaged);
        }
        Ok(())
    }
}

/// Locks user and session of a caller. A token without a session keeps the assurance level that it names, if the project
/// accepts such tokens.
///
/// # Errors
/// 403 `user_not_found`, `session_not_found`, `user_banned` or `email_not_confirmed`.
pub(crate) async fn lock_caller(
    request: &AuthRequest,
    db: &Transaction<'_>,
    caller: &SignedIn,
) -> Result<LockedCaller, AuthError> {
    match &caller.session {
        Some(session) => lock_session(request, db, (caller.user.id, session.id)).await,
        None => {
            let user = lock_user(request, db, caller.user.id).await?;
            // A factor that was added since the token was checked was not verified by it.
            let has_verified = caller.user.has_verified_factor() && !caller.lacks_second_factor();
            let aal = if has_verified { "aal2" } else { "aal1" }.to_owned();
            Ok(LockedCaller { user, aal })
        }
    }
}

/// Locks a user and one of the user's sessions.
///
/// # Errors
/// Those of [`lock_caller`].
pub(crate) async fn lock_session(
    request: &AuthRequest,
    db: &Transaction<'_>,
    (user_id, session_id): (Uuid, Uuid),
) -> Result<LockedCaller, AuthError> {
    let user = lock_user(request, db, user_id).await?;
    let aal = factors::lock_session_level(db, (user_id, session_id)).await?;
    let aal = aal.ok_or(AuthError::TokenSessionNotFound)?;
    Ok(LockedCaller { user, aal })
}

async fn lock_user(request: &AuthRequest, db: &Transaction<'_>, user_id: Uuid) -> Result<User, AuthError> {
    let user = users::lock_by_id(db, user_id).await?;
    let user = user.ok_or(AuthError::TokenUserNotFound)?;
    user.may_sign_in(request.now())?;
    Ok(user)
}
