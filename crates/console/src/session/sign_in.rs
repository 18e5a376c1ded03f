//! `POST /api/session`: sign-in with name and password.

use actix_web::http::StatusCode;
use actix_web::{HttpMessage, HttpRequest, HttpResponse, web};
use secrecy::SecretString;
use serde::Deserialize;
use serde_json::json;
use uuid::Uuid;

use super::caller::Session;
use super::project_member::{self, Credentials};
use super::store::{Owner, Secrets};
use super::{cookie, lookup, password};
use crate::audit::{self, AuditEntry};
use crate::error::ConsoleError;
use crate::services::ThreadApi;
use crate::state::{ConsoleState, Level};

/// Longest body of a sign-in in bytes.
const LONGEST_BODY: usize = 4096;
/// Longest name in bytes: that of an e-mail address.
const LONGEST_NAME: usize = 320;

/// The body of `POST /api/session`.
#[derive(Deserialize)]
pub(super) struct SignIn {
    name: String,
    password: String,
    /// The code of the second factor; required for users of the project.
    #[serde(default)]
    code: Option<String>,
}

/// An account or project user whose password has been verified.
struct SignedIn {
    name: String,
    level: Level,
    /// The user of the project with the session at Auth; `None` for accounts.
    user: Option<AuthUser>,
}

struct AuthUser {
    id: Uuid,
    session: Uuid,
    token: SecretString,
}

/// `POST /api/session`. The answer to an unknown name and to a wrong password is the same, and takes the same time.
pub(super) async fn sign_in(
    state: web::Data<ConsoleState>,
    thread: web::Data<ThreadApi>,
    request: HttpRequest,
    body: web::Payload,
) -> Result<HttpResponse, ConsoleError> {
    if !state.config.login {
        return Err(ConsoleError::invalid("Nobody signs in to this console"));
    }
    let SignIn { name, password, code } = read_sign_in(&request, body).await?;
    let (name, password) = (name.as_str(), password.as_str());
    let caller = lookup::anonymous(&state, &request)?;
    if let Err(wait) = state.sessions.throttle.begin(name, &caller.address) {
        return Err(too_many_guesses(wait.as_secs() + 1));
    }
    let code = code.as_deref().map(str::trim).filter(|code| !code.is_empty());
    let guess = Credentials { name, password, code };
    let found = match find_owner(&state, &thread, &caller, &guess).await {
        Ok(found) => found,
        Err(error) => {
            let entry = AuditEntry::new("sign_in", name).with_result("refused");
            audit::record(&state, &caller, entry).await?;
            return Err(error);
        }
    };
    // From here on the password was right, whatever else is refused.
    state.sessions.throttle.forgive(name, &caller.address);
    let caller = Session {
        account: Some(found.name.as_str().into()),
        level: found.level,
        ..caller
    };
    let admitted = admit(&state, &caller, &found).await;
    // Nobody would have the session at Auth, which began with the right password.
    if let (Err(_), Some(user)) = (&admitted, &found.user) {
        project_member::end_session(&state, &thread, &caller, &user.token).await;
    }
    let secrets = admitted?;
    Ok(HttpResponse::Ok()
        .insert_header(cookie::set(&secrets.cookie, state.config.secure_cookies))
        .json(json!({
            "secret": secrets.header,
            "account": { "name": found.name, "level": found.level },
        })))
}

/// Reads the body, which anybody may send: a small one, with a name that may become a key, a row of the audit and a line of the log.
async fn read_sign_in(request: &HttpRequest, body: web::Payload) -> Result<SignIn, ConsoleError> {
    if request.content_type() != "application/json" {
        return Err(ConsoleError::invalid(
            "The body must be of the type application/json",
        ));
    }
    let body = body.to_bytes_limited(LONGEST_BODY).await;
    let body = body.map_err(|_| ConsoleError::invalid("The body is too long"))?;
    let body = body.map_err(|error| ConsoleError::invalid(error.to_string()))?;
    let sign_in: SignIn = serde_json::from_slice(&body)
        .map_err(|error| ConsoleError::invalid(format!("The body is not the expected JSON: {error}")))?;
    if sign_in.name.len() > LONGEST_NAME {
        return Err(ConsoleError::invalid("The name is too long"));
    }
    Ok(sign_in)
}

/// Begins a session of the console.
///
/// # Errors
/// 403 for viewers while every role can read the key that signs tokens; 503 when the database fails.
async fn admit(state: &ConsoleState, caller: &Session, found: &SignedIn) -> Result<Secrets, ConsoleError> {
    refuse_leaked_secret(state, found.level).await?;
    audit::record(state, caller, AuditEntry::new("sign_in", &found.name)).await?;
    let owner = match &found.user {
        Some(user) => Owner::User {
            id: user.id,
            auth_session: user.session,
        },
        None => Owner::Account(&found.name),
    };
    state
        .sessions
        .create(&state.database, owner, &caller.address)
        .await
}

/// Finds the account, or else the project's user, with this name and password.
///
/// # Errors
/// 401 for a wrong name, password or code; 403 for users without a level or second factor; 503 when Auth or the database fails.
async fn find_owner(
    state: &ConsoleState,
    thread: &ThreadApi,
    caller: &Session,
    guess: &Credentials<'_>,
) -> Result<SignedIn, ConsoleError> {
    let ways = state.config.sign_in;
    if ways.accounts
        && let Some(level) = check_password(state, guess.name, guess.password.to_owned()).await?
    {
        let (name, user) = (guess.name.to_owned(), None);
        return Ok(SignedIn { name, level, user });
    }
    // Also tried after an account's password was wrong, because a project user may have the same name as an account.
    let member = match ways.project {
        true => project_member::check(state, thread, caller, guess).await?,
        false => None,
    };
    let member = member.ok_or_else(|| {
        let (code, text) = ("invalid_credentials", "Name or password is wrong");
        ConsoleError::new(StatusCode::UNAUTHORIZED, code, text)
    })?;
    Ok(SignedIn {
        name: member.name,
        level: member.level,
        user: Some(AuthUser {
            id: member.id,
            session: member.auth_session,
            token: member.token,
        }),
    })
}

/// The level of the account with this name and password.
async fn check_password(
    state: &ConsoleState,
    name: &str,
    password: String,
) -> Result<Option<Level>, ConsoleError> {
    let client = state.database.service().await?;
    let row = client
        .query_opt(
            "select password_hash, level from selvedge_console.selvedge_accounts where name = $1",
            &[&name],
        )
        .await?;
    // The connection goes back to its pool before the hashing, which takes longer than any query.
    drop(client);
    let (hash, level) = row
        .map(|row| (row.get::<_, String>(0), row.get::<_, String>(1)))
        .unzip();
    let _place = state.sessions.hashing.acquire().await;
    let is_right = web::block(move || password::verify(&password, hash.as_deref()))
        .await
        .map_err(|_| ConsoleError::unavailable("The server is stopping"))?;
    // A level that this version does not define, such as that of a newer version, is refused.
    Ok(level.filter(|_| is_right).and_then(|level| level.parse().ok()))
}

fn too_many_guesses(seconds: u64) -> ConsoleError {
    ConsoleError::new(
        StatusCode::TOO_MANY_REQUESTS,
        "too_many",
        format!("Too many wrong passwords: try again in {seconds} seconds"),
    )
}

/// Refuses viewers while the key that signs tokens is a setting of the database, which every role can read: with it a
/// viewer could sign himself a token of any role (CONSOLE-018).
async fn refuse_leaked_secret(state: &ConsoleState, level: Level) -> Result<(), ConsoleError> {
    if level > Level::Viewer && !state.config.read_only {
        return Ok(());
    }
    let client = state.database.connection(Level::Viewer).await?;
    let leaks: bool = client
        .query_one(
            "select exists (
               select from pg_catalog.pg_db_role_setting s, unnest(s.setconfig) setting
               where s.setdatabase in (0, (select oid from pg_catalog.pg_database where datname = current_database()))
                 and (setting ilike 'app.settings.jwt_secret=%' or setting ilike 'pgrst.jwt_secret=%'))",
            &[],
        )
        .await?
        .get(0);
    if !leaks {
        return Ok(());
    }
    Err(ConsoleError::forbidden(
        "Viewers are not let in while the JWT secret is a setting of the database, which every role can read",
    )
    .with_hint("Remove it: alter database postgres reset \"app.settings.jwt_secret\""))
}
