//! `POST /admin/generate_link`: the link and code of a mail, without the mail. Source: Auth contract §2.15, AUTH-063.

use actix_web::{HttpResponse, web};
use deadpool_postgres::Transaction;
use serde::Deserialize;
use serde_json::{Map, Value, json};

use crate::accounts::{self, Account};
use crate::error::AuthError;
use crate::leaked_passwords;
use crate::letters;
use crate::machine::verify::VerifyType;
use crate::request::{Admin, Json, RequestInfo, metadata, text};
use crate::rules::address::parse_email;
use crate::rules::one_time_code::OneTimeCode;
use crate::state::AuthState;
use crate::store::audit::{Action, Actor};
use crate::store::one_time_tokens::{self, TokenKind};
use crate::store::users;
use crate::user::User;

/// What an administrator sends.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(crate) struct LinkBody {
    #[serde(rename = "type", deserialize_with = "text")]
    kind: String,
    #[serde(deserialize_with = "text")]
    email: String,
    #[serde(deserialize_with = "text")]
    new_email: String,
    #[serde(deserialize_with = "text")]
    password: String,
    #[serde(deserialize_with = "metadata")]
    data: Map<String, Value>,
    #[serde(deserialize_with = "text")]
    redirect_to: String,
}

/// The kinds of links.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum LinkKind {
    Signup,
    Invite,
    MagicLink,
    Recovery,
    EmailChangeCurrent,
    EmailChangeNew,
}

impl LinkKind {
    fn parse(name: &str) -> Result<Self, AuthError> {
        Ok(match name {
            "signup" => Self::Signup,
            "invite" => Self::Invite,
            "magiclink" => Self::MagicLink,
            "recovery" => Self::Recovery,
            "email_change_current" => Self::EmailChangeCurrent,
            "email_change_new" => Self::EmailChangeNew,
            other => {
                return Err(AuthError::invalid(format!(
                    "Invalid email action link type requested: {other}"
                )));
            }
        })
    }

    /// The type inside the link.
    fn verify_type(self) -> VerifyType {
        match self {
            Self::Signup => VerifyType::Signup,
            Self::Invite => VerifyType::Invite,
            Self::MagicLink => VerifyType::MagicLink,
            Self::Recovery => VerifyType::Recovery,
            Self::EmailChangeCurrent | Self::EmailChangeNew => VerifyType::EmailChange,
        }
    }

    /// What the audit log says about it, and in whose name. Compat: nothing about sign-ups and changes of address, and a
    /// recovery counts as asked for by the user.
    fn entry<'a>(self, role: &'a str, user: &'a User) -> Option<(Actor<'a>, Action)> {
        match self {
            Self::Invite => Some((Actor::Admin { role, subject: user }, Action::UserInvited)),
            Self::MagicLink | Self::Recovery => Some((Actor::User(user), Action::RecoveryRequested)),
            Self::Signup | Self::EmailChangeCurrent | Self::EmailChangeNew => None,
        }
    }
}

/// `POST /admin/generate_link`
pub(crate) async fn generate_link(
    state: web::Data<AuthState>,
    info: RequestInfo,
    admin: Admin,
    Json(body): Json<LinkBody>,
) -> Result<HttpResponse, AuthError> {
    let email = parse_email(&body.email)?;
    let asked = LinkKind::parse(&body.kind)?;
    let encrypted_password = password_of(&state, asked, &body.password).await?;
    let redirect_to = state
        .redirects
        .choose([body.redirect_to.as_str(), info.redirect_to.as_str()]);
    let mut client = state.client().await?;
    let db = client.transaction().await?;
    let found = users::find_registered(&db, &email, &info.audience).await?;
    // A magic link for somebody new is a sign-up.
    let kind = if asked == LinkKind::MagicLink && found.is_none() {
        LinkKind::Signup
    } else {
        asked
    };
    let account = Account {
        email: &email,
        encrypted_password: &encrypted_password,
        data: body.data.clone(),
        keeps_metadata: true,
        bare_identity: true,
        ..Account::default()
    };
    let user = subject(&state, &info, &db, kind, found, account).await?;
    let code = store_code(&state, &db, kind, &user, &body).await?;
    if let Some((actor, action)) = kind.entry(&admin.role, &user) {
        accounts::log(&state, &db, &info, actor, action).await?;
    }
    let user = accounts::get(&db, user.id).await?;
    db.commit().await?;
    // Compat: the two kinds of e-mail change keep their names here.
    let verification_type = if kind == asked {
        body.kind.as_str()
    } else {
        "signup"
    };
    let link = letters::action_link(&info, &code.hash, kind.verify_type(), &redirect_to);
    Ok(answer(
        &user,
        [&link, &code.otp, &code.hash, verification_type, &redirect_to],
    ))
}

/// The user's members and the link's side by side: that is how the client takes them apart.
fn answer(user: &User, properties: [&str; 5]) -> HttpResponse {
    let names = [
        "action_link",
        "email_otp",
        "hashed_token",
        "verification_type",
        "redirect_to",
    ];
    let mut body = user.body();
    body.extend(
        names
            .into_iter()
            .zip(properties)
            .map(|(name, value)| (name.to_owned(), json!(value))),
    );
    HttpResponse::Ok().json(body)
}

async fn password_of(state: &AuthState, kind: LinkKind, password: &str) -> Result<String, AuthError> {
    match kind {
        LinkKind::Signup => {
            if password.is_empty() {
                return Err(AuthError::invalid("Signup requires a valid password"));
            }
            leaked_passwords::check(state, password).await?;
            state.hasher.hash(password).await
        }
        _ => Ok(String::new()),
    }
}

/// The user that the link is for: a new one where the kind allows it.
async fn subject(
    state: &AuthState,
    info: &RequestInfo,
    db: &Transaction<'_>,
    kind: LinkKind,
    found: Option<User>,
    account: Account<'_>,
) -> Result<User, AuthError> {
    match (kind, found) {
        (LinkKind::Signup | LinkKind::Invite, Some(user)) if user.is_confirmed() => {
            Err(AuthError::EmailExists)
        }
        (_, Some(user)) => Ok(user),
        (LinkKind::Signup | LinkKind::Invite, None) => accounts::create_user(state, db, info, account).await,
        (_, None) => Err(AuthError::UserNotFound("User with this email not found")),
    }
}

/// Draws the code and keeps it as the mail's flow would.
async fn store_code(
    state: &AuthState,
    db: &Transaction<'_>,
    kind: LinkKind,
    user: &User,
    body: &LinkBody,
) -> Result<OneTimeCode, AuthError> {
    let now = state.now();
    let code = letters::new_code(state, &user.email, None);
    match kind {
        LinkKind::Signup => {
            one_time_tokens::set(db, user.id, TokenKind::Confirmation, &user.email, &code.hash, now).await?
        }
        LinkKind::Invite => {
            one_time_tokens::set(db, user.id, TokenKind::Confirmation, &user.email, &code.hash, now).await?;
            users::set_invited(db, user.id, now).await?;
        }
        LinkKind::MagicLink | LinkKind::Recovery => {
            one_time_tokens::set(db, user.id, TokenKind::Recovery, &user.email, &code.hash, now).await?;
        }
        LinkKind::EmailChangeCurrent | LinkKind::EmailChangeNew => {
            return store_change_code(state, db, kind, user, body).await;
        }
    }
    Ok(code)
}

/// A change of address asks up to two addresses; each kind of link stands for one of them, and leaves the other's token alone.
async fn store_change_code(
    state: &AuthState,
    db: &Transaction<'_>,
    kind: LinkKind,
    user: &User,
    body: &LinkBody,
) -> Result<OneTimeCode, AuthError> {
    if kind == LinkKind::EmailChangeCurrent && !state.config.email.secure_change {
        return Err(AuthError::invalid(
            "Enable secure email change to generate link for current email",
        ));
    }
    let now = state.now();
    let new_email = parse_email(&body.new_email)?;
    if new_email == user.email || users::is_email_taken(db, &new_email, &user.aud, user.id).await? {
        return Err(AuthError::EmailExists);
    }
    let is_new = kind == LinkKind::EmailChangeNew;
    let address = if is_new { &new_email } else { &user.email };
    let code = letters::new_code(state, address, None);
    let kept = |token: &str| {
        if user.email_change == new_email {
            token.to_owned()
        } else {
            String::new()
        }
    };
    let (token_new, token_current) = if is_new {
        (code.hash.clone(), kept(&user.tokens.email_change_current))
    } else {
        (kept(&user.tokens.email_change_new), code.hash.clone())
    };
    users::set_email_change(db, user.id, &new_email, &token_new, &token_current, now).await?;
    let token_kind = if is_new {
        TokenKind::EmailChangeNew
    } else {
        TokenKind::EmailChangeCurrent
    };
    one_time_tokens::put(db, user.id, token_kind, &code.hash, address).await?;
    Ok(code)
}
