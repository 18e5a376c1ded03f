//! A user changes their own address, password or metadata.
//!
//! Rules are checked first, then the new password is hashed without a connection, and all changes are written in one
//! transaction. Source: Auth contract §2.8, §3.5, AUTH-022, AUTH-036, AUTH-054, AUTH-055, AUTH-070 to AUTH-074,
//! AUTH-077.

use chrono::TimeDelta;
use deadpool_postgres::Transaction;
use selvedge_mail::MailKind;
use serde::Deserialize;
use serde_json::{Map, Value};

use crate::crypto::pkce::CodeChallenge;
use crate::error::AuthError;
use crate::flows::accounts;
use crate::flows::decisions::password_change::{PasswordChange, decide_needed_proofs};
use crate::flows::locked_caller;
use crate::mailer::{self, Notice};
use crate::protection::leaked_passwords;
use crate::request::{AuthRequest, SignedIn, read_text};
use crate::sms::{self, Channel, CodePurpose, TextCode};
use crate::state::AuthState;
use crate::store::audit::{Action, Actor};
use crate::store::code_requests::{self, Asking};
use crate::store::one_time_codes::TryingNetwork;
use crate::store::one_time_tokens::{self, TokenKind};
use crate::store::phones;
use crate::store::user_access::{self, AccessEnd};
use crate::store::users::{self, EmailChange};
use crate::user::User;
use crate::validation::address::{parse_email, parse_phone};

/// Body of `PUT /user`; every member is optional. `data` is merged into `user_metadata`, and a key with the value
/// `null` is removed; `nonce` is the code of `GET /reauthenticate`.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(crate) struct UpdateUserBody {
    #[serde(deserialize_with = "read_text")]
    email: String,
    #[serde(deserialize_with = "read_text")]
    phone: String,
    password: Option<String>,
    #[serde(deserialize_with = "read_text")]
    nonce: String,
    #[serde(deserialize_with = "read_text")]
    current_password: String,
    data: Option<Map<String, Value>>,
    app_metadata: Option<Map<String, Value>>,
    #[serde(deserialize_with = "read_text")]
    channel: String,
    #[serde(deserialize_with = "read_text")]
    code_challenge: String,
    #[serde(deserialize_with = "read_text")]
    code_challenge_method: String,
}

/// The changes to write, after all checks.
struct UserChange {
    /// Empty when the address stays.
    email: String,
    /// Empty when the number stays.
    phone: String,
    channel: Channel,
    /// The hash of the new password.
    encrypted_password: Option<String>,
    data: Option<Value>,
    app_metadata: Option<Value>,
    challenge: Option<CodeChallenge>,
}

/// Checks the change and writes it. Returns the user after it.
///
/// # Errors
/// 400 `validation_failed`, `reauthentication_needed`, `current_password_required`, `current_password_invalid` or
/// `phone_provider_disabled`; 401 `insufficient_aal`; 403 `not_admin` for `app_metadata`; 422 `email_exists`,
/// `phone_exists`, `weak_password`, `same_password`, `reauthentication_not_valid`, `user_sso_managed`, or
/// `validation_failed` for the password of an anonymous user; 429 `over_email_send_rate_limit` or
/// `over_sms_send_rate_limit`.
pub(crate) async fn update_user(
    request: &AuthRequest,
    caller: &SignedIn,
    body: UpdateUserBody,
) -> Result<User, AuthError> {
    let requested = RequestedAddresses::parse(&request.state, &body).await?;
    check_permissions(&request.state, caller, &body, &requested)?;
    // Taken addresses are refused before the password is hashed; the unique index decides about concurrent requests.
    let email = choose_new_email(request, caller, &requested).await?;
    let phone = choose_new_phone(request, caller, &requested).await?;
    let encrypted_password = match &body.password {
        Some(new) => Some(check_and_hash_password(request, caller, &body, new).await?),
        None => None,
    };
    let change = UserChange {
        email,
        phone,
        channel: requested.channel,
        encrypted_password,
        data: body.data.map(Value::Object),
        app_metadata: body.app_metadata.map(Value::Object),
        challenge: CodeChallenge::parse(&body.code_challenge, &body.code_challenge_method)?,
    };
    write_change(request, caller, change).await
}

/// The requested addresses in their stored form; an empty one is not to be changed. They may equal the current ones.
struct RequestedAddresses {
    email: String,
    phone: String,
    channel: Channel,
}

impl RequestedAddresses {
    /// Checks what does not depend on the caller: the form of the addresses and the strength of the password.
    ///
    /// # Errors
    /// 400 `validation_failed`, 422 `weak_password`.
    async fn parse(state: &AuthState, body: &UpdateUserBody) -> Result<Self, AuthError> {
        let email = match body.email.as_str() {
            "" => String::new(),
            email => parse_email(email)?,
        };
        let (phone, channel) = match body.phone.as_str() {
            "" => (String::new(), Channel::Sms),
            phone => (parse_phone(phone)?, Channel::parse(&body.channel, state)?),
        };
        if let Some(password) = &body.password {
            leaked_passwords::check_new_password(state, password).await?;
        }
        Ok(Self {
            email,
            phone,
            channel,
        })
    }
}

/// Refuses changes that this caller may not make. An address that stays the same needs no permission.
///
/// # Errors
/// 403 `not_admin`, 401 `insufficient_aal`, 422 `validation_failed` or `user_sso_managed`.
fn check_permissions(
    state: &AuthState,
    caller: &SignedIn,
    body: &UpdateUserBody,
    requested: &RequestedAddresses,
) -> Result<(), AuthError> {
    let user = &caller.user;
    let changes_address = !requested.email.is_empty() && requested.email != user.email
        || !requested.phone.is_empty() && requested.phone != user.phone;
    let changes_secrets = changes_address || body.password.is_some();
    if body.app_metadata.is_some() && !state.config.admin_roles.contains(&user.role) {
        return Err(AuthError::AppMetadataNeedsAdmin);
    }
    if changes_secrets && caller.lacks_second_factor() {
        return Err(AuthError::InsufficientAal);
    }
    if user.is_anonymous
        && body.password.is_some()
        && requested.email.is_empty()
        && requested.phone.is_empty()
        && user.email.is_empty()
    {
        return Err(AuthError::Unprocessable(
            "Updating password of an anonymous user without an email or phone is not allowed",
        ));
    }
    if user.is_sso_user && (changes_secrets || !body.nonce.is_empty()) {
        return Err(AuthError::SsoManaged);
    }
    Ok(())
}

/// The address to change to; empty when it stays.
///
/// # Errors
/// 422 `email_exists`.
async fn choose_new_email(
    request: &AuthRequest,
    caller: &SignedIn,
    requested: &RequestedAddresses,
) -> Result<String, AuthError> {
    let email = &requested.email;
    // An address that the account only claims is one to be proven.
    if email.is_empty() || *email == caller.user.email && !caller.user.only_claims_email() {
        return Ok(String::new());
    }
    let client = request.connect().await?;
    if users::is_email_taken(&client, email, &request.info.audience, caller.user.id).await? {
        return Err(AuthError::EmailExists);
    }
    Ok(email.clone())
}

/// The number to change to; empty when it stays.
///
/// # Errors
/// 400 `phone_provider_disabled`, 422 `phone_exists`.
async fn choose_new_phone(
    request: &AuthRequest,
    caller: &SignedIn,
    requested: &RequestedAddresses,
) -> Result<String, AuthError> {
    let phone = &requested.phone;
    if phone.is_empty() || *phone == caller.user.phone && !caller.user.only_claims_phone() {
        return Ok(String::new());
    }
    if !request.config().phone.enabled {
        return Err(AuthError::PhoneProviderDisabled {
            status: 400,
            text: "Unsupported phone provider",
        });
    }
    let client = request.connect().await?;
    if phones::is_phone_taken(&client, phone, &request.info.audience, caller.user.id).await? {
        return Err(AuthError::PhoneExists);
    }
    Ok(phone.clone())
}

/// Checks nonce and current password where the project requires them, and hashes the new password. No connection is
/// held meanwhile.
///
/// # Errors
/// 400 `reauthentication_needed`, `current_password_required` or `current_password_invalid`; 422
/// `reauthentication_not_valid` or `same_password`.
async fn check_and_hash_password(
    request: &AuthRequest,
    caller: &SignedIn,
    body: &UpdateUserBody,
    new: &str,
) -> Result<String, AuthError> {
    let (user, state) = (&caller.user, &request.state);
    let has_password = !user.encrypted_password.is_empty();
    let change = PasswordChange {
        session_created_at: caller.session.as_ref().map(|session| session.created_at),
        is_recovery: caller.is_recovery(),
        has_password,
    };
    let needed = decide_needed_proofs(change, &state.config.password, state.now());
    if needed.nonce {
        check_nonce(request, user, &body.nonce).await?;
    }
    if needed.current_password {
        if body.current_password.is_empty() {
            return Err(AuthError::CurrentPasswordRequired);
        }
        if !state
            .hasher
            .verify(&body.current_password, &user.encrypted_password)
            .await?
        {
            return Err(AuthError::CurrentPasswordInvalid);
        }
    }
    if has_password && state.hasher.verify(new, &user.encrypted_password).await? {
        return Err(AuthError::SamePassword);
    }
    state.hasher.hash(new).await
}

/// Checks the code that `GET /reauthenticate` has sent; each attempt counts. The code is cleared together with all other tokens
/// when the password is written.
///
/// # Errors
/// 400 `reauthentication_needed` without a nonce, 422 `reauthentication_not_valid` for a wrong or expired one, and after five
/// attempts.
async fn check_nonce(request: &AuthRequest, user: &User, nonce: &str) -> Result<(), AuthError> {
    if nonce.is_empty() {
        return Err(AuthError::ReauthenticationNeeded);
    }
    let expiry = TimeDelta::from_std(request.config().email.otp_expiry).unwrap_or(TimeDelta::MAX);
    let is_fresh = user
        .reauthentication_sent_at
        .is_some_and(|sent_at| request.now() - sent_at < expiry);
    let address = if user.email.is_empty() {
        &user.phone
    } else {
        &user.email
    };
    let client = request.connect().await?;
    let pending = one_time_tokens::find_by_user(&client, user.id, TokenKind::Reauthentication).await?;
    let is_right = match pending {
        Some(pending) if pending.token == user.reauthentication_token => {
            let (key, network) = (&request.state.code_key, request.info.attempt_network());
            let asking = code_requests::take_attempt(&client, key, (address, network)).await?;
            let network = TryingNetwork {
                hash: &key.hash_network(network),
                has_asked: asking == Asking::Sent,
            };
            one_time_tokens::try_code(&client, key, &pending, (address, nonce), network).await?
        }
        _ => false,
    };
    if !is_fresh || !is_right {
        return Err(AuthError::ReauthenticationNotValid);
    }
    Ok(())
}

/// Locks the caller's row and decides again about the change: since the first checks the session may have ended, a factor may
/// have been added, or the address taken.
///
/// # Errors
/// 401 `insufficient_aal`; 403 `session_not_found` or `user_banned`; 422 `user_sso_managed` or `email_exists`.
async fn lock_and_check(
    request: &AuthRequest,
    db: &Transaction<'_>,
    caller: &SignedIn,
    change: &UserChange,
) -> Result<User, AuthError> {
    let caller = locked_caller::lock_caller(request, db, caller).await?;
    let changes_address = !change.email.is_empty() || !change.phone.is_empty();
    if changes_address || change.encrypted_password.is_some() {
        caller.check_may_change_identities()?;
    }
    let user = caller.user;
    if !change.email.is_empty()
        && users::is_email_taken(db, &change.email, &request.info.audience, user.id).await?
    {
        return Err(AuthError::EmailExists);
    }
    Ok(user)
}

/// Writes all changes in one transaction. Notices are mailed after the commit, so that none announces a change that
/// was rolled back.
async fn write_change(
    request: &AuthRequest,
    caller: &SignedIn,
    change: UserChange,
) -> Result<User, AuthError> {
    // Only an address change sends a code in the transaction; the slot is taken before the connection.
    let _slot = if change.email.is_empty() && change.phone.is_empty() {
        None
    } else {
        Some(request.state.acquire_mail_slot().await?)
    };
    let mut client = request.connect().await?;
    let db = client.transaction().await?;
    let user = lock_and_check(request, &db, caller, &change).await?;
    let now = request.now();
    if let Some(hash) = &change.encrypted_password {
        users::set_password(&db, user.id, hash, now).await?;
        // Whoever knew the old password must not stay signed in, nor finish what they have begun.
        let kept = caller.session.as_ref().map(|session| session.id);
        user_access::end(&db, user.id, AccessEnd::PasswordChanged { kept }, now).await?;
        accounts::log_action(request, &db, Actor::User(&user), Action::UpdatedPassword).await?;
    }
    if let Some(data) = &change.data {
        users::merge_user_metadata(&db, user.id, data, now).await?;
    }
    if let Some(data) = &change.app_metadata {
        users::merge_app_metadata(&db, user.id, data, now).await?;
    }
    accounts::log_action(request, &db, Actor::User(&user), Action::UserModified).await?;
    if !change.email.is_empty() {
        change_email(request, &db, &user, &change).await?;
    }
    if !change.phone.is_empty() {
        change_phone(request, &db, &user, &change).await?;
    }
    let old = user;
    let user = accounts::reload_user(&db, old.id).await?;
    db.commit().await?;
    drop(client);
    let has_new_password = change.encrypted_password.is_some();
    notify_of_changes(request, (&old, &user), has_new_password).await;
    Ok(user)
}

/// Mails what has changed; the users are before and after it.
async fn notify_of_changes(request: &AuthRequest, (old, user): (&User, &User), has_new_password: bool) {
    if has_new_password {
        mailer::notify_user(request, user, MailKind::PasswordChanged, Notice::default()).await;
    }
    if !old.phone.is_empty() && old.phone != user.phone {
        let notice = Notice {
            old_phone: &old.phone,
            ..Notice::default()
        };
        mailer::notify_user(request, user, MailKind::PhoneChanged, notice).await;
    }
}

/// Changes the number at once under autoconfirm, otherwise sends a code to the new number.
///
/// # Errors
/// 422 `phone_exists` when another user has taken the number meanwhile, and those of sending.
async fn change_phone(
    request: &AuthRequest,
    db: &Transaction<'_>,
    user: &User,
    change: &UserChange,
) -> Result<(), AuthError> {
    if !request.config().phone.autoconfirm {
        let purpose = CodePurpose::PhoneChange;
        return sms::send_code(
            request,
            db,
            user,
            TextCode {
                phone: &change.phone,
                purpose,
                channel: change.channel,
            },
        )
        .await
        .map(|_| ());
    }
    let now = request.now();
    // Without a proof a number is not taken from an account that waits for one.
    let registered = phones::find_registered(db, &change.phone, &user.aud).await?;
    if registered.is_some_and(|other| other.id != user.id) {
        return Err(AuthError::PhoneExists);
    }
    let changed = phones::change_phone(db, user.id, &change.phone, now)
        .await
        .map_err(AuthError::from);
    changed.map_err(|error| {
        if error.is_duplicate_phone() {
            AuthError::PhoneExists
        } else {
            error
        }
    })
}

/// Sets the address of an anonymous user at once under autoconfirm, otherwise mails codes to the new and, with secure
/// e-mail change, to the current address.
///
/// # Errors
/// 422 `email_exists` when another user has taken the address meanwhile, and those of sending.
async fn change_email(
    request: &AuthRequest,
    db: &Transaction<'_>,
    user: &User,
    change: &UserChange,
) -> Result<(), AuthError> {
    if user.is_anonymous && request.config().email.autoconfirm {
        let now = request.now();
        // Without a proof a guest does not take an address from an account that waits for one, such as an invited one.
        let registered = users::find_registered(db, &change.email, &user.aud).await?;
        if registered.is_some_and(|other| other.id != user.id) {
            return Err(AuthError::EmailExists);
        }
        let confirmed = EmailChange {
            new_email: &change.email,
            token_new: "",
            token_current: "",
        };
        users::set_email_change(db, user.id, &confirmed, now).await?;
        let changed = users::change_email(db, user.id, &change.email, now)
            .await
            .map_err(AuthError::from);
        return changed.map_err(|error| {
            if error.is_duplicate_email() {
                AuthError::EmailExists
            } else {
                error
            }
        });
    }
    mailer::send_email_change(request, db, user, &change.email, change.challenge.as_ref()).await
}
