//! `PUT /admin/users/{id}`: changes take effect at once, without confirmation mails. Source: Auth contract §2.15,
//! AUTH-059, AUTH-064.

use std::collections::BTreeSet;

use actix_web::{HttpResponse, web};
use chrono::{DateTime, Utc};
use deadpool_postgres::Transaction;
use serde_json::{Value, json};

use super::admin_create_user::{AdminUserBody, map_unique_violation, parse_ban_end, parse_optional_phone};
use super::admin_get_user::find_user;
use crate::crypto::password_hash::PasswordHash;
use crate::error::AuthError;
use crate::flows::accounts;
use crate::flows::confirmations::{self, Proof};
use crate::mailer;
use crate::protection::leaked_passwords;
use crate::request::{Admin, AuthRequest, Json};
use crate::state::AuthState;
use crate::store::audit::{Action, Actor};
use crate::store::user_access::{self, AccessEnd};
use crate::store::{contested_accounts, phones, users};
use crate::user::User;
use crate::validation::address::parse_email;

/// The addresses, password and ban of the request after validation; an empty text changes nothing.
struct Change {
    email: String,
    phone: String,
    /// The hash to store; `None` keeps the password.
    encrypted_password: Option<String>,
    /// When the ban ends, see [`parse_ban_end`].
    ban: Option<Option<DateTime<Utc>>>,
}

/// `PUT /admin/users/{id}`, administrators only → 200 with the User. Body: [`AdminUserBody`]; a missing member stays
/// as it is. An address for somebody who has none confirmed, such as a guest, is mailed and waits in `new_email`, unless
/// `email_confirm` says that it is theirs.
///
/// Metadata is merged, and a key with the value `null` is removed. A new password and a ban end all sessions of the user.
///
/// # Errors
/// 400 `validation_failed`; 404 `user_not_found`, or `validation_failed` for an id that is not a UUID; 422
/// `email_exists`, `phone_exists` or `weak_password`.
pub(crate) async fn update_user(
    request: AuthRequest,
    admin: Admin,
    id: web::Path<String>,
    Json(body): Json<AdminUserBody>,
) -> Result<HttpResponse, AuthError> {
    // This block returns the connection to the pool before the password is hashed, which may take long.
    let user = {
        let client = request.connect().await?;
        find_user(&client, &id).await?
    };
    let change = Change {
        email: if body.email.is_empty() {
            String::new()
        } else {
            parse_email(&body.email)?
        },
        phone: parse_optional_phone(&body.phone)?,
        encrypted_password: hash_new_password(&request.state, &body).await?,
        ban: parse_ban_end(&body.ban_duration, request.now())?,
    };
    // A change that waits for its confirmation sends a mail; the slot is taken before the connection.
    let _slot = match change.email.is_empty() {
        true => None,
        false => Some(request.state.acquire_mail_slot().await?),
    };
    let mut client = request.connect().await?;
    let db = client.transaction().await?;
    // Whether the account is proven decides what is kept of it, and its owner may be proving it at this moment.
    let user = users::lock_by_id(&db, user.id)
        .await?
        .ok_or(AuthError::UserNotFound("User not found"))?;
    apply_change(&request, &db, &user, change, body).await?;
    // The entry of the log names the new addresses.
    let user = accounts::reload_user(&db, user.id).await?;
    let admin = Actor::Admin {
        role: &admin.role,
        subject: &user,
    };
    accounts::log_action(&request, &db, admin, Action::UserModified).await?;
    db.commit().await?;
    Ok(HttpResponse::Ok().json(user.body()))
}

/// Writes the change to the locked user.
///
/// # Errors
/// 422 `email_exists` or `phone_exists`, and those of sending a mail.
async fn apply_change(
    request: &AuthRequest,
    db: &Transaction<'_>,
    user: &User,
    mut change: Change,
    mut body: AdminUserBody,
) -> Result<(), AuthError> {
    body.email_confirm |= is_confirmed_with_change(request, db, user, (&change, body.phone_confirm)).await?;
    let pending_email = take_pending_email(db, user, &mut change, body.email_confirm).await?;
    if change.encrypted_password.is_some() {
        // The password is for the owner of the address, who may not be the one who has registered it.
        contested_accounts::contest(db, user, request.now()).await?;
    }
    change_addresses(request, db, user, &change, &body)
        .await
        .map_err(map_unique_violation)?;
    change_other_members(&request.state, db, user, &change, body).await?;
    if let Some(email) = &pending_email {
        mailer::send_email_change(request, db, user, email, None).await?;
    }
    Ok(())
}

/// The hash of the given password, or the given hash; `None` when the body has neither. A given hash is not checked
/// for strength.
///
/// # Errors
/// 400 `validation_failed` when both are given or the hash has an unknown format, 422 `weak_password`.
async fn hash_new_password(state: &AuthState, body: &AdminUserBody) -> Result<Option<String>, AuthError> {
    match (&body.password, body.password_hash.as_str()) {
        (Some(_), hash) if !hash.is_empty() => Err(AuthError::invalid(
            "Only a password or a password hash should be provided",
        )),
        (Some(password), _) => {
            leaked_passwords::check_new_password(state, password).await?;
            Ok(Some(state.hasher.hash(password).await?))
        }
        (None, "") => Ok(None),
        (None, hash) if PasswordHash::parse(hash).is_some() => Ok(Some(hash.to_owned())),
        (None, _) => Err(AuthError::invalid("Provided password hash is not supported")),
    }
}

/// Whether the address is confirmed though the request does not say so. Where addresses need no proof, one for an account in use
/// is: a mere claim would be anybody's who signs up with it. So is the address of an account that comes into use by the confirmation
/// of its number.
async fn is_confirmed_with_change(
    request: &AuthRequest,
    db: &Transaction<'_>,
    user: &User,
    (change, confirms_phone): (&Change, bool),
) -> Result<bool, AuthError> {
    if request.config().email.autoconfirm && is_first_address_of_used_account(user, change) {
        return Ok(true);
    }
    let has_number = !user.phone.is_empty() || !change.phone.is_empty();
    let mut changed = user.clone();
    if !change.email.is_empty() {
        changed.email.clone_from(&change.email);
    }
    Ok(confirms_phone
        && has_number
        && confirmations::is_email_confirmed_by_use(request, db, &changed).await?)
}

/// Whether somebody uses the account already, without a confirmed address, and the change names one.
fn is_first_address_of_used_account(user: &User, change: &Change) -> bool {
    let is_new = !change.email.is_empty() && change.email != user.email;
    let is_used = user.last_sign_in_at.is_some() || user.is_anonymous || user.is_phone_confirmed();
    is_new && is_used && !user.is_confirmed() && !user.is_sso_user
}

/// Takes the new address out of the change where its owner has to confirm it first: somebody uses the account already, and the
/// administrator does not say that the address is theirs. Stored at once it would be a mere claim, whose owner gets an account of
/// their own; a guest could never make it the address of theirs.
///
/// # Errors
/// 422 `email_exists`.
async fn take_pending_email(
    db: &Transaction<'_>,
    user: &User,
    change: &mut Change,
    is_confirmed: bool,
) -> Result<Option<String>, AuthError> {
    if is_confirmed || !is_first_address_of_used_account(user, change) {
        return Ok(None);
    }
    if users::is_email_taken(db, &change.email, &user.aud, user.id).await? {
        return Err(AuthError::EmailExists);
    }
    Ok(Some(std::mem::take(&mut change.email)))
}

/// Replaces and confirms e-mail address and phone number, with their identities.
///
/// # Errors
/// 422 `email_exists`; a taken phone number surfaces as a unique violation, which the caller maps.
async fn change_addresses(
    request: &AuthRequest,
    db: &Transaction<'_>,
    user: &User,
    change: &Change,
    body: &AdminUserBody,
) -> Result<(), AuthError> {
    let now = request.now();
    let mut changed = user.clone();
    if !change.email.is_empty() && change.email != user.email {
        replace_email(request, db, user, (&change.email, body.email_confirm)).await?;
        changed.email.clone_from(&change.email);
    }
    if !change.phone.is_empty() && change.phone != user.phone {
        let is_verified = body.phone_confirm || user.is_phone_confirmed();
        replace_phone(request, db, user, (&change.phone, is_verified)).await?;
        changed.phone.clone_from(&change.phone);
    }
    let confirms_email = body.email_confirm && !user.is_confirmed() && !changed.email.is_empty();
    let confirms_phone = body.phone_confirm && !user.is_phone_confirmed() && !changed.phone.is_empty();
    if confirms_email || confirms_phone {
        // The administrator confirms the address, not the credentials of whoever has registered it.
        let proof = if confirms_phone {
            Proof::Number
        } else {
            Proof::Email
        };
        let forgotten = confirmations::forget_contested_credentials(request, db, (&changed, proof));
        let mut forgotten = forgotten.await?;
        forgotten.identities |= contested_accounts::forget_unverified_identities(db, user).await?;
        if forgotten.identities || change.encrypted_password.is_none() {
            confirmations::report_forgotten(request, &changed, forgotten);
        }
        if forgotten.identities && confirms_email {
            users::upsert_email_identity(db, user.id, &changed.email, true, now).await?;
        }
        users::refresh_providers(db, user.id).await?;
    }
    if confirms_email {
        users::confirm_email(db, user.id, &changed.email.to_lowercase(), now).await?;
    }
    if confirms_phone {
        phones::confirm_phone(db, user.id, &changed.phone, now).await?;
    }
    // New identities have changed the list of providers; one that an administrator has chosen before stays.
    if let Some(chosen) = find_chosen_providers(user) {
        users::merge_app_metadata(db, user.id, &chosen, now).await?;
    }
    Ok(())
}

/// Replaces the e-mail address and that of its identity.
///
/// # Errors
/// 422 `email_exists`.
async fn replace_email(
    request: &AuthRequest,
    db: &Transaction<'_>,
    user: &User,
    (email, is_confirmed): (&str, bool),
) -> Result<(), AuthError> {
    let now = request.now();
    if users::is_email_taken(db, email, &user.aud, user.id).await? {
        return Err(AuthError::EmailExists);
    }
    users::set_email(db, user.id, email, now).await?;
    contest_new_address(request, db, user).await?;
    // The confirmation of the address before says nothing about the new one.
    users::upsert_email_identity(db, user.id, email, is_confirmed, now).await?;
    users::refresh_providers(db, user.id).await?;
    Ok(())
}

/// Replaces the phone number and that of its identity. A number beside the e-mail address is one more of the same person, whom an
/// administrator may have told a password; what a stranger has left there goes when the number is confirmed.
async fn replace_phone(
    request: &AuthRequest,
    db: &Transaction<'_>,
    user: &User,
    (phone, is_verified): (&str, bool),
) -> Result<(), AuthError> {
    phones::set_phone(db, user.id, phone, request.now()).await?;
    if !user.phone.is_empty() {
        contest_new_address(request, db, user).await?;
    }
    phones::upsert_identity(db, user.id, phone, is_verified, request.now()).await?;
    Ok(())
}

/// Whoever has registered the address before, or was told a password for it, has not registered the new one.
async fn contest_new_address(
    request: &AuthRequest,
    db: &Transaction<'_>,
    user: &User,
) -> Result<(), AuthError> {
    contested_accounts::contest(db, user, request.now()).await?;
    Ok(contested_accounts::withdraw_vouch(db, user.id).await?)
}

/// `provider` and `providers` of the app metadata where they are not those of the user's identities; `None` where they are,
/// or where there are none yet.
fn find_chosen_providers(user: &User) -> Option<Value> {
    let providers = user.app_metadata.get("providers")?;
    let stored: BTreeSet<&str> = providers.as_array()?.iter().filter_map(Value::as_str).collect();
    let derived = user
        .identities
        .iter()
        .map(|identity| identity.provider.as_str())
        .collect();
    (stored != derived).then(|| {
        let mut chosen = json!({ "providers": providers });
        if let Some(provider) = user.app_metadata.get("provider") {
            chosen["provider"] = provider.clone();
        }
        chosen
    })
}

/// Writes password, metadata, role and ban. A new password and a ban also end sessions, pending mails and flows.
async fn change_other_members(
    state: &AuthState,
    db: &Transaction<'_>,
    user: &User,
    change: &Change,
    body: AdminUserBody,
) -> Result<(), AuthError> {
    let now = state.now();
    if let Some(hash) = &change.encrypted_password {
        users::set_password(db, user.id, hash, now).await?;
        contested_accounts::vouch_for_password(db, user, now).await?;
    }
    if let Some(data) = body.user_metadata {
        users::merge_user_metadata(db, user.id, &Value::Object(data), now).await?;
    }
    if let Some(data) = body.app_metadata {
        users::merge_app_metadata(db, user.id, &Value::Object(data), now).await?;
    }
    if !body.role.is_empty() {
        users::set_role(db, user.id, &body.role, now).await?;
    }
    if let Some(until) = change.ban {
        users::set_ban(db, user.id, until).await?;
    }
    let is_banned = change.ban.flatten().is_some_and(|until| until > now);
    // Whoever knew the old password must not stay signed in, and what was begun before a ban must not outlive it.
    if is_banned {
        user_access::end(db, user.id, AccessEnd::Banned, now).await?;
    }
    if change.encrypted_password.is_some() {
        user_access::end(db, user.id, AccessEnd::PasswordChanged { kept: None }, now).await?;
    }
    Ok(())
}
