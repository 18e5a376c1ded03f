//! The HTTP servers: the API with the site, and the inbox.

use std::net::TcpListener;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use actix_web::dev::Server;
use actix_web::{App, HttpRequest, HttpResponse, web};
use anyhow::{Context, Result};
use selvedge_gateway::{ConnectionLimits, Listener, ServerBuilder, Service};
use selvedge_mail::{Inbox, inbox};

use crate::config::Config;
use crate::http::{self, StatusPage};
use crate::key_set::KeySet;
use crate::services::Services;
use crate::site::Site;

/// What answers at `/`.
#[derive(Clone)]
pub(crate) enum Front {
    /// The project's site.
    Site(Arc<Site>),
    /// A page of ours.
    Page(web::Data<StatusPage>),
}

/// The inbox is read by one person.
const INBOX_WORKERS: usize = 1;
const INBOX_HEADER_TIMEOUT: Duration = Duration::from_secs(10);

/// Serves the API on listeners that are bound already. Runs once awaited; ends by its handle.
///
/// # Errors
/// When a listener cannot be used.
pub(crate) fn start_api(
    config: &Config,
    services: Arc<Services>,
    front: Front,
    listeners: Vec<TcpListener>,
) -> Result<Server> {
    let own = &config.own;
    let workers = own.workers.unwrap_or_else(cores);
    let application = move || {
        let worker = services.worker();
        App::new()
            .wrap(worker.gateway.clone())
            .configure(worker.configure())
            .configure(mount_front(&front))
    };
    let tls = config.api.tls.as_ref().map(tls::server_config).transpose()?;
    let mut server = ServerBuilder::new()
        .workers(workers)
        .max_concurrent_connections(own.limits.connections_per_worker)
        .shutdown_timeout(own.shutdown_timeout.as_secs())
        .disable_signals();
    for listener in listeners {
        let listener = match &tls {
            Some(tls) => Listener::Tls(listener, tls.clone()),
            None => Listener::Tcp(listener),
        };
        let limits = ConnectionLimits {
            head_timeout: own.limits.header_timeout,
            per_address: own.limits.connections_per_address,
        };
        let application = application.clone();
        server = selvedge_gateway::listen(server, listener, limits, application)
            .context("the API cannot listen")?;
    }
    Ok(server.run())
}

/// Serves the development inbox.
///
/// # Errors
/// When the listener cannot be used.
pub(crate) fn start_inbox(inbox: Inbox, listener: TcpListener) -> Result<Server> {
    let application = move || App::new().configure(inbox::configure(inbox.clone()));
    let server = ServerBuilder::new()
        .workers(INBOX_WORKERS)
        .shutdown_timeout(1)
        .disable_signals();
    let server = selvedge_gateway::listen(server, listener, INBOX_HEADER_TIMEOUT, application)
        .context("the inbox cannot listen")?;
    Ok(server.run())
}

/// The site of a folder, compressed in the background.
///
/// # Errors
/// When it cannot be read.
pub(crate) fn site_front(folder: &Path, config: &Config, keys: &KeySet) -> Result<Front> {
    let site = Site::load(folder, keys.browser_key(), &config.api_url())?;
    let compressing = site.clone();
    std::thread::spawn(move || compressing.compress());
    Ok(Front::Site(site))
}

fn cores() -> usize {
    std::thread::available_parallelism().map_or(1, usize::from)
}

fn mount_front(front: &Front) -> impl FnOnce(&mut web::ServiceConfig) + use<> {
    let front = front.clone();
    move |app| match front {
        Front::Site(site) => {
            app.app_data(web::Data::from(site))
                .default_service(web::to(answer_rest));
        }
        Front::Page(page) => {
            app.app_data(page)
                .route("/", web::get().to(http::show_status_page))
                .default_service(web::to(http::no_route));
        }
    }
}

mod tls {
    //! `[api.tls]`: HTTPS with a certificate of one's own.

    use std::path::Path;
    use std::sync::Arc;

    use anyhow::{Context, Result, anyhow};
    use rustls::ServerConfig;
    use rustls::pki_types::pem::PemObject;
    use rustls::pki_types::{CertificateDer, PrivateKeyDer};

    use crate::config::TlsFiles;

    pub(super) fn server_config(files: &TlsFiles) -> Result<Arc<ServerConfig>> {
        let chain = CertificateDer::pem_file_iter(&files.certificate)
            .and_then(Iterator::collect::<Result<Vec<_>, _>>)
            .map_err(|error| unreadable("cert_path", &files.certificate, &error))?;
        let key = PrivateKeyDer::from_pem_file(&files.key)
            .map_err(|error| unreadable("key_path", &files.key, &error))?;
        ServerConfig::builder_with_provider(Arc::new(rustls::crypto::ring::default_provider()))
            .with_safe_default_protocol_versions()
            .context("TLS")?
            .with_no_client_auth()
            .with_single_cert(chain, key)
            .map(Arc::new)
            .context("[api.tls]: certificate and key do not fit together")
    }

    fn unreadable(key: &str, path: &Path, error: &rustls::pki_types::pem::Error) -> anyhow::Error {
        anyhow!("[api.tls] {key}: cannot use {}: {error}", path.display())
    }
}

/// What no service took: the site's, unless the path is below a service's prefix.
async fn answer_rest(site: web::Data<Site>, request: HttpRequest) -> HttpResponse {
    match Service::of(request.match_info().as_str()) {
        Service::Other => site.answer(&request),
        _ => http::no_route().await,
    }
}
