//! `selvedge restart`: a new process takes over from the server of a home, without a refused connection or a failed request.

use std::path::Path;

use anyhow::{Context as _, Result, bail};
use selvedge_config::Config;
use selvedge_database::home::is_home;
use selvedge_database::instance::find_server;
use selvedge_terminal::{DIM, GOOD, WARN, show_foreign};
use serde_json::Value;
use tokio::io::{AsyncBufReadExt as _, AsyncWriteExt as _, BufReader};
use tokio::net::UnixStream;

use super::handover::{ChangedSetting, RestartOutcome, RestartRequest, SOCKET, Variables};
use crate::cli::RestartArgs;

/// Runs `selvedge restart`. By now the configuration has been read, so that a wrong one changes nothing.
///
/// # Errors
/// When no server runs in this home, or the new process fails to start. The running one goes on then.
pub(super) async fn run(config: &Config, args: &RestartArgs) -> Result<()> {
    let home = &config.selvedge.data_dir;
    if !is_home(config) {
        bail!(
            "{} is no home of a production database\n  a server with DATABASE_URL:  kill -USR2 PROCESS\n  a project for development:  selvedge \
             stop, selvedge start",
            home.display()
        );
    }
    let Some(server) = find_server(config)? else {
        bail!(
            "no server of {} is running\n  start it with:  selvedge serve",
            config.project.id
        );
    };
    let stream = connect(&home.join(SOCKET), server.pid).await?;
    let request = RestartRequest {
        environment: args.environment.then(list_variables),
    };
    match ask(stream, &request)
        .await
        .context("the server has not answered; see its log")?
    {
        RestartOutcome::Serves {
            pid,
            changed,
            waiting,
        } => {
            anstream::println!(
                "{GOOD}restarted{GOOD:#} {}: process {pid} serves, and {} finishes its requests",
                config.project.id,
                server.pid
            );
            print_settings(&changed, &waiting);
            Ok(())
        }
        RestartOutcome::Failed(reason) => {
            bail!(
                "the new process does not serve, and process {} goes on: {reason}",
                server.pid
            )
        }
    }
}

async fn connect(socket: &Path, server: u32) -> Result<UnixStream> {
    UnixStream::connect(socket).await.with_context(|| {
        format!(
            "process {server} does not answer at {}; it may just have been started, or be of an older version",
            socket.display()
        )
    })
}

/// Prints what has changed, and what takes effect only with another command.
fn print_settings(changed: &[ChangedSetting], waiting: &[String]) {
    for setting in changed {
        anstream::println!(
            "  {}  {DIM}{}{DIM:#} → {}",
            show_foreign(&setting.key),
            show_value(&setting.before),
            show_value(&setting.after)
        );
    }
    if !waiting.is_empty() {
        anstream::println!(
            "  {WARN}PostgreSQL needs a restart{WARN:#} for {}:  selvedge cluster restart",
            waiting.join(", ")
        );
    }
}

fn show_value(value: &Value) -> String {
    match value {
        Value::Null => "not set".to_owned(),
        value => show_foreign(&value.to_string()),
    }
}

/// The variables of this process, without those that are no UTF-8.
fn list_variables() -> Variables {
    std::env::vars_os()
        .filter_map(|(name, value)| Some((name.into_string().ok()?, value.into_string().ok()?)))
        .collect()
}

async fn ask(mut stream: UnixStream, request: &RestartRequest) -> Result<RestartOutcome> {
    let mut line = serde_json::to_string(request)?;
    line.push('\n');
    stream.write_all(line.as_bytes()).await?;
    let mut answer = String::new();
    BufReader::new(stream).read_line(&mut answer).await?;
    Ok(serde_json::from_str(&answer)?)
}
