//! `/verify`: redeems the link of a mail (GET, answers by redirect) or its code (POST, answers a session).
//!
//! Source: Auth contract §2.6, AUTH-021, AUTH-025, AUTH-026, AUTH-067, AUTH-068, AUTH-070.

use actix_web::http::header;
use actix_web::{HttpResponse, web};
use deadpool_postgres::Transaction;
use selvedge_mail::MailKind;
use serde::Deserialize;
use serde_json::json;
use uuid::Uuid;

use crate::accounts;
use crate::error::AuthError;
use crate::hasher::random_password;
use crate::letters::{self, Notice};
use crate::limits::Limited;
use crate::machine::verify::{ChangeToken, Effect, VerifyRules, VerifyType, verify};
use crate::request::{Json, RequestInfo, text};
use crate::rules::address::{parse_email, parse_phone};
use crate::rules::equal_secrets;
use crate::rules::one_time_code::{self, PKCE_PREFIX, PresentedToken};
use crate::rules::redirect::{with_fragment, with_query};
use crate::sign_in::{TokenPair, start_session};
use crate::state::AuthState;
use crate::store::audit::{Action, Actor};
use crate::store::one_time_tokens::{self, TokenKind};
use crate::store::{flow_states, phones, users};
use crate::text_messages;
use crate::user::User;

const FIRST_HALF: &str = "Confirmation link accepted. Please proceed to confirm link sent to the other email";
const BAD_LINK: AuthError = AuthError::OtpExpired("Email link is invalid or has expired");
const BAD_CODE: AuthError = AuthError::OtpExpired("Token has expired or is invalid");

/// The query of a link.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(crate) struct LinkQuery {
    token: String,
    #[serde(rename = "type")]
    kind: String,
}

/// What a client sends with a code or a token hash.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(crate) struct VerifyBody {
    #[serde(rename = "type", deserialize_with = "text")]
    kind: String,
    #[serde(deserialize_with = "text")]
    token: String,
    #[serde(deserialize_with = "text")]
    token_hash: String,
    #[serde(deserialize_with = "text")]
    email: String,
    #[serde(deserialize_with = "text")]
    phone: String,
    #[serde(deserialize_with = "text")]
    redirect_to: String,
}

/// What is redeemed.
struct Presented {
    kind: VerifyType,
    token: PresentedToken,
    /// The address that a code was sent to; a link needs none.
    address: Option<String>,
    /// The code itself, where somebody else may know whether it is right.
    typed: String,
    /// Whether the flow ends with an exchange of a code instead of a session.
    wants_code: bool,
}

/// What redeeming came to.
enum Outcome {
    FirstHalf,
    Session(Box<TokenPair>, VerifyType),
    AuthCode(String),
}

/// `GET /verify?token=…&type=…&redirect_to=…` → 303. HEAD is not served: link scanners must not use tokens up.
pub(crate) async fn verify_link(
    state: web::Data<AuthState>,
    info: RequestInfo,
    query: web::Query<LinkQuery>,
) -> Result<HttpResponse, AuthError> {
    info.limit(&state, Limited::Verify)?;
    if query.kind.is_empty() {
        return Err(AuthError::invalid("Verify requires a verification type"));
    }
    if query.token.is_empty() {
        return Err(AuthError::invalid("Verify requires a token or a token hash"));
    }
    let is_pkce = query.token.starts_with(PKCE_PREFIX);
    // Links go out by mail only.
    let kind = VerifyType::parse(&query.kind).filter(|kind| !kind.is_by_phone());
    let outcome = match kind {
        Some(kind) => {
            let presented = Presented {
                kind,
                token: PresentedToken::Link(query.token.clone()),
                address: None,
                typed: String::new(),
                wants_code: is_pkce,
            };
            redeem(&state, &info, &presented).await
        }
        None => Err(AuthError::invalid("Invalid email verification type")),
    };
    if let Err(error @ (AuthError::Internal { .. } | AuthError::Overloaded)) = &outcome {
        tracing::error!(%error, "verification failed");
    }
    let location = location(&info.redirect_to, is_pkce, outcome);
    Ok(HttpResponse::SeeOther()
        .insert_header((header::LOCATION, location))
        .insert_header((header::CACHE_CONTROL, "no-store"))
        .finish())
}

/// `POST /verify` `{type, token, email}` or `{type, token_hash}` → a session.
pub(crate) async fn verify_code(
    state: web::Data<AuthState>,
    info: RequestInfo,
    Json(body): Json<VerifyBody>,
) -> Result<HttpResponse, AuthError> {
    info.limit(&state, Limited::Verify)?;
    let presented = read(body)?;
    match redeem(&state, &info, &presented).await? {
        Outcome::Session(tokens, _) => Ok(tokens.response([])),
        // Compat: the code is a string here.
        _ => Ok(HttpResponse::Ok().json(json!({ "msg": FIRST_HALF, "code": "200" }))),
    }
}

/// Checks what was sent with a code or hash.
fn read(body: VerifyBody) -> Result<Presented, AuthError> {
    if body.kind.is_empty() {
        return Err(AuthError::invalid("Verify requires a verification type"));
    }
    let typed = body.token.clone();
    let (token, address) = match (body.token.is_empty(), body.token_hash.is_empty()) {
        (false, true) => read_code(&body)?,
        (true, false) if body.email.is_empty() && body.phone.is_empty() && body.redirect_to.is_empty() => {
            (PresentedToken::Link(body.token_hash.clone()), None)
        }
        (true, false) => {
            return Err(AuthError::invalid(
                "Only the token_hash and type should be provided",
            ));
        }
        _ => {
            return Err(AuthError::invalid(
                "Verify requires either a token or a token hash",
            ));
        }
    };
    let kind = match (VerifyType::parse(&body.kind), &address) {
        (Some(kind), None) if kind.is_by_phone() => None,
        (None, Some(_)) => return Err(BAD_CODE),
        (kind, _) => kind,
    };
    Ok(Presented {
        kind: kind.ok_or_else(|| AuthError::invalid("Invalid email verification type"))?,
        token,
        address,
        typed,
        wants_code: false,
    })
}

/// A typed code, hashed with the one address that it was sent to.
fn read_code(body: &VerifyBody) -> Result<(PresentedToken, Option<String>), AuthError> {
    let address = match (body.email.is_empty(), body.phone.is_empty()) {
        (false, true) => {
            parse_email(&body.email).map_err(|_| AuthError::Unprocessable("Invalid email format"))?
        }
        (true, false) => parse_phone(&body.phone)?,
        _ => {
            return Err(AuthError::invalid(
                "Only an email address or phone number should be provided on verify",
            ));
        }
    };
    Ok((
        PresentedToken::Code(one_time_code::hash(&address, &body.token)),
        Some(address),
    ))
}

/// A code has few digits: who guesses for one address, from wherever, is stopped.
fn check_attempts(state: &AuthState, presented: &Presented) -> Result<(), AuthError> {
    match &presented.address {
        Some(address) => state.limits.check_guesses(address),
        None => Ok(()),
    }
}

/// Finds whose token it is, decides what it is worth, and makes it so, all in one transaction.
async fn redeem(state: &AuthState, info: &RequestInfo, presented: &Presented) -> Result<Outcome, AuthError> {
    let bad = || match &presented.address {
        Some(address) => {
            state.limits.count_guess(address);
            BAD_CODE
        }
        None => BAD_LINK,
    };
    check_attempts(state, presented)?;
    let is_vouched_for = is_vouched_for(state, presented).await;
    let mut client = state.client().await?;
    let db = client.transaction().await?;
    let owner = match is_vouched_for {
        true => find_by_number(&db, info, presented).await?,
        false => {
            let (hashes, address) = (presented.token.candidates(), presented.address.as_deref());
            one_time_tokens::find_owner(&db, presented.kind, &hashes, address).await?
        }
    };
    let user = users::lock_by_id(&db, owner.ok_or_else(bad)?)
        .await?
        .ok_or_else(bad)?;
    if user.is_banned(state.now()) {
        return Err(AuthError::UserBanned);
    }
    let rules = VerifyRules {
        otp_expiry: state.config.email.otp_expiry,
        sms_expiry: state.config.phone.otp_expiry,
        double_change: state.config.email.secure_change && !state.config.email.autoconfirm,
    };
    let effect = match (is_vouched_for, presented.kind) {
        (true, VerifyType::PhoneChange) => Effect::ChangePhone,
        (true, _) => Effect::ConfirmPhone,
        (false, kind) => verify(kind, &presented.token, &user.tokens, rules, state.now()).ok_or_else(bad)?,
    };
    apply(state, info, &db, &user, effect).await?;
    let outcome = match effect {
        Effect::FirstHalf(_) => Outcome::FirstHalf,
        _ => {
            finish(
                state,
                info,
                &db,
                &user,
                effect.verify_type(),
                presented.wants_code,
            )
            .await?
        }
    };
    db.commit().await?;
    drop(client);
    tell(state, info, user, effect).await;
    Ok(outcome)
}

/// Whether somebody who knows better says that the code is right: the list of test codes, or a provider that makes its own.
async fn is_vouched_for(state: &AuthState, presented: &Presented) -> bool {
    let Some(phone) = presented
        .address
        .as_deref()
        .filter(|_| presented.kind.is_by_phone())
    else {
        return false;
    };
    match state.config.phone.test_code(phone, state.now()) {
        Some(code) => equal_secrets(code, &presented.typed),
        None if text_messages::provider_checks_codes(state) => {
            text_messages::provider_accepts(state, phone, &presented.typed).await
        }
        None => false,
    }
}

/// Who has this number, or has asked for it.
async fn find_by_number(
    db: &Transaction<'_>,
    info: &RequestInfo,
    presented: &Presented,
) -> Result<Option<Uuid>, AuthError> {
    let phone = presented.address.as_deref().unwrap_or_default();
    let found = match presented.kind {
        VerifyType::PhoneChange => phones::find_by_phone_change(db, phone, &info.audience).await?,
        _ => phones::find_by_phone(db, phone, &info.audience).await?,
    };
    Ok(found.map(|user| user.id))
}

/// Tells the user about a changed address; `user` is as they were.
async fn tell(state: &AuthState, info: &RequestInfo, user: User, effect: Effect) {
    let mut now = user.clone();
    match effect {
        Effect::ChangeEmail if !user.email.is_empty() => {
            now.email.clone_from(&user.email_change);
            let notice = Notice {
                old_email: &user.email,
                ..Notice::default()
            };
            letters::notify(state, info, &now, MailKind::EmailChanged, notice).await;
        }
        Effect::ChangePhone if !user.phone.is_empty() => {
            now.phone.clone_from(&user.phone_change);
            let notice = Notice {
                old_phone: &user.phone,
                ..Notice::default()
            };
            letters::notify(state, info, &now, MailKind::PhoneChanged, notice).await;
        }
        _ => {}
    }
}

/// Writes what the token does to its user.
async fn apply(
    state: &AuthState,
    info: &RequestInfo,
    db: &Transaction<'_>,
    user: &User,
    effect: Effect,
) -> Result<(), AuthError> {
    let now = state.now();
    let action = match effect {
        Effect::Confirm(kind) => {
            if user.invited_at.is_some() && user.encrypted_password.is_empty() {
                // Whoever was invited chooses a password later; until then nobody knows it.
                let hash = state.hasher.hash(&random_password()).await?;
                users::set_password(db, user.id, &hash, now).await?;
                users::clear_tokens_after_password(db, user.id, now).await?;
            }
            users::confirm_email(db, user.id, now).await?;
            users::prove_identities(db, user.id, now).await?;
            if kind == VerifyType::Invite {
                Action::InviteAccepted
            } else {
                Action::UserSignedUp
            }
        }
        Effect::SignIn(_) if user.is_confirmed() => Action::Login,
        Effect::SignIn(_) => {
            users::confirm_email(db, user.id, now).await?;
            Action::UserSignedUp
        }
        Effect::FirstHalf(token) => {
            let is_new = token == ChangeToken::New;
            let kind = if is_new {
                TokenKind::EmailChangeNew
            } else {
                TokenKind::EmailChangeCurrent
            };
            users::confirm_first_half(db, user.id, is_new, now).await?;
            return Ok(one_time_tokens::clear(db, user.id, kind).await?);
        }
        Effect::ChangeEmail => {
            let changed = users::change_email(db, user.id, &user.email_change, now).await;
            changed.map_err(AuthError::from).map_err(taken_meanwhile)?;
            Action::UserModified
        }
        Effect::ConfirmPhone => {
            phones::confirm(db, user.id, now).await?;
            if user.is_phone_confirmed() {
                Action::Login
            } else {
                Action::UserSignedUp
            }
        }
        Effect::ChangePhone => {
            let changed = phones::change(db, user.id, &user.phone_change, now).await;
            changed.map_err(AuthError::from).map_err(taken_meanwhile)?;
            Action::UserModified
        }
    };
    accounts::log(state, db, info, Actor::User(user), action).await
}

/// Somebody else has registered the new address since.
fn taken_meanwhile(error: AuthError) -> AuthError {
    if error.is_duplicate_email() {
        AuthError::EmailExists
    } else if error.is_duplicate_phone() {
        AuthError::PhoneExists
    } else {
        error
    }
}

/// Uses up every pending token, and signs in or hands out the code of the flow.
async fn finish(
    state: &AuthState,
    info: &RequestInfo,
    db: &Transaction<'_>,
    user: &User,
    kind: VerifyType,
    wants_code: bool,
) -> Result<Outcome, AuthError> {
    one_time_tokens::clear_all(db, user.id, state.now()).await?;
    users::refresh_providers(db, user.id).await?;
    if !wants_code {
        let tokens = start_session(state, db, info, user.id, "otp").await?;
        return Ok(Outcome::Session(Box::new(tokens), kind));
    }
    let code = flow_states::issue_code(db, user.id, kind.flow_method(), state.now()).await?;
    code.map(Outcome::AuthCode)
        .ok_or(AuthError::FlowStateNotFound { status: 400 })
}

/// Where the browser goes next, with what it must know.
fn location(target: &str, is_pkce: bool, outcome: Result<Outcome, AuthError>) -> String {
    match outcome {
        Ok(Outcome::AuthCode(code)) => with_query(target, &[("code", &code)]),
        Ok(Outcome::FirstHalf) => {
            let target = if is_pkce {
                with_query(target, &[("message", FIRST_HALF)])
            } else {
                target.to_owned()
            };
            with_fragment(&target, &[("message", FIRST_HALF), ("sb", "")])
        }
        Ok(Outcome::Session(tokens, kind)) => {
            let (expires_at, expires_in) = (tokens.expires_at.to_string(), tokens.expires_in.to_string());
            let pairs = [
                ("access_token", tokens.access_token.as_str()),
                ("expires_at", &expires_at),
                ("expires_in", &expires_in),
                ("refresh_token", &tokens.refresh_token),
                ("sb", ""),
                ("token_type", "bearer"),
                ("type", kind.as_str()),
            ];
            with_fragment(target, &pairs)
        }
        Err(error) => error_location(target, is_pkce, &error),
    }
}

fn error_location(target: &str, is_pkce: bool, error: &AuthError) -> String {
    let (status, code, description) = error.redirect_parts();
    let name = match status {
        400 => Some("invalid_request"),
        401 => Some("unauthorized_client"),
        403 => Some("access_denied"),
        500 => Some("server_error"),
        503 => Some("temporarily_unavailable"),
        _ => None,
    };
    let mut pairs: Vec<(&str, &str)> = name.map(|name| ("error", name)).into_iter().collect();
    pairs.extend([("error_code", code), ("error_description", description.as_ref())]);
    let target = if is_pkce {
        with_query(target, &pairs)
    } else {
        target.to_owned()
    };
    pairs.push(("sb", ""));
    with_fragment(&target, &pairs)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn auth_026_a_bad_link_leads_back_with_the_error_in_the_fragment() {
        let location = location("https://site/auth?x=1", false, Err(BAD_LINK));

        assert_eq!(
            location,
            "https://site/auth?x=1#error=access_denied&error_code=otp_expired\
             &error_description=Email+link+is+invalid+or+has+expired&sb="
        );
    }

    #[test]
    fn a_bad_pkce_link_says_so_in_the_query_too() {
        let location = location(
            "https://site",
            true,
            Err(AuthError::FlowStateNotFound { status: 400 }),
        );

        assert!(location.starts_with("https://site?error=invalid_request&error_code=flow_state_not_found&"));
        assert!(location.contains("#error=invalid_request&") && location.ends_with("&sb="));
    }

    #[test]
    fn auth_068_a_hash_comes_alone() {
        let body = |kind: &str, token: &str, hash: &str, email: &str, phone: &str| {
            let own = str::to_owned;
            read(VerifyBody {
                kind: own(kind),
                token: own(token),
                token_hash: own(hash),
                email: own(email),
                phone: own(phone),
                redirect_to: String::new(),
            })
        };
        assert!(body("email", "", "abc", "", "").is_ok());
        assert!(body("email", "", "abc", "a@b.c", "").is_err());
        assert!(body("email", "123456", "", "a@b.c", "").is_ok());
        assert!(body("email", "123456", "", "", "").is_err());
        assert!(body("email", "123456", "", "a@b.c", "1").is_err());
        assert!(body("email", "123456", "abc", "", "").is_err());
        assert!(body("", "123456", "", "a@b.c", "").is_err());
        assert!(matches!(
            body("email", "1", "", "nonsense", ""),
            Err(AuthError::Unprocessable(_))
        ));
    }
}
