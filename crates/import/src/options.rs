//! What an import is told: where the source is, and how far it goes.

/// The source's addresses and credentials, which variables may give as well, and what the import may leave out or replace.
#[derive(Debug, Default)]
pub struct ImportOptions {
    /// URL of the source's database.
    pub db_url: Option<String>,
    /// URL of the source's API, from which storage objects are copied.
    pub api_url: Option<String>,
    /// Service role key of the source.
    pub service_role_key: Option<String>,
    /// Whether no objects are copied.
    pub no_objects: bool,
    /// Whether the import finishes although some objects cannot be copied.
    pub skip_objects: bool,
    /// Agrees to replace a database that is not empty; for one on another machine it names the host.
    pub yes: Option<String>,
}
