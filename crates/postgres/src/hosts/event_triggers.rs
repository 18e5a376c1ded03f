//! Logins for which event triggers are off, to servers of which some do not know the parameter.

use std::collections::HashMap;
use std::sync::{LazyLock, Mutex, PoisonError};
use std::time::{Duration, Instant};

use tokio_postgres::error::SqlState;
use tokio_postgres::tls::MakeTlsConnect;
use tokio_postgres::{Client, Config, Connection, Error, Socket};
use tokio_postgres_rustls::MakeRustlsConnect;

type TlsStream = <MakeRustlsConnect as MakeTlsConnect<Socket>>::Stream;

/// The last of a login's startup options. From PostgreSQL 17 on event triggers also fire at a login, before anything can be set. In a database that an
/// early version made, or a copy of one, such a trigger may run code of the project in the session.
pub(crate) const WITHOUT_EVENT_TRIGGERS: &str = " -c event_triggers=off";

/// Where the parameter was refused, by host and user, and when: by servers that do not know it, and to users who may not set it. They
/// are not asked for a minute, because each refusal is a line of the server's log; a newer server may have taken its place then.
static REFUSED: LazyLock<Mutex<HashMap<String, Instant>>> = LazyLock::new(Mutex::default);
const ASKED_AGAIN_AFTER: Duration = Duration::from_secs(60);

/// Connects to the host of a configuration. If its options end with [`WITHOUT_EVENT_TRIGGERS`], and the server refuses that, the same
/// host is connected to without it. Another host may be newer, so its answer says nothing about this one.
///
/// # Errors
/// When the login fails. A pooler's refusal (08P01) stays one: it logs in to a server that may be newer.
pub(crate) async fn connect_to_host(
    config: &Config,
    tls: &MakeRustlsConnect,
) -> Result<(Client, Connection<Socket, TlsStream>), Error> {
    let further = config
        .get_options()
        .and_then(|options| options.strip_suffix(WITHOUT_EVENT_TRIGGERS));
    let Some(further) = further else {
        return config.connect(tls.clone()).await;
    };
    let place = (config.get_hosts(), config.get_hostaddrs(), config.get_ports());
    let place = format!("{place:?} {:?}", config.get_user());
    let refused = || REFUSED.lock().unwrap_or_else(PoisonError::into_inner);
    let is_refused = refused()
        .get(&place)
        .is_some_and(|refused_at| refused_at.elapsed() < ASKED_AGAIN_AFTER);
    if !is_refused {
        match config.connect(tls.clone()).await {
            Err(error) if is_about_parameter(&error) => refused().insert(place, Instant::now()),
            outcome => return outcome,
        };
    }
    let mut config = config.clone();
    config.options(further);
    config.connect(tls.clone()).await
}

/// Whether a server refuses a login for a parameter: it does not know it, or the user may not set it.
fn is_about_parameter(error: &Error) -> bool {
    let refusals = [SqlState::UNDEFINED_OBJECT, SqlState::INSUFFICIENT_PRIVILEGE];
    error.code().is_some_and(|code| refusals.contains(code))
}
