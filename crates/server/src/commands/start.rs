//! `selvedge start`: runs the whole project on this machine, for development.

use std::net::TcpListener;
use std::sync::Arc;
use std::time::Instant;

use actix_web::dev::ServerHandle;
use actix_web::web;
use anyhow::{Result, bail};
use selvedge_dev_services::identity::{IdentitySettings, IdentityState};
use selvedge_dev_services::messages::MessagesState;
use selvedge_gateway::LocalHosts;
use selvedge_gateway::logging::LogFormat;
use selvedge_mail::{Inbox, inbox};
use selvedge_postgres::cluster::Cluster;
use selvedge_storage::SeedReport;
use url::Url;

use super::logging::start_logging;
use super::{console, shutdown, summary};
use crate::config::Config;
use crate::database::embedded::{self, Embedded};
use crate::http::StatusPage;
use crate::instance;
use crate::keys::KeySet;
use crate::keys::signing_keys;
use crate::listen::{self, API_PORT, INBOX_PORT, SMTP_PORT};
use crate::output::{self, DIM};
use crate::server::{self, RootContent};
use crate::services::{BackgroundRuntime, Mode, Services, caught_service, identity_settings};

/// `start` listens on this machine only, because with the well-known development keys any client has full access.
const LOOPBACK: &str = "127.0.0.1";

/// Only warnings and errors, so that the summary stays readable in the terminal, and what edge functions print.
const DEFAULT_LOG_FILTER: &str = "warn,edge_function=info";

/// The ports that `start` opens itself.
struct Listeners {
    api: Vec<TcpListener>,
    inbox: Option<TcpListener>,
    smtp: Option<TcpListener>,
    console: Vec<TcpListener>,
}

/// Services of other companies that are answered beside the inbox.
struct LocalServices {
    identity: Option<IdentitySettings>,
    /// The name of the service whose text messages are caught.
    messages: Option<&'static str>,
}

impl LocalServices {
    fn from_config(config: &Config) -> Self {
        Self {
            identity: identity_settings(config),
            messages: caught_service(config),
        }
    }

    fn is_needed(&self) -> bool {
        self.identity.is_some() || self.messages.is_some()
    }
}

pub(super) async fn run(mut config: Config) -> Result<()> {
    let started = Instant::now();
    let local_services = LocalServices::from_config(&config);
    // With an SMTP server no mail reaches the inbox, so it is not started, unless its listener has something else to answer.
    config.inbox.enabled &= config.auth.email.smtp.is_none();
    config.inbox.enabled |= local_services.is_needed();
    start_logging(&config, LogFormat::Pretty, DEFAULT_LOG_FILTER);
    // Checked before the ports are bound: "already running" tells the user more than "port taken".
    if let Some(holder) = Cluster::find_running(&config.selvedge.data_dir)? {
        bail!("{holder}\n  stop it with `selvedge stop`, or look at it with `selvedge status`");
    }
    if let Some(path) = signing_keys::find_missing_file(&config) {
        output::print_warnings(&[format!(
            "auth.signing_keys_path names {}, which is not there; user tokens are signed with the development key \
             (make the file with `selvedge keys rotate`)",
            path.display()
        )]);
    }
    embedded::print_note_about_exposed_tables(&config);
    print_local_services(&local_services, &config);
    let keys = KeySet::for_development(&config)?;
    let listeners = Listeners::bind(&mut config)?;
    let mut signals = shutdown::Signals::listen()?;
    // Ctrl-C must work during initdb and long migrations, too.
    let mut embedded = tokio::select! {
        started = Embedded::start(&config) => started?,
        () = signals.next() => bail!("interrupted while the database was starting"),
    };
    let outcome = serve_until_stopped(&config, &keys, &mut embedded, listeners, signals, started).await;
    // PostgreSQL is stopped in any case; the reason why serving ended is the more useful error.
    let stopped = embedded.cluster.stop().await;
    outcome?;
    stopped?;
    anstream::eprintln!("{DIM}stopped{DIM:#} {}", config.project.id);
    Ok(())
}

async fn serve_until_stopped(
    config: &Config,
    keys: &KeySet,
    embedded: &mut Embedded,
    listeners: Listeners,
    signals: shutdown::Signals,
    started: Instant,
) -> Result<()> {
    let background = BackgroundRuntime::new()?;
    let services = Services::connect(&background, config, embedded.logins(), keys, Mode::Development).await?;
    // Buckets are seeded on the first start only, so that later changes made by the developer are kept.
    let buckets = if embedded.report.is_first {
        services.seed_buckets(config).await?
    } else {
        SeedReport::default()
    };
    // Only now, with buckets and seeds done: a first start that fails before this is repeated as a whole.
    embedded.mark_initialized(config)?;
    let services = Arc::new(services);
    let hosts = Some(Arc::new(local_hosts(config)));
    let mut handles = Vec::from_iter(console::start(config, keys, &services, listeners.console).await?);
    let local_services = LocalServices::from_config(config);
    let identity = local_services.identity.as_ref();
    let pictures = identity.map(|settings| settings.listener_url.clone());
    if let Some(listener) = listeners.inbox {
        // Mail that goes to an SMTP server leaves the inbox empty.
        let inbox = services.inbox.clone().unwrap_or_default();
        handles.push(spawn_inbox(
            inbox,
            local_services,
            (listener, listeners.smtp),
            hosts.clone(),
        )?);
    }
    let health = services.health();
    let plan = shutdown::StopPlan::from_services(&services, config);
    let api = server::start_api(
        config,
        services,
        root_content(config, keys, pictures.as_deref())?,
        listeners.api,
        hosts,
    )?;
    handles.push(shutdown::spawn_server(api));
    summary::print_summary(config, keys, &embedded.report, &buckets, started.elapsed());
    let lost = embedded
        .cluster
        .keep_running(|runs| health.set_database_restarting(!runs));
    shutdown::wait_and_stop(signals, handles, plan, lost).await
}

/// The host names under which the project may be called: local ones, and those that its configuration names.
fn local_hosts(config: &Config) -> LocalHosts {
    let urls = [config.api_url(), config.auth.site_url.clone()];
    let named = urls
        .iter()
        .filter_map(|url| Url::parse(url).ok()?.host_str().map(str::to_owned));
    LocalHosts::new(named.chain(config.selvedge.allowed_hosts.iter().cloned()))
}

impl Listeners {
    fn bind(config: &mut Config) -> Result<Self> {
        let port = config.api.port;
        let mut api = vec![listen::bind_port(LOOPBACK, port, API_PORT)?];
        // Many clients resolve `localhost` to ::1 first. A machine without IPv6 serves 127.0.0.1 only.
        api.extend(listen::bind_port("::1", port, API_PORT).ok());
        let has_inbox = config.inbox.enabled;
        let bind_inbox = |port| listen::bind_port(LOOPBACK, port, INBOX_PORT);
        Ok(Self {
            api,
            inbox: has_inbox.then(|| bind_inbox(config.inbox.port)).transpose()?,
            smtp: config
                .inbox
                .smtp_port
                .filter(|_| has_inbox)
                .map(|port| listen::bind_port(LOOPBACK, port, SMTP_PORT))
                .transpose()?,
            console: console::bind_in_start(config),
        })
    }
}

/// Starts the inbox with the services beside it, and its SMTP port if there is one.
fn spawn_inbox(
    inbox: Inbox,
    local_services: LocalServices,
    (http, smtp): (TcpListener, Option<TcpListener>),
    hosts: Option<Arc<LocalHosts>>,
) -> Result<ServerHandle> {
    let identity = local_services
        .identity
        .map(|settings| web::Data::new(IdentityState::new(settings)));
    let messages = local_services
        .messages
        .map(|_| web::Data::new(MessagesState::new(inbox.clone())));
    let server = server::start_inbox(inbox.clone(), identity, messages, http, hosts)?;
    if let Some(smtp) = smtp {
        let listener = tokio::net::TcpListener::from_std(smtp)?;
        actix_web::rt::spawn(inbox::smtp::listen(listener, inbox));
    }
    Ok(shutdown::spawn_server(server))
}

/// Says for each provider that is answered on this machine that it is not the real one, and how to use that.
fn print_local_services(local_services: &LocalServices, config: &Config) {
    if let Some(service) = local_services.messages {
        let inbox = instance::inbox_url(config.inbox.port);
        output::print_note(&format!(
            "auth.sms.{service} sends nothing: text messages are shown at {inbox}; set its account to use the real service \
             (docs/development-sign-in.md)"
        ));
    }
    let settings = local_services.identity.iter();
    for client in settings.flat_map(|settings| &settings.clients) {
        let name = &client.provider;
        output::print_note(&format!(
            "auth.external.{name} is answered on this machine, with invented people; set its client_id and secret to \
             use the real provider (docs/development-sign-in.md)"
        ));
    }
}

fn root_content(config: &Config, keys: &KeySet, pictures: Option<&str>) -> Result<RootContent> {
    if let Some(folder) = &config.selvedge.site {
        if folder.join("index.html").is_file() {
            return server::load_site(folder, config, keys, pictures);
        }
        // Developing the API must be possible before the site has been built.
        let folder = folder.display();
        output::print_note(&format!(
            "selvedge.site: {folder} is not built yet; the status page is shown instead"
        ));
    }
    let inbox = config
        .inbox
        .enabled
        .then(|| instance::inbox_url(config.inbox.port));
    let page = StatusPage::for_development(
        &config.project.id,
        &config.api_url(),
        keys.browser_key(),
        inbox.as_deref(),
    );
    Ok(RootContent::StatusPage(web::Data::new(page)))
}
