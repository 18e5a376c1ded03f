//! The interface by which the console reads Auth's configuration and makes test calls. The server implements it.

use futures_util::future::LocalBoxFuture;
use serde::Serialize;
use serde_json::Value;
use uuid::Uuid;

/// The severity of a fault.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum FaultSeverity {
    /// A feature does not work.
    Error,
    /// A feature may not work, or is less secure than intended.
    Warning,
    /// A feature behaves differently in development than it will in production.
    Note,
}

/// A fault found in the configuration.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct ConfigurationFault {
    /// The dotted key of the setting at fault, or the common prefix of several, such as `auth.external.github`.
    pub key: String,
    /// The severity.
    pub severity: FaultSeverity,
    /// A sentence that says what is wrong.
    pub message: String,
    /// A sentence that says how to fix it.
    pub remedy: String,
}

/// An enabled provider of sign-ins.
#[derive(Debug, Clone, Serialize)]
pub struct ConfiguredProvider {
    /// The provider's name, as in `/authorize?provider=`.
    pub name: String,
    /// The callback URL, which must be registered with the provider.
    pub callback_url: String,
    /// Whether the development identity provider replaces it.
    pub answered_locally: bool,
}

/// A mail that Auth sends.
#[derive(Debug, Clone, Serialize)]
pub struct ConfiguredMail {
    /// The name of the template.
    pub name: String,
    /// Its section in `config.toml`: `template` or `notification`.
    pub section: &'static str,
    /// Whether it is sent. Notifications are disabled by default.
    pub enabled: bool,
    /// Whether the project has a template of its own.
    pub custom: bool,
}

/// Auth's configuration, as far as it is not shown by the list of settings.
#[derive(Debug, Clone, Serialize)]
pub struct AuthConfiguration {
    /// The public URL of the auth service.
    pub auth_url: String,
    /// The enabled providers.
    pub providers: Vec<ConfiguredProvider>,
    /// The names of the providers that are not enabled.
    pub other_providers: Vec<String>,
    /// All mails, also disabled ones.
    pub mails: Vec<ConfiguredMail>,
    /// The names of the enabled hooks.
    pub hooks: Vec<String>,
    /// The faults found.
    pub faults: Vec<ConfigurationFault>,
}

/// The JSON result of a test call, or a sentence that says why the call was not possible.
pub type Trial = LocalBoxFuture<'static, Result<Value, String>>;

/// What the console's screen about Auth's configuration calls.
pub trait InspectAuth: Send + Sync {
    /// Returns the configuration and its faults.
    ///
    /// # Errors
    /// A sentence that says why the database could not be checked.
    fn describe(&self) -> LocalBoxFuture<'static, Result<AuthConfiguration, String>>;
    /// Requests a provider's sign-in page → `{address, status, elapsed_ms}`.
    fn try_provider(&self, name: String) -> Trial;
    /// Calls a hook with a sample payload, for an existing user if one is given → `{input, output, refusal, elapsed_ms}`.
    fn try_hook(&self, name: String, user: Option<Uuid>) -> Trial;
    /// Renders a mail with sample data → `{subject, html, text}`; `None` when there is no such mail.
    fn render_mail(&self, name: &str) -> Option<Value>;
    /// Whether Auth may redirect browsers to a URL after a sign-in.
    fn is_redirect_allowed(&self, url: &str) -> bool;
}
