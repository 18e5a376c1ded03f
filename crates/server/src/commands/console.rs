//! Starts the console beside the API in `start` and `serve`.

use std::net::TcpListener;
use std::sync::Arc;

use actix_web::dev::ServerHandle;
use anyhow::{Context, Result, bail};
use selvedge_config::{Config, Mode};
use selvedge_console::{
    ConsoleDatabase, ConsoleState, DoctorCheck, ProjectApi, RunDoctor, ServiceHandles, check_logins,
    start_console,
};
use selvedge_doctor::{Finding, Status};
use selvedge_keys::KeySet;
use selvedge_ports::{CONSOLE_PORT, SERVED_CONSOLE_PORT, bind_port, bind_port_at_once};
use selvedge_terminal::print_warnings;

use super::shutdown;
use crate::services::{Services, console_config, make_api_service};

/// Opens the listeners of the console in `start`, and switches it off where its port is taken: the project itself can run
/// without it, and a Studio of another project may have the port.
pub(super) fn bind_in_start(config: &mut Config) -> Vec<TcpListener> {
    let section = &mut config.console;
    if !section.enabled_in_start {
        return Vec::new();
    }
    match bind_port_at_once("127.0.0.1", section.port, CONSOLE_PORT) {
        Ok(listener) => {
            let v6 = bind_port_at_once("::1", section.port, CONSOLE_PORT).ok();
            std::iter::once(listener).chain(v6).collect()
        }
        Err(error) => {
            section.enabled_in_start = false;
            print_warnings(&[format!("the console is not served: {error}")]);
            Vec::new()
        }
    }
}

/// Opens the listener of the console in `serve`.
///
/// # Errors
/// A port that is taken.
pub(super) fn bind_in_serve(config: &Config) -> Result<Vec<TcpListener>> {
    let section = &config.console;
    if !section.enabled {
        return Ok(Vec::new());
    }
    let host = section.bind.ip().to_string();
    Ok(vec![bind_port(&host, section.bind.port(), SERVED_CONSOLE_PORT)?])
}

/// Starts the console on its listeners; `None` when there are none, and then nothing of it costs anything.
///
/// # Errors
/// In `serve` also a login with which the console would give away the database's machine.
pub(super) async fn start(
    config: &Config,
    keys: &KeySet,
    services: &Arc<Services>,
    listeners: Vec<TcpListener>,
) -> Result<Option<ServerHandle>> {
    if listeners.is_empty() {
        return Ok(None);
    }
    let mode = services.mode;
    // On a laptop the logins are the well-known ones of a database that the same user owns.
    if mode == Mode::Production
        && let Err(reason) = check_logins(services.database()).await
    {
        bail!("{reason}");
    }
    // Keys stay in this process: the console's page gets answers of the services and never what they were asked with.
    let ring = Arc::clone(services.ring());
    let api = ProjectApi {
        make_service: make_api_service(Arc::clone(services)),
        service_key: keys.service_role_key.clone(),
        sign_token: Arc::new(move |claims| ring.sign(claims).map_err(|error| error.to_string())),
    };
    let state = ConsoleState::with_services(
        console_config(config, keys, mode),
        ConsoleDatabase::new(services.database().clone()),
        services.inbox.clone(),
        Some(api),
        ServiceHandles {
            settings: config.settings.iter().cloned().collect(),
            doctor: Some(doctor_of(config, mode)),
            ..services.console_handles(config)
        },
        services.console_log.clone().unwrap_or_default(),
    );
    let server = start_console(state, listeners).context("the console cannot listen")?;
    Ok(Some(shutdown::spawn_server(server)))
}

/// The checks of `selvedge doctor` on this instance.
fn doctor_of(config: &Config, mode: Mode) -> RunDoctor {
    let mut config = config.clone();
    // `start` always uses its own database; DATABASE_URL is ignored.
    if mode == Mode::Development {
        config.selvedge.database_url = None;
    }
    let config = Arc::new(config);
    Arc::new(move || {
        let config = Arc::clone(&config);
        Box::pin(async move {
            let findings = selvedge_doctor::examine(config.as_ref().clone()).await;
            let findings = findings.map_err(|error| format!("{error:#}"))?;
            Ok(findings.into_iter().map(check_of).collect())
        })
    })
}

fn check_of(finding: Finding) -> DoctorCheck {
    DoctorCheck {
        name: finding.check,
        status: match finding.status {
            Status::Ok => "ok",
            Status::Warning => "warning",
            Status::Error => "error",
        },
        message: finding.message,
        remedy: finding.advice,
    }
}
