//! The console's own listener: a port and an origin apart from the API's, where stored pages and the site's scripts live.

use std::io;
use std::net::TcpListener;
use std::sync::Arc;
use std::time::Duration;

use actix_web::dev::Server;
use actix_web::middleware::from_fn;
use actix_web::{App, web};
use selvedge_gateway::{ConnectionLimits, ServerBuilder, keep_running, listen};

use crate::services::ThreadApi;
use crate::state::ConsoleState;
use crate::{assets, audit, error, guards, routes, series, storage_jobs};

/// One thread is enough, because few people use a console at the same time, and it must not take the API's cores.
const WORKERS: usize = 1;
/// How long a client may take to send the head of a request.
const HEADER_TIMEOUT: Duration = Duration::from_secs(10);
/// How long a stop waits for running requests. A followed log or a running statement may never end by itself.
const SHUTDOWN_SECONDS: u64 = 1;
/// The longest JSON body: a text of SQL, or staged changes with pasted cells.
const LONGEST_JSON: usize = 64_000_000;

/// Makes the console's server on listeners that are already bound. It serves once awaited, and ends when its handle is
/// stopped.
///
/// # Errors
/// When a listener cannot be used.
pub fn start_console(state: Arc<ConsoleState>, listeners: Vec<TcpListener>) -> io::Result<Server> {
    let of_series = Arc::clone(&state);
    actix_web::rt::spawn(keep_running("console's series", move || {
        series::record_forever(Arc::clone(&of_series))
    }));
    let of_jobs = Arc::clone(&state);
    actix_web::rt::spawn(keep_running("console's storage jobs", move || {
        storage_jobs::run_forever(Arc::clone(&of_jobs))
    }));
    let of_audit = Arc::clone(&state);
    actix_web::rt::spawn(keep_running("console's audit", move || {
        audit::seal_forever(Arc::clone(&of_audit))
    }));
    let application = move || {
        let json = web::JsonConfig::default()
            .limit(LONGEST_JSON)
            .error_handler(|error, _| error::from_json_payload(&error).into());
        // actix's own texts for bad parameters are not JSON, which the page could not show.
        let query = web::QueryConfig::default()
            .error_handler(|error, _| error::ConsoleError::invalid(error.to_string()).into());
        let path = web::PathConfig::default()
            .error_handler(|error, _| error::ConsoleError::invalid(error.to_string()).into());
        App::new()
            .app_data(web::Data::from(Arc::clone(&state)))
            .app_data(web::Data::new(ThreadApi::default()))
            .app_data(json)
            .app_data(query)
            .app_data(path)
            .configure(routes::configure)
            // Every other path is a screen of the page, whose router reads the address.
            .default_service(web::to(assets::serve))
            .wrap(from_fn(guards::guard))
    };
    let mut server = ServerBuilder::new()
        .workers(WORKERS)
        .shutdown_timeout(SHUTDOWN_SECONDS)
        .disable_signals();
    for listener in listeners {
        let limits = ConnectionLimits::from(HEADER_TIMEOUT);
        server = listen(server, listener, limits, application.clone())?;
    }
    Ok(server.run())
}
