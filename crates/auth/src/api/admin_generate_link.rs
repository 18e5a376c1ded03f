//! `POST /admin/generate_link`: the link and code of a mail, without the mail. Source: Auth contract §2.15, AUTH-063.

use actix_web::HttpResponse;
use deadpool_postgres::{GenericClient, Transaction};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::crypto::one_time_code::OneTimeCode;
use crate::error::AuthError;
use crate::flows::accounts::{self, Account};
use crate::mailer;
use crate::protection::leaked_passwords;
use crate::request::{Admin, AuthRequest, Json, read_metadata, read_text};
use crate::state::AuthState;
use crate::store::audit::{Action, Actor};
use crate::store::contested_accounts;
use crate::store::one_time_tokens::{self, SentToken, TokenKind};
use crate::store::users::{self, EmailChange};
use crate::user::{User, UserBody};
use crate::validation::address::parse_email;
use crate::validation::verify_type::VerifyType;

/// Body of `POST /admin/generate_link`: `{type, email, password?, new_email?, data?, redirect_to?}`. `password` is
/// required for `signup`, `new_email` for both e-mail changes.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(crate) struct LinkBody {
    #[serde(rename = "type", deserialize_with = "read_text")]
    kind: String,
    #[serde(deserialize_with = "read_text")]
    email: String,
    #[serde(deserialize_with = "read_text")]
    new_email: String,
    #[serde(deserialize_with = "read_text")]
    password: String,
    #[serde(deserialize_with = "read_metadata")]
    data: Map<String, Value>,
    #[serde(deserialize_with = "read_text")]
    redirect_to: String,
}

/// The `type` in the request body: which mail the link would have been part of.
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
    /// Reads the `type` of the request body.
    ///
    /// # Errors
    /// 400 `validation_failed` for any other type.
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

    /// The `type` parameter inside the link.
    fn verify_type(self) -> VerifyType {
        match self {
            Self::Signup => VerifyType::Signup,
            Self::Invite => VerifyType::Invite,
            Self::MagicLink => VerifyType::MagicLink,
            Self::Recovery => VerifyType::Recovery,
            Self::EmailChangeCurrent | Self::EmailChangeNew => VerifyType::EmailChange,
        }
    }

    /// Actor and action of the audit entry. Compat: there is none for sign-ups and e-mail changes, and a recovery is
    /// logged as the user's own request.
    fn audit_entry<'a>(self, role: &'a str, user: &'a User) -> Option<(Actor<'a>, Action)> {
        match self {
            Self::Invite => Some((Actor::Admin { role, subject: user }, Action::UserInvited)),
            Self::MagicLink | Self::Recovery => Some((Actor::User(user), Action::RecoveryRequested)),
            Self::Signup | Self::EmailChangeCurrent | Self::EmailChangeNew => None,
        }
    }
}

/// `POST /admin/generate_link`, administrators only → 200 with the User's members and those of [`LinkResponse`].
///
/// Stores the token as the mail would have done, so that an older link of the same kind stops working, but sends
/// nothing.
///
/// # Errors
/// 400 `validation_failed` for a bad address, type or missing password; 404 `user_not_found` for a recovery or e-mail
/// change of an unregistered address; 422 `email_exists` for a confirmed user or a taken new address; 422
/// `weak_password`.
pub(crate) async fn generate_link(
    request: AuthRequest,
    admin: Admin,
    Json(body): Json<LinkBody>,
) -> Result<HttpResponse, AuthError> {
    let email = parse_email(&body.email)?;
    let requested = LinkKind::parse(&body.kind)?;
    // Hashed before the transaction begins: the hash may wait in a queue.
    let password = handle_signup_password(&request, requested, &email, &body.password).await?;
    let redirect_to = request
        .state
        .redirects
        .choose([body.redirect_to.as_str(), request.info.redirect_to.as_str()]);
    let mut client = request.connect().await?;
    let db = client.transaction().await?;
    let found = lock_addressee(&db, &request, &email).await?;
    // A magic link for an unregistered address becomes a sign-up.
    let kind = if requested == LinkKind::MagicLink && found.is_none() {
        LinkKind::Signup
    } else {
        requested
    };
    let account = Account {
        email: &email,
        encrypted_password: password.hash(),
        data: body.data.clone(),
        keeps_metadata: true,
        bare_identity: true,
        ..Account::default()
    };
    let user = find_or_create_user(&request, &db, (kind, &password), found, account).await?;
    let code = store_code(&request.state, &db, kind, &user, &body).await?;
    if let Some((actor, action)) = kind.audit_entry(&admin.role, &user) {
        accounts::log_action(&request, &db, actor, action).await?;
    }
    let user = accounts::reload_user(&db, user.id).await?;
    db.commit().await?;
    // Compat: the response repeats the requested type, so `email_change_current` and `email_change_new` appear here,
    // while the link itself says `email_change`.
    let verification_type = if kind == requested { &body.kind } else { "signup" };
    let link = mailer::build_action_link(&request.info, &code.hash, kind.verify_type(), &redirect_to);
    Ok(HttpResponse::Ok().json(LinkResponse {
        user: user.body(),
        action_link: &link,
        email_otp: &code.otp,
        hashed_token: &code.hash,
        verification_type,
        redirect_to: &redirect_to,
    }))
}

/// Compat: one flat object with the members of the user and of the link; `supabase-js` separates the two by name.
/// `email_otp` is the code for `POST /verify`, `hashed_token` the link's token for `token_hash`, and `action_link` the URL
/// for `GET /verify`.
#[derive(Serialize)]
struct LinkResponse<'a> {
    #[serde(flatten)]
    user: UserBody<'a>,
    action_link: &'a str,
    email_otp: &'a str,
    hashed_token: &'a str,
    verification_type: &'a str,
    redirect_to: &'a str,
}

/// The user whose address this is. An account that has only proven it at a provider has another address, to which the link
/// would belong: the address is registered, but no link can be made for it.
///
/// # Errors
/// 422 `email_exists` for such an account, and for one in use that only claims the address.
async fn find_addressee(
    db: &impl GenericClient,
    request: &AuthRequest,
    email: &str,
) -> Result<Option<User>, AuthError> {
    match accounts::find_for_administrator(request, db, email).await? {
        Some(user) if user.email.to_lowercase() != email => Err(AuthError::EmailExists),
        found => Ok(found),
    }
}

/// Like [`find_addressee`], with the row locked: whether the account is confirmed decides what becomes of it, and its owner may
/// be confirming it at this moment.
///
/// # Errors
/// 422 `email_exists`, also when another account has got the address meanwhile.
async fn lock_addressee(
    db: &Transaction<'_>,
    request: &AuthRequest,
    email: &str,
) -> Result<Option<User>, AuthError> {
    let Some(known) = find_addressee(db, request, email).await? else {
        return Ok(None);
    };
    users::lock_by_id(db, known.id).await?;
    // The account may have lost the address while its row was waited for.
    match find_addressee(db, request, email).await? {
        Some(other) if other.id != known.id => Err(AuthError::EmailExists),
        found => Ok(found),
    }
}

/// The password that came with the link of a sign-up.
enum SignupPassword {
    /// Its hash, for a new account; empty where no password is stored.
    Hashed(String),
    /// None was given: it is another link for whoever has signed up, as `/resend` mails one.
    Repeated,
    /// Whether it is the password of an account that waits for its confirmation, and the hash with which it was compared.
    Compared { is_same: bool, hash: String },
}

impl SignupPassword {
    /// The hash for a new account.
    fn hash(&self) -> &str {
        match self {
            Self::Hashed(hash) => hash,
            Self::Repeated | Self::Compared { .. } => "",
        }
    }

    /// Whether the password is that of the account.
    fn is_of(&self, user: &User) -> bool {
        match self {
            Self::Compared { is_same, hash } => *is_same && user.encrypted_password == *hash,
            Self::Repeated => true,
            Self::Hashed(_) => false,
        }
    }
}

/// Hashes the given password for the sign-up of a new address, or compares it with that of an account that waits for its
/// confirmation.
///
/// # Errors
/// 400 `validation_failed` for a new address without password, 422 `weak_password`.
async fn handle_signup_password(
    request: &AuthRequest,
    kind: LinkKind,
    email: &str,
    password: &str,
) -> Result<SignupPassword, AuthError> {
    if kind != LinkKind::Signup {
        return Ok(SignupPassword::Hashed(String::new()));
    }
    let found = {
        let client = request.connect().await?;
        find_addressee(&client, request, email).await?
    };
    let hasher = &request.state.hasher;
    match found {
        Some(_) if password.is_empty() => Ok(SignupPassword::Repeated),
        Some(user) if user.is_confirmed() || user.encrypted_password.is_empty() => {
            Ok(SignupPassword::Hashed(String::new()))
        }
        Some(user) => Ok(SignupPassword::Compared {
            is_same: hasher.verify(password, &user.encrypted_password).await?,
            hash: user.encrypted_password,
        }),
        None if password.is_empty() => Err(AuthError::invalid("Signup requires a valid password")),
        None => {
            leaked_passwords::check_new_password(&request.state, password).await?;
            Ok(SignupPassword::Hashed(hasher.hash(password).await?))
        }
    }
}

/// The user that the link is for. Sign-ups and invitations create the user if the address is not registered.
///
/// # Errors
/// 404 `user_not_found`, 422 `email_exists`.
async fn find_or_create_user(
    request: &AuthRequest,
    db: &Transaction<'_>,
    (kind, password): (LinkKind, &SignupPassword),
    found: Option<User>,
    account: Account<'_>,
) -> Result<User, AuthError> {
    match (kind, found) {
        (LinkKind::Signup | LinkKind::Invite, Some(user)) if user.is_confirmed() => {
            Err(AuthError::EmailExists)
        }
        // Whoever accepts an invitation has not given the password of an earlier sign-up. Nor has whoever signs up with
        // another one: the link goes to the person of this sign-up, who may not be the one of the first.
        (LinkKind::Signup | LinkKind::Invite, Some(user)) => {
            if !password.is_of(&user) {
                contested_accounts::contest(db, &user, request.now()).await?;
            }
            Ok(user)
        }
        (_, Some(user)) => Ok(user),
        (LinkKind::Signup | LinkKind::Invite, None) => accounts::create_user(request, db, account).await,
        (_, None) => Err(AuthError::UserNotFound("User with this email not found")),
    }
}

/// Generates a code and stores its hash in the token column that the mail of this kind uses.
async fn store_code(
    state: &AuthState,
    db: &Transaction<'_>,
    kind: LinkKind,
    user: &User,
    body: &LinkBody,
) -> Result<OneTimeCode, AuthError> {
    let now = state.now();
    let code = mailer::generate_code(state, None);
    let token_kind = match kind {
        LinkKind::Signup | LinkKind::Invite => TokenKind::Confirmation,
        LinkKind::MagicLink | LinkKind::Recovery => TokenKind::Recovery,
        LinkKind::EmailChangeCurrent | LinkKind::EmailChangeNew => {
            return store_change_code(state, db, kind, user, body).await;
        }
    };
    let token = SentToken {
        kind: token_kind,
        address: &user.email,
        code: &code,
        key: &state.code_key,
        asked_by: None,
    };
    one_time_tokens::store_token(db, user.id, token, now).await?;
    if kind == LinkKind::Invite {
        users::set_invited(db, user.id, now).await?;
    }
    Ok(code)
}

/// Stores the code of one of the two links of an e-mail change, either for the new or for the current address.
///
/// # Errors
/// 400 `validation_failed` for the current address when the project does not use secure e-mail change, 422
/// `email_exists`.
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
    let registered = users::find_registered(db, &new_email, &user.aud).await?;
    if new_email == user.email || registered.is_some_and(|other| other.id != user.id) {
        return Err(AuthError::EmailExists);
    }
    let is_new = kind == LinkKind::EmailChangeNew;
    let address = if is_new { &new_email } else { &user.email };
    let code = mailer::generate_code(state, None);
    let (token_new, token_current) = choose_change_tokens(user, &new_email, is_new, &code.hash);
    let change = EmailChange {
        new_email: &new_email,
        token_new: &token_new,
        token_current: &token_current,
    };
    users::set_email_change(db, user.id, &change, now).await?;
    let token_kind = if is_new {
        TokenKind::EmailChangeNew
    } else {
        TokenKind::EmailChangeCurrent
    };
    let token = SentToken {
        kind: token_kind,
        address,
        code: &code,
        key: &state.code_key,
        asked_by: None,
    };
    one_time_tokens::upsert_lookup(db, user.id, token, now).await?;
    Ok(code)
}

/// The tokens for the new and for the current address, one of which is `hash`. The other one stays valid only while it
/// belongs to the same new address; otherwise it would confirm a change that its mail did not name.
fn choose_change_tokens(user: &User, new_email: &str, is_new: bool, hash: &str) -> (String, String) {
    let keep_for_same_address = |token: &str| {
        if user.email_change == new_email {
            token.to_owned()
        } else {
            String::new()
        }
    };
    if is_new {
        let current = keep_for_same_address(&user.tokens.email_change_current);
        (hash.to_owned(), current)
    } else {
        (
            keep_for_same_address(&user.tokens.email_change_new),
            hash.to_owned(),
        )
    }
}
