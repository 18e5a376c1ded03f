//! `POST /signup`: a new user by e-mail or phone and password, or an anonymous one.
//!
//! Answers a bare User while the address is to be confirmed, a session otherwise. Nobody learns from the answer whether an
//! address is registered, as long as addresses must be confirmed. Source: Auth contract §2.3, AUTH-004 to AUTH-007, AUTH-030 to
//! AUTH-037.

use actix_web::{HttpResponse, web};
use deadpool_postgres::Transaction;
use serde::Deserialize;
use serde_json::{Map, Value, json};
use uuid::Uuid;

use crate::accounts::{self, Account, log_with as log};
use crate::captcha::{self, Captcha};
use crate::error::AuthError;
use crate::leaked_passwords;
use crate::letters;
use crate::limits::Limited;
use crate::machine::signup::{Existing, SignupStep, signup_step};
use crate::request::{Json, RequestInfo, metadata, text};
use crate::rules::address::{parse_email, parse_phone};
use crate::rules::pkce::CodeChallenge;
use crate::sign_in::start_session;
use crate::state::AuthState;
use crate::store::audit::Action;
use crate::store::{phones, users};
use crate::text_messages::{self, Channel, CodePurpose};
use crate::user::{User, timestamp};

/// What a client sends.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(crate) struct SignupBody {
    #[serde(deserialize_with = "text")]
    email: String,
    #[serde(deserialize_with = "text")]
    phone: String,
    #[serde(deserialize_with = "text")]
    password: String,
    #[serde(deserialize_with = "metadata")]
    data: Map<String, Value>,
    #[serde(deserialize_with = "text")]
    channel: String,
    #[serde(deserialize_with = "text")]
    code_challenge: String,
    #[serde(deserialize_with = "text")]
    code_challenge_method: String,
    gotrue_meta_security: Captcha,
}

/// What it means, once everything has been checked.
struct Signup {
    /// Empty for a sign-up by phone.
    email: String,
    /// Empty for a sign-up by e-mail.
    phone: String,
    channel: Channel,
    password: String,
    encrypted_password: String,
    data: Map<String, Value>,
    challenge: Option<CodeChallenge>,
}

/// `POST /signup`
pub(crate) async fn signup(
    state: web::Data<AuthState>,
    info: RequestInfo,
    Json(body): Json<SignupBody>,
) -> Result<HttpResponse, AuthError> {
    captcha::check(&state, &info, &body.gotrue_meta_security).await?;
    if body.email.is_empty() && body.phone.is_empty() {
        return sign_in_anonymously(&state, &info, body.data).await;
    }
    info.limit(&state, Limited::Signup)?;
    let signup = check(&state, body).await?;
    match register(&state, &info, &signup).await {
        // Two sign-ups of one address at once: the slower one finds the user of the faster.
        Err(error) if error.is_duplicate_email() || error.is_duplicate_phone() => {
            register(&state, &info, &signup).await
        }
        answer => answer,
    }
}

/// Checks in the contract's order, then hashes: known and unknown addresses cost the same.
async fn check(state: &AuthState, body: SignupBody) -> Result<Signup, AuthError> {
    if state.config.disable_signup {
        return Err(AuthError::SignupDisabled);
    }
    if body.password.is_empty() {
        return Err(AuthError::invalid("Signup requires a valid password"));
    }
    leaked_passwords::check(state, &body.password).await?;
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
    let encrypted_password = state.hasher.hash(&body.password).await?;
    Ok(Signup {
        email,
        phone,
        channel,
        password: body.password,
        encrypted_password,
        data: body.data,
        challenge,
    })
}

impl Signup {
    fn is_by_phone(&self) -> bool {
        self.email.is_empty()
    }

    /// What the audit log says about it.
    fn traits(&self) -> Value {
        json!({ "provider": if self.is_by_phone() { "phone" } else { "email" } })
    }

    /// The same for an address that counts as proven.
    fn traits_confirmed(&self) -> Value {
        let mut traits = self.traits();
        if self.is_by_phone() {
            traits["channel"] = json!(self.channel.as_str());
        }
        traits
    }

    /// The address counts as proven.
    async fn confirm(&self, state: &AuthState, db: &Transaction<'_>, user_id: Uuid) -> Result<(), AuthError> {
        if self.is_by_phone() {
            phones::confirm(db, user_id, state.now()).await?;
        } else {
            users::confirm_email(db, user_id, state.now()).await?;
        }
        Ok(())
    }
}

async fn register(state: &AuthState, info: &RequestInfo, signup: &Signup) -> Result<HttpResponse, AuthError> {
    let existing = {
        let client = state.client().await?;
        if signup.is_by_phone() {
            phones::find_by_phone(&client, &signup.phone, &info.audience).await?
        } else {
            users::find_registered(&client, &signup.email, &info.audience).await?
        }
    };
    let is_confirmed = |user: &User| match signup.is_by_phone() {
        true => user.is_phone_confirmed(),
        false => user.is_confirmed(),
    };
    let kind = match &existing {
        None => Existing::Nobody,
        Some(user) if is_confirmed(user) => Existing::Confirmed,
        Some(_) => Existing::Unconfirmed,
    };
    let (email, phone) = (&state.config.email, &state.config.phone);
    let hides = !(email.autoconfirm || phone.enabled && phone.autoconfirm);
    let autoconfirm = if signup.is_by_phone() {
        phone.autoconfirm
    } else {
        email.autoconfirm
    };
    match (signup_step(kind, autoconfirm, hides), existing) {
        (SignupStep::CreateConfirmed, _) => create_confirmed(state, info, signup).await,
        (SignupStep::ConfirmWithPassword, Some(user)) => {
            confirm_with_password(state, info, signup, &user).await
        }
        (SignupStep::RefuseTaken, Some(user)) => {
            log_repeated(state, info, signup, &user).await?;
            Err(AuthError::UserAlreadyExists)
        }
        (SignupStep::AnswerDecoy, Some(user)) => {
            log_repeated(state, info, signup, &user).await?;
            // An unknown address would have a mail now, and would have to wait for the next.
            if signup.is_by_phone() {
                state.limits.check_unknown_phone(Limited::Signup, &signup.phone)?;
            } else {
                state
                    .limits
                    .check_unknown_address(Limited::Signup, &signup.email)?;
            }
            Ok(HttpResponse::Ok().json(decoy(state, info, signup)))
        }
        (_, existing) => create_or_mail_again(state, info, signup, existing).await,
    }
}

async fn create_confirmed(
    state: &AuthState,
    info: &RequestInfo,
    signup: &Signup,
) -> Result<HttpResponse, AuthError> {
    let mut client = state.client().await?;
    let db = client.transaction().await?;
    let user = accounts::create_user(state, &db, info, account(signup)).await?;
    signup.confirm(state, &db, user.id).await?;
    log(
        state,
        &db,
        info,
        &user,
        Action::UserSignedUp,
        signup.traits_confirmed(),
    )
    .await?;
    log(state, &db, info, &user, Action::Login, signup.traits()).await?;
    let tokens = start_session(state, &db, info, user.id, "password").await?;
    db.commit().await?;
    Ok(tokens.response([]))
}

/// Under autoconfirm an old, unconfirmed account is opened by its own password only.
async fn confirm_with_password(
    state: &AuthState,
    info: &RequestInfo,
    signup: &Signup,
    user: &User,
) -> Result<HttpResponse, AuthError> {
    if user.is_banned(state.now())
        || !state
            .hasher
            .verify(&signup.password, &user.encrypted_password)
            .await?
    {
        return Err(AuthError::UserAlreadyExists);
    }
    let mut client = state.client().await?;
    let db = client.transaction().await?;
    signup.confirm(state, &db, user.id).await?;
    log(
        state,
        &db,
        info,
        user,
        Action::UserSignedUp,
        signup.traits_confirmed(),
    )
    .await?;
    log(state, &db, info, user, Action::Login, signup.traits()).await?;
    let tokens = start_session(state, &db, info, user.id, "password").await?;
    db.commit().await?;
    Ok(tokens.response([]))
}

/// Creates the user if there is none; the confirmation is mailed in both cases.
async fn create_or_mail_again(
    state: &AuthState,
    info: &RequestInfo,
    signup: &Signup,
    existing: Option<User>,
) -> Result<HttpResponse, AuthError> {
    let _slot = state.mail_slot().await?;
    let mut client = state.client().await?;
    let db = client.transaction().await?;
    let user = match existing {
        Some(user) => users::lock_by_id(&db, user.id)
            .await?
            .ok_or(AuthError::UserAlreadyExists)?,
        None => accounts::create_user(state, &db, info, account(signup)).await?,
    };
    log(
        state,
        &db,
        info,
        &user,
        Action::ConfirmationRequested,
        signup.traits(),
    )
    .await?;
    if signup.is_by_phone() {
        let (phone, purpose) = (signup.phone.as_str(), CodePurpose::Confirmation);
        text_messages::send_code(state, &db, info, &user, phone, purpose, signup.channel).await?;
    } else {
        letters::send_confirmation(state, &db, info, &user, signup.challenge.as_ref()).await?;
    }
    let user = accounts::get(&db, user.id).await?;
    db.commit().await?;
    let mut body = user.body();
    if user.invited_at.is_some() {
        // Who was invited is not told to whoever signs up with that address.
        body.insert("user_metadata".to_owned(), json!({}));
        body.insert("identities".to_owned(), json!([]));
    }
    Ok(HttpResponse::Ok().json(body))
}

fn account(signup: &Signup) -> Account<'_> {
    Account {
        email: &signup.email,
        phone: &signup.phone,
        encrypted_password: &signup.encrypted_password,
        data: signup.data.clone(),
        ..Account::default()
    }
}

async fn log_repeated(
    state: &AuthState,
    info: &RequestInfo,
    signup: &Signup,
    user: &User,
) -> Result<(), AuthError> {
    let client = state.client().await?;
    log(
        state,
        &client,
        info,
        user,
        Action::RepeatedSignup,
        signup.traits(),
    )
    .await
}

/// Looks like a new user, and is none.
fn decoy(state: &AuthState, info: &RequestInfo, signup: &Signup) -> Value {
    let now = timestamp(state.now());
    let provider = if signup.is_by_phone() { "phone" } else { "email" };
    json!({
        "id": Uuid::new_v4(),
        "aud": info.audience,
        "role": "",
        "email": signup.email,
        "phone": signup.phone,
        "confirmation_sent_at": now,
        "app_metadata": { "provider": provider, "providers": [provider] },
        "user_metadata": signup.data,
        "identities": [],
        "created_at": now,
        "updated_at": now,
        "is_anonymous": false,
    })
}

async fn sign_in_anonymously(
    state: &AuthState,
    info: &RequestInfo,
    data: Map<String, Value>,
) -> Result<HttpResponse, AuthError> {
    if !state.config.anonymous_users_enabled {
        return Err(AuthError::AnonymousDisabled);
    }
    if state.config.disable_signup {
        return Err(AuthError::SignupDisabled);
    }
    info.limit(state, Limited::Anonymous)?;
    let mut client = state.client().await?;
    let db = client.transaction().await?;
    let user = accounts::create_anonymous_user(state, &db, info, data).await?;
    let traits = json!({ "provider": "anonymous" });
    log(state, &db, info, &user, Action::UserSignedUp, traits).await?;
    let tokens = start_session(state, &db, info, user.id, "anonymous").await?;
    db.commit().await?;
    Ok(tokens.response([]))
}
