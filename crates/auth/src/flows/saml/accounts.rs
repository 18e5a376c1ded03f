//! The account of a user who signs in by SAML. Only users of the same identity provider are ever considered, because
//! another provider must not be able to name somebody else's address. Source: SAML contract §6.

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
    let data = Value::Object(identity.data.clone());
    let known = identities::find_by_subject(db, &name, &identity.subject).await?;
    let (user_id, action) = if let Some(known) = known {
        identities::update_data(db, known.id, &data, now).await?;
        users::merge_user_metadata(db, known.user_id, &data, now).await?;
        users::refresh_providers(db, known.user_id).await?;
        (known.user_id, Action::Login)
    } else {
        match list_users_of_domain(db, provider, &identity.email)
            .await?
            .as_slice()
        {
            [] => (
                create_account(request, db, &name, identity).await?,
                Action::UserSignedUp,
            ),
            [user_id] => {
                link_identity(request, db, &name, identity, *user_id).await?;
                (*user_id, Action::Login)
            }
            _ => return Err(SamlError::SeveralAccounts(provider).into()),
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

/// The users of this provider with this address, if the project has given the provider the address's domain. For other
/// addresses the provider's word is not enough to open an existing account: it may have let its user choose them.
async fn list_users_of_domain(
    db: &Transaction<'_>,
    provider: Uuid,
    email: &str,
) -> Result<Vec<Uuid>, AuthError> {
    let domain = email.rsplit_once('@').map_or("", |(_, domain)| domain);
    if sso_providers::find_by_domain(db, domain).await? != Some(provider) {
        return Ok(Vec::new());
    }
    Ok(saml::list_users_by_email(db, &format!("sso:{provider}"), email).await?)
}

/// Adds an identity to a user who has another one with the same address at the same provider.
async fn link_identity(
    request: &AuthRequest,
    db: &Transaction<'_>,
    provider: &str,
    identity: &SamlIdentity,
    user_id: Uuid,
) -> Result<(), AuthError> {
    let now = request.now();
    let data = Value::Object(identity.data.clone());
    let key = (provider, identity.subject.as_str());
    let id = identities::insert(db, user_id, key, &data, now).await?;
    users::merge_user_metadata(db, user_id, &data, now).await?;
    users::refresh_providers(db, user_id).await?;
    let user = accounts::reload_user(db, user_id).await?;
    let traits = json!({ "identity_id": id, "provider": provider, "provider_id": identity.subject });
    accounts::log_user_action(request, db, &user, Action::IdentityLinked, traits).await
}

/// Creates user and identity. The address counts as confirmed, because the provider vouches for it.
async fn create_account(
    request: &AuthRequest,
    db: &Transaction<'_>,
    provider: &str,
    identity: &SamlIdentity,
) -> Result<Uuid, AuthError> {
    if request.config().disable_signup {
        return Err(AuthError::SignupDisabled);
    }
    let now = request.now();
    let data = Value::Object(identity.data.clone());
    let user = NewUser {
        id: Uuid::new_v4(),
        aud: &request.info.audience,
        email: &identity.email,
        phone: "",
        encrypted_password: "",
        app_metadata: json!({ "provider": provider, "providers": [provider] }),
        user_metadata: data.clone(),
        is_anonymous: false,
        invited_at: None,
        is_sso_user: true,
    };
    let shown = json!({
        "id": user.id, "aud": user.aud, "role": "", "email": identity.email, "phone": "",
        "app_metadata": user.app_metadata, "user_metadata": data,
        // Compat: the identity comes after the user, so there is none to show yet.
        "identities": [],
        "created_at": format_timestamp(now), "updated_at": format_timestamp(now), "is_anonymous": false,
    });
    accounts::call_before_user_created(request, db, shown).await?;
    users::insert(db, &user, now).await.map_err(map_saving_error)?;
    identities::insert(db, user.id, (provider, identity.subject.as_str()), &data, now)
        .await
        .map_err(|error| AuthError::database("Error creating identity", error))?;
    users::set_role_and_merge_identity(db, user.id, &request.config().default_role, now)
        .await
        .map_err(map_saving_error)?;
    // No mail is sent: the identity provider has verified whose address it is.
    users::confirm_email(db, user.id, &identity.email, now).await?;
    after_commit::record_created_user(request, &accounts::reload_user(db, user.id).await?);
    Ok(user.id)
}
