//! What a sign-in by way of a provider does to users and identities. Source: Auth contract §8.2, §2.10, §8.3.
//!
//! Everything runs in the caller's transaction. A refusal whose effects are kept (an unproven address: the account is there,
//! its confirmation is mailed) is an [`Admission`], not an error: the caller commits, then refuses.

use deadpool_postgres::{GenericClient, Transaction};
use selvedge_mail::MailKind;
use serde_json::{Value, json};
use uuid::Uuid;

use crate::accounts::{self, SAVING_FAILED};
use crate::aftermath;
use crate::error::{AuthError, Fault, UNEXPECTED};
use crate::letters;
use crate::machine::linking::{Decision, decide};
use crate::machine::verify::VerifyType;
use crate::providers::Profile;
use crate::request::RequestInfo;
use crate::rules::address::parse_email;
use crate::state::AuthState;
use crate::store::audit::Action;
use crate::store::identities::{self, Identity};
use crate::store::one_time_tokens;
use crate::store::users::{self, NewUser};
use crate::user::{User, timestamp};

/// Somebody at the door.
#[derive(Debug)]
pub(crate) struct Visitor<'a> {
    /// `google`, `custom:…`, `web3`.
    pub(crate) provider: &'a str,
    pub(crate) profile: &'a Profile,
    /// Whether a person without an address is let in.
    pub(crate) email_optional: bool,
}

/// Whether they may come in. Both outcomes are to be committed.
#[derive(Debug)]
pub(crate) enum Admission {
    Granted(Uuid),
    Refused(AuthError),
}

impl Visitor<'_> {
    /// Traits of an audit entry.
    fn traits(&self, identity: Uuid) -> Value {
        json!({ "identity_id": identity, "provider": self.provider, "provider_id": self.profile.subject })
    }

    /// The address that stands for the person, as we store addresses; one that is none is left out.
    fn address(&self) -> Option<(String, bool)> {
        let email = self.profile.email()?;
        let address = parse_email(&email.address).ok()?;
        Some((address, email.verified))
    }

    fn proven_addresses(&self) -> Vec<String> {
        let emails = self.profile.emails.iter().filter(|email| email.verified);
        emails
            .filter_map(|email| parse_email(&email.address).ok())
            .collect()
    }
}

/// Finds or makes the account of a visitor, and decides whether they may enter.
pub(crate) async fn admit(
    state: &AuthState,
    db: &Transaction<'_>,
    info: &RequestInfo,
    visitor: &Visitor<'_>,
) -> Result<Admission, AuthError> {
    let proven = visitor.proven_addresses();
    let (address, is_verified) = visitor.address().unwrap_or_default();
    let (provider, subject) = (visitor.provider, visitor.profile.subject.as_str());
    let known = identities::find_known(db, provider, subject, &proven, &address, &info.audience).await?;
    let data = Value::Object(visitor.profile.identity_data());
    let now = state.now();
    let decision = decide(&known, !proven.is_empty());
    let (user_id, identity) = match decision {
        Decision::SignIn(user_id) => {
            let identity = identities::find_by_subject(db, provider, subject).await?;
            let identity = identity.ok_or_else(vanished)?.id;
            identities::renew(db, identity, &data, now).await?;
            users::merge_user_metadata(db, user_id, &data, now).await?;
            users::refresh_providers(db, user_id).await?;
            (user_id, identity)
        }
        Decision::Link(user_id) => {
            let identity = insert_identity(state, db, user_id, visitor, &data).await?;
            users::merge_user_metadata(db, user_id, &data, now).await?;
            users::refresh_providers(db, user_id).await?;
            let user = accounts::get(db, user_id).await?;
            let traits = visitor.traits(identity);
            accounts::log_with(state, db, info, &user, Action::IdentityLinked, traits).await?;
            aftermath::identity_changed(info, user.id, MailKind::IdentityLinked, visitor.provider);
            (user_id, identity)
        }
        Decision::Create | Decision::CreateWithoutAddress => {
            let email = if decision == Decision::Create {
                address.as_str()
            } else {
                ""
            };
            create(state, db, info, visitor, email, &data).await?
        }
        Decision::Ambiguous => {
            let text =
                "Multiple accounts with the same email address in the same linking domain detected: default";
            return Err(AuthError::internal(
                text,
                Fault::Other("an address stands for several users"),
            ));
        }
    };
    let user = users::lock_by_id(db, user_id).await?.ok_or_else(vanished)?;
    if user.is_banned(now) {
        return Err(AuthError::UserBanned);
    }
    enter(state, db, info, visitor, &user, identity, is_verified).await
}

/// Lets a confirmed user in; confirms the others by what the provider has proven, or asks for a proof.
async fn enter(
    state: &AuthState,
    db: &Transaction<'_>,
    info: &RequestInfo,
    visitor: &Visitor<'_>,
    user: &User,
    identity: Uuid,
    is_verified: bool,
) -> Result<Admission, AuthError> {
    let traits = json!({ "provider": visitor.provider });
    let has_address = !user.email.is_empty() || visitor.address().is_some();
    let needs_none = visitor.provider == "web3" || (visitor.email_optional && !has_address);
    if needs_none || user.is_confirmed() {
        accounts::log_with(state, db, info, user, Action::Login, traits).await?;
        return Ok(Admission::Granted(user.id));
    }
    let now = state.now();
    if user.phone_confirmed_at.is_none() {
        let data = Value::Object(visitor.profile.identity_data());
        identities::take_over(db, user.id, identity, &data, now).await?;
        users::refresh_providers(db, user.id).await?;
    }
    if is_verified || state.config.email.autoconfirm {
        accounts::log_with(state, db, info, user, Action::UserSignedUp, traits).await?;
        users::confirm_email(db, user.id, now).await?;
        return Ok(Admission::Granted(user.id));
    }
    let provider = visitor.provider;
    let message = if user.email.is_empty() {
        format!("Unverified email with {provider}. Verify the email with {provider} in order to sign in")
    } else {
        letters::send_confirmation(state, db, info, user, None).await?;
        format!(
            "Unverified email with {provider}. A confirmation email has been sent to your {provider} email"
        )
    };
    Ok(Admission::Refused(AuthError::ProviderEmailNeedsVerification(
        message,
    )))
}

async fn create(
    state: &AuthState,
    db: &Transaction<'_>,
    info: &RequestInfo,
    visitor: &Visitor<'_>,
    email: &str,
    data: &Value,
) -> Result<(Uuid, Uuid), AuthError> {
    if state.config.disable_signup {
        return Err(AuthError::SignupDisabled);
    }
    let now = state.now();
    let saving = |error: tokio_postgres::Error| AuthError::database(SAVING_FAILED, error);
    let user = NewUser {
        id: Uuid::new_v4(),
        aud: &info.audience,
        email,
        phone: "",
        encrypted_password: "",
        app_metadata: json!({ "provider": visitor.provider, "providers": [visitor.provider] }),
        // Triggers of projects read names and pictures at the INSERT.
        user_metadata: data.clone(),
        is_anonymous: false,
        invited_at: None,
    };
    let shown = json!({
        "id": user.id, "aud": info.audience, "role": "", "email": email, "phone": "",
        "app_metadata": user.app_metadata, "user_metadata": data,
        "identities": [{
            "provider": visitor.provider, "id": visitor.profile.subject, "user_id": user.id, "identity_data": data,
        }],
        "created_at": timestamp(now), "updated_at": timestamp(now), "is_anonymous": false,
    });
    accounts::ask_before_creation(state, db, info, shown).await?;
    users::insert(db, &user, now).await.map_err(saving)?;
    let identity = insert_identity(state, db, user.id, visitor, data).await?;
    users::finish_new_user(db, user.id, &state.config.default_role, now)
        .await
        .map_err(saving)?;
    aftermath::user_was_created(info, &accounts::get(db, user.id).await?);
    Ok((user.id, identity))
}

async fn insert_identity(
    state: &AuthState,
    db: &Transaction<'_>,
    user_id: Uuid,
    visitor: &Visitor<'_>,
    data: &Value,
) -> Result<Uuid, AuthError> {
    let key = (visitor.provider, visitor.profile.subject.as_str());
    let inserted = identities::insert(db, user_id, key, data, state.now()).await;
    inserted.map_err(|error| AuthError::database("Error creating identity", error))
}

/// Gives the visitor's identity to a user who asked for it.
pub(crate) async fn link(
    state: &AuthState,
    db: &Transaction<'_>,
    info: &RequestInfo,
    visitor: &Visitor<'_>,
    target: Uuid,
) -> Result<Admission, AuthError> {
    let user = users::lock_by_id(db, target)
        .await?
        .ok_or(AuthError::LinkTargetNotFound)?;
    if user.is_banned(state.now()) {
        return Err(AuthError::UserBanned);
    }
    let existing = identities::find_by_subject(db, visitor.provider, &visitor.profile.subject).await?;
    if let Some(existing) = existing {
        return Err(AuthError::IdentityAlreadyExists(if existing.user_id == target {
            "Identity is already linked"
        } else {
            "Identity is already linked to another user"
        }));
    }
    let data = Value::Object(visitor.profile.identity_data());
    let identity = insert_identity(state, db, target, visitor, &data).await?;
    let traits = visitor.traits(identity);
    accounts::log_with(state, db, info, &user, Action::IdentityLinked, traits).await?;
    aftermath::identity_changed(info, user.id, MailKind::IdentityLinked, visitor.provider);
    users::refresh_providers(db, target).await?;
    if user.email.is_empty() {
        return take_email(state, db, info, visitor, &user).await;
    }
    Ok(Admission::Granted(target))
}

/// A user without an address takes the provider's; an anonymous one becomes permanent, once it is proven.
async fn take_email(
    state: &AuthState,
    db: &Transaction<'_>,
    info: &RequestInfo,
    visitor: &Visitor<'_>,
    user: &User,
) -> Result<Admission, AuthError> {
    let now = state.now();
    let Some((address, is_verified)) = visitor.address() else {
        identities::end_anonymity(db, user.id, now).await?;
        return Ok(Admission::Granted(user.id));
    };
    if users::is_email_taken(db, &address, &user.aud, user.id).await? {
        return Err(AuthError::EmailExistsOnLink);
    }
    let moved = identities::move_email(db, user.id, &address, true, now).await;
    moved.map_err(AuthError::from).map_err(taken_meanwhile)?;
    if is_verified {
        users::confirm_email(db, user.id, now).await?;
        identities::end_anonymity(db, user.id, now).await?;
        return Ok(Admission::Granted(user.id));
    }
    let user = accounts::get(db, user.id).await?;
    letters::send_confirmation(state, db, info, &user, None).await?;
    let provider = visitor.provider;
    Ok(Admission::Refused(AuthError::LinkedEmailNotConfirmed(format!(
        "Unverified email with {provider}. A confirmation email has been sent to your {provider} email"
    ))))
}

/// Lets an invited user in by the provider, if that knows the invited address.
pub(crate) async fn accept_invite(
    state: &AuthState,
    db: &Transaction<'_>,
    info: &RequestInfo,
    visitor: &Visitor<'_>,
    invite_token: &str,
) -> Result<Admission, AuthError> {
    let user = find_invited(db, invite_token)
        .await?
        .ok_or(AuthError::InviteNotFound)?;
    let knows_address = visitor
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
    let now = state.now();
    let data = Value::Object(visitor.profile.identity_data());
    let identity = insert_identity(state, db, user.id, visitor, &data).await?;
    accounts::log_with(
        state,
        db,
        info,
        &user,
        Action::InviteAccepted,
        json!({ "provider": visitor.provider }),
    )
    .await?;
    identities::take_over(db, user.id, identity, &data, now).await?;
    users::refresh_providers(db, user.id).await?;
    users::confirm_email(db, user.id, now).await?;
    Ok(Admission::Granted(user.id))
}

/// Whom an invitation is for.
pub(crate) async fn find_invited(
    db: &impl GenericClient,
    invite_token: &str,
) -> Result<Option<User>, AuthError> {
    let hashes = [invite_token.to_owned()];
    match one_time_tokens::find_owner(db, VerifyType::Invite, &hashes, None).await? {
        Some(id) => Ok(users::lock_by_id(db, id).await?),
        None => Ok(None),
    }
}

/// Takes an identity from a user; the rest must still be able to sign in.
pub(crate) async fn unlink(
    state: &AuthState,
    db: &Transaction<'_>,
    info: &RequestInfo,
    user: &User,
    identity_id: Uuid,
) -> Result<(), AuthError> {
    let all = identities::list_of_user(db, user.id).await?;
    if all.len() < 2 {
        return Err(AuthError::SingleIdentity);
    }
    let (gone, rest): (Vec<Identity>, Vec<Identity>) =
        all.into_iter().partition(|identity| identity.id == identity_id);
    let gone = gone.first().ok_or(AuthError::IdentityNotFound)?;
    let traits = json!({
        "identity_id": gone.id, "provider": gone.provider, "provider_id": gone.provider_id,
    });
    accounts::log_with(state, db, info, user, Action::IdentityUnlinked, traits).await?;
    aftermath::identity_changed(info, user.id, MailKind::IdentityUnlinked, &gone.provider);
    identities::delete(db, gone.id).await?;
    let now = state.now();
    if gone.provider == "phone" {
        identities::clear_phone(db, user.id, now).await?;
    } else if !rest.iter().any(|identity| identity.email == user.email) {
        give_email_of(state, db, user, &rest).await?;
    }
    users::refresh_providers(db, user.id).await?;
    Ok(())
}

/// The user's address goes with the identity that carried it; the best of the others takes its place.
async fn give_email_of(
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
        let moved = identities::move_email(db, user.id, &identity.email, is_confirmed, state.now()).await;
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

fn taken_meanwhile(error: AuthError) -> AuthError {
    if error.is_duplicate_email() {
        AuthError::EmailExistsOnLink
    } else {
        error
    }
}

fn vanished() -> AuthError {
    AuthError::internal(UNEXPECTED, Fault::Other("row vanished inside a transaction"))
}
