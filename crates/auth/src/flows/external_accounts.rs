//! Users and identities at a sign-in by an external provider: find, create, link, unlink. Source: Auth contract §8.2,
//! §2.10, §8.3.
//!
//! Everything runs in the caller's transaction. A refused sign-in whose effects must be kept is an outcome
//! ([`SignInOutcome::Refused`]), not an error, because an error would roll the transaction back: for an
//! unverified address the account is created and a confirmation is mailed, so the caller commits before it
//! responds with the error.

use deadpool_postgres::{GenericClient, Transaction};
use selvedge_mail::MailKind;
use serde_json::{Value, json};
use uuid::Uuid;

use crate::after_commit;
use crate::error::{AuthError, Fault, UNEXPECTED};
use crate::flows::accounts::{self, map_saving_error};
use crate::flows::decisions::linking::{AccountDecision, choose_account};
use crate::mailer;
use crate::providers::Profile;
use crate::request::AuthRequest;
use crate::state::AuthState;
use crate::store::audit::Action;
use crate::store::identities::{self, Identity, LinkSearch};
use crate::store::one_time_tokens;
use crate::store::users::{self, NewUser};
use crate::user::{User, format_timestamp};
use crate::validation::address::parse_email;
use crate::validation::verify_type::VerifyType;

/// A person whom a provider has identified.
#[derive(Debug)]
pub(crate) struct ExternalUser<'a> {
    /// The provider's name: `google`, `custom:…`, `web3`.
    pub(crate) provider: &'a str,
    pub(crate) profile: &'a Profile,
    /// Whether a person without an e-mail address may sign in.
    pub(crate) email_optional: bool,
}

/// Whether the person may sign in. The caller commits in both cases, and responds with the error of a refusal after
/// the commit.
#[derive(Debug)]
pub(crate) enum SignInOutcome {
    Allowed(Uuid),
    Refused(AuthError),
}

impl ExternalUser<'_> {
    /// Traits of an audit entry about the identity.
    fn build_identity_traits(&self, identity: Uuid) -> Value {
        json!({ "identity_id": identity, "provider": self.provider, "provider_id": self.profile.subject })
    }

    /// The person's primary address in its stored form and whether the provider has verified it; `None` for an invalid
    /// one.
    fn primary_address(&self) -> Option<(String, bool)> {
        let email = self.profile.email()?;
        let address = parse_email(&email.address).ok()?;
        Some((address, email.verified))
    }

    /// The addresses that the provider has verified, in their stored form. Only these may link to an existing
    /// account.
    fn verified_addresses(&self) -> Vec<String> {
        let emails = self.profile.emails.iter().filter(|email| email.verified);
        emails
            .filter_map(|email| parse_email(&email.address).ok())
            .collect()
    }
}

/// Finds or creates the account of a person and decides whether they may sign in.
///
/// # Errors
/// 422 `signup_disabled` for a new user; 403 `user_banned`; 500 when several users have the address; what the hook
/// `before_user_created` refuses with.
pub(crate) async fn find_or_create_account(
    request: &AuthRequest,
    db: &Transaction<'_>,
    external: &ExternalUser<'_>,
) -> Result<SignInOutcome, AuthError> {
    let verified = external.verified_addresses();
    let (address, is_verified) = external.primary_address().unwrap_or_default();
    let (provider, subject) = (external.provider, external.profile.subject.as_str());
    let search = LinkSearch {
        provider,
        subject,
        verified_emails: &verified,
        address: &address,
        aud: &request.info.audience,
    };
    let known = identities::find_link_candidates(db, &search).await?;
    let data = Value::Object(external.profile.identity_data());
    let now = request.now();
    let decision = choose_account(&known, !verified.is_empty());
    let (user_id, identity) = match decision {
        AccountDecision::SignIn(user_id) => {
            let identity = identities::find_by_subject(db, provider, subject).await?;
            let identity = identity.ok_or_else(report_missing_row)?.id;
            identities::update_data(db, identity, &data, now).await?;
            users::merge_user_metadata(db, user_id, &data, now).await?;
            users::refresh_providers(db, user_id).await?;
            (user_id, identity)
        }
        AccountDecision::Link(user_id) => (
            user_id,
            link_verified_identity(request, db, external, user_id).await?,
        ),
        AccountDecision::Create | AccountDecision::CreateWithoutAddress => {
            let email = if decision == AccountDecision::Create {
                address.as_str()
            } else {
                ""
            };
            create_account(request, db, external, email, &data).await?
        }
        // Linking to one of several users by chance could give a person access to somebody else's account.
        AccountDecision::Ambiguous => {
            let fault = Fault::Other("several users have the same verified address");
            return Err(AuthError::internal(SEVERAL_ACCOUNTS, fault));
        }
    };
    let user = users::lock_by_id(db, user_id)
        .await?
        .ok_or_else(report_missing_row)?;
    // Checked after linking, whose changes the error rolls back.
    if user.is_banned(now) {
        return Err(AuthError::UserBanned);
    }
    check_confirmation(request, db, external, &user, (identity, is_verified)).await
}

/// Message when several users have the address, as upstream words it.
const SEVERAL_ACCOUNTS: &str =
    "Multiple accounts with the same email address in the same linking domain detected: default";

/// Links the identity to the user whose address the provider has verified; returns the identity's id.
async fn link_verified_identity(
    request: &AuthRequest,
    db: &Transaction<'_>,
    external: &ExternalUser<'_>,
    user_id: Uuid,
) -> Result<Uuid, AuthError> {
    let data = Value::Object(external.profile.identity_data());
    let identity = insert_identity(&request.state, db, user_id, external, &data).await?;
    users::merge_user_metadata(db, user_id, &data, request.now()).await?;
    users::refresh_providers(db, user_id).await?;
    let user = accounts::reload_user(db, user_id).await?;
    let traits = external.build_identity_traits(identity);
    accounts::log_user_action(request, db, &user, Action::IdentityLinked, traits).await?;
    after_commit::record_identity_change(request, user.id, MailKind::IdentityLinked, external.provider);
    Ok(identity)
}

/// Signs a confirmed user in. An unconfirmed user is confirmed by an address that the provider has verified;
/// otherwise a confirmation is mailed and the sign-in refused.
///
/// An unconfirmed account may have been registered by somebody who does not own the address. Its password and other
/// identities are removed before the owner is let in; otherwise that other person could sign in to the account later.
async fn check_confirmation(
    request: &AuthRequest,
    db: &Transaction<'_>,
    external: &ExternalUser<'_>,
    user: &User,
    (identity, is_verified): (Uuid, bool),
) -> Result<SignInOutcome, AuthError> {
    let traits = json!({ "provider": external.provider });
    let has_address = !user.email.is_empty() || external.primary_address().is_some();
    let needs_none = external.provider == "web3" || (external.email_optional && !has_address);
    if needs_none || user.is_confirmed() {
        accounts::log_user_action(request, db, user, Action::Login, traits).await?;
        return Ok(SignInOutcome::Allowed(user.id));
    }
    let now = request.now();
    // A confirmed phone number proves that the account has an owner, whose password must stay.
    if user.phone_confirmed_at.is_none() {
        let data = Value::Object(external.profile.identity_data());
        identities::reset_unverified_user(db, user.id, identity, &data, now).await?;
        users::refresh_providers(db, user.id).await?;
    }
    if is_verified || request.config().email.autoconfirm {
        accounts::log_user_action(request, db, user, Action::UserSignedUp, traits).await?;
        users::confirm_email(db, user.id, now).await?;
        return Ok(SignInOutcome::Allowed(user.id));
    }
    let provider = external.provider;
    let message = if user.email.is_empty() {
        format!("Unverified email with {provider}. Verify the email with {provider} in order to sign in")
    } else {
        mailer::send_confirmation(request, db, user, None).await?;
        format!(
            "Unverified email with {provider}. A confirmation email has been sent to your {provider} email"
        )
    };
    Ok(SignInOutcome::Refused(AuthError::ProviderEmailNeedsVerification(
        message,
    )))
}

/// Creates user and identity; returns both ids. `email` is empty when another user has the address.
///
/// # Errors
/// 422 `signup_disabled`, and what the hook `before_user_created` refuses with.
async fn create_account(
    request: &AuthRequest,
    db: &Transaction<'_>,
    external: &ExternalUser<'_>,
    email: &str,
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
        app_metadata: json!({ "provider": external.provider, "providers": [external.provider] }),
        // Triggers of projects read names and pictures at the INSERT.
        user_metadata: data.clone(),
        is_anonymous: false,
        invited_at: None,
        is_sso_user: false,
    };
    let shown = json!({
        "id": user.id, "aud": request.info.audience, "role": "", "email": email, "phone": "",
        "app_metadata": user.app_metadata, "user_metadata": data,
        "identities": [{
            "provider": external.provider, "id": external.profile.subject, "user_id": user.id, "identity_data": data,
        }],
        "created_at": format_timestamp(now), "updated_at": format_timestamp(now), "is_anonymous": false,
    });
    accounts::call_before_user_created(request, db, shown).await?;
    users::insert(db, &user, now).await.map_err(map_saving_error)?;
    let identity = insert_identity(&request.state, db, user.id, external, data).await?;
    users::set_role_and_merge_identity(db, user.id, &request.config().default_role, now)
        .await
        .map_err(map_saving_error)?;
    after_commit::record_created_user(request, &accounts::reload_user(db, user.id).await?);
    Ok((user.id, identity))
}

/// Inserts an identity for the user; returns its id.
///
/// # Errors
/// 500 "Error creating identity".
async fn insert_identity(
    state: &AuthState,
    db: &Transaction<'_>,
    user_id: Uuid,
    external: &ExternalUser<'_>,
    data: &Value,
) -> Result<Uuid, AuthError> {
    let key = (external.provider, external.profile.subject.as_str());
    let inserted = identities::insert(db, user_id, key, data, state.now()).await;
    inserted.map_err(|error| AuthError::database("Error creating identity", error))
}

/// Links the identity to a signed-in user who has asked for it. A user without an e-mail address takes the
/// provider's.
///
/// # Errors
/// 403 `user_banned`; 422 `user_not_found` or `identity_already_exists`; 400 `email_exists`.
pub(crate) async fn link_identity(
    request: &AuthRequest,
    db: &Transaction<'_>,
    external: &ExternalUser<'_>,
    target: Uuid,
) -> Result<SignInOutcome, AuthError> {
    let user = users::lock_by_id(db, target)
        .await?
        .ok_or(AuthError::LinkTargetNotFound)?;
    if user.is_banned(request.now()) {
        return Err(AuthError::UserBanned);
    }
    let existing = identities::find_by_subject(db, external.provider, &external.profile.subject).await?;
    if let Some(existing) = existing {
        return Err(AuthError::IdentityAlreadyExists(if existing.user_id == target {
            "Identity is already linked"
        } else {
            "Identity is already linked to another user"
        }));
    }
    let data = Value::Object(external.profile.identity_data());
    let identity = insert_identity(&request.state, db, target, external, &data).await?;
    let traits = external.build_identity_traits(identity);
    accounts::log_user_action(request, db, &user, Action::IdentityLinked, traits).await?;
    after_commit::record_identity_change(request, user.id, MailKind::IdentityLinked, external.provider);
    users::refresh_providers(db, target).await?;
    if user.email.is_empty() {
        return adopt_provider_email(request, db, external, &user).await;
    }
    Ok(SignInOutcome::Allowed(target))
}

/// Gives a user without an address that of the provider. An anonymous user becomes permanent once it is verified; for
/// an unverified address a confirmation is mailed, and the link is kept.
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
    let moved = identities::set_email_from_identity(db, user.id, &address, true, now).await;
    moved.map_err(AuthError::from).map_err(map_duplicate_email)?;
    if is_verified {
        users::confirm_email(db, user.id, now).await?;
        identities::make_permanent(db, user.id, now).await?;
        return Ok(SignInOutcome::Allowed(user.id));
    }
    let user = accounts::reload_user(db, user.id).await?;
    mailer::send_confirmation(request, db, &user, None).await?;
    let provider = external.provider;
    Ok(SignInOutcome::Refused(AuthError::LinkedEmailNotConfirmed(
        format!(
            "Unverified email with {provider}. A confirmation email has been sent to your {provider} email"
        ),
    )))
}

/// Accepts an invitation, if the invited address is among those of the provider, and confirms the address.
///
/// # Errors
/// 404 `invite_not_found`, 400 `validation_failed` for another address.
pub(crate) async fn accept_invitation(
    request: &AuthRequest,
    db: &Transaction<'_>,
    external: &ExternalUser<'_>,
    invite_token: &str,
) -> Result<SignInOutcome, AuthError> {
    let user = find_invited_user(db, invite_token)
        .await?
        .ok_or(AuthError::InviteNotFound)?;
    // Without this check anybody with the invitation's link could accept it with an account of their own.
    let knows_address = external
        .profile
        .emails
        .iter()
        .filter_map(|email| parse_email(&email.address).ok())
        .any(|address| address == user.email);
    if !knows_address {
        return Err(AuthError::invalid(
            "Invited email does not match emails from external provider",
        ));
    }
    let now = request.now();
    let data = Value::Object(external.profile.identity_data());
    let identity = insert_identity(&request.state, db, user.id, external, &data).await?;
    accounts::log_user_action(
        request,
        db,
        &user,
        Action::InviteAccepted,
        json!({ "provider": external.provider }),
    )
    .await?;
    identities::reset_unverified_user(db, user.id, identity, &data, now).await?;
    users::refresh_providers(db, user.id).await?;
    users::confirm_email(db, user.id, now).await?;
    Ok(SignInOutcome::Allowed(user.id))
}

/// The user whom an invitation token belongs to, with their row locked; `None` for an unknown or used token.
pub(crate) async fn find_invited_user(
    db: &impl GenericClient,
    invite_token: &str,
) -> Result<Option<User>, AuthError> {
    // The token of an invitation link is the stored hash itself, so it is compared as it is.
    let hashes = [invite_token.to_owned()];
    match one_time_tokens::find_owner(db, VerifyType::Invite, &hashes, None).await? {
        Some(id) => Ok(users::lock_by_id(db, id).await?),
        None => Ok(None),
    }
}

/// Unlinks an identity from a user, who must have another one left. `user` is the locked row.
///
/// # Errors
/// 422 `single_identity_not_deletable`, `identity_not_found` or `email_conflict_identity_not_deletable`.
pub(crate) async fn unlink_identity(
    request: &AuthRequest,
    db: &Transaction<'_>,
    user: &User,
    identity_id: Uuid,
) -> Result<(), AuthError> {
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
    after_commit::record_identity_change(request, user.id, MailKind::IdentityUnlinked, &gone.provider);
    identities::delete(db, gone.id).await?;
    let now = request.now();
    if gone.provider == "phone" {
        identities::clear_phone(db, user.id, now).await?;
    // The user's e-mail address must belong to a remaining identity; otherwise its former owner could still sign in
    // by a mailed link.
    } else if !rest.iter().any(|identity| identity.email == user.email) {
        adopt_email_of_identity(&request.state, db, user, &rest).await?;
    }
    users::refresh_providers(db, user.id).await?;
    Ok(())
}

/// Replaces the user's address by that of the first remaining identity whose address no other user has. The list is
/// in order of preference: verified addresses first.
///
/// # Errors
/// 422 `email_conflict_identity_not_deletable` when there is none.
async fn adopt_email_of_identity(
    state: &AuthState,
    db: &Transaction<'_>,
    user: &User,
    rest: &[Identity],
) -> Result<(), AuthError> {
    for identity in rest {
        if !identity.email.is_empty()
            && users::is_email_taken(db, &identity.email, &user.aud, user.id).await?
        {
            continue;
        }
        let is_confirmed =
            !identity.email.is_empty() && (identity.is_email_verified || state.config.email.autoconfirm);
        let moved =
            identities::set_email_from_identity(db, user.id, &identity.email, is_confirmed, state.now())
                .await;
        return moved.map_err(|error| {
            let error = AuthError::from(error);
            if error.is_duplicate_email() {
                AuthError::EmailConflict
            } else {
                error
            }
        });
    }
    Err(AuthError::EmailConflict)
}

/// Maps a unique violation: another user has registered the address since it was checked.
fn map_duplicate_email(error: AuthError) -> AuthError {
    if error.is_duplicate_email() {
        AuthError::EmailExistsOnLink
    } else {
        error
    }
}

/// The 500 for a row that this transaction has just read or written and cannot find again.
fn report_missing_row() -> AuthError {
    AuthError::internal(
        UNEXPECTED,
        Fault::Other("a row is missing inside the transaction that locked it"),
    )
}
