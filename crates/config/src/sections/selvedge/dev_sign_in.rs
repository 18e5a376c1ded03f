//! `[selvedge.dev_sign_in]`: identity providers and message services in whose place `start` answers.

use selvedge_auth::PROVIDER_NAMES;
use selvedge_dev_services::messages::SERVICE_NAMES;

use crate::reader::section::Section;

/// `[selvedge.dev_sign_in]`. It has no effect in `serve`.
#[derive(Debug, Clone)]
pub struct DevSignInSection {
    /// Whether enabled providers without credentials are answered on this machine, those of `[auth.external]` and those of
    /// `[auth.sms]`. Default true.
    pub enabled: bool,
    /// Enabled providers that are answered on this machine although they have credentials. Default: none.
    pub providers: Vec<String>,
}

impl DevSignInSection {
    pub(super) fn read(section: &Section<'_>) -> Self {
        let providers = section.strings("providers", &[]);
        // A misspelt name would leave the real provider in place without a word.
        let known = || PROVIDER_NAMES.iter().chain(&SERVICE_NAMES);
        for name in providers.iter().filter(|name| !known().any(|one| one == name)) {
            let known = known().copied().collect::<Vec<_>>().join(", ");
            section.report_error("providers", &format!("names {name:?}, which is none of {known}"));
        }
        Self {
            enabled: section.bool("enabled", true),
            providers,
        }
    }
}
