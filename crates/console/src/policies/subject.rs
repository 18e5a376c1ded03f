//! Subjects of the console as the role and claims with which the gateway would run their requests.

use selvedge_policies::Subject;
use serde::Deserialize;
use serde_json::{Map, Value, json};
use uuid::Uuid;

use crate::error::ConsoleError;
use crate::state::ConsoleState;

/// The subject of a simulation as the browser half names it.
#[derive(Debug, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub(super) enum SubjectChoice {
    Admin,
    Anon,
    ServiceRole,
    User {
        id: Uuid,
        #[serde(default)]
        aal: Option<String>,
    },
    Claims {
        claims: Map<String, Value>,
    },
}

impl SubjectChoice {
    /// Returns role and claims. Claims of a user are created by Auth as for a sign-in, hook included.
    ///
    /// # Errors 422 for the console's own login, which is no role of the API, and when Auth refuses the claims.
    pub(super) async fn resolve(self, state: &ConsoleState) -> Result<Subject, ConsoleError> {
        let claims = match self {
            Self::Admin => {
                return Err(ConsoleError::invalid(
                    "The console's own login is no caller of the API. Choose anon, a user, claims or service_role.",
                ));
            }
            Self::Anon => json!({ "role": "anon" }),
            Self::ServiceRole => json!({ "role": "service_role" }),
            Self::User { id, aal } => user_claims(state, id, aal).await?,
            Self::Claims { mut claims } => {
                // A token without a role is that of an anonymous caller.
                claims.entry("role").or_insert_with(|| "anon".into());
                Value::Object(claims)
            }
        };
        let Some(role) = claims.get("role").and_then(Value::as_str) else {
            return Err(ConsoleError::invalid("The claim role must be a text."));
        };
        Ok(Subject {
            role: role.to_owned(),
            claims,
        })
    }
}

async fn user_claims(state: &ConsoleState, id: Uuid, aal: Option<String>) -> Result<Value, ConsoleError> {
    let aal = aal.unwrap_or_else(|| "aal1".into());
    if aal != "aal1" && aal != "aal2" {
        return Err(ConsoleError::invalid("The assurance level is aal1 or aal2."));
    }
    let Some(make_claims) = &state.handles.user_claims else {
        return Err(ConsoleError::unavailable(
            "Auth is switched off, so users have no claims.",
        ));
    };
    make_claims(id, aal).await.map_err(ConsoleError::invalid)
}
