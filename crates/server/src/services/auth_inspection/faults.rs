//! Faults of Auth's configuration that can be found without the database or another server.

use selvedge_config::{Config, Mode, ProviderSection};
use selvedge_console::{ConfigurationFault, FaultSeverity};
use url::{Host, Url};

use crate::services::translate::{auth_providers, caught_messages};

/// Lists the faults of site and redirect URLs, providers, hooks, SMTP and SMS, and the loader's warnings about `auth.*`.
pub(super) fn list_faults(config: &Config, mode: Mode) -> Vec<ConfigurationFault> {
    let mut faults = Vec::new();
    check_urls(config, mode, &mut faults);
    for provider in &config.auth.external {
        check_provider(config, mode, provider, &mut faults);
    }
    check_hooks(config, mode, &mut faults);
    check_messages(config, mode, &mut faults);
    faults.extend(config.warnings.iter().filter_map(|line| parse_warning(line)));
    faults
}

/// Creates a fault.
pub(super) fn create_fault(
    severity: FaultSeverity,
    key: impl Into<String>,
    message: impl Into<String>,
    remedy: impl Into<String>,
) -> ConfigurationFault {
    ConfigurationFault {
        key: key.into(),
        severity,
        message: message.into(),
        remedy: remedy.into(),
    }
}

fn check_urls(config: &Config, mode: Mode, faults: &mut Vec<ConfigurationFault>) {
    let key = "auth.site_url";
    match Url::parse(&config.auth.site_url) {
        Ok(url) if mode == Mode::Production && is_loopback(&url) => faults.push(create_fault(
            FaultSeverity::Error,
            key,
            "Links in mails lead to the reader's own machine.",
            "Set it to the address of the site, or SUPABASE_AUTH_SITE_URL.",
        )),
        Ok(url) if mode == Mode::Production && url.scheme() == "http" => faults.push(create_fault(
            FaultSeverity::Warning,
            key,
            "Tokens of sign-ins travel to the site without TLS.",
            "Use an https address.",
        )),
        Ok(_) => {}
        Err(_) => faults.push(create_fault(
            FaultSeverity::Error,
            key,
            "It is no URL, so sign-ins and links in mails lead nowhere.",
            "Set it to the address of the site.",
        )),
    }
    let key = "auth.additional_redirect_urls";
    for pattern in &config.auth.additional_redirect_urls {
        let Some((scheme, rest)) = pattern.split_once("://") else {
            faults.push(create_fault(
                FaultSeverity::Warning,
                key,
                format!("{pattern:?} allows no address, because it has no scheme."),
                "Write it with its scheme, such as https://app.example.com/**.",
            ));
            continue;
        };
        // Patterns with an app's own scheme, such as myapp://*, are safe: no web page has such an address.
        let host = rest.split('/').next().unwrap_or_default();
        if scheme.starts_with("http") && host.chars().all(|sign| matches!(sign, '*' | '?' | '.')) {
            faults.push(create_fault(
                FaultSeverity::Warning,
                key,
                format!(
                    "{pattern:?} allows every host, so a link can send tokens of your users to strangers."
                ),
                "Name the hosts of your own sites.",
            ));
        }
    }
}

fn check_provider(
    config: &Config,
    mode: Mode,
    provider: &ProviderSection,
    faults: &mut Vec<ConfigurationFault>,
) {
    let key = format!("auth.external.{}", provider.name);
    let configured = auth_providers::provider_configs(config, mode);
    let running = configured.iter().find(|running| running.name == provider.name);
    if provider.lacks_credentials() {
        let is_answered = running.is_some_and(|running| running.development_url.is_some());
        faults.push(if is_answered {
            create_fault(
                FaultSeverity::Note,
                key.clone(),
                "It has no client id or secret, so the development identity provider answers in its place.",
                "Register the callback URL with the provider before `selvedge serve`, and set client_id and secret.",
            )
        } else {
            create_fault(
                FaultSeverity::Error,
                key.clone(),
                "It is enabled without client id or secret, so every sign-in fails.",
                "Set client_id and secret, or switch it off.",
            )
        });
    }
    // `start` uses the development identity provider for Keycloak without url, and `url` is set then.
    if provider.name == "keycloak" && running.is_some_and(|running| running.url.is_none()) {
        faults.push(create_fault(
            FaultSeverity::Error,
            format!("{key}.url"),
            "Keycloak has no public server, and no url is set.",
            "Set url to the address of the realm.",
        ));
    }
    let callback = format!("{}/callback", auth_providers::service_url(config));
    let redirect = provider.redirect_uri.as_deref().filter(|uri| !uri.is_empty());
    if let Some(uri) = redirect.filter(|uri| *uri != callback) {
        faults.push(create_fault(
            FaultSeverity::Warning,
            format!("{key}.redirect_uri"),
            format!("The provider sends browsers to {uri}, which is not this server's callback {callback}."),
            "Remove the key, unless a proxy leads from there to the callback.",
        ));
    }
}

fn check_hooks(config: &Config, mode: Mode, faults: &mut Vec<ConfigurationFault>) {
    let allows_private = config
        .selvedge
        .auth
        .private_addresses
        .unwrap_or(mode == Mode::Development);
    for hook in &config.auth.hooks {
        let Ok(url) = Url::parse(&hook.uri) else { continue };
        let key = format!("auth.hook.{}.uri", hook.name);
        if !allows_private && is_private(&url) {
            faults.push(create_fault(
                FaultSeverity::Error,
                key,
                "It is an address of a private network, which Auth does not call here.",
                "Use a public address, or set selvedge.auth.private_addresses = true.",
            ));
        } else if mode == Mode::Production && url.scheme() == "http" && !is_loopback(&url) {
            faults.push(create_fault(
                FaultSeverity::Warning,
                key,
                "Users' data travels to the hook without TLS.",
                "Use an https address.",
            ));
        }
    }
}

fn check_messages(config: &Config, mode: Mode, faults: &mut Vec<ConfigurationFault>) {
    let has_hook = |name: &str| config.auth.hooks.iter().any(|hook| hook.name == name);
    let sends = caught_messages::choose_provider(config, mode).is_some() || has_hook("send_sms");
    if config.auth.sms.enabled && !sends {
        faults.push(create_fault(
            FaultSeverity::Error,
            "auth.sms",
            "Sign-in by phone is on, and nothing sends text messages.",
            "Enable a provider below [auth.sms], or the hook send_sms.",
        ));
    }
    let smtp_is_missing = config.auth.email.smtp.is_none() && !has_hook("send_email");
    if config.auth.email.enabled && smtp_is_missing {
        let (severity, message, remedy) = match mode {
            Mode::Development => (
                FaultSeverity::Note,
                "Mails stay in the inbox of this machine.",
                "Set [auth.email.smtp] before `selvedge serve`, which refuses what would send a mail without it.",
            ),
            Mode::Production => (
                FaultSeverity::Error,
                "No SMTP server is configured, so what would send a mail is refused: confirmations, recoveries, invitations.",
                "Set [auth.email.smtp], and start the server again.",
            ),
        };
        faults.push(create_fault(severity, "auth.email.smtp", message, remedy));
    }
}

/// Converts a warning of the configuration loader, such as `config.toml:3: auth.external.x.secret: the variable …`, to a fault;
/// `None` when it is not about a key of `auth`.
fn parse_warning(line: &str) -> Option<ConfigurationFault> {
    let start = line.find("auth.")?;
    let is_word = |before: &str| before.is_empty() || before.ends_with([' ', ':']);
    let (before, rest) = line.split_at(start);
    if !is_word(before) {
        return None;
    }
    let key = rest.split([':', ' ', '\n']).next().unwrap_or_default();
    Some(create_fault(
        FaultSeverity::Warning,
        key,
        line,
        "Change the file or the environment, and start the server again.",
    ))
}

fn is_loopback(url: &Url) -> bool {
    match url.host() {
        Some(Host::Domain(name)) => name == "localhost" || name.ends_with(".localhost"),
        Some(Host::Ipv4(address)) => address.is_loopback() || address.is_unspecified(),
        Some(Host::Ipv6(address)) => address.is_loopback() || address.is_unspecified(),
        None => false,
    }
}

/// Whether the URL's host is a private IP address or localhost. Other host names are checked when a call resolves them.
fn is_private(url: &Url) -> bool {
    match url.host() {
        Some(Host::Ipv4(address)) => selvedge_http_client::is_private(address.into()),
        Some(Host::Ipv6(address)) => selvedge_http_client::is_private(address.into()),
        _ => is_loopback(url),
    }
}

#[cfg(test)]
mod tests {
    use selvedge_config::{Environment, Flags, Project};

    use super::*;

    fn keys_of(text: &str, mode: Mode) -> Vec<String> {
        let folder = tempfile::tempdir().unwrap();
        std::fs::create_dir(folder.path().join("supabase")).unwrap();
        std::fs::write(folder.path().join("supabase/config.toml"), text).unwrap();
        let project = Project::find(Some(folder.path()), folder.path()).unwrap();
        let loaded = Config::load_project(project, Environment::default(), &Flags::default());
        let faults = list_faults(&loaded.unwrap().config, mode);
        let serious = faults
            .into_iter()
            .filter(|fault| fault.severity != FaultSeverity::Note);
        serious.map(|fault| fault.key).collect()
    }

    #[test]
    fn console_113_list_faults_finds_bad_urls_providers_hooks_and_sms() {
        assert_eq!(keys_of("", Mode::Development), [""; 0]);
        assert_eq!(
            keys_of("", Mode::Production),
            ["auth.site_url", "auth.email.smtp"]
        );
        let site = "[auth]\nsite_url = \"https://app.example.com\"\n";
        let smtp = "[auth.email.smtp]\nenabled = true\nhost = \"mail\"\nadmin_email = \"a@example.com\"\n";
        for (more, key) in [
            (
                "additional_redirect_urls = [\"https://**\"]",
                "auth.additional_redirect_urls",
            ),
            (
                "additional_redirect_urls = [\"app.example.com\"]",
                "auth.additional_redirect_urls",
            ),
            (
                "[auth.external.github]\nenabled = true\nclient_id = \"id\"",
                "auth.external.github",
            ),
            (
                "[auth.external.github]\nenabled = true\nclient_id = \"id\"\nsecret = \"s\"\nredirect_uri = \"https://x/y\"",
                "auth.external.github.redirect_uri",
            ),
            (
                "[auth.hook.send_email]\nenabled = true\nuri = \"https://10.0.0.1/\"\nsecrets = \"v1,whsec_c2VjcmV0\"",
                "auth.hook.send_email.uri",
            ),
            ("[auth.sms]\nenabled = true", "auth.sms"),
        ] {
            let keys = keys_of(&format!("{site}{more}\n{smtp}"), Mode::Production);
            assert_eq!(keys, [key], "{more}");
        }
    }
}
