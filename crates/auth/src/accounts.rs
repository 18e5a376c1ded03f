//! Creating users. Source: Auth contract §2.3.

use chrono::{DateTime, Utc};
use deadpool_postgres::GenericClient;
use serde_json::{Map, Value, json};
use uuid::Uuid;

use crate::aftermath;
use crate::error::{AuthError, Fault, UNEXPECTED};
use crate::hooks::{self, HookPoint};
use crate::request::RequestInfo;
use crate::state::AuthState;
use crate::store::audit::{self, Action, Actor};
use crate::store::users::{self, NewUser};
use crate::user::{User, timestamp};

/// What an unsaved user says when the database refuses it, also by a trigger of the project.
pub(crate) const SAVING_FAILED: &str = "Database error saving new user";

/// A user with an address to be created.
#[derive(Debug, Default)]
pub(crate) struct Account<'a> {
    pub(crate) id: Option<Uuid>,
    /// Empty for a user with a phone only.
    pub(crate) email: &'a str,
    /// Digits without `+`; empty for a user with an e-mail only.
    pub(crate) phone: &'a str,
    pub(crate) encrypted_password: &'a str,
    pub(crate) data: Map<String, Value>,
    pub(crate) app_metadata: Map<String, Value>,
    pub(crate) role: Option<&'a str>,
    pub(crate) invited_at: Option<DateTime<Utc>>,
    /// An administrator's user, about whom the project's hooks are not asked.
    pub(crate) skips_hooks: bool,
    /// Keeps what the person says about themselves out of the identity: an administrator vouches for the address only.
    pub(crate) bare_identity: bool,
    /// Leaves the metadata as given; for others what the identity knows becomes part of it. An administrator's word stays as it is.
    pub(crate) keeps_metadata: bool,
}

/// Inserts user and identity as a trigger of the project expects them: metadata at the INSERT, the role by an UPDATE.
///
/// # Errors
/// 500 "Database error saving new user" with the database's words inside; [`AuthError::is_duplicate_email`] tells a lost race.
pub(crate) async fn create_user(
    state: &AuthState,
    db: &impl GenericClient,
    info: &RequestInfo,
    mut account: Account<'_>,
) -> Result<User, AuthError> {
    let now = state.now();
    let id = account.id.unwrap_or_else(Uuid::new_v4);
    let mut app_metadata = std::mem::take(&mut account.app_metadata);
    let addresses = [("email", account.email), ("phone", account.phone)];
    let addresses: Vec<_> = addresses
        .into_iter()
        .filter(|(_, address)| !address.is_empty())
        .collect();
    let providers: Vec<&str> = addresses.iter().map(|(provider, _)| *provider).collect();
    app_metadata.insert("provider".to_owned(), json!(providers.first()));
    app_metadata.insert("providers".to_owned(), json!(providers));
    let identities = addresses
        .iter()
        .map(|(provider, address)| (*provider, identity_data(id, provider, address, &account)));
    let identities: Vec<_> = identities.collect();
    if !account.skips_hooks {
        let now = timestamp(now);
        // Compat: identities come after the user, so there are none to show yet.
        let user = json!({
            "id": id, "aud": info.audience, "role": "", "email": account.email, "phone": account.phone,
            "app_metadata": app_metadata, "user_metadata": account.data, "identities": [],
            "created_at": now, "updated_at": now, "is_anonymous": false,
        });
        ask_before_creation(state, db, info, user).await?;
    }
    let user = NewUser {
        id,
        aud: &info.audience,
        email: account.email,
        phone: account.phone,
        encrypted_password: account.encrypted_password,
        app_metadata: Value::Object(app_metadata),
        user_metadata: Value::Object(account.data),
        is_anonymous: false,
        invited_at: account.invited_at,
    };
    let saving = |error: tokio_postgres::Error| AuthError::database(SAVING_FAILED, error);
    users::insert(db, &user, now).await.map_err(saving)?;
    for (provider, data) in &identities {
        users::insert_identity(db, id, provider, data, now)
            .await
            .map_err(saving)?;
    }
    let role = account.role.unwrap_or(&state.config.default_role);
    let finished = if account.keeps_metadata {
        users::set_role(db, id, role, now).await
    } else {
        users::finish_new_user(db, id, role, now).await
    };
    finished.map_err(saving)?;
    let user = get(db, id).await?;
    if !account.skips_hooks {
        aftermath::user_was_created(info, &user);
    }
    Ok(user)
}

/// Asks the project's hook whether this user may be created; to be called before the INSERT, with the user as clients would see it.
///
/// # Errors
/// What the hook refuses with.
pub(crate) async fn ask_before_creation(
    state: &AuthState,
    db: &impl GenericClient,
    info: &RequestInfo,
    user: Value,
) -> Result<(), AuthError> {
    let input = json!({ "user": user });
    hooks::call(state, db, info, HookPoint::BeforeUserCreated, input)
        .await
        .map(|_| ())
}

/// Inserts a user without any address.
pub(crate) async fn create_anonymous_user(
    state: &AuthState,
    db: &impl GenericClient,
    info: &RequestInfo,
    data: Map<String, Value>,
) -> Result<User, AuthError> {
    let now = state.now();
    let user = NewUser {
        id: Uuid::new_v4(),
        aud: &info.audience,
        email: "",
        phone: "",
        encrypted_password: "",
        app_metadata: json!({}),
        user_metadata: Value::Object(data),
        is_anonymous: true,
        invited_at: None,
    };
    let shown = json!({
        "id": user.id, "aud": info.audience, "role": "", "email": "", "phone": "", "app_metadata": {},
        "user_metadata": user.user_metadata, "identities": [], "created_at": timestamp(now),
        "updated_at": timestamp(now), "is_anonymous": true,
    });
    ask_before_creation(state, db, info, shown).await?;
    let saving = |error: tokio_postgres::Error| AuthError::database(SAVING_FAILED, error);
    users::insert(db, &user, now).await.map_err(saving)?;
    users::set_role(db, user.id, &state.config.default_role, now)
        .await
        .map_err(saving)?;
    let user = get(db, user.id).await?;
    aftermath::user_was_created(info, &user);
    Ok(user)
}

/// The user as it is now, after triggers; it exists, as we hold it in a transaction.
pub(crate) async fn get(db: &impl GenericClient, id: Uuid) -> Result<User, AuthError> {
    let found = users::find_by_id(db, id).await?;
    found.ok_or_else(|| AuthError::internal(UNEXPECTED, Fault::Other("user vanished inside a transaction")))
}

/// Writes what a user did to the audit log, if the project keeps one there.
pub(crate) async fn log(
    state: &AuthState,
    db: &impl GenericClient,
    info: &RequestInfo,
    actor: Actor<'_>,
    action: Action,
) -> Result<(), AuthError> {
    log_as(state, db, info, actor, action, Value::Null).await
}

/// The same, with more to say than who did what.
pub(crate) async fn log_as(
    state: &AuthState,
    db: &impl GenericClient,
    info: &RequestInfo,
    actor: Actor<'_>,
    action: Action,
    traits: Value,
) -> Result<(), AuthError> {
    if state.config.audit_log_enabled {
        audit::insert(db, actor, action, traits, &info.ip).await?;
    }
    Ok(())
}

/// Writes what a user did by way of a provider, with `traits` that say more about it.
pub(crate) async fn log_with(
    state: &AuthState,
    db: &impl GenericClient,
    info: &RequestInfo,
    user: &User,
    action: Action,
    traits: Value,
) -> Result<(), AuthError> {
    log_as(state, db, info, Actor::User(user), action, traits).await
}

/// What the first identity knows. Compat: a number that somebody signs up with is not repeated there; one that an administrator
/// gives is.
fn identity_data(id: Uuid, provider: &str, address: &str, account: &Account<'_>) -> Value {
    let mut identity = Map::new();
    identity.insert("sub".to_owned(), json!(id));
    if provider == "email" || account.bare_identity {
        identity.insert(provider.to_owned(), json!(address));
    }
    identity.insert("email_verified".to_owned(), json!(false));
    identity.insert("phone_verified".to_owned(), json!(false));
    let told = (!account.bare_identity).then_some(&account.data);
    for (key, value) in told.into_iter().flatten() {
        identity.entry(key.clone()).or_insert_with(|| value.clone());
    }
    Value::Object(identity)
}
