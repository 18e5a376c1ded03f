//! Creates users with their identities, and writes entries of the audit log. Source: Auth contract §2.3, §6.

use chrono::{DateTime, Utc};
use deadpool_postgres::GenericClient;
use serde_json::{Map, Value, json};
use uuid::Uuid;

use crate::after_commit;
use crate::error::{AuthError, Fault, UNEXPECTED};
use crate::hooks::{self, HookPoint};
use crate::request::AuthRequest;
use crate::store::audit::{self, Action, Actor};
use crate::store::users::{self, NewUser};
use crate::store::{contested_accounts, phones};
use crate::user::{User, format_timestamp};

/// The message when the database refuses a new user, also by a trigger of the project.
const SAVING_FAILED: &str = "Database error saving new user";

/// A user to be created, with at least one address.
#[derive(Debug, Default)]
pub(crate) struct Account<'a> {
    /// `None` for a random id.
    pub(crate) id: Option<Uuid>,
    /// Empty for a user with a phone only.
    pub(crate) email: &'a str,
    /// Digits without `+`; empty for a user with an e-mail only.
    pub(crate) phone: &'a str,
    /// Empty for a user without a password.
    pub(crate) encrypted_password: &'a str,
    /// The `user_metadata` given at the sign-up.
    pub(crate) data: Map<String, Value>,
    pub(crate) app_metadata: Map<String, Value>,
    /// `None` for the project's default role.
    pub(crate) role: Option<&'a str>,
    pub(crate) invited_at: Option<DateTime<Utc>>,
    /// Whether the project's hooks are skipped, for users that administrators create.
    pub(crate) skips_hooks: bool,
    /// Whether the identity holds the address only, without the metadata, for users that administrators create.
    pub(crate) bare_identity: bool,
    /// Whether the metadata stays as given; otherwise the identity's data is merged into it.
    pub(crate) keeps_metadata: bool,
}

impl<'a> Account<'a> {
    /// Provider and address of each identity to be made: `email`, `phone` or both.
    fn list_addresses(&self) -> Vec<(&'static str, &'a str)> {
        let addresses = [("email", self.email), ("phone", self.phone)];
        let given = addresses.into_iter().filter(|(_, address)| !address.is_empty());
        given.collect()
    }
}

/// Inserts user and identity as a trigger of the project expects them: metadata at the INSERT, the role by an UPDATE.
///
/// # Errors
/// 500 "Database error saving new user"; after a concurrent sign-up of the same address
/// [`AuthError::is_duplicate_email`] is true. What the hook `before_user_created` refuses with.
pub(crate) async fn create_user(
    request: &AuthRequest,
    db: &impl GenericClient,
    mut account: Account<'_>,
) -> Result<User, AuthError> {
    let now = request.now();
    let id = account.id.unwrap_or_else(Uuid::new_v4);
    let mut app_metadata = std::mem::take(&mut account.app_metadata);
    let addresses = account.list_addresses();
    let providers: Vec<&str> = addresses.iter().map(|(provider, _)| *provider).collect();
    app_metadata.insert("provider".to_owned(), json!(providers.first()));
    app_metadata.insert("providers".to_owned(), json!(providers));
    let data_of = |(provider, address)| (provider, build_identity_data(id, provider, address, &account));
    let identities: Vec<_> = addresses.into_iter().map(data_of).collect();
    if !account.skips_hooks {
        let user = show_new_user(request, id, &account, &app_metadata);
        call_before_user_created(request, db, user).await?;
    }
    let user = NewUser {
        id,
        aud: &request.info.audience,
        email: account.email,
        phone: account.phone,
        encrypted_password: account.encrypted_password,
        app_metadata: Value::Object(app_metadata),
        user_metadata: Value::Object(account.data),
        is_anonymous: false,
        invited_at: account.invited_at,
        is_sso_user: false,
    };
    release_claims(db, &user, now).await?;
    users::insert(db, &user, now).await.map_err(map_saving_error)?;
    for (provider, data) in &identities {
        users::insert_identity(db, id, provider, data, now)
            .await
            .map_err(map_saving_error)?;
    }
    let role = account.role.unwrap_or(&request.config().default_role);
    let finished = match account.keeps_metadata {
        true => users::set_role(db, id, role, now).await,
        false => users::set_role_and_merge_identity(db, id, role, now).await,
    };
    finished.map_err(map_saving_error)?;
    let user = reload_user(db, id).await?;
    if !account.skips_hooks {
        after_commit::record_created_user(request, &user);
    }
    Ok(user)
}

/// Finds the user who has registered an address (in lowercase), for an administrator.
///
/// # Errors
/// 422 `email_exists` while an account in use claims the address: a new account would take it away from that one, which the
/// administrator may not know. They look whose it is first.
pub(crate) async fn find_for_administrator(
    request: &AuthRequest,
    db: &impl GenericClient,
    email: &str,
) -> Result<Option<User>, AuthError> {
    let aud = &request.info.audience;
    if let Some(user) = users::find_registered(db, email, aud).await? {
        return Ok(Some(user));
    }
    match users::find_by_email(db, email, aud).await? {
        Some(_) => Err(AuthError::EmailClaimed),
        None => Ok(None),
    }
}

/// Like [`find_for_administrator`] for a phone number. Registered numbers are left to the unique index.
///
/// # Errors
/// 422 `phone_exists` while an account in use claims the number.
pub(crate) async fn check_claimed_number(
    request: &AuthRequest,
    db: &impl GenericClient,
    phone: &str,
) -> Result<(), AuthError> {
    let holder = phones::find_by_phone(db, phone, &request.info.audience).await?;
    match holder.is_some_and(|user| user.only_claims_phone()) {
        true => Err(AuthError::PhoneClaimed),
        false => Ok(()),
    }
}

/// The JSON of a user who is about to be created, for the hook.
fn show_new_user(
    request: &AuthRequest,
    id: Uuid,
    account: &Account<'_>,
    app_metadata: &Map<String, Value>,
) -> Value {
    let now = format_timestamp(request.now());
    json!({
        "id": id, "aud": request.info.audience, "role": "", "email": account.email, "phone": account.phone,
        "app_metadata": app_metadata, "user_metadata": account.data,
        // Compat: identities come after the user, so there are none to show yet.
        "identities": [], "created_at": now, "updated_at": now, "is_anonymous": false,
    })
}

/// Takes the addresses of a new user from accounts in use that have not proven them. The new account is contested then: the owner of the
/// address may have named it in the other one, and would take a mail or message of this one for an answer to that.
async fn release_claims(
    db: &impl GenericClient,
    user: &NewUser<'_>,
    now: DateTime<Utc>,
) -> Result<(), AuthError> {
    let mut was_claimed = false;
    if !user.email.is_empty() {
        was_claimed |= users::release_claimed_email(db, &user.email.to_lowercase(), user.id).await?;
    }
    if !user.phone.is_empty() {
        was_claimed |= phones::release_claimed_phone(db, user.phone, user.id).await?;
    }
    if was_claimed {
        contested_accounts::mark(db, user.id, now).await?;
    }
    Ok(())
}

/// Maps an error of the statements that save a new user, which a trigger of the project may have raised.
pub(crate) fn map_saving_error(error: tokio_postgres::Error) -> AuthError {
    AuthError::database(SAVING_FAILED, error)
}

/// Calls the hook `before_user_created` with the user's JSON, before the INSERT, so that a refused user never has a
/// row. What the hook writes stays: the caller's transaction is committed and begins anew.
///
/// # Errors
/// The error that the hook returns.
pub(crate) async fn call_before_user_created(
    request: &AuthRequest,
    db: &impl GenericClient,
    user: Value,
) -> Result<(), AuthError> {
    let input = json!({ "user": user });
    hooks::call_and_commit(request, db, HookPoint::BeforeUserCreated, input)
        .await
        .map(|_| ())
}

/// Creates an anonymous user: without addresses, password or identities. `data` becomes the `user_metadata`.
///
/// # Errors
/// 500 "Database error saving new user", and what the hook `before_user_created` refuses with.
pub(crate) async fn create_anonymous_user(
    request: &AuthRequest,
    db: &impl GenericClient,
    data: Map<String, Value>,
) -> Result<User, AuthError> {
    let now = request.now();
    let user = NewUser {
        id: Uuid::new_v4(),
        aud: &request.info.audience,
        email: "",
        phone: "",
        encrypted_password: "",
        app_metadata: json!({}),
        user_metadata: Value::Object(data),
        is_anonymous: true,
        invited_at: None,
        is_sso_user: false,
    };
    let shown = json!({
        "id": user.id, "aud": request.info.audience, "role": "", "email": "", "phone": "", "app_metadata": {},
        "user_metadata": user.user_metadata, "identities": [], "created_at": format_timestamp(now),
        "updated_at": format_timestamp(now), "is_anonymous": true,
    });
    call_before_user_created(request, db, shown).await?;
    users::insert(db, &user, now).await.map_err(map_saving_error)?;
    users::set_role(db, user.id, &request.config().default_role, now)
        .await
        .map_err(map_saving_error)?;
    let user = reload_user(db, user.id).await?;
    after_commit::record_created_user(request, &user);
    Ok(user)
}

/// Reads a user again after the project's triggers have run, which may have changed the row. The row exists, because
/// the transaction holds it.
pub(crate) async fn reload_user(db: &impl GenericClient, id: Uuid) -> Result<User, AuthError> {
    let found = users::find_by_id(db, id).await?;
    found.ok_or_else(|| {
        AuthError::internal(
            UNEXPECTED,
            Fault::Other("the user's row is missing inside the transaction that wrote it"),
        )
    })
}

/// Writes what a user did to the audit log, if the project keeps one there.
pub(crate) async fn log_action(
    request: &AuthRequest,
    db: &impl GenericClient,
    actor: Actor<'_>,
    action: Action,
) -> Result<(), AuthError> {
    log_action_with_traits(request, db, actor, action, Value::Null).await
}

/// Like [`log_action`], with traits.
pub(crate) async fn log_action_with_traits(
    request: &AuthRequest,
    db: &impl GenericClient,
    actor: Actor<'_>,
    action: Action,
    traits: Value,
) -> Result<(), AuthError> {
    if request.config().audit_log_enabled {
        audit::insert(db, actor, action, traits, &request.info.ip).await?;
    }
    Ok(())
}

/// Writes what a user did to the audit log, with traits.
pub(crate) async fn log_user_action(
    request: &AuthRequest,
    db: &impl GenericClient,
    user: &User,
    action: Action,
    traits: Value,
) -> Result<(), AuthError> {
    log_action_with_traits(request, db, Actor::User(user), action, traits).await
}

/// Members of `identity_data` that say who somebody is. The server alone writes them; the metadata of a sign-up could
/// otherwise claim the address of somebody else.
const RESERVED_IDENTITY_KEYS: [&str; 7] = [
    "sub",
    "iss",
    "provider_id",
    "email",
    "email_verified",
    "phone",
    "phone_verified",
];

/// The `identity_data` of a new identity: address and flags, then the user's metadata for other keys. Compat: it holds the
/// phone number only for users that administrators create.
fn build_identity_data(id: Uuid, provider: &str, address: &str, account: &Account<'_>) -> Value {
    let mut identity = Map::new();
    identity.insert("sub".to_owned(), json!(id));
    if provider == "email" || account.bare_identity {
        identity.insert(provider.to_owned(), json!(address));
    }
    identity.insert("email_verified".to_owned(), json!(false));
    identity.insert("phone_verified".to_owned(), json!(false));
    let metadata = (!account.bare_identity).then_some(&account.data);
    let metadata = metadata.into_iter().flatten();
    for (key, value) in metadata.filter(|(key, _)| !RESERVED_IDENTITY_KEYS.contains(&key.as_str())) {
        identity.insert(key.clone(), value.clone());
    }
    Value::Object(identity)
}
