//! A signed-in user links an identity of a provider to their account, or unlinks one. Source: Auth contract §2.10, §13.
//!
//! Both change who can sign in to the account, so they are decided on the caller's locked row, see
//! [`super::locked_caller`].

use chrono::{DateTime, Utc};
use deadpool_postgres::Transaction;
use selvedge_mail::MailKind;
use serde_json::{Value, json};
use uuid::Uuid;

use crate::after_commit;
use crate::error::AuthError;
use crate::flows::accounts;
use crate::flows::decisions::password_change::{PasswordChange, decide_needed_proofs};
use crate::flows::external_accounts::{ExternalUser, SignInOutcome, give_verified_address, insert_identity};
use crate::flows::locked_caller::LockedCaller;
use crate::mailer;
use crate::request::{AuthRequest, SignedIn};
use crate::state::AuthState;
use crate::store::audit::Action;
use crate::store::identities::{self, Identity};
use crate::store::{contested_accounts, users};
use crate::user::{STORED_PROOFS_ARE_NONE, User};

/// Refuses a new way to sign in in a session in which a new password would need a nonce, because it opens the account like a new
/// password: it has to be a new session. Guests have nothing to begin one with.
///
/// # Errors
/// 400 `reauthentication_needed`.
pub(crate) fn check_fresh_session(state: &AuthState, caller: &SignedIn) -> Result<(), AuthError> {
    let change = PasswordChange {
        session_created_at: caller.session.as_ref().map(|session| session.created_at),
        is_recovery: caller.is_recovery(),
        has_password: !caller.user.encrypted_password.is_empty(),
    };
    let needed = decide_needed_proofs(change, &state.config.password, state.now());
    match needed.nonce && !caller.user.is_anonymous {
        true => Err(AuthError::ReauthenticationNeeded),
        false => Ok(()),
    }
}

/// Links the identity to a signed-in user who has asked for it, and whose row is locked. A user without an e-mail address
/// takes the provider's.
///
/// # Errors
/// 401 `insufficient_aal`; 422 `user_sso_managed` or `identity_already_exists`; 400 `email_exists`.
pub(crate) async fn link_identity(
    request: &AuthRequest,
    db: &Transaction<'_>,
    external: &ExternalUser<'_>,
    caller: &LockedCaller,
) -> Result<SignInOutcome, AuthError> {
    caller.check_may_change_identities()?;
    let user = &caller.user;
    let existing = identities::find_by_subject(db, external.provider, &external.profile.subject).await?;
    if let Some(existing) = existing {
        if existing.user_id == user.id {
            return Err(AuthError::IdentityAlreadyExists("Identity is already linked"));
        }
        take_from_empty_account(db, &existing, request.now()).await?;
    }
    let data = Value::Object(external.profile.identity_data());
    let identity = insert_identity(&request.state, db, user.id, external, &data).await?;
    let traits = external.build_identity_traits(identity);
    accounts::log_user_action(request, db, user, Action::IdentityLinked, traits).await?;
    after_commit::record_identity_change(request, user, MailKind::IdentityLinked, external.provider);
    users::refresh_providers(db, user.id).await?;
    if user.email.is_empty() {
        return adopt_provider_email(request, db, external, user).await;
    }
    Ok(SignInOutcome::Allowed(user.id))
}

/// Takes the identity from an account that consists of it alone: a sign-in made it whose address was somebody's already, and which
/// the provider had not verified. Nobody has ever got into it. Accounts without an address that an import has written stay.
///
/// # Errors
/// 422 `identity_already_exists` for any other account.
async fn take_from_empty_account(
    db: &Transaction<'_>,
    identity: &Identity,
    now: DateTime<Utc>,
) -> Result<(), AuthError> {
    let owner = users::lock_by_id(db, identity.user_id).await?;
    let is_empty = owner.is_some_and(|owner| {
        let has_address = !owner.email.is_empty() || !owner.phone.is_empty();
        let is_alone = owner.identities.len() == 1;
        contested_accounts::is_unproven(&owner) && !has_address && is_alone && !owner.is_banned(now)
    });
    if !is_empty || !identities::take_unproven_sign_in(db, identity.user_id).await? {
        return Err(AuthError::IdentityAlreadyExists(
            "Identity is already linked to another user",
        ));
    }
    identities::delete(db, identity.id).await?;
    Ok(users::refresh_providers(db, identity.user_id).await?)
}

/// Gives a user without an address that of the provider. An anonymous user becomes permanent once it is verified. An
/// unverified address stays a pending change until the mail to it is answered, and the link is kept: the access tokens of
/// the session would otherwise name an address that nobody has proven.
///
/// # Errors
/// 400 `email_exists` when another user has the address.
async fn adopt_provider_email(
    request: &AuthRequest,
    db: &Transaction<'_>,
    external: &ExternalUser<'_>,
    user: &User,
) -> Result<SignInOutcome, AuthError> {
    let now = request.now();
    let Some((address, is_verified)) = external.primary_address() else {
        identities::make_permanent(db, user.id, now).await?;
        return Ok(SignInOutcome::Allowed(user.id));
    };
    if users::is_email_taken(db, &address, &user.aud, user.id).await? {
        return Err(AuthError::EmailExistsOnLink);
    }
    if is_verified {
        give_verified_address(db, user, &address, now).await?;
        return Ok(SignInOutcome::Allowed(user.id));
    }
    mailer::send_email_change(request, db, user, &address, None).await?;
    let provider = external.provider;
    Ok(SignInOutcome::Refused(AuthError::LinkedEmailNotConfirmed(
        format!(
            "Unverified email with {provider}. A confirmation email has been sent to your {provider} email"
        ),
    )))
}

/// Unlinks an identity from a user, who must have another one left. The caller's row is locked.
///
/// # Errors
/// 401 `insufficient_aal`; 422 `user_sso_managed`, `single_identity_not_deletable`, `identity_not_found` or
/// `email_conflict_identity_not_deletable`.
pub(crate) async fn unlink_identity(
    request: &AuthRequest,
    db: &Transaction<'_>,
    caller: &LockedCaller,
    identity_id: Uuid,
) -> Result<(), AuthError> {
    caller.check_may_change_identities()?;
    let user = &caller.user;
    let all = identities::list_by_user(db, user.id).await?;
    if all.len() < 2 {
        return Err(AuthError::SingleIdentity);
    }
    let (gone, rest): (Vec<Identity>, Vec<Identity>) =
        all.into_iter().partition(|identity| identity.id == identity_id);
    let gone = gone.first().ok_or(AuthError::IdentityNotFound)?;
    let traits = json!({
        "identity_id": gone.id, "provider": gone.provider, "provider_id": gone.provider_id,
    });
    accounts::log_user_action(request, db, user, Action::IdentityUnlinked, traits).await?;
    after_commit::record_identity_change(request, user, MailKind::IdentityUnlinked, &gone.provider);
    identities::delete(db, gone.id).await?;
    let now = request.now();
    if gone.provider == "phone" {
        identities::clear_phone(db, user.id, now).await?;
    // The user's e-mail address must belong to a remaining identity; otherwise its former owner could still sign in
    // by a mailed link.
    } else if !rest.iter().any(|identity| has_proven(identity, user)) {
        adopt_email_of_identity(request, db, user, &rest).await?;
    }
    users::refresh_providers(db, user.id).await?;
    check_way_is_left(db, user.id, &rest).await
}

/// Refuses a change after which nobody could sign in: all that is left stands for addresses that are not confirmed.
///
/// # Errors
/// 422 `email_conflict_identity_not_deletable`.
async fn check_way_is_left(db: &Transaction<'_>, user_id: Uuid, rest: &[Identity]) -> Result<(), AuthError> {
    let user = accounts::reload_user(db, user_id).await?;
    let opens = |identity: &Identity| match identity.provider.as_str() {
        "email" => user.is_confirmed(),
        "phone" => user.is_phone_confirmed(),
        _ => true,
    };
    match rest.iter().any(opens) {
        true => Ok(()),
        false => Err(AuthError::EmailConflict),
    }
}

/// Whether an identity stands for the user's address: it names it, and the provider has verified it. The e-mail identity
/// follows the user's row, which knows whether the address is confirmed.
fn has_proven(identity: &Identity, user: &User) -> bool {
    identity.email == user.email.to_lowercase()
        && (identity.is_email_verified || identity.provider == "email" || user.email.is_empty())
}

/// Replaces the user's address by that of the first remaining identity whose address is verified and free, or leaves the
/// user without one if an identity without an address remains. The list is in order of preference. An identity with an
/// unverified address is passed over: nobody has proven that address, and with it nobody could sign in.
///
/// # Errors
/// 422 `email_conflict_identity_not_deletable` when there is none.
async fn adopt_email_of_identity(
    request: &AuthRequest,
    db: &Transaction<'_>,
    user: &User,
    rest: &[Identity],
) -> Result<(), AuthError> {
    // Under autoconfirm the project has chosen that addresses need no proof.
    let needs_proof = !request.config().email.autoconfirm;
    for identity in rest {
        let has_address = !identity.email.is_empty() && identity.provider != "phone";
        let is_verified =
            identity.is_email_verified && !STORED_PROOFS_ARE_NONE.contains(&identity.provider.as_str());
        let is_usable = !has_address || is_verified || !needs_proof;
        let email = if has_address { identity.email.as_str() } else { "" };
        if !is_usable || has_address && users::is_email_taken(db, email, &user.aud, user.id).await? {
            continue;
        }
        if has_address && !is_verified {
            // Without a proof it is not taken from an account that waits for one, such as an invited one, either.
            let registered = users::find_registered(db, email, &user.aud).await?;
            if registered.is_some_and(|other| other.id != user.id) {
                continue;
            }
        }
        let moved = identities::set_email_from_identity(db, user.id, email, has_address, request.now()).await;
        moved.map_err(|error| {
            let error = AuthError::from(error);
            if error.is_duplicate_email() {
                AuthError::EmailConflict
            } else {
                error
            }
        })?;
        after_commit::record_email_change(request, user, email);
        return Ok(());
    }
    Err(AuthError::EmailConflict)
}
