//! Users and identities at a sign-in by an external provider: find, create, link. Source: Auth contract §8.2, §8.3,
//! §13.
//!
//! Everything runs in the caller's transaction. A refused sign-in whose effects must be kept is an outcome
//! ([`SignInOutcome::Refused`]), not an error, because an error would roll the transaction back: for an
//! unverified address the account is created and a confirmation is mailed, so the caller commits before it
//! responds with the error.

use chrono::{DateTime, Utc};
use deadpool_postgres::{GenericClient, Transaction};
use selvedge_mail::MailKind;
use serde_json::{Value, json};
use uuid::Uuid;

use crate::after_commit;
use crate::error::{AuthError, Fault, UNEXPECTED};
use crate::flows::accounts::{self, map_saving_error};
use crate::flows::confirmations::{is_email_confirmed_by_use, report_forgotten};
use crate::flows::decisions::linking::{AccountDecision, choose_account};
use crate::flows::decisions::verify::{VerifyRules, decide_effect};
use crate::flows::unverified_sign_in::ask_for_proof;
use crate::providers::Profile;
use crate::request::AuthRequest;
use crate::state::AuthState;
use crate::store::audit::Action;
use crate::store::identities::{self, LinkCandidates, LinkSearch};
use crate::store::users::{self, NewUser};
use crate::store::{contested_accounts, one_time_tokens};
use crate::user::{User, VERIFY_NOTHING, format_timestamp};
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
    pub(super) fn build_identity_traits(&self, identity: Uuid) -> Value {
        json!({ "identity_id": identity, "provider": self.provider, "provider_id": self.profile.subject })
    }

    /// The person's primary address in its stored form and whether the provider has verified it; `None` for an invalid
    /// one.
    pub(super) fn primary_address(&self) -> Option<(String, bool)> {
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
    let data = Value::Object(external.profile.identity_data());
    let now = request.now();
    let (known, decision) = decide_account(db, &search, is_verified).await?;
    // An account that nobody has proven, and that the person leaves for another one.
    let left = known
        .owner
        .filter(|_| !matches!(decision, AccountDecision::SignIn(_)));
    let (user_id, identity) = match decision {
        AccountDecision::SignIn(user_id) => (user_id, update_identity(request, db, external, user_id).await?),
        AccountDecision::Link(user_id) | AccountDecision::TakeOver(user_id) => (
            user_id,
            link_verified_identity(request, db, external, (user_id, left)).await?,
        ),
        AccountDecision::Create | AccountDecision::CreateWithoutAddress => {
            let email = if decision == AccountDecision::Create {
                address.as_str()
            } else {
                ""
            };
            create_account(request, db, external, (email, left), &data).await?
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

/// Chooses the account and locks its row. What the choice depends on may have changed before the lock, so it is made again
/// under it.
///
/// # Errors
/// 500 when the accounts change too quickly to choose one.
async fn decide_account(
    db: &Transaction<'_>,
    search: &LinkSearch<'_>,
    is_verified: bool,
) -> Result<(LinkCandidates, AccountDecision), AuthError> {
    const ATTEMPTS: usize = 3;
    let has_verified = !search.verified_emails.is_empty();
    for _ in 0..ATTEMPTS {
        let known = identities::find_link_candidates(db, search).await?;
        let decision = choose_account(&known, has_verified, is_verified);
        let (AccountDecision::SignIn(chosen)
        | AccountDecision::Link(chosen)
        | AccountDecision::TakeOver(chosen)) = decision
        else {
            return Ok((known, decision));
        };
        users::lock_by_id(db, chosen).await?;
        let known = identities::find_link_candidates(db, search).await?;
        if choose_account(&known, has_verified, is_verified) == decision {
            return Ok((known, decision));
        }
    }
    let fault = Fault::Other("the accounts of an address change too quickly");
    Err(AuthError::internal(UNEXPECTED, fault))
}

/// Stores what the provider says now about an identity that is known; returns its id.
async fn update_identity(
    request: &AuthRequest,
    db: &Transaction<'_>,
    external: &ExternalUser<'_>,
    user_id: Uuid,
) -> Result<Uuid, AuthError> {
    let (now, data) = (request.now(), Value::Object(external.profile.identity_data()));
    let identity = identities::find_by_subject(db, external.provider, &external.profile.subject).await?;
    let identity = identity.ok_or_else(report_missing_row)?.id;
    identities::update_data(db, identity, &data, now).await?;
    users::merge_user_metadata(db, user_id, &data, now).await?;
    users::refresh_providers(db, user_id).await?;
    Ok(identity)
}

/// Takes the identity from an account that nobody has proven to own: its address was only a claim, and the person has a
/// verified address now, which leads elsewhere.
async fn leave_unproven_account(
    db: &Transaction<'_>,
    external: &ExternalUser<'_>,
    owner: Option<Uuid>,
) -> Result<(), AuthError> {
    let Some(owner) = owner else {
        return Ok(());
    };
    // The hook `before_user_created` has ended the transaction in which the account was unproven.
    let user = users::lock_by_id(db, owner).await?;
    if !user.is_some_and(|user| contested_accounts::is_unproven(&user)) {
        let fault = Fault::Other("the accounts of an address change too quickly");
        return Err(AuthError::internal(UNEXPECTED, fault));
    }
    let identity = identities::find_by_subject(db, external.provider, &external.profile.subject).await?;
    identities::delete(db, identity.ok_or_else(report_missing_row)?.id).await?;
    Ok(users::refresh_providers(db, owner).await?)
}

/// Message when several users have the address, as upstream words it.
const SEVERAL_ACCOUNTS: &str =
    "Multiple accounts with the same email address in the same linking domain detected: default";

/// Links the identity to the user whose address the provider has verified; returns the identity's id. `left` is the unproven
/// account that has had it so far.
async fn link_verified_identity(
    request: &AuthRequest,
    db: &Transaction<'_>,
    external: &ExternalUser<'_>,
    (user_id, left): (Uuid, Option<Uuid>),
) -> Result<Uuid, AuthError> {
    leave_unproven_account(db, external, left).await?;
    let data = Value::Object(external.profile.identity_data());
    let identity = insert_identity(&request.state, db, user_id, external, &data).await?;
    users::merge_user_metadata(db, user_id, &data, request.now()).await?;
    users::refresh_providers(db, user_id).await?;
    let user = accounts::reload_user(db, user_id).await?;
    let traits = external.build_identity_traits(identity);
    accounts::log_user_action(request, db, &user, Action::IdentityLinked, traits).await?;
    after_commit::record_identity_change(request, &user, MailKind::IdentityLinked, external.provider);
    Ok(identity)
}

/// Signs a confirmed user in. An unconfirmed user is confirmed by an address that the provider has verified;
/// otherwise a confirmation is mailed and the sign-in refused.
///
/// An unconfirmed account may have been registered by somebody who does not own the address. Everything that could sign
/// that other person in is removed before the owner is let in. An account that somebody has used is its user's own: there
/// only the unproven address goes.
async fn check_confirmation(
    request: &AuthRequest,
    db: &Transaction<'_>,
    external: &ExternalUser<'_>,
    user: &User,
    (identity, is_verified): (Uuid, bool),
) -> Result<SignInOutcome, AuthError> {
    let traits = json!({ "provider": external.provider });
    let address = external
        .primary_address()
        .map(|(address, _)| address)
        .unwrap_or_default();
    // An address that an account in use only claims does not keep its user out.
    let has_email = !user.email.is_empty() && !user.only_claims_email();
    let has_address = has_email || !address.is_empty();
    let needs_none = external.provider == "web3" || (external.email_optional && !has_address);
    if needs_none || user.is_confirmed() {
        accounts::log_user_action(request, db, user, Action::Login, traits).await?;
        return Ok(SignInOutcome::Allowed(user.id));
    }
    let now = request.now();
    if !user.is_phone_confirmed() && user.last_sign_in_at.is_none() {
        let data = Value::Object(external.profile.identity_data());
        let forgotten = identities::reset_unverified_user(db, user.id, identity, &data, now).await?;
        if is_verified {
            report_forgotten(request, user, forgotten);
        }
        users::refresh_providers(db, user.id).await?;
    }
    if is_verified {
        accounts::log_user_action(request, db, user, Action::UserSignedUp, traits).await?;
        give_verified_address(db, user, &address, now).await?;
        return Ok(SignInOutcome::Allowed(user.id));
    }
    // An account that this sign-in has made without an address, because another one has it, is no use to anybody where the provider
    // can never verify the address: its user has that other account, and links the provider there.
    let has_other_account = VERIFY_NOTHING.contains(&external.provider)
        && (user.email.is_empty() && !address.is_empty() && contested_accounts::is_unproven(user));
    if request.config().email.autoconfirm && !has_other_account {
        accounts::log_user_action(request, db, user, Action::UserSignedUp, traits).await?;
        // The project has chosen that addresses need no proof. It may not be the one that the provider names now.
        if is_email_confirmed_by_use(request, db, user).await? {
            users::confirm_email(db, user.id, &user.email.to_lowercase(), now).await?;
        }
        return Ok(SignInOutcome::Allowed(user.id));
    }
    let refusal = ask_for_proof(request, db, external.provider, user, &address).await?;
    Ok(SignInOutcome::Refused(refusal))
}

/// Makes an address (in lowercase) that the provider has verified the confirmed address of a user who has none. Where
/// another user has confirmed it, the user stays without an address.
pub(super) async fn give_verified_address(
    db: &Transaction<'_>,
    user: &User,
    address: &str,
    now: DateTime<Utc>,
) -> Result<(), AuthError> {
    if user.email.to_lowercase() == address {
        users::confirm_email(db, user.id, address, now).await?;
        return Ok(());
    }
    let is_taken = users::is_email_taken(db, address, &user.aud, user.id).await?;
    let (email, is_confirmed) = if is_taken { ("", false) } else { (address, true) };
    let moved = identities::set_email_from_identity(db, user.id, email, is_confirmed, now).await;
    moved.map_err(AuthError::from).map_err(map_duplicate_email)?;
    if is_confirmed {
        users::confirm_email(db, user.id, address, now).await?;
        identities::make_permanent(db, user.id, now).await?;
    }
    Ok(())
}

/// Creates user and identity; returns both ids. `email` is empty when another user has the address; `left` is the unproven
/// account that has had the identity so far. Nothing is written before the hook, which commits.
///
/// # Errors
/// 422 `signup_disabled`, and what the hook `before_user_created` refuses with.
async fn create_account(
    request: &AuthRequest,
    db: &Transaction<'_>,
    external: &ExternalUser<'_>,
    (email, left): (&str, Option<Uuid>),
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
    leave_unproven_account(db, external, left).await?;
    let verified = external.verified_addresses();
    if verified.iter().any(|verified| verified == email) {
        users::release_email(db, email, user.id).await?;
    // Wallets name no address, and open their accounts at once.
    } else if external.provider != "web3" {
        identities::note_unproven_sign_in(db, user.id, now).await?;
    }
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
pub(super) async fn insert_identity(
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

/// Accepts an invitation, if the provider has verified that the invited address is the person's, and confirms the address.
///
/// # Errors
/// 404 `invite_not_found`, also for an expired invitation; 400 `validation_failed` for another address; 403
/// `user_banned`; 422 `identity_already_exists`.
pub(crate) async fn accept_invitation(
    request: &AuthRequest,
    db: &Transaction<'_>,
    external: &ExternalUser<'_>,
    invite_token: &str,
) -> Result<SignInOutcome, AuthError> {
    let user = find_invited_user(request, db, invite_token)
        .await?
        .ok_or(AuthError::InviteNotFound)?;
    let now = request.now();
    if user.is_banned(now) {
        return Err(AuthError::UserBanned);
    }
    // Without this check anybody with the invitation's link could accept it with an account of their own.
    let address = user.email.to_lowercase();
    if !external.verified_addresses().contains(&address) {
        return Err(AuthError::invalid(
            "Invited email does not match emails from external provider",
        ));
    }
    let known = identities::find_by_subject(db, external.provider, &external.profile.subject).await?;
    if known.is_some() {
        return Err(AuthError::IdentityAlreadyExists(
            "Identity is already linked to another user",
        ));
    }
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
    let forgotten = identities::reset_unverified_user(db, user.id, identity, &data, now).await?;
    report_forgotten(request, &user, forgotten);
    users::refresh_providers(db, user.id).await?;
    users::confirm_email(db, user.id, &address, now).await?;
    Ok(SignInOutcome::Allowed(user.id))
}

/// The user whom an invitation token belongs to, with their row locked; `None` for an unknown, used or expired token. An
/// invitation is valid as long by a provider as by its link.
pub(crate) async fn find_invited_user(
    request: &AuthRequest,
    db: &impl GenericClient,
    invite_token: &str,
) -> Result<Option<User>, AuthError> {
    let owner = one_time_tokens::find_owner(db, VerifyType::Invite, invite_token).await?;
    let Some(id) = owner else {
        return Ok(None);
    };
    let user = users::lock_by_id(db, id).await?;
    let rules = VerifyRules::new(request.config());
    let is_valid = |user: &User| {
        decide_effect(
            VerifyType::Invite,
            invite_token,
            &user.tokens,
            rules,
            request.now(),
        )
        .is_some()
    };
    Ok(user.filter(is_valid))
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
