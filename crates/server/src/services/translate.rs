//! Sections of `config.toml` in the words of the services.

use std::path::PathBuf;

use anyhow::{Context, Result, bail};
use selvedge_gateway::GatewayConfig;
use selvedge_mail::{Inbox, Mailer, Sender, SmtpConfig, SmtpMailer};
use selvedge_postgres::RequestPoolConfig;
use selvedge_storage::{BucketSeed, StorageConfig};

use super::Mode;
use crate::config::{BucketSection, Config, SmtpSection};
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
    RequestPoolConfig {
        connections_per_worker: config.own.connections_per_worker,
        ..RequestPoolConfig::default()
    }
}

pub(super) fn storage(config: &Config) -> StorageConfig {
    StorageConfig {
        root: objects_folder(config),
        file_size_limit_bytes: config.storage.file_size_limit_bytes,
        transaction_pool_size: config.own.service_connections,
        ..StorageConfig::default()
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
        (Some(smtp), _) => Ok((Mailer::Smtp(smtp_mailer(smtp)?), None)),
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

fn smtp_mailer(smtp: &SmtpSection) -> Result<SmtpMailer> {
    let config = SmtpConfig {
        host: smtp.host.clone(),
        port: smtp.port,
        user: smtp.user.clone(),
        password: smtp.pass.clone(),
        sender: Sender {
            address: smtp.admin_email.clone(),
            name: smtp.sender_name.clone().unwrap_or_default(),
        },
        ..SmtpConfig::default()
    };
    SmtpMailer::new(&config).context("[auth.email.smtp]")
}
