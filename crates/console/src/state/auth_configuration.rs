//! What Auth tells the console about its configuration, and what it lets the console try out.

use futures_util::future::LocalBoxFuture;
use serde::Serialize;
use serde_json::Value;
use uuid::Uuid;

/// How much a fault of the configuration matters.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum FaultSeverity {
    /// Something does not work.
    Error,
    /// Something may not work, or works for too many.
    Warning,
    /// Something is different from what it will be in production.
    Note,
}

/// A fault of the configuration.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct ConfigurationFault {
    /// The dotted key that it is about, or the beginning of several.
    pub key: String,
    /// How much it matters.
    pub severity: FaultSeverity,
    /// What is wrong, as a sentence.
    pub message: String,
    /// What to do about it.
    pub remedy: String,
}

/// An enabled provider of sign-ins.
#[derive(Debug, Clone, Serialize)]
pub struct ConfiguredProvider {
    /// The name, as in `/authorize?provider=`.
    pub name: String,
    /// The address to which the provider sends browsers back; it has to be registered there.
    pub callback_url: String,
    /// Whether the development identity provider answers in its place.
    pub answered_locally: bool,
}

/// A mail that Auth sends.
#[derive(Debug, Clone, Serialize)]
pub struct ConfiguredMail {
    /// The name of its template.
    pub name: String,
    /// `template` or `notification`, the section that it belongs to.
    pub section: &'static str,
    /// Whether it is sent; notifications are off unless they are enabled.
    pub enabled: bool,
    /// Whether the project has a template of its own.
    pub custom: bool,
}

/// What runs, beside the settings by their keys.
#[derive(Debug, Clone, Serialize)]
pub struct AuthConfiguration {
    /// The address of the auth service.
    pub auth_url: String,
    /// The enabled providers.
    pub providers: Vec<ConfiguredProvider>,
    /// The providers that are off.
    pub other_providers: Vec<String>,
    /// All mails.
    pub mails: Vec<ConfiguredMail>,
    /// The names of the enabled hooks.
    pub hooks: Vec<String>,
    /// What is wrong.
    pub faults: Vec<ConfigurationFault>,
}

/// A result of a trial as JSON, or a sentence that says why there is none.
pub type Trial = LocalBoxFuture<'static, Result<Value, String>>;

/// Auth's side of the screen about its configuration.
pub trait InspectAuth: Send + Sync {
    /// What runs, and what is wrong with it.
    fn describe(&self) -> LocalBoxFuture<'static, Result<AuthConfiguration, String>>;
    /// Requests a provider's sign-in page.
    fn try_provider(&self, name: String) -> Trial;
    /// Calls a hook with a sample, about an existing user where one is given.
    fn try_hook(&self, name: String, user: Option<Uuid>) -> Trial;
    /// Renders a mail with invented data; `None` when there is no such mail.
    fn render_mail(&self, name: &str) -> Option<Value>;
    /// Whether a browser may be sent to an address at the end of a sign-in.
    fn is_redirect_allowed(&self, url: &str) -> bool;
}
