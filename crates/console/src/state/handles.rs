//! Functions of the services that the console calls. The server provides these handles, because the console does not depend
//! on the services.

use std::sync::Arc;

use futures_util::future::LocalBoxFuture;
use selvedge_config::EffectiveSetting;
use serde_json::Value;
use uuid::Uuid;

use super::auth_configuration::InspectAuth;
use super::doctor_check::DoctorCheck;

/// Returns the claims of a user's access token for an assurance level (`aal1`, `aal2`), or a sentence that says why not.
pub type UserClaims =
    Arc<dyn Fn(Uuid, String) -> LocalBoxFuture<'static, Result<Value, String>> + Send + Sync>;

/// Runs the checks of `selvedge doctor`, or returns the reason why it cannot.
pub type RunDoctor = Arc<dyn Fn() -> LocalBoxFuture<'static, Result<Vec<DoctorCheck>, String>> + Send + Sync>;

/// Functions of the services that the console calls; a service that is switched off gives none.
#[derive(Clone, Default)]
pub struct ServiceHandles {
    /// Makes the claims of a user as auth does at a sign-in, hooks included.
    pub user_claims: Option<UserClaims>,
    /// Auth's configuration and test calls; `None` when this process does not run Auth.
    pub auth: Option<Arc<dyn InspectAuth>>,
    /// The settings of the project, in the order of their keys.
    pub settings: Vec<EffectiveSetting>,
    /// The checks of `selvedge doctor`.
    pub doctor: Option<RunDoctor>,
}
