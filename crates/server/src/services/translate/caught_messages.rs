//! Configuration → the service that sends text messages, or the inbox in its place.
//!
//! The inbox is used in [`Mode::Development`] only: in production every service keeps its own URL, whatever the
//! configuration says.

use selvedge_config::{Config, Mode, SmsProvider};
use selvedge_database::instance;
use selvedge_dev_services::messages;

/// The service that sends text messages, with the address under which auth calls it.
pub(in crate::services) fn choose_provider(config: &Config, mode: Mode) -> Option<SmsProvider> {
    let mut provider = config.auth.sms.provider.clone()?;
    if is_caught(config, mode) {
        // The inbox's listener, so that one address shows everything that was not sent.
        let listener = instance::inbox_url(config.inbox.port);
        *provider.base_url_mut() = Some(messages::service_url(&listener, provider.name()));
    }
    Some(provider)
}

/// Whether text messages go to the inbox.
pub(super) fn is_caught(config: &Config, mode: Mode) -> bool {
    mode == Mode::Development && caught_service(config).is_some()
}

/// The enabled service whose messages `start` puts into the inbox: one without credentials, or one in
/// `[selvedge.dev_sign_in] providers`. A service with a `base_url` is the project's own replacement, so it is not
/// redirected.
pub(crate) fn caught_service(config: &Config) -> Option<&'static str> {
    let settings = &config.selvedge.dev_sign_in;
    let mut provider = config.auth.sms.provider.clone()?;
    let has_own_address = provider.base_url_mut().is_some();
    let is_named = settings.providers.iter().any(|name| name == provider.name());
    let is_caught = is_named || (provider.lacks_credentials() && !has_own_address);
    (config.auth.enabled && settings.enabled && is_caught).then_some(provider.name())
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use selvedge_config::{Environment, Flags, Project};
    use selvedge_dev_services::messages::SERVICE_NAMES;

    use super::*;

    fn load(text: &str) -> Config {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("config.toml"), text).unwrap();
        let project = Project::find(Some(folder.path()), Path::new("/")).unwrap();
        Config::load_project(project, Environment::default(), &Flags::default())
            .unwrap()
            .config
    }

    /// The address that auth calls; `None` is the service's own.
    fn called_address(config: &Config, mode: Mode) -> Option<String> {
        choose_provider(config, mode).unwrap().base_url_mut().clone()
    }

    #[test]
    fn every_service_without_credentials_is_caught_in_development_and_never_in_production() {
        for name in SERVICE_NAMES {
            let config = load(&format!(
                "[auth.sms.{name}]\nenabled = true\n[selvedge.dev_sign_in]\nproviders = [\"{name}\"]\n"
            ));

            let caught = format!("http://127.0.0.1:54324/messages/{name}");
            assert_eq!(called_address(&config, Mode::Development), Some(caught));
            assert_eq!(called_address(&config, Mode::Production), None);
        }
    }

    #[test]
    fn a_service_with_credentials_or_an_address_of_its_own_is_caught_only_when_it_is_named() {
        let account = "[auth.sms.vonage]\nenabled = true\napi_key = \"k\"\napi_secret = \"s\"\n";
        let own_address = "[auth.sms.textlocal]\nenabled = true\nbase_url = \"http://127.0.0.1:1\"\n";
        let named = "[selvedge.dev_sign_in]\nproviders = [\"vonage\"]\n";
        let off = "[auth.sms.vonage]\nenabled = true\n[selvedge.dev_sign_in]\nenabled = false\n";

        assert_eq!(caught_service(&load(account)), None);
        assert_eq!(caught_service(&load(own_address)), None);
        assert_eq!(
            caught_service(&load(&format!("{account}{named}"))),
            Some("vonage")
        );
        assert_eq!(caught_service(&load(off)), None);
    }
}
