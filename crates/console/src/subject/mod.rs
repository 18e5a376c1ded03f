//! The subject as which a statement runs: the level's own login, or a caller of the API.

use deadpool_postgres::{Object, Transaction};
use selvedge_postgres::{AccessMode, Database, Login, RequestContext, begin_as_caller};
use serde::Deserialize;
use serde_json::{Map, Value, json};

use crate::error::ConsoleError;
use crate::session::Session;
use crate::state::Level;

/// The subject as which a statement runs.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub(crate) enum Subject {
    /// The statement runs under the login of the account's level.
    #[default]
    Admin,
    /// The statement runs as a request that carries only the publishable key.
    Anon,
    /// The statement runs as a request with the service key.
    ServiceRole,
    /// The statement runs as a request of a signed-in user.
    User {
        /// The user's id in `auth.users`.
        id: uuid::Uuid,
        /// The assurance level of the sign-in, `aal1` or `aal2`.
        #[serde(default)]
        aal: Option<String>,
    },
    /// The statement runs as a request with a token of these claims.
    Claims {
        /// The token's claims, of which `role` names the database role.
        claims: Map<String, Value>,
    },
}

impl Subject {
    /// Returns the role and the claims of the subject's requests, or `None` for the level's own login.
    pub(crate) fn role_and_claims(&self) -> Option<(String, Value)> {
        let claims = match self {
            Self::Admin => return None,
            Self::Anon => json!({ "role": "anon" }),
            Self::ServiceRole => json!({ "role": "service_role" }),
            // The claims that auth puts into every access token, as far as policies ask for them.
            Self::User { id, aal } => json!({
                "sub": id,
                "role": "authenticated",
                "aud": "authenticated",
                "aal": aal.as_deref().unwrap_or("aal1"),
            }),
            Self::Claims { claims } => Value::Object(claims.clone()),
        };
        let role = claims["role"].as_str().unwrap_or("anon").to_owned();
        Some((role, claims))
    }

    /// Refuses subjects by which a viewer could see more than the viewer's login may.
    ///
    /// # Errors 403 for a viewer who wants to read as a role other than those of the application's users.
    pub(crate) fn check_level(&self, session: &Session) -> Result<(), ConsoleError> {
        if session.level > Level::Viewer {
            return Ok(());
        }
        match self.role_and_claims() {
            Some((role, _)) if role != "anon" && role != "authenticated" => {
                Err(ConsoleError::forbidden(format!("A viewer cannot read as {role}")))
            }
            _ => Ok(()),
        }
    }
}

/// Opens a connection for a read-only transaction as a caller of the API.
///
/// # Errors
/// When the database is away.
pub(crate) async fn connect_as_caller(database: &Database) -> Result<Object, ConsoleError> {
    // A pool of one, which closes with the connection: reading as a caller is too rare to keep connections for it.
    Ok(database.pool(Login::Authenticator, 1).get().await?)
}

/// Begins a read-only transaction with the role and the settings of a request.
///
/// # Errors
/// An unknown role, or one that requests cannot have.
pub(crate) async fn begin_reading_as<'c>(
    client: &'c mut Object,
    database: &Database,
    role: &str,
    claims: &Value,
) -> Result<Transaction<'c>, ConsoleError> {
    let context = RequestContext {
        search_path: "\"public\", \"extensions\"",
        role,
        claims: &claims.to_string(),
        method: "GET",
        path: "/",
        headers: "{}",
        cookies: "{}",
        extra: &[],
    };
    Ok(begin_as_caller(client, &context, &database.role_settings(), AccessMode::ReadOnly).await?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn console_092_subjects_become_roles_and_claims() {
        let read = |text| serde_json::from_str::<Subject>(text).expect("valid");
        assert_eq!(read(r#"{"kind":"admin"}"#).role_and_claims(), None);
        let (role, claims) =
            read(r#"{"kind":"user","id":"00000000-0000-0000-0000-000000000001","aal":"aal2"}"#)
                .role_and_claims()
                .expect("a role");
        assert_eq!(
            (role.as_str(), claims["aal"].as_str()),
            ("authenticated", Some("aal2"))
        );
        let (role, _) = read(r#"{"kind":"claims","claims":{"role":"auditor"}}"#)
            .role_and_claims()
            .expect("a role");
        assert_eq!(role, "auditor");
        // A token without a role belongs to no caller.
        let (role, _) = read(r#"{"kind":"claims","claims":{}}"#)
            .role_and_claims()
            .expect("a role");
        assert_eq!(role, "anon");
    }
}
