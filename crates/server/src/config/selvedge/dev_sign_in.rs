//! `[selvedge.dev_sign_in]`: the sign-in pages that `start` shows in place of identity providers.

use selvedge_auth::PROVIDER_NAMES;

use crate::config::section::Section;

/// `[selvedge.dev_sign_in]`. It has no effect in `serve`.
#[derive(Debug, Clone)]
pub struct DevSignInSection {
    /// Whether enabled providers without credentials are answered on this machine. Default true.
    pub enabled: bool,
    /// Enabled providers that are answered on this machine although they have credentials. Default: none.
    pub providers: Vec<String>,
}

impl DevSignInSection {
    pub(super) fn read(section: &Section<'_>) -> Self {
        let providers = section.strings("providers", &[]);
        // A misspelt name would leave the real provider in place without a word.
        for name in providers
            .iter()
            .filter(|name| !PROVIDER_NAMES.contains(&name.as_str()))
        {
            let known = PROVIDER_NAMES.join(", ");
            section.report_error("providers", &format!("names {name:?}, which is none of {known}"));
        }
        Self {
            enabled: section.bool("enabled", true),
            providers,
        }
    }
}
