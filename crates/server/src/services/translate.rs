//! Sections of `config.toml` in the words of the services.

use std::path::PathBuf;
use std::time::Duration;

use anyhow::{Context, Result, bail};
use secrecy::ExposeSecret;
use selvedge_auth::{
    AuthConfig, ClientAddress, EmailConfig, OauthServerConfig, PasswordConfig, ProviderConfig,
    RateLimitConfig, RefreshConfig, SessionConfig, Web3Config,
};
use selvedge_gateway::GatewayConfig;
use selvedge_mail::{Inbox, MailKind, MailTemplates, Mailer, Sender, SmtpConfig, SmtpMailer};
use selvedge_postgres::RequestPoolConfig;
use selvedge_rest::RestConfig;
use selvedge_storage::{BucketSeed, S3BackendConfig, S3KeyPair, S3ProtocolConfig, StorageConfig};
use selvedge_token::development;

use super::{Mode, auth_parts};
use crate::config::{
    BucketSection, Config, EmailSection, EmailTemplate, OwnAuthSection, PasswordRequirements,
    ProcessSettings, ProviderSection, S3Section, SmtpSection,
};
use crate::key_set::KeySet;
use crate::output;

pub(super) fn gateway(config: &Config) -> GatewayConfig {
    let limits = &config.own.limits;
    GatewayConfig {
        request_timeout: limits.request_timeout,
        max_in_flight_per_worker: limits.in_flight_per_worker,
        trusted_proxies: limits.trusted_proxies,
        access_log: config.own.access_log,
        slow_request: limits.slow_request,
    }
}

pub(super) fn request_pool(config: &Config) -> RequestPoolConfig {
    let (rest, process, _) = config.rest_settings();
    let own = RequestPoolConfig {
        connections_per_worker: config.own.connections_per_worker,
        ..RequestPoolConfig::default()
    };
    with_pool_settings(own, &rest, &process, config.own.workers.unwrap_or_else(cores))
}

/// What `PGRST_DB_POOL` and its kin change in a worker's share of the connections.
pub(crate) fn with_pool_settings(
    mut pool: RequestPoolConfig,
    rest: &RestConfig,
    process: &ProcessSettings,
    workers: usize,
) -> RequestPoolConfig {
    if let Some(size) = process.pool_size {
        // one at least for requests, and one for those that hold a connection while they decide
        pool.max_connections_per_worker = size.div_ceil(workers).max(2);
        pool.connections_per_worker = pool
            .connections_per_worker
            .min(pool.max_connections_per_worker - 1);
    }
    replace(&mut pool.acquire_timeout, process.pool_acquisition_timeout);
    replace(&mut pool.idle_timeout, process.pool_max_idle);
    replace(&mut pool.max_lifetime, process.pool_max_lifetime);
    if !rest.prepared_statements {
        pool.cached_statements = 0;
    }
    pool
}

fn replace<T>(value: &mut T, other: Option<T>) {
    if let Some(other) = other {
        *value = other;
    }
}

fn cores() -> usize {
    std::thread::available_parallelism().map_or(1, usize::from)
}

pub(super) fn storage(config: &Config, keys: &KeySet, mode: Mode) -> StorageConfig {
    StorageConfig {
        s3_protocol: config
            .storage
            .s3_protocol
            .then(|| s3_protocol(config, keys, mode)),
        ..store(config)
    }
}

/// Where objects are kept and what they may be, without anybody who may ask for them.
pub(super) fn store(config: &Config) -> StorageConfig {
    let defaults = StorageConfig::default();
    StorageConfig {
        root: objects_folder(config),
        s3_backend: config.own.s3.as_ref().map(|s3| s3_backend(s3, config)),
        file_size_limit_bytes: config.storage.file_size_limit_bytes,
        image_transformation: config.storage.image_transformation,
        public_url: config.api.external_url.clone(),
        transaction_pool_size: config.own.service_connections,
        render_rate_limit: Some(config.own.limits.render_per_second).filter(|per_second| *per_second > 0),
        signed_upload_url_lifetime: config
            .storage
            .signed_upload_url_lifetime
            .unwrap_or(defaults.signed_upload_url_lifetime),
        resumable_upload_lifetime: config
            .storage
            .resumable_upload_lifetime
            .unwrap_or(defaults.resumable_upload_lifetime),
        ..defaults
    }
}

fn s3_backend(section: &S3Section, config: &Config) -> S3BackendConfig {
    S3BackendConfig {
        bucket: section.bucket.clone(),
        prefix: section.prefix.clone(),
        endpoint: section.endpoint.clone(),
        region: section.region.clone(),
        access_key_id: section.access_key_id.clone(),
        secret_access_key: section.secret_access_key.expose_secret().to_owned(),
        session_token: section
            .session_token
            .as_ref()
            .map(|token| token.expose_secret().to_owned()),
        path_style: section.path_style,
        attempts: 3,
        spool: config.own.data_dir.join("spool"),
        removal_delay: Duration::from_secs(30),
    }
}

/// The CLI's well-known pair in development only; with a session token, the names that the original's clients send.
fn s3_protocol(config: &Config, keys: &KeySet, mode: Mode) -> S3ProtocolConfig {
    let section = &config.own.s3_protocol;
    let service = match (&section.access_key_id, &section.secret_access_key, mode) {
        (Some(id), Some(secret), _) => Some(S3KeyPair {
            access_key_id: id.clone(),
            secret_access_key: secret.expose_secret().to_owned(),
        }),
        (_, _, Mode::Development) => Some(S3KeyPair {
            access_key_id: development::s3_access_key_id(),
            secret_access_key: development::s3_secret_access_key(),
        }),
        _ => None,
    };
    let anon_keys: Vec<String> = [Some(&keys.anon_key), keys.publishable_key.as_ref()]
        .into_iter()
        .flatten()
        .map(|key| key.expose_secret().to_owned())
        .collect();
    let mut project_refs = vec![config.project.id.clone(), "stub".to_owned()];
    project_refs.extend(anon_keys.iter().cloned());
    S3ProtocolConfig {
        region: section.region.clone(),
        service,
        project_refs,
        anon_keys,
    }
}

/// Where the file backend keeps objects.
pub(crate) fn objects_folder(config: &Config) -> PathBuf {
    config.own.data_dir.join("storage")
}

pub(super) fn buckets(config: &Config) -> Vec<BucketSeed> {
    config.storage.buckets.iter().map(bucket).collect()
}

fn bucket(section: &BucketSection) -> BucketSeed {
    let objects_path = section.objects_path.clone().filter(|folder| {
        let is_there = folder.is_dir();
        if !is_there {
            let line = format!(
                "bucket {}: objects_path {} is not a folder",
                section.id,
                folder.display()
            );
            output::warn(&[line]);
        }
        is_there
    });
    BucketSeed {
        id: section.id.clone(),
        public: section.public,
        file_size_limit: section
            .file_size_limit_bytes
            .and_then(|bytes| bytes.try_into().ok()),
        allowed_mime_types: section.allowed_mime_types.clone(),
        objects_path,
    }
}

/// The configured SMTP server; without one the inbox in development, and an error in production, where a
/// mail that nobody receives would lock people out.
pub(super) fn mailer(config: &Config, mode: Mode) -> Result<(Mailer, Option<Inbox>)> {
    match (&config.auth.email.smtp, mode) {
        (Some(smtp), _) => Ok((Mailer::Smtp(smtp_mailer(smtp, &config.own.auth)?), None)),
        (None, Mode::Development) => {
            let inbox = Inbox::default();
            let sender = Sender {
                address: config.inbox.admin_email.clone(),
                name: config.inbox.sender_name.clone(),
            };
            Ok((Mailer::Inbox(inbox.clone(), sender), Some(inbox)))
        }
        (None, Mode::Production) => bail!(
            "`selvedge serve` sends mail through an SMTP server of yours: set [auth.email.smtp] (host, port, \
             user, pass, admin_email) in config.toml, or SUPABASE_AUTH_EMAIL_SMTP_ENABLED=true and its kin"
        ),
    }
}

fn smtp_mailer(smtp: &SmtpSection, own: &OwnAuthSection) -> Result<SmtpMailer> {
    let config = SmtpConfig {
        host: smtp.host.clone(),
        port: smtp.port,
        user: smtp.user.clone(),
        password: smtp.pass.clone(),
        sender: Sender {
            address: smtp.admin_email.clone(),
            name: smtp.sender_name.clone().unwrap_or_default(),
        },
        tls: own.smtp_tls,
        headers: own.smtp_headers.clone(),
        ..SmtpConfig::default()
    };
    SmtpMailer::new(&config).context("[auth.email.smtp]")
}

pub(super) fn rest(config: &Config) -> RestConfig {
    config.rest_settings().0
}

pub(super) fn auth(config: &Config, mode: Mode) -> Result<AuthConfig> {
    let section = &config.auth;
    let service_url = section
        .external_url
        .clone()
        .unwrap_or_else(|| format!("{}/auth/v1", config.api_url()));
    let own = &config.own.auth;
    Ok(AuthConfig {
        site_url: section.site_url.clone(),
        uri_allow_list: section.additional_redirect_urls.clone(),
        jwt_issuer: section.jwt_issuer.clone().unwrap_or_else(|| service_url.clone()),
        external_url: service_url.clone(),
        jwt_expiry: Duration::from_secs(section.jwt_expiry_seconds),
        disable_signup: !section.enable_signup,
        anonymous_users_enabled: section.enable_anonymous_sign_ins,
        manual_linking_enabled: section.enable_manual_linking,
        external: section
            .external
            .iter()
            .map(|provider| external(provider, &service_url))
            .collect(),
        insecure_providers: mode == Mode::Development,
        web3: Web3Config {
            solana: section.web3_solana,
            ethereum: section.web3_ethereum,
        },
        oauth_server: OauthServerConfig {
            enabled: section.oauth_server.enabled,
            authorization_path: section.oauth_server.authorization_url_path.clone(),
            allow_dynamic_registration: section.oauth_server.allow_dynamic_registration,
        },
        email: EmailConfig {
            notifications: auth_parts::notifications(config),
            queue: own.mail_queue,
            authorized_addresses: own.authorized_addresses.clone(),
            ..email(&section.email)
        },
        phone: auth_parts::phone(&section.sms),
        mfa: auth_parts::mfa(&section.mfa),
        webauthn: auth_parts::webauthn(&section.webauthn),
        hooks: auth_parts::hooks(config)?,
        captcha: auth_parts::captcha(config),
        password: PasswordConfig {
            min_length: section.minimum_password_length,
            required_characters: required_characters(section.password_requirements),
            require_reauthentication: section.email.secure_password_change,
            require_current: own.require_current_password,
            leaked: auth_parts::leaked_passwords(config),
            ..PasswordConfig::default()
        },
        refresh: RefreshConfig {
            rotation_enabled: section.enable_refresh_token_rotation,
            reuse_interval: Duration::from_secs(section.refresh_token_reuse_interval_seconds),
            counter_tokens: own.counter_refresh_tokens,
            always_reuse: own.always_reuse_refresh_tokens,
        },
        sessions: SessionConfig {
            timebox: section.session_timebox,
            inactivity_timeout: section.session_inactivity_timeout,
            allow_low_aal: own.allow_low_aal,
            single_per_user: own.single_session_per_user,
            tags: own.session_tags.clone(),
        },
        rate_limits: rate_limits(config, mode),
        audit_log_enabled: own.audit_log,
        external_hosts: own.external_hosts.clone(),
        sb_forwarded_for: own.sb_forwarded_for,
        delete_old_anonymous_users: own.delete_old_anonymous_users,
        ..AuthConfig::default()
    })
}

/// An enabled provider; the address that it sends browsers back to is ours unless the project names another.
fn external(section: &ProviderSection, service_url: &str) -> ProviderConfig {
    let client_ids = section
        .client_id
        .split(',')
        .map(str::trim)
        .filter(|id| !id.is_empty());
    let given = |text: &Option<String>| text.clone().filter(|text| !text.is_empty());
    ProviderConfig {
        name: section.name.clone(),
        client_ids: client_ids.map(str::to_owned).collect(),
        secret: section.secret.clone().unwrap_or_default(),
        redirect_uri: given(&section.redirect_uri).unwrap_or_else(|| format!("{service_url}/callback")),
        url: given(&section.url),
        skip_nonce_check: section.skip_nonce_check,
        email_optional: section.email_optional,
    }
}

fn email(section: &EmailSection) -> EmailConfig {
    EmailConfig {
        enabled: section.enable_signup,
        autoconfirm: !section.enable_confirmations,
        secure_change: section.double_confirm_changes,
        max_frequency: section.max_frequency,
        otp_length: u8::try_from(section.otp_length).unwrap_or(6),
        otp_expiry: Duration::from_secs(section.otp_expiry_seconds),
        ..EmailConfig::default()
    }
}

fn required_characters(requirements: PasswordRequirements) -> Vec<String> {
    let name = match requirements {
        PasswordRequirements::Any => "",
        PasswordRequirements::LettersDigits => "letters_digits",
        PasswordRequirements::LowerUpperLettersDigits => "lower_upper_letters_digits",
        PasswordRequirements::LowerUpperLettersDigitsSymbols => "lower_upper_letters_digits_symbols",
    };
    PasswordConfig::character_sets(name).unwrap_or_default()
}

/// In development nothing is limited per address, as with the CLI, and mails to the inbox never are.
fn rate_limits(config: &Config, mode: Mode) -> RateLimitConfig {
    let (section, own) = (&config.auth.rate_limit, &config.own.auth);
    let client = match (&own.rate_limit_header, mode) {
        (Some(header), _) => ClientAddress::Header(header.to_ascii_lowercase()),
        (None, Mode::Development) => ClientAddress::Unlimited,
        (None, Mode::Production) => ClientAddress::Peer,
    };
    RateLimitConfig {
        client,
        verify: section.token_verifications,
        token: section.token_refresh,
        otp: section.sign_in_sign_ups,
        anonymous_users: section.anonymous_users,
        emails_per_hour: config.auth.email.smtp.is_some().then_some(section.email_sent),
        sms_per_hour: Some(section.sms_sent),
        web3: section.web3,
        mfa_per_minute: own.rate_limit_mfa,
        passkeys: own.rate_limit_passkeys,
        client_registrations: own.rate_limit_client_registrations,
    }
}

/// The project's mail templates; kinds without one keep the built-in text.
pub(super) fn mail_templates(config: &Config) -> Result<MailTemplates> {
    let mut templates = MailTemplates::default();
    for template in &config.auth.email.templates {
        if let Some(kind) = MailKind::from_config_name(&template.name) {
            let section = format!("[auth.email.template.{}]", template.name);
            replace_mail(&mut templates, kind, template).context(section)?;
        }
    }
    for notice in &config.auth.email.notifications {
        let (name, section) = (&notice.template.name, "[auth.email.notification");
        match MailKind::from_notification_name(name) {
            Some(kind) => replace_mail(&mut templates, kind, &notice.template)
                .with_context(|| format!("{section}.{name}]"))?,
            None => output::warn(&[format!("{section}.{name}] is no notification we know")]),
        }
    }
    Ok(templates)
}

/// Puts the project's subject and text in place of ours.
fn replace_mail(templates: &mut MailTemplates, kind: MailKind, template: &EmailTemplate) -> Result<()> {
    if let Some(subject) = &template.subject {
        templates.set_subject(kind, subject)?;
    }
    if let Some(path) = &template.content_path {
        let html =
            std::fs::read_to_string(path).with_context(|| format!("cannot read {}", path.display()))?;
        templates.set_content(kind, &html)?;
    }
    Ok(())
}
