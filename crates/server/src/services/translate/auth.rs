//! Configuration → settings of the auth service.

use std::time::Duration;

use anyhow::{Result, anyhow};
use selvedge_auth::{
    AuthConfig, ClientAddress, EmailConfig, OauthServerConfig, PasswordConfig, RateLimitConfig,
    RefreshConfig, SamlConfig, SamlSettings, SessionConfig, Web3Config,
};
use selvedge_config::{AuthSection, Config, Mode, PasswordRequirements};

use super::{auth_channels, auth_protection, auth_providers, caught_messages};

/// The settings of the auth service.
///
/// # Errors
/// A hook that cannot be called, or a SAML key that cannot be read.
pub(in crate::services) fn auth_config(config: &Config, mode: Mode) -> Result<AuthConfig> {
    let section = &config.auth;
    let selvedge = &config.selvedge.auth;
    let service_url = auth_providers::service_url(config);
    Ok(AuthConfig {
        site_url: section.site_url.clone(),
        uri_allow_list: section.additional_redirect_urls.clone(),
        saml: saml_config(section, &service_url)?,
        jwt_issuer: section.jwt_issuer.clone().unwrap_or_else(|| service_url.clone()),
        external_url: service_url,
        jwt_expiry: Duration::from_secs(section.jwt_expiry_seconds),
        disable_signup: !section.enable_signup,
        anonymous_users_enabled: section.enable_anonymous_sign_ins,
        manual_linking_enabled: section.enable_manual_linking,
        scim_enabled: section.scim_enabled,
        external: auth_providers::provider_configs(config, mode),
        // Mock providers of a developer's machine have no certificate; in production plain HTTP would leak secrets.
        insecure_providers: mode == Mode::Development,
        binds_callbacks: selvedge
            .bind_callbacks
            .unwrap_or(selvedge.external_hosts.is_empty()),
        calls_private_addresses: selvedge.private_addresses.unwrap_or(mode == Mode::Development),
        web3: Web3Config {
            solana: section.web3_solana,
            ethereum: section.web3_ethereum,
        },
        oauth_server: oauth_server(section),
        email: email_config(config),
        phone: auth_channels::phone_config(config, mode),
        mfa: auth_protection::mfa_config(&section.mfa),
        webauthn: auth_protection::webauthn_config(&section.webauthn),
        hooks: auth_channels::hooks_config(config)?,
        captcha: auth_protection::captcha_config(config),
        password: password_config(config),
        refresh: refresh_config(config),
        sessions: session_config(config),
        rate_limits: rate_limits(config, mode),
        audit_log_enabled: selvedge.audit_log,
        external_hosts: selvedge.external_hosts.clone(),
        audiences: selvedge.audiences.clone(),
        tokens_without_session: selvedge.tokens_without_session,
        sso_confirms_any_address: selvedge.sso_confirms_any_address,
        sb_forwarded_for: selvedge.sb_forwarded_for,
        delete_old_anonymous_users: selvedge.delete_old_anonymous_users,
        ..AuthConfig::default()
    })
}

/// Sign-in by SAML, if it is on.
fn saml_config(section: &AuthSection, service_url: &str) -> Result<Option<SamlConfig>> {
    let saml = &section.saml;
    let Some(private_key) = saml.private_key.as_ref().filter(|_| saml.enabled) else {
        return Ok(None);
    };
    let settings = SamlSettings {
        private_key: private_key.clone(),
        private_key_next: saml.private_key_next.clone(),
        allow_encrypted_assertions: saml.allow_encrypted_assertions,
        allow_sha1: saml.allow_sha1,
        relay_state_validity: saml.relay_state_validity_period,
        external_url: saml.external_url.clone(),
    };
    let config = SamlConfig::new(&settings, service_url).map_err(|reason| anyhow!("auth.saml.{reason}"))?;
    Ok(Some(config))
}

fn oauth_server(section: &AuthSection) -> OauthServerConfig {
    OauthServerConfig {
        enabled: section.oauth_server.enabled,
        authorization_path: section.oauth_server.authorization_url_path.clone(),
        allow_dynamic_registration: section.oauth_server.allow_dynamic_registration,
    }
}

fn password_config(config: &Config) -> PasswordConfig {
    PasswordConfig {
        min_length: config.auth.minimum_password_length,
        required_characters: required_characters(config.auth.password_requirements),
        require_reauthentication: config.auth.email.secure_password_change,
        require_current: config.selvedge.auth.require_current_password,
        leaked: auth_protection::leaked_passwords(config),
        ..PasswordConfig::default()
    }
}

fn refresh_config(config: &Config) -> RefreshConfig {
    RefreshConfig {
        rotation_enabled: config.auth.enable_refresh_token_rotation,
        reuse_interval: Duration::from_secs(config.auth.refresh_token_reuse_interval_seconds),
        counter_tokens: config.selvedge.auth.counter_refresh_tokens,
        always_reuse: config.selvedge.auth.always_reuse_refresh_tokens,
        lock_wait: RefreshConfig::LOCK_WAIT,
    }
}

fn session_config(config: &Config) -> SessionConfig {
    SessionConfig {
        timebox: config.auth.session_timebox,
        inactivity_timeout: config.auth.session_inactivity_timeout,
        allow_low_aal: config.selvedge.auth.allow_low_aal,
        single_per_user: config.selvedge.auth.single_session_per_user,
        tags: config.selvedge.auth.session_tags.clone(),
    }
}

fn email_config(config: &Config) -> EmailConfig {
    let section = &config.auth.email;
    EmailConfig {
        enabled: section.enabled,
        autoconfirm: !section.enable_confirmations,
        secure_change: section.double_confirm_changes,
        max_frequency: section.max_frequency,
        otp_length: u8::try_from(section.otp_length).unwrap_or(6),
        otp_expiry: Duration::from_secs(section.otp_expiry_seconds),
        notifications: auth_channels::notification_kinds(config),
        queue: config.selvedge.auth.mail_queue,
        authorized_addresses: config.selvedge.auth.authorized_addresses.clone(),
    }
}

/// The sets of characters of which a password needs one each.
fn required_characters(requirements: PasswordRequirements) -> Vec<String> {
    let name = match requirements {
        PasswordRequirements::Any => "",
        PasswordRequirements::LettersDigits => "letters_digits",
        PasswordRequirements::LowerUpperLettersDigits => "lower_upper_letters_digits",
        PasswordRequirements::LowerUpperLettersDigitsSymbols => "lower_upper_letters_digits_symbols",
    };
    PasswordConfig::character_sets(name).unwrap_or_default()
}

/// Converts the rate limits. In development there is none per client address, as with the CLI, and mail to the development
/// inbox is not limited.
fn rate_limits(config: &Config, mode: Mode) -> RateLimitConfig {
    let (section, selvedge) = (&config.auth.rate_limit, &config.selvedge.auth);
    let client = match (&selvedge.rate_limit_header, mode) {
        // Only an explicit setting makes a header count: without a proxy that sets it, clients could forge their
        // address.
        (Some(header), mode) => ClientAddress::Header {
            name: header.to_ascii_lowercase(),
            peer_otherwise: mode == Mode::Production,
        },
        (None, Mode::Development) => ClientAddress::Unlimited,
        (None, Mode::Production) => ClientAddress::Peer,
    };
    RateLimitConfig {
        client,
        verify: section.token_verifications,
        token: section.token_refresh,
        otp: section.sign_in_sign_ups,
        anonymous_users: section.anonymous_users,
        // Without an SMTP server all mail goes to the development inbox, which needs no limit.
        emails_per_hour: config.auth.email.smtp.is_some().then_some(section.email_sent),
        // Neither are text messages that go to the inbox.
        sms_per_hour: (!caught_messages::is_caught(config, mode)).then_some(section.sms_sent),
        web3: section.web3,
        mfa_per_minute: selvedge.rate_limit_mfa,
        passkeys: selvedge.rate_limit_passkeys,
        client_registrations: selvedge.rate_limit_client_registrations,
        sso: section.sso,
        saml_assertions: config.auth.saml.rate_limit_assertion,
        ..RateLimitConfig::default()
    }
}
