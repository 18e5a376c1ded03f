//! Sign-up by e-mail or phone and password, and anonymous sign-in.
//!
//! As long as addresses must be confirmed, the outcome for a registered address looks like that for a new one, so that
//! the response does not reveal which addresses are registered. Source: Auth contract §2.3, AUTH-004 to AUTH-007,
//! AUTH-030 to AUTH-037.

use deadpool_postgres::Transaction;
use serde::Deserialize;
use serde_json::{Map, Value, json};
use uuid::Uuid;

use crate::crypto::pkce::CodeChallenge;
use crate::error::AuthError;
use crate::flows::accounts::{self, Account, log_user_action as log};
use crate::flows::confirmations::{Proof, forget_contested_credentials, report_forgotten};
use crate::flows::decisions::signup::{ExistingUser, SignupStep, choose_signup_step};
use crate::flows::sign_in::{TokenPair, start_session};
use crate::flows::unanswered_requests::{Recipient, count_unanswered};
use crate::mailer;
use crate::protection::captcha::Captcha;
use crate::protection::leaked_passwords;
use crate::request::{AuthRequest, read_new_metadata, read_text};
use crate::sms::{self, Channel, CodePurpose, TextCode};
use crate::state::AuthState;
use crate::state::rate_limits::LimitedEndpoint;
use crate::store::audit::Action;
use crate::store::{contested_accounts, phones, users};
use crate::user::User;
use crate::validation::address::{parse_email, parse_phone};

/// Body of `POST /signup`: `{email, password}` or `{phone, password}`, or neither address for an anonymous user.
/// `data` becomes `user_metadata`; `channel` (`sms` or `whatsapp`) counts for phones only.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(crate) struct SignUpBody {
    #[serde(deserialize_with = "read_text")]
    pub(crate) email: String,
    #[serde(deserialize_with = "read_text")]
    pub(crate) phone: String,
    #[serde(deserialize_with = "read_text")]
    pub(crate) password: String,
    #[serde(deserialize_with = "read_new_metadata")]
    pub(crate) data: Map<String, Value>,
    #[serde(deserialize_with = "read_text")]
    pub(crate) channel: String,
    #[serde(deserialize_with = "read_text")]
    pub(crate) code_challenge: String,
    #[serde(deserialize_with = "read_text")]
    pub(crate) code_challenge_method: String,
    pub(crate) gotrue_meta_security: Captcha,
}

/// The body after validation, with the address in its stored form.
#[derive(Clone)]
pub(crate) struct SignUp {
    /// Empty for a sign-up by phone.
    pub(crate) email: String,
    /// Empty for a sign-up by e-mail.
    pub(crate) phone: String,
    pub(crate) channel: Channel,
    pub(crate) password: String,
    pub(crate) data: Map<String, Value>,
    pub(crate) challenge: Option<CodeChallenge>,
}

/// How a sign-up ended.
pub(crate) enum SignUpOutcome {
    /// The address needs no confirmation: the user is signed in.
    Session(Box<TokenPair>),
    /// The user exists, and a confirmation was sent.
    AwaitsConfirmation(Box<User>),
    /// The address is registered already, which the response must not reveal.
    AlreadyRegistered(Box<SignUp>),
}

/// Signs a user up by e-mail or phone and password.
///
/// # Errors
/// Those of [`check_sign_up`]; 422 `user_already_exists`; 429 `over_email_send_rate_limit` or
/// `over_sms_send_rate_limit`; 500 "Database error saving new user" when a trigger of the project raises; the
/// error that the hook `before_user_created` returns.
pub(crate) async fn sign_up(request: &AuthRequest, body: SignUpBody) -> Result<SignUpOutcome, AuthError> {
    let sign_up = check_sign_up(&request.state, body).await?;
    match register_user(request, &sign_up).await {
        // Of two sign-ups of one address at once, the slower one violates the unique index. Its second attempt finds
        // the user of the faster one and responds as for a registered address; upstream responds 500.
        Err(error) if error.is_duplicate_email() || error.is_duplicate_phone() => {
            register_user(request, &sign_up).await
        }
        result => result,
    }
}

/// Validates the body in the contract's order.
///
/// # Errors
/// 400 `validation_failed`, `email_provider_disabled` or `phone_provider_disabled`; 422 `signup_disabled` or
/// `weak_password`.
async fn check_sign_up(state: &AuthState, body: SignUpBody) -> Result<SignUp, AuthError> {
    if state.config.disable_signup {
        return Err(AuthError::SignupDisabled);
    }
    if body.password.is_empty() {
        return Err(AuthError::invalid("Signup requires a valid password"));
    }
    leaked_passwords::check_new_password(state, &body.password).await?;
    if !body.email.is_empty() && !body.phone.is_empty() {
        return Err(AuthError::invalid(
            "Only an email address or phone number should be provided on signup.",
        ));
    }
    let challenge = CodeChallenge::parse(&body.code_challenge, &body.code_challenge_method)?;
    let (email, phone) = if body.phone.is_empty() {
        if !state.config.email.enabled {
            return Err(AuthError::EmailProviderDisabled {
                status: 400,
                text: "Email signups are disabled",
            });
        }
        (parse_email(&body.email)?, String::new())
    } else {
        if challenge.is_some() {
            return Err(AuthError::invalid("PKCE not supported for phone signups"));
        }
        if !state.config.phone.enabled {
            return Err(AuthError::PhoneProviderDisabled {
                status: 400,
                text: "Phone signups are disabled",
            });
        }
        (String::new(), parse_phone(&body.phone)?)
    };
    let channel = match phone.is_empty() {
        true => Channel::Sms,
        false => Channel::parse(&body.channel, state)?,
    };
    Ok(SignUp {
        email,
        phone,
        channel,
        password: body.password,
        data: body.data,
        challenge,
    })
}

impl SignUp {
    pub(crate) fn is_by_phone(&self) -> bool {
        self.email.is_empty()
    }

    fn recipient(&self) -> Recipient<'_> {
        match self.is_by_phone() {
            true => Recipient::Phone(&self.phone),
            false => Recipient::Email(&self.email),
        }
    }

    /// Whether the address belongs to nobody, to an unconfirmed user, or to a confirmed one.
    fn classify_existing_user(&self, existing: Option<&User>) -> ExistingUser {
        let is_confirmed = |user: &User| match self.is_by_phone() {
            true => user.is_phone_confirmed(),
            false => user.is_confirmed(),
        };
        match existing {
            None => ExistingUser::Nobody,
            // Another account has proven the address at a provider. It is registered, and no mail may go to that account.
            Some(user) if !self.is_by_phone() && user.email.to_lowercase() != self.email => {
                ExistingUser::Confirmed
            }
            Some(user) if is_confirmed(user) => ExistingUser::Confirmed,
            Some(_) => ExistingUser::Unconfirmed,
        }
    }

    /// Traits of the audit entry: the provider, `email` or `phone`.
    fn build_traits(&self) -> Value {
        json!({ "provider": if self.is_by_phone() { "phone" } else { "email" } })
    }

    /// Traits of the audit entry for an address that is confirmed at once; those of a phone also name the channel.
    fn build_confirmed_traits(&self) -> Value {
        let mut traits = self.build_traits();
        if self.is_by_phone() {
            traits["channel"] = json!(self.channel.as_str());
        }
        traits
    }

    /// Marks the user's address as confirmed, for autoconfirm.
    async fn confirm_address(
        &self,
        state: &AuthState,
        db: &Transaction<'_>,
        user_id: Uuid,
    ) -> Result<(), AuthError> {
        if self.is_by_phone() {
            phones::confirm_phone(db, user_id, &self.phone, state.now()).await?;
        } else {
            users::confirm_email(db, user_id, &self.email, state.now()).await?;
        }
        Ok(())
    }
}

/// Looks the address up and performs the step that `decisions::signup` chooses. May be repeated: a failed attempt
/// changes nothing.
///
/// # Errors
/// See [`sign_up()`]; a unique violation when another request has registered the address since the look-up.
async fn register_user(request: &AuthRequest, sign_up: &SignUp) -> Result<SignUpOutcome, AuthError> {
    let existing = {
        let client = request.connect().await?;
        if sign_up.is_by_phone() {
            phones::find_registered(&client, &sign_up.phone, &request.info.audience).await?
        } else {
            users::find_registered(&client, &sign_up.email, &request.info.audience).await?
        }
    };
    // The look-up is not locked. A concurrent sign-up is detected by the unique index at the INSERT.
    let kind = sign_up.classify_existing_user(existing.as_ref());
    let password = handle_password(request, sign_up, existing.as_ref()).await?;
    let (email, phone) = (&request.config().email, &request.config().phone);
    // Compat: under autoconfirm of either kind taken addresses are revealed, as with upstream.
    let hides_registered = !(email.autoconfirm || phone.enabled && phone.autoconfirm);
    let autoconfirm = if sign_up.is_by_phone() {
        phone.autoconfirm
    } else {
        email.autoconfirm
    };
    match (choose_signup_step(kind, autoconfirm, hides_registered), existing) {
        (SignupStep::CreateConfirmed, _) => create_confirmed_user(request, sign_up, &password).await,
        (SignupStep::ConfirmWithPassword, Some(user)) => {
            confirm_with_password(request, sign_up, &user, &password).await
        }
        (SignupStep::RefuseTaken, Some(user)) => {
            log_repeated(request, sign_up, &user).await?;
            Err(AuthError::UserAlreadyExists)
        }
        (SignupStep::RespondWithDecoy, Some(user)) => {
            log_repeated(request, sign_up, &user).await?;
            // A sign-up of an unregistered address sends a mail, and a repeated one gets a 429. This request sends
            // none but must be limited likewise, or the missing 429 would reveal that the address is registered.
            let client = request.connect().await?;
            count_unanswered(request, &client, LimitedEndpoint::Signup, sign_up.recipient()).await?;
            Ok(SignUpOutcome::AlreadyRegistered(Box::new(sign_up.clone())))
        }
        (_, existing) => create_or_mail_again(request, sign_up, existing, &password).await,
    }
}

/// The password of a sign-up beside that of the account.
enum SignUpPassword {
    /// Its hash: there is no account with a password that the sign-up could confirm.
    Hashed(String),
    /// The account waits for its confirmation, and this is whether its password is that of the sign-up.
    Compared { is_same: bool },
}

impl SignUpPassword {
    fn is_same(&self) -> bool {
        matches!(self, Self::Compared { is_same: true })
    }

    /// Whether the sign-up's password is that of the locked account, as it was that of the account that was looked up.
    fn is_that_of(&self, locked: &User, known: &User) -> bool {
        self.is_same() && locked.encrypted_password == known.encrypted_password
    }
}

/// Hashes the password, or compares it with that of an account that waits for its confirmation. Both take as long, so that
/// the time of the response does not tell whether an address is registered.
async fn handle_password(
    request: &AuthRequest,
    sign_up: &SignUp,
    existing: Option<&User>,
) -> Result<SignUpPassword, AuthError> {
    let hasher = &request.state.hasher;
    let is_open = sign_up.classify_existing_user(existing) == ExistingUser::Unconfirmed;
    match existing {
        Some(user) if is_open && !user.encrypted_password.is_empty() => {
            let is_same = hasher.verify(&sign_up.password, &user.encrypted_password).await?;
            Ok(SignUpPassword::Compared { is_same })
        }
        _ => Ok(SignUpPassword::Hashed(hasher.hash(&sign_up.password).await?)),
    }
}

/// Under autoconfirm, creates the user as confirmed and signs in, in one transaction.
async fn create_confirmed_user(
    request: &AuthRequest,
    sign_up: &SignUp,
    password: &SignUpPassword,
) -> Result<SignUpOutcome, AuthError> {
    let mut client = request.connect().await?;
    let db = client.transaction().await?;
    let user = accounts::create_user(request, &db, build_account(sign_up, password)).await?;
    sign_up.confirm_address(&request.state, &db, user.id).await?;
    log(
        request,
        &db,
        &user,
        Action::UserSignedUp,
        sign_up.build_confirmed_traits(),
    )
    .await?;
    log(request, &db, &user, Action::Login, sign_up.build_traits()).await?;
    let tokens = start_session(request, &db, user.id, "password").await?;
    db.commit().await?;
    Ok(SignUpOutcome::Session(Box::new(tokens)))
}

/// Under autoconfirm, confirms an unconfirmed user and signs in, if the password is the stored one. Without that
/// check anybody could take the account over by signing up with its address.
///
/// # Errors
/// 422 `user_already_exists` for a wrong password or a banned user, and for an account that was confirmed, or got another address
/// or password, since the look-up.
async fn confirm_with_password(
    request: &AuthRequest,
    sign_up: &SignUp,
    known: &User,
    password: &SignUpPassword,
) -> Result<SignUpOutcome, AuthError> {
    if !password.is_same() {
        return Err(AuthError::UserAlreadyExists);
    }
    let mut client = request.connect().await?;
    let db = client.transaction().await?;
    let user = lock_unconfirmed(&db, sign_up, known).await?;
    let user = user
        .filter(|user| password.is_that_of(user, known) && !user.is_banned(request.now()))
        .ok_or(AuthError::UserAlreadyExists)?;
    let proof = match sign_up.is_by_phone() {
        true => Proof::Number,
        false => Proof::Email,
    };
    let mut forgotten = forget_contested_credentials(request, &db, (&user, proof)).await?;
    if std::mem::take(&mut forgotten.password) {
        // It is the one that this sign-up has presented.
        users::set_password(&db, user.id, &known.encrypted_password, request.now()).await?;
    }
    report_forgotten(request, &user, forgotten);
    sign_up.confirm_address(&request.state, &db, user.id).await?;
    log(
        request,
        &db,
        &user,
        Action::UserSignedUp,
        sign_up.build_confirmed_traits(),
    )
    .await?;
    log(request, &db, &user, Action::Login, sign_up.build_traits()).await?;
    let tokens = start_session(request, &db, user.id, "password").await?;
    db.commit().await?;
    Ok(SignUpOutcome::Session(Box::new(tokens)))
}

/// Creates the user if there is none, and sends the confirmation. An existing user stays as it is: password and
/// metadata of this request are ignored, because the sender has not proven to own the address. Neither has the first one:
/// with another password the account is contested, and whoever confirms it gets it without a password.
///
/// # Errors
/// 429 `over_email_send_rate_limit` or `over_sms_send_rate_limit`, 500 when the mail cannot be sent.
async fn create_or_mail_again(
    request: &AuthRequest,
    sign_up: &SignUp,
    existing: Option<User>,
    password: &SignUpPassword,
) -> Result<SignUpOutcome, AuthError> {
    let _slot = request.state.acquire_mail_slot().await?;
    let mut client = request.connect().await?;
    let db = client.transaction().await?;
    let user = match existing {
        Some(known) => {
            let Some(user) = lock_unconfirmed(&db, sign_up, &known).await? else {
                return Ok(SignUpOutcome::AlreadyRegistered(Box::new(sign_up.clone())));
            };
            if !password.is_that_of(&user, &known) {
                contested_accounts::contest(&db, &user, request.now()).await?;
            }
            user
        }
        None => accounts::create_user(request, &db, build_account(sign_up, password)).await?,
    };
    log(
        request,
        &db,
        &user,
        Action::ConfirmationRequested,
        sign_up.build_traits(),
    )
    .await?;
    if sign_up.is_by_phone() {
        let (phone, purpose) = (sign_up.phone.as_str(), CodePurpose::Confirmation);
        sms::send_code(
            request,
            &db,
            &user,
            TextCode {
                phone,
                purpose,
                channel: sign_up.channel,
            },
        )
        .await?;
    } else {
        mailer::send_confirmation(request, &db, &user, sign_up.challenge.as_ref()).await?;
    }
    let user = accounts::reload_user(&db, user.id).await?;
    db.commit().await?;
    Ok(SignUpOutcome::AwaitsConfirmation(Box::new(user)))
}

/// Locks the account that waits for its confirmation; `None` when its owner has confirmed it, or come to use it, or it got another
/// address since the look-up.
///
/// # Errors
/// 422 `user_already_exists` when it was deleted since.
async fn lock_unconfirmed(
    db: &Transaction<'_>,
    sign_up: &SignUp,
    known: &User,
) -> Result<Option<User>, AuthError> {
    let user = users::lock_by_id(db, known.id).await?;
    let user = user.ok_or(AuthError::UserAlreadyExists)?;
    let (only_claims, has_address) = match sign_up.is_by_phone() {
        true => (user.only_claims_phone(), user.phone == sign_up.phone),
        false => (
            user.only_claims_email(),
            user.email.to_lowercase() == sign_up.email,
        ),
    };
    let waits = has_address && sign_up.classify_existing_user(Some(&user)) == ExistingUser::Unconfirmed;
    Ok(Some(user).filter(|_| waits && !only_claims))
}

/// The user to be created for this sign-up.
fn build_account<'a>(sign_up: &'a SignUp, password: &'a SignUpPassword) -> Account<'a> {
    let encrypted_password = match password {
        SignUpPassword::Hashed(hash) => hash.as_str(),
        SignUpPassword::Compared { .. } => "",
    };
    Account {
        email: &sign_up.email,
        phone: &sign_up.phone,
        encrypted_password,
        data: sign_up.data.clone(),
        ..Account::default()
    }
}

/// Writes `user_repeated_signup` to the audit log of the existing user.
async fn log_repeated(request: &AuthRequest, sign_up: &SignUp, user: &User) -> Result<(), AuthError> {
    let client = request.connect().await?;
    log(
        request,
        &client,
        user,
        Action::RepeatedSignup,
        sign_up.build_traits(),
    )
    .await
}

/// Creates an anonymous user without addresses or identities and signs in, with `amr` `anonymous`.
///
/// # Errors
/// 422 `anonymous_provider_disabled` or `signup_disabled`, 429 `over_request_rate_limit`.
pub(crate) async fn sign_in_anonymously(
    request: &AuthRequest,
    data: Map<String, Value>,
) -> Result<TokenPair, AuthError> {
    if !request.config().anonymous_users_enabled {
        return Err(AuthError::AnonymousDisabled);
    }
    // Compat: an anonymous sign-in creates a user, so it counts as a sign-up.
    if request.config().disable_signup {
        return Err(AuthError::SignupDisabled);
    }
    request.check_rate_limit(LimitedEndpoint::Anonymous)?;
    let mut client = request.connect().await?;
    let db = client.transaction().await?;
    let user = accounts::create_anonymous_user(request, &db, data).await?;
    let traits = json!({ "provider": "anonymous" });
    log(request, &db, &user, Action::UserSignedUp, traits).await?;
    let tokens = start_session(request, &db, user.id, "anonymous").await?;
    db.commit().await?;
    Ok(tokens)
}
