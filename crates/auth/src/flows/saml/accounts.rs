//! The account of a user who signs in by SAML. Only users of the same identity provider are ever considered, because
//! another provider must not be able to name somebody else's address. Nor does a provider prove any address but those of the
//! domains that the project has given to it. Source: SAML contract §6, Auth contract §13.

use deadpool_postgres::Transaction;
use serde_json::{Value, json};
use uuid::Uuid;

use super::claims::SamlIdentity;
use crate::after_commit;
use crate::error::{AuthError, Fault, SamlError, UNEXPECTED};
use crate::flows::accounts::{self, map_saving_error};
use crate::request::AuthRequest;
use crate::store::audit::Action;
use crate::store::users::{self, NewUser};
use crate::store::{identities, saml, sso_providers};
use crate::user::format_timestamp;

/// Finds or creates the account of an identity, and returns the user's id.
///
/// # Errors
/// 422 `signup_disabled` for a new user; 403 `user_banned`; 500 when several users of the provider have the address; what
/// the hook `before_user_created` refuses with.
pub(crate) async fn find_or_create_account(
    request: &AuthRequest,
    db: &Transaction<'_>,
    provider: Uuid,
    identity: &SamlIdentity,
) -> Result<Uuid, AuthError> {
    let name = format!("sso:{provider}");
    let now = request.now();
    let owns_domain = owns_domain(db, provider, &identity.email).await?;
    let is_proven = owns_domain || request.config().sso_confirms_any_address;
    let data = build_data(identity, is_proven);
    let known = identities::find_by_subject(db, &name, &identity.subject).await?;
    let (user_id, action) = if let Some(known) = known {
        identities::update_data(db, known.id, &data, now).await?;
        saml::set_proven(db, known.id, owns_domain, now).await?;
        users::merge_user_metadata(db, known.user_id, &data, now).await?;
        users::refresh_providers(db, known.user_id).await?;
        if is_proven {
            confirm_unproven(request, db, known.user_id, &identity.email).await?;
        }
        (known.user_id, Action::Login)
    } else {
        let subject = (name.as_str(), identity.subject.as_str());
        let address = (identity.email.as_str(), is_proven);
        // For addresses of other domains the provider's word is not enough to open an existing account: it may have let its
        // user choose them.
        match owns_domain {
            true => link_or_create(request, db, subject, (address, &data), provider).await?,
            false => {
                let (id, _) = create_account(request, db, subject, address, &data).await?;
                (id, Action::UserSignedUp)
            }
        }
    };
    let user = users::lock_by_id(db, user_id).await?.ok_or_else(|| {
        let fault = Fault::Other("the user is missing inside the transaction of the sign-in");
        AuthError::internal(UNEXPECTED, fault)
    })?;
    // Checked last, so that an error rolls back what the sign-in has changed.
    if user.is_banned(now) {
        return Err(AuthError::UserBanned);
    }
    accounts::log_user_action(request, db, &user, action, json!({ "provider": name })).await?;
    Ok(user_id)
}

/// Links the identity to the user of the provider who has its address, or creates one.
///
/// # Errors
/// 500 when several users of the provider have the address, and those of [`create_account`].
async fn link_or_create(
    request: &AuthRequest,
    db: &Transaction<'_>,
    subject: (&str, &str),
    (address, data): ((&str, bool), &Value),
    provider: Uuid,
) -> Result<(Uuid, Action), AuthError> {
    let users = saml::list_users_by_email(db, subject.0, address.0).await?;
    match users.as_slice() {
        [] => {
            let (id, identity) = create_account(request, db, subject, address, data).await?;
            saml::set_proven(db, identity, true, request.now()).await?;
            Ok((id, Action::UserSignedUp))
        }
        [user_id] => {
            link_identity(request, db, subject, *user_id, data).await?;
            Ok((*user_id, Action::Login))
        }
        _ => Err(SamlError::SeveralAccounts(provider).into()),
    }
}

/// Whether the project has given the domain of this address to the provider, which then knows whose its addresses are.
async fn owns_domain(db: &Transaction<'_>, provider: Uuid, email: &str) -> Result<bool, AuthError> {
    let domain = email.rsplit_once('@').map_or("", |(_, domain)| domain);
    Ok(sso_providers::find_by_domain(db, domain).await? == Some(provider))
}

/// `identity_data`, which also becomes the user's metadata: what the provider says, and whether it can know the address.
fn build_data(identity: &SamlIdentity, is_proven: bool) -> Value {
    let mut data = identity.data.clone();
    data.insert("email_verified".to_owned(), json!(is_proven));
    Value::Object(data)
}

/// Gives the proven address to a user without a confirmed one: who has signed in before the project has given its domain to the
/// provider, or when the provider named an address of another domain.
async fn confirm_unproven(
    request: &AuthRequest,
    db: &Transaction<'_>,
    user_id: Uuid,
    email: &str,
) -> Result<(), AuthError> {
    let user = users::lock_by_id(db, user_id).await?;
    if let Some(user) = user.filter(|user| user.is_sso_user && !user.is_confirmed()) {
        if user.email.to_lowercase() != email {
            saml::set_email(db, user_id, email, request.now()).await?;
        }
        users::confirm_email(db, user_id, email, request.now()).await?;
    }
    Ok(())
}

/// Adds an identity to a user who has another one with the same address at the same provider.
async fn link_identity(
    request: &AuthRequest,
    db: &Transaction<'_>,
    (provider, subject): (&str, &str),
    user_id: Uuid,
    data: &Value,
) -> Result<(), AuthError> {
    let now = request.now();
    let id = identities::insert(db, user_id, (provider, subject), data, now).await?;
    saml::set_proven(db, id, true, now).await?;
    users::merge_user_metadata(db, user_id, data, now).await?;
    users::refresh_providers(db, user_id).await?;
    let user = accounts::reload_user(db, user_id).await?;
    let traits = json!({ "identity_id": id, "provider": provider, "provider_id": subject });
    accounts::log_user_action(request, db, &user, Action::IdentityLinked, traits).await
}

/// Creates user and identity. The address counts as confirmed if the provider knows whose it is; otherwise the user signs in
/// by the identity alone, and tokens name no address. Returns the ids of both.
async fn create_account(
    request: &AuthRequest,
    db: &Transaction<'_>,
    (provider, subject): (&str, &str),
    (email, is_proven): (&str, bool),
    data: &Value,
) -> Result<(Uuid, Uuid), AuthError> {
    if request.config().disable_signup {
        return Err(AuthError::SignupDisabled);
    }
    let now = request.now();
    let user = NewUser {
        id: Uuid::new_v4(),
        aud: &request.info.audience,
        email,
        phone: "",
        encrypted_password: "",
        app_metadata: json!({ "provider": provider, "providers": [provider] }),
        user_metadata: data.clone(),
        is_anonymous: false,
        invited_at: None,
        is_sso_user: true,
    };
    let shown = json!({
        "id": user.id, "aud": user.aud, "role": "", "email": email, "phone": "",
        "app_metadata": user.app_metadata, "user_metadata": data,
        // Compat: the identity comes after the user, so there is none to show yet.
        "identities": [],
        "created_at": format_timestamp(now), "updated_at": format_timestamp(now), "is_anonymous": false,
    });
    accounts::call_before_user_created(request, db, shown).await?;
    users::insert(db, &user, now).await.map_err(map_saving_error)?;
    let identity = identities::insert(db, user.id, (provider, subject), data, now)
        .await
        .map_err(|error| AuthError::database("Error creating identity", error))?;
    users::set_role_and_merge_identity(db, user.id, &request.config().default_role, now)
        .await
        .map_err(map_saving_error)?;
    // No mail is sent: the identity provider has verified whose address it is, or nothing may be sent there.
    if is_proven {
        users::confirm_email(db, user.id, email, now).await?;
    }
    after_commit::record_created_user(request, &accounts::reload_user(db, user.id).await?);
    Ok((user.id, identity))
}
