//! Whether the server runs for development or in production.

/// The command that runs the project. It decides about well-known keys, the mail inbox and limits.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Mode {
    /// `selvedge start`
    Development,
    /// `selvedge serve`
    Production,
}
