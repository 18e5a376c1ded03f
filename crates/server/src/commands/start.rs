//! `selvedge start`: the whole project on this machine, for development.

use std::net::TcpListener;
use std::sync::Arc;
use std::time::Instant;

use actix_web::dev::ServerHandle;
use actix_web::web;
use anyhow::{Result, bail};
use selvedge_gateway::telemetry::LogFormat;
use selvedge_mail::inbox;
use selvedge_postgres::cluster::Cluster;
use selvedge_storage::SeedReport;

use crate::config::Config;
use crate::embedded::Embedded;
use crate::http::StatusPage;
use crate::key_set::KeySet;
use crate::listen::{self, API_PORT, INBOX_PORT, SMTP_PORT};
use crate::output::{self, DIM};
use crate::server::{self, Front};
use crate::services::{Background, Mode, Services};
use crate::signing_keys;
use crate::{status, summary};

use super::shutdown;

/// Well-known keys open everything, so nothing but this machine may connect.
const LOOPBACK: &str = "127.0.0.1";

/// The terminal belongs to the summary; what goes wrong still shows.
const LOG: &str = "warn";

/// The ports that `start` opens itself.
struct Listeners {
    api: Vec<TcpListener>,
    inbox: Option<TcpListener>,
    smtp: Option<TcpListener>,
}

pub(super) async fn run(mut config: Config) -> Result<()> {
    let started = Instant::now();
    // Where mail leaves by a server of one's own, there is nothing to look at.
    config.inbox.enabled &= config.auth.email.smtp.is_none();
    super::start_logging(&config, LogFormat::Pretty, LOG);
    // Before the ports: "already running" explains more than "port taken".
    if let Some(holder) = Cluster::find_running(&config.own.data_dir)? {
        bail!("{holder}\n  stop it with `selvedge stop`, or look at it with `selvedge status`");
    }
    if let Some(path) = signing_keys::missing(&config) {
        output::warn(&[format!(
            "auth.signing_keys_path names {}, which is not there; user tokens are signed with the development key \
             (make the file with `selvedge keys rotate`)",
            path.display()
        )]);
    }
    let keys = KeySet::for_development(&config)?;
    let listeners = Listeners::bind(&config)?;
    let mut signals = shutdown::Signals::listen()?;
    let mut embedded = tokio::select! {
        started = Embedded::start(&config) => started?,
        () = signals.next() => bail!("interrupted while the database was starting"),
    };
    let outcome = serve(&config, &keys, &mut embedded, listeners, signals, started).await;
    let stopped = embedded.cluster.stop().await;
    outcome?;
    stopped?;
    anstream::eprintln!("{DIM}stopped{DIM:#} {}", config.project.id);
    Ok(())
}

async fn serve(
    config: &Config,
    keys: &KeySet,
    embedded: &mut Embedded,
    listeners: Listeners,
    signals: shutdown::Signals,
    started: Instant,
) -> Result<()> {
    let background = Background::new()?;
    let services = Services::connect(&background, config, embedded.logins(), keys, Mode::Development).await?;
    let buckets = if embedded.report.is_first {
        services.seed_buckets(config).await?
    } else {
        SeedReport::default()
    };
    embedded.mark_initialized(config)?;
    let mut handles: Vec<ServerHandle> = Vec::new();
    if let (Some(inbox), Some(listener)) = (services.inbox.clone(), listeners.inbox) {
        handles.push(shutdown::spawn(server::start_inbox(inbox.clone(), listener)?));
        if let Some(listener) = listeners.smtp {
            let listener = tokio::net::TcpListener::from_std(listener)?;
            actix_web::rt::spawn(inbox::smtp::listen(listener, inbox));
        }
    }
    let api = server::start_api(config, Arc::new(services), front(config, keys)?, listeners.api)?;
    handles.push(shutdown::spawn(api));
    summary::print(config, keys, &embedded.report, &buckets, started.elapsed());
    shutdown::wait_and_stop(signals, handles, embedded.cluster.ended()).await
}

impl Listeners {
    fn bind(config: &Config) -> Result<Self> {
        let port = config.api.port;
        let mut api = vec![listen::bind(LOOPBACK, port, API_PORT)?];
        // `localhost` means ::1 first for many clients; a machine without IPv6 does without.
        api.extend(listen::bind("::1", port, API_PORT).ok());
        let has_inbox = config.inbox.enabled;
        let bind_inbox = |port| listen::bind(LOOPBACK, port, INBOX_PORT);
        Ok(Self {
            api,
            inbox: has_inbox.then(|| bind_inbox(config.inbox.port)).transpose()?,
            smtp: config
                .inbox
                .smtp_port
                .filter(|_| has_inbox)
                .map(|port| listen::bind(LOOPBACK, port, SMTP_PORT))
                .transpose()?,
        })
    }
}

fn front(config: &Config, keys: &KeySet) -> Result<Front> {
    if let Some(folder) = &config.own.site {
        if folder.join("index.html").is_file() {
            return server::site_front(folder, config, keys);
        }
        // A site that was not built yet must not keep the API from starting.
        let folder = folder.display();
        output::note(&format!(
            "selvedge.site: {folder} is not built yet; the status page stands in"
        ));
    }
    let inbox = config.inbox.enabled.then(|| status::inbox_url(config.inbox.port));
    let page = StatusPage::for_development(
        &config.project.id,
        &config.api_url(),
        keys.browser_key(),
        inbox.as_deref(),
    );
    Ok(Front::Page(web::Data::new(page)))
}
