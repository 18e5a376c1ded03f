//! `selvedge serve`: the project in production. External database, keys of one's own, real mail.

use std::sync::Arc;
use std::time::Instant;

use actix_web::web;
use anyhow::{Result, bail};
use selvedge_gateway::telemetry::LogFormat;
use selvedge_postgres::migrate::is_platform_applied;

use crate::config::Config;
use crate::external::ExternalDatabase;
use crate::http::StatusPage;
use crate::key_set::KeySet;
use crate::listen::{self, API_PORT};
use crate::server::{self, Front};
use crate::services::{Background, Mode, Services};

use super::shutdown;

/// Every address of the machine: a server in production is there to be reached.
const ANY_ADDRESS: &str = "0.0.0.0";

/// Without actix's reports about its threads and PostgreSQL's notices.
const LOG: &str = "info,actix_server=warn,tokio_postgres=warn";

pub(super) async fn run(config: Config) -> Result<()> {
    let started = Instant::now();
    super::start_logging(&config, LogFormat::Json, LOG);
    let keys = KeySet::for_production(&config)?;
    let Some(url) = &config.own.database_url else {
        bail!(
            "`selvedge serve` needs a database: set DATABASE_URL=postgresql://…, or use `selvedge start` \
             for an embedded one"
        );
    };
    let database = ExternalDatabase::parse(url)?;
    let host = config.own.host.clone().unwrap_or_else(|| ANY_ADDRESS.to_owned());
    let listener = listen::bind(&host, config.api.port, API_PORT)?;
    let signals = shutdown::Signals::listen()?;
    if !is_platform_applied(&database.client().await?).await? {
        bail!(
            "the database lacks the platform schema, or an older version made it\n  bring it up to date with:  selvedge migrate up"
        );
    }
    let background = Background::new()?;
    let services =
        Services::connect(&background, &config, database.logins(), &keys, Mode::Production).await?;
    let api = server::start_api(
        &config,
        Arc::new(services),
        front(&config, &keys)?,
        vec![listener],
    )?;
    let handle = shutdown::spawn(api);
    let startup_ms = u64::try_from(started.elapsed().as_millis()).unwrap_or(u64::MAX);
    tracing::info!(
        host,
        port = config.api.port,
        startup_ms,
        version = env!("CARGO_PKG_VERSION"),
        "serving"
    );
    shutdown::wait_and_stop(signals, vec![handle], std::future::pending()).await?;
    tracing::info!("stopped");
    Ok(())
}

fn front(config: &Config, keys: &KeySet) -> Result<Front> {
    match &config.own.site {
        Some(folder) => server::site_front(folder, config, keys),
        None => Ok(Front::Page(web::Data::new(StatusPage::for_production()))),
    }
}
