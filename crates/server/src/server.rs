//! The HTTP servers: the API with the site, and the development inbox.

use std::net::TcpListener;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use actix_web::body::MessageBody;
use actix_web::dev::{Server, ServiceRequest, ServiceResponse};
use actix_web::error::ErrorForbidden;
use actix_web::middleware::{Condition, Next, from_fn};
use actix_web::{App, HttpRequest, HttpResponse, web};
use anyhow::{Context, Result};
use selvedge_config::{Config, LimitsSection, SelvedgeSection};
use selvedge_database::capacity::available_cores;
use selvedge_dev_services::identity::{self, IdentityState};
use selvedge_dev_services::messages::{self, MessagesState};
use selvedge_gateway::{
    ConnectionLimits, Listener, LocalHosts, ServerBuilder, Service, TransferLimits, listen_with_upgrades,
};
use selvedge_keys::KeySet;
use selvedge_mail::{Inbox, inbox};
use selvedge_memory::return_memory_of_thread;
use selvedge_postgres::RequestPool;
use selvedge_site::{PageMetaFunction, Site, SiteSources};
use selvedge_storage::ServiceObjects;
use selvedge_telemetry::Telemetry;

use crate::http::{self, Health, PlainPort, StatusPage};
use crate::services::Services;

/// What is served at `/`, outside of the services.
#[derive(Clone)]
pub(crate) enum RootContent {
    /// The project's single-page site.
    Site(Arc<Site>),
    /// The built-in page with the addresses of the services.
    StatusPage(web::Data<StatusPage>),
}

/// Threads of the port that leads to HTTPS.
const PLAIN_WORKERS: usize = 1;
/// Threads of the inbox; one is enough, because only the developer and tests read it.
const INBOX_WORKERS: usize = 1;
/// How long a client of the inbox may take to send the head of a request.
const INBOX_HEADER_TIMEOUT: Duration = Duration::from_secs(10);

/// Makes the API's server on listeners that are already bound. It serves once awaited, and ends when its handle is stopped.
/// With `hosts`, requests for other hosts are refused.
///
/// # Errors
/// When a listener cannot be used.
pub(crate) fn start_api(
    config: &Config,
    services: Arc<Services>,
    root: RootContent,
    listeners: Vec<Listener>,
    hosts: Option<Arc<LocalHosts>>,
) -> Result<Server> {
    let settings = &config.selvedge;
    let for_upgrades = Arc::clone(&services);
    let upgrades = move || for_upgrades.upgrade_handler();
    let limits = connection_limits(&settings.limits, &services, hosts);
    let pictures = services.public_pictures(config);
    let memory = services.memory();
    // Called once on each worker thread: database connections, rooms and the gateway's tables belong to one thread.
    let application = move || {
        actix_web::rt::spawn(return_memory_of_thread(memory.clone()));
        let worker = services.worker();
        let requests = web::Data::new(worker.requests());
        let tracing = services.statement_tracing();
        let telemetry = services.telemetry.clone();
        App::new()
            .wrap(Condition::new(
                tracing.is_on(),
                from_fn(move |request, next| tracing.clone().call(request, next)),
            ))
            .wrap(worker.gateway.clone())
            // Around the gateway, so that refused requests are in the traces as well.
            .wrap(Condition::new(
                telemetry.is_some(),
                from_fn(move |request, next| Telemetry::trace_call(telemetry.clone(), request, next)),
            ))
            .app_data(requests)
            .app_data(web::Data::new(pictures.clone()))
            .configure(worker.configure())
            .configure(mount_root(&root))
    };
    let mut server = server_builder(settings);
    for listener in listeners {
        let application = application.clone();
        server = listen_with_upgrades(server, listener, limits.clone(), application, upgrades.clone())
            .context("the API cannot listen")?;
    }
    Ok(server.run())
}

/// The builder of the API's server, with its threads and limits.
fn server_builder(settings: &SelvedgeSection) -> ServerBuilder {
    ServerBuilder::new()
        .workers(settings.workers.unwrap_or_else(available_cores))
        .max_concurrent_connections(settings.limits.connections_per_worker)
        .shutdown_timeout(settings.shutdown_timeout.as_secs())
        // Signals are handled in `commands::shutdown`, which stops several servers and PostgreSQL in order.
        .disable_signals()
}

fn connection_limits(
    limits: &LimitsSection,
    services: &Services,
    hosts: Option<Arc<LocalHosts>>,
) -> ConnectionLimits {
    ConnectionLimits {
        head_timeout: limits.header_timeout,
        transfer: TransferLimits {
            stall: limits.stall_timeout,
            bytes_per_second: limits.min_transfer_rate,
        },
        per_address: services.connections_per_address(),
        memory: services.memory(),
        hosts,
        continue_check: Some(services.continue_check()),
    }
}

/// Serves the port that answers challenges and health checks, and leads everybody else to HTTPS.
///
/// # Errors
/// When the listener cannot be used.
pub(crate) fn start_plain_port(
    settings: &SelvedgeSection,
    port: web::Data<PlainPort>,
    health: web::Data<Health>,
    listeners: Vec<TcpListener>,
) -> Result<Server> {
    let application = move || {
        App::new()
            .configure(http::configure_health(health.clone()))
            .configure(http::configure_plain_port(port.clone()))
    };
    let mut server = ServerBuilder::new()
        .workers(PLAIN_WORKERS)
        .max_concurrent_connections(settings.limits.connections_per_worker)
        .shutdown_timeout(1)
        .disable_signals();
    let limits = ConnectionLimits {
        per_address: settings.limits.connections_per_address,
        ..ConnectionLimits::from(settings.limits.header_timeout)
    };
    for listener in listeners {
        server = selvedge_gateway::listen(server, listener, limits.clone(), application.clone())
            .context("the port of HTTP cannot listen")?;
    }
    Ok(server.run())
}

/// Refuses requests that SQL of any project has asked for (`crates/jobs/src/sender.rs`): the inbox shows every mail.
async fn refuse_sql<B>(request: ServiceRequest, next: Next<B>) -> Result<ServiceResponse<B>, actix_web::Error>
where
    B: MessageBody,
{
    if request.headers().contains_key("x-selvedge-sender") {
        return Err(ErrorForbidden("SQL does not call the inbox"));
    }
    next.call(request).await
}

/// Serves the development inbox, and beside it the development identity provider and the services for text messages.
///
/// # Errors
/// When the listener cannot be used.
pub(crate) fn start_inbox(
    inbox: Inbox,
    identity: Option<web::Data<IdentityState>>,
    messages: Option<web::Data<MessagesState>>,
    listener: TcpListener,
    hosts: Option<Arc<LocalHosts>>,
) -> Result<Server> {
    let application = move || {
        let app = App::new().wrap(from_fn(refuse_sql));
        let app = match identity.clone() {
            Some(identity) => app.configure(identity::configure(identity)),
            None => app,
        };
        let app = match messages.clone() {
            Some(messages) => app.configure(messages::configure(messages)),
            None => app,
        };
        app.configure(inbox::configure(inbox.clone()))
    };
    let server = ServerBuilder::new()
        .workers(INBOX_WORKERS)
        // Only the developer's browser and tests use it, so a stop need not wait for their requests.
        .shutdown_timeout(1)
        .disable_signals();
    let limits = ConnectionLimits {
        hosts,
        ..ConnectionLimits::from(INBOX_HEADER_TIMEOUT)
    };
    let server =
        selvedge_gateway::listen(server, listener, limits, application).context("the inbox cannot listen")?;
    Ok(server.run())
}

/// Reads the project's site into memory; a background thread compresses it. Its pages may show pictures of
/// `picture_origin`.
///
/// # Errors
/// When a file cannot be read.
pub(crate) fn load_site(
    folder: &Path,
    config: &Config,
    keys: &KeySet,
    picture_origin: Option<&str>,
) -> Result<RootContent> {
    let page_meta = config.selvedge.page_meta.as_deref();
    let page_meta = page_meta.map(PageMetaFunction::parse).transpose()?;
    let site = Site::load(
        folder,
        keys.browser_key(),
        &config.api_url(),
        picture_origin,
        page_meta,
    )?;
    let compressing = site.clone();
    // Compression takes seconds of CPU for a large site; until it is done, files are served uncompressed.
    std::thread::spawn(move || compressing.compress());
    Ok(RootContent::Site(site))
}

fn mount_root(root: &RootContent) -> impl FnOnce(&mut web::ServiceConfig) + use<> {
    let root = root.clone();
    move |app| match root {
        RootContent::Site(site) => {
            app.app_data(web::Data::from(site))
                .default_service(web::to(serve_site));
        }
        RootContent::StatusPage(page) => {
            app.app_data(page)
                .route("/", web::get().to(http::show_status_page))
                .default_service(web::to(http::respond_no_route));
        }
    }
}

/// Serves a path that no route matches from the site. Below a service's prefix the response is the gateway's 404
/// instead: a client that parses JSON must not get the site's HTML page.
async fn serve_site(
    site: web::Data<Site>,
    requests: web::Data<RequestPool>,
    pictures: web::Data<Option<ServiceObjects>>,
    request: HttpRequest,
) -> HttpResponse {
    let sources = SiteSources {
        requests: requests.get_ref(),
        pictures: pictures.get_ref().as_ref(),
    };
    match Service::from_path(request.match_info().as_str()) {
        Service::Other => site.respond(&request, Some(sources)).await,
        _ => http::respond_no_route().await,
    }
}
