//! What a verified one-time token changes in its user's account, in the transaction that has the user's row locked. Source:
//! Auth contract §2.6, §3.5, §13.

use chrono::{DateTime, Utc};
use deadpool_postgres::Transaction;
use selvedge_mail::MailKind;
use serde_json::{Value, json};
use uuid::Uuid;

use crate::after_commit;
use crate::error::AuthError;
use crate::flows::accounts;
use crate::flows::decisions::verify::{ChangeToken, Effect};
use crate::hasher::generate_password;
use crate::mailer::{self, Notice};
use crate::request::AuthRequest;
use crate::store::audit::Action;
use crate::store::contested_accounts::{self, Forgotten};
use crate::store::one_time_tokens::{self, TokenKind};
use crate::store::{phones, users};
use crate::user::User;
use crate::validation::verify_type::VerifyType;

/// Applies the effect of the token to its user. `address` is where the token was sent to, in lowercase: a proof of one
/// address confirms no other. Returns false when the user has another address or number by now.
///
/// # Errors
/// 422 `email_exists` or `phone_exists` when another user has taken the new address or number.
pub(super) async fn apply_effect(
    request: &AuthRequest,
    db: &Transaction<'_>,
    user: &User,
    (effect, address): (Effect, &str),
) -> Result<bool, AuthError> {
    if !is_current_address(effect, user, address) {
        return Ok(false);
    }
    let (action, traits) = match effect {
        Effect::Confirm(_) => {
            confirm_new_user(request, db, user, address).await?;
            (Action::UserSignedUp, json!({ "provider": "email" }))
        }
        Effect::SignIn(_) if user.is_confirmed() => (Action::Login, Value::Null),
        Effect::SignIn(kind) => {
            confirm_by_link(request, db, user, (kind, address)).await?;
            (Action::UserSignedUp, json!({ "provider": "email" }))
        }
        Effect::FirstConfirmation(token) => {
            store_first_confirmation(db, user.id, token, request.now()).await?;
            return Ok(true);
        }
        Effect::ConfirmPhone => (
            confirm_number(request, db, user, address).await?,
            json!({ "provider": "phone" }),
        ),
        Effect::ChangeEmail(_) => {
            let changed = users::change_email(db, user.id, &user.email_change, request.now()).await;
            changed.map_err(AuthError::from).map_err(map_duplicate_address)?;
            forget_former_address(request, db, user).await?;
            (Action::UserModified, Value::Null)
        }
        Effect::ChangePhone => {
            let changed = phones::change_phone(db, user.id, &user.phone_change, request.now()).await;
            changed.map_err(AuthError::from).map_err(map_duplicate_address)?;
            (Action::UserModified, Value::Null)
        }
    };
    accounts::log_user_action(request, db, user, action, traits).await?;
    Ok(true)
}

/// Whether the user still has the address or number, or still wants it, that the token was sent to. The account of somebody
/// who uses it and only claims the address is not given to whoever proves it.
fn is_current_address(effect: Effect, user: &User, address: &str) -> bool {
    match effect {
        Effect::Confirm(_) | Effect::SignIn(_) => {
            user.email.to_lowercase() == address && !user.only_claims_email()
        }
        Effect::ConfirmPhone => user.phone == address && !user.only_claims_phone(),
        Effect::ChangePhone => user.phone_change == address,
        Effect::FirstConfirmation(token) | Effect::ChangeEmail(token) => match token {
            ChangeToken::New => user.email_change.to_lowercase() == address,
            ChangeToken::Current => user.email.to_lowercase() == address,
        },
    }
}

/// Confirms the address of somebody who has opened a link for signing in. Whoever registered the address did not confirm it, and
/// whoever asks for such a link of an unconfirmed account does not know the password: what the former could sign in with goes.
async fn confirm_by_link(
    request: &AuthRequest,
    db: &Transaction<'_>,
    user: &User,
    (kind, address): (VerifyType, &str),
) -> Result<(), AuthError> {
    if contested_accounts::is_unproven(user) {
        let forgotten = contested_accounts::forget_credentials(db, user.id, request.now()).await?;
        // Whoever recovers an account sets a new password next.
        let is_expected = kind == VerifyType::Recovery && !forgotten.identities;
        if !is_expected {
            report_forgotten(request, user, forgotten);
        }
    }
    users::confirm_email(db, user.id, address, request.now()).await?;
    Ok(())
}

/// Confirms the number (digits without `+`) that a code was sent to.
async fn confirm_number(
    request: &AuthRequest,
    db: &Transaction<'_>,
    user: &User,
    phone: &str,
) -> Result<Action, AuthError> {
    let forgotten = forget_contested_credentials(request, db, (user, Proof::Number)).await?;
    report_forgotten(request, user, forgotten);
    phones::confirm_phone(db, user.id, phone, request.now()).await?;
    if is_email_confirmed_by_use(request, db, user).await? {
        users::confirm_email(db, user.id, &user.email.to_lowercase(), request.now()).await?;
    }
    Ok(match user.is_phone_confirmed() {
        true => Action::Login,
        false => Action::UserSignedUp,
    })
}

/// Whether the address of an account is confirmed when the account comes into use, because the project needs no proof of addresses:
/// unconfirmed it would be anybody's who signs up with it. One that an account in use only claims, or that another account has
/// proven, stays unconfirmed.
pub(crate) async fn is_email_confirmed_by_use(
    request: &AuthRequest,
    db: &Transaction<'_>,
    user: &User,
) -> Result<bool, AuthError> {
    let is_open = !user.email.is_empty() && !user.is_confirmed() && !user.is_sso_user;
    if !request.config().email.autoconfirm || !is_open || user.only_claims_email() {
        return Ok(false);
    }
    let email = user.email.to_lowercase();
    Ok(!users::is_email_taken(db, &email, &user.aud, user.id).await?)
}

/// An administrator has moved an account that nobody has proven to an address whose owner proves it now: whoever has registered
/// the address before it, or was told a password for it, has not registered this one. `user` is the row before the change.
async fn forget_former_address(
    request: &AuthRequest,
    db: &Transaction<'_>,
    user: &User,
) -> Result<(), AuthError> {
    if !contested_accounts::is_unproven(user) {
        return Ok(());
    }
    contested_accounts::withdraw_vouch(db, user.id).await?;
    contested_accounts::take(db, user.id).await?;
    let forgotten = contested_accounts::forget_credentials(db, user.id, request.now()).await?;
    let email = user.email_change.clone();
    report_forgotten(
        request,
        &User {
            email,
            ..user.clone()
        },
        forgotten,
    );
    Ok(())
}

/// What the owner of an account proves, or an administrator confirms.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Proof {
    Email,
    Number,
}

/// Whoever proves an address that was registered twice, with different credentials, gets the account without them. So does the
/// owner of an address that an administrator confirms, and of a number beside an address: an administrator has added the number, at
/// whatever time, and whoever has registered the address has never named it. Returns what was forgotten, for
/// [`report_forgotten`].
pub(crate) async fn forget_contested_credentials(
    request: &AuthRequest,
    db: &Transaction<'_>,
    (user, proof): (&User, Proof),
) -> Result<Forgotten, AuthError> {
    let was_contested = contested_accounts::take(db, user.id).await?;
    let is_contested = was_contested || proof == Proof::Number && !user.email.is_empty();
    if is_contested && contested_accounts::is_unproven(user) {
        return Ok(contested_accounts::forget_credentials(db, user.id, request.now()).await?);
    }
    Ok(Forgotten::default())
}

/// Has a mail sent if something was forgotten: an honest user could not know why the own password does not work.
pub(crate) fn report_forgotten(request: &AuthRequest, user: &User, forgotten: Forgotten) {
    if forgotten != Forgotten::default() {
        after_commit::record_forgotten_credentials(request, user);
    }
}

/// Confirms the address (in lowercase) of a new or invited user.
async fn confirm_new_user(
    request: &AuthRequest,
    db: &Transaction<'_>,
    user: &User,
    address: &str,
) -> Result<(), AuthError> {
    let forgotten = forget_contested_credentials(request, db, (user, Proof::Email)).await?;
    report_forgotten(request, user, forgotten);
    if user.invited_at.is_some() && user.encrypted_password.is_empty() {
        set_random_password(request, db, user.id).await?;
    }
    users::confirm_email(db, user.id, address, request.now()).await?;
    users::verify_identities(db, user.id, address, request.now()).await?;
    Ok(())
}

/// Records that one of the two addresses has confirmed an e-mail change, and deletes its token.
async fn store_first_confirmation(
    db: &Transaction<'_>,
    user_id: Uuid,
    token: ChangeToken,
    now: DateTime<Utc>,
) -> Result<(), AuthError> {
    let is_new = token == ChangeToken::New;
    let kind = if is_new {
        TokenKind::EmailChangeNew
    } else {
        TokenKind::EmailChangeCurrent
    };
    users::confirm_first_address(db, user_id, is_new, now).await?;
    Ok(one_time_tokens::delete_lookup(db, user_id, kind).await?)
}

/// Gives an invited user a random password, which nobody knows. Compat: upstream does so, and triggers may expect a
/// password.
async fn set_random_password(
    request: &AuthRequest,
    db: &Transaction<'_>,
    user_id: Uuid,
) -> Result<(), AuthError> {
    let now = request.now();
    let hash = request.state.hasher.hash(&generate_password()).await?;
    users::set_password(db, user_id, &hash, now).await?;
    Ok(users::clear_pending_tokens(db, user_id, now).await?)
}

/// Maps a unique violation: another user has registered the new address in the meantime.
fn map_duplicate_address(error: AuthError) -> AuthError {
    if error.is_duplicate_email() {
        AuthError::EmailExists
    } else if error.is_duplicate_phone() {
        AuthError::PhoneExists
    } else {
        error
    }
}

/// Mails a notice about a changed address; `user` is the row before the change.
pub(super) async fn notify_of_change(request: &AuthRequest, user: User, effect: Effect) {
    let mut now = user.clone();
    match effect {
        Effect::ChangeEmail(_) if !user.email.is_empty() => {
            now.email.clone_from(&user.email_change);
            let notice = Notice {
                old_email: &user.email,
                ..Notice::default()
            };
            mailer::notify_user(request, &now, MailKind::EmailChanged, notice).await;
        }
        Effect::ChangePhone if !user.phone.is_empty() => {
            now.phone.clone_from(&user.phone_change);
            let notice = Notice {
                old_phone: &user.phone,
                ..Notice::default()
            };
            mailer::notify_user(request, &now, MailKind::PhoneChanged, notice).await;
        }
        _ => {}
    }
}
