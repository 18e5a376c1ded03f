//! The modes in which `selvedge rest` prints or checks something instead of serving: `--example`, `--dump-config`,
//! `--dump-schema`, `--ready`.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context, Result, bail};
use selvedge_config::Environment;
use selvedge_config::postgrest::{ProcessSettings, render_settings};
use selvedge_database::external::standalone_config;
use selvedge_postgres::{Database, Logins};
use selvedge_rest::{RestConfig, SchemaCache};
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};
use tokio::net::{TcpStream, UnixStream};

use super::listeners::admin_host;
use crate::cli::RestReportArgs;

/// How long `--ready` waits for the admin server.
const READY_TIMEOUT: Duration = Duration::from_secs(10);

/// Prints the example configuration, which needs no settings; returns whether it was asked for.
pub(super) fn print_example(asked: RestReportArgs) -> bool {
    if asked.example {
        anstream::print!(
            "{}",
            render_settings(&RestConfig::standalone(), &ProcessSettings::default())
        );
    }
    asked.example
}

/// Prints or checks what was asked for; returns whether anything was.
///
/// # Errors
/// A process that is not ready, and a database whose catalog cannot be read.
pub(super) async fn run(asked: RestReportArgs, rest: &RestConfig, process: &ProcessSettings) -> Result<bool> {
    if asked.ready {
        check_ready(process).await?;
    } else if asked.dump_config {
        let config = load_cache(rest, process).await?.config();
        anstream::print!("{}", render_settings(&config, process));
    } else if asked.dump_schema {
        let cache = load_cache(rest, process).await?;
        let schema = selvedge_rest::dump_schema(&cache);
        let reason = || cache.health().failure.unwrap_or_default();
        anstream::println!("{}", schema.with_context(reason)?);
    } else {
        return Ok(false);
    }
    Ok(true)
}

/// Settings and catalog, read once.
async fn load_cache(rest: &RestConfig, process: &ProcessSettings) -> Result<Arc<SchemaCache>> {
    let login = standalone_config(process.db_uri.as_ref(), &Environment::of_process())?;
    let config = RestConfig {
        // The process ends after one read, so listening for reload notifications would only cost a connection.
        channel_enabled: false,
        ..rest.clone()
    };
    Ok(SchemaCache::start(Database::new(Logins::with_single_login(login)), config).await)
}

/// Asks `/ready` of the running process.
async fn check_ready(process: &ProcessSettings) -> Result<()> {
    let status = tokio::time::timeout(READY_TIMEOUT, ask_ready(process))
        .await
        .context("the admin server does not answer in time")??;
    if status == "200" {
        anstream::println!("OK: the admin server answers 200");
        return Ok(());
    }
    bail!("the admin server answers {status}")
}

async fn ask_ready(process: &ProcessSettings) -> Result<String> {
    let unreachable = "the admin server cannot be reached";
    if let Some(path) = &process.admin_socket {
        let path: &Path = path;
        return request_ready(UnixStream::connect(path).await.context(unreachable)?).await;
    }
    let Some(port) = process.admin_port else {
        bail!("there is no admin server: admin-server-port is not set");
    };
    let stream = TcpStream::connect((admin_host(process), port)).await;
    request_ready(stream.context(unreachable)?).await
}

/// The HTTP status of `GET /ready`.
async fn request_ready(mut stream: impl AsyncRead + AsyncWrite + Unpin) -> Result<String> {
    stream
        .write_all(b"GET /ready HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")
        .await?;
    let mut response = String::new();
    stream.read_to_string(&mut response).await?;
    let status = response.split(' ').nth(1);
    status
        .map(str::to_owned)
        .context("the admin server does not speak HTTP")
}
