//! The HTTP servers of a project in development: the API, the inbox with the services beside it, and the console. `start`
//! runs them on the project's own cluster, `stack` on a database that is a test's own.

use std::net::TcpListener;
use std::sync::Arc;

use actix_web::dev::ServerHandle;
use actix_web::web;
use anyhow::Result;
use selvedge_config::Config;
use selvedge_database::instance;
use selvedge_dev_services::identity::{IdentitySettings, IdentityState};
use selvedge_dev_services::messages::MessagesState;
use selvedge_gateway::LocalHosts;
use selvedge_keys::KeySet;
use selvedge_mail::{Inbox, inbox};
use selvedge_ports::{API_PORT, INBOX_PORT, PortChoice, SMTP_PORT, bind_port, bind_port_at_once};
use selvedge_terminal::print_note;
use url::Url;

use super::{console, shutdown};
use crate::http::StatusPage;
use crate::server::{self, RootContent};
use crate::services::{Services, caught_service, identity_settings};
use crate::tls;

/// A project in development listens on this machine only, because with the well-known development keys any client has
/// full access.
const LOOPBACK: &str = "127.0.0.1";

/// The open ports of a project in development.
pub(super) struct Listeners {
    api: Vec<TcpListener>,
    inbox: Option<TcpListener>,
    smtp: Option<TcpListener>,
    console: Vec<TcpListener>,
}

/// Services of other companies that are answered beside the inbox.
pub(super) struct LocalServices {
    identity: Option<IdentitySettings>,
    /// The name of the service whose text messages are caught.
    messages: Option<&'static str>,
}

/// Decides whether the inbox is served. With an SMTP server no mail reaches it, so it is left out, unless its listener has
/// something else to answer.
pub(super) fn decide_on_inbox(config: &mut Config) {
    config.inbox.enabled &= config.auth.email.smtp.is_none();
    config.inbox.enabled |= LocalServices::from_config(config).is_needed();
}

/// Opens a port that the system chooses, and writes its number to `port`.
fn bind_free(port: &mut u16, choice: PortChoice) -> Result<TcpListener> {
    let listener = bind_port(LOOPBACK, 0, choice)?;
    *port = listener.local_addr()?.port();
    Ok(listener)
}

impl LocalServices {
    /// Returns the configured ports.
    pub(super) fn from_config(config: &Config) -> Self {
        Self {
            identity: identity_settings(config),
            messages: caught_service(config),
        }
    }

    fn is_needed(&self) -> bool {
        self.identity.is_some() || self.messages.is_some()
    }
}

/// Starts the servers on their listeners. Returns what stops them.
///
/// # Errors
/// A console or a site that cannot be served.
pub(super) async fn start_servers(
    config: &Config,
    keys: &KeySet,
    services: Services,
    listeners: Listeners,
) -> Result<Vec<ServerHandle>> {
    let services = Arc::new(services);
    let hosts = Some(Arc::new(local_hosts(config)));
    let mut handles = Vec::new();
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
    let api = server::start_api(
        config,
        Arc::clone(&services),
        root_content(config, keys, pictures.as_deref())?,
        tls::api_listeners(config, listeners.api)?,
        hosts,
    )?;
    handles.push(shutdown::spawn_server(api));
    // The task of the API's server starts its workers here, so that they do not wait for the console's state to be made.
    tokio::task::yield_now().await;
    handles.extend(console::start(config, keys, &services, listeners.console).await?);
    Ok(handles)
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
    /// Opens the ports that the configuration names.
    ///
    /// # Errors
    /// A port that is taken.
    pub(super) fn bind(config: &mut Config) -> Result<Self> {
        let port = config.api.port;
        let mut api = vec![bind_port(LOOPBACK, port, API_PORT)?];
        // Many clients resolve `localhost` to ::1 first. A machine without IPv6 serves 127.0.0.1 only.
        api.extend(bind_port("::1", port, API_PORT).ok());
        let has_inbox = config.inbox.enabled;
        let bind_inbox = |port| bind_port(LOOPBACK, port, INBOX_PORT);
        Ok(Self {
            api,
            inbox: has_inbox.then(|| bind_inbox(config.inbox.port)).transpose()?,
            smtp: config
                .inbox
                .smtp_port
                .filter(|_| has_inbox)
                .map(|port| bind_port(LOOPBACK, port, SMTP_PORT))
                .transpose()?,
            console: console::bind_in_start(config),
        })
    }
    /// Binds ports that the system chooses, and stores them in the configuration. SMTP and the console are disabled.
    ///
    /// # Errors
    /// When the machine has no free port.
    pub(super) fn bind_free(config: &mut Config) -> Result<Self> {
        let mut api = vec![bind_free(&mut config.api.port, API_PORT)?];
        api.extend(bind_port_at_once("::1", config.api.port, API_PORT).ok());
        let inbox = match config.inbox.enabled {
            true => Some(bind_free(&mut config.inbox.port, INBOX_PORT)?),
            false => None,
        };
        Ok(Self {
            api,
            inbox,
            smtp: None,
            console: Vec::new(),
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
pub(super) fn print_local_services(local_services: &LocalServices, config: &Config) {
    if let Some(service) = local_services.messages {
        let inbox = instance::inbox_url(config.inbox.port);
        print_note(&format!(
            "auth.sms.{service} sends nothing: text messages are shown at {inbox}; set its account to use the real service \
             (docs/development-sign-in.md)"
        ));
    }
    let settings = local_services.identity.iter();
    for client in settings.flat_map(|settings| &settings.clients) {
        let name = &client.provider;
        print_note(&format!(
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
        print_note(&format!(
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
