//! Sends health checks to the project's server on this machine: for `serve --ready`, `start --detach` and `doctor`.

use std::time::Duration;

use anyhow::{Context, Result, bail};
use selvedge_config::Config;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

/// How long the server may take to respond.
const ANSWER_TIMEOUT: Duration = Duration::from_secs(5);

/// The health check that responds 200 when the server accepts requests.
const READY: &str = "/health/ready";

/// The longest response that is read, in bytes; health checks respond with far less.
const MAX_ANSWER_BYTES: u64 = 64 * 1024;

/// `selvedge serve --ready`: the health check of a container, whose image has no curl.
///
/// # Errors
/// When the server does not respond, or is not ready; the message contains the response.
pub async fn check_ready(config: &Config) -> Result<()> {
    let answer = send_get(config, READY).await?;
    if !shows_ready(config, &answer) {
        let (head, body) = answer.split_once("\r\n\r\n").unwrap_or((&answer, ""));
        bail!("{} {body}", head.lines().next().unwrap_or_default());
    }
    anstream::println!("ready");
    Ok(())
}

/// Whether the running server is ready.
pub async fn is_ready(config: &Config) -> bool {
    send_get(config, READY)
        .await
        .is_ok_and(|answer| shows_ready(config, &answer))
}

/// Whether a response to [`READY`] means that the server is ready. With TLS any response does: the server refuses the request,
/// which is sent without TLS, but runs.
fn shows_ready(config: &Config, answer: &str) -> bool {
    config.api.tls.is_some() || is_ok(answer)
}

/// Whether the server responds 200 to a GET on this path within [`ANSWER_TIMEOUT`].
pub async fn answers_ok(config: &Config, path: &str) -> bool {
    send_get(config, path).await.is_ok_and(|answer| is_ok(&answer))
}

fn is_ok(answer: &str) -> bool {
    answer.starts_with("HTTP/1.1 200 ")
}

/// Sends a GET without TLS, and returns status line, headers and body of the response.
///
/// # Errors
/// When no server responds within [`ANSWER_TIMEOUT`].
async fn send_get(config: &Config, path: &str) -> Result<String> {
    // A server that listens on all addresses is reached by loopback, and one with public ports of its own only so.
    let host = match config.selvedge.host.as_deref() {
        _ if config.acme().is_some() => "127.0.0.1",
        None | Some("0.0.0.0" | "::") => "127.0.0.1",
        Some(host) => host,
    };
    let question = async {
        let mut stream = TcpStream::connect((host, config.api.port)).await?;
        let request = format!("GET {path} HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n\r\n");
        stream.write_all(request.as_bytes()).await?;
        let mut answer = Vec::new();
        stream.take(MAX_ANSWER_BYTES).read_to_end(&mut answer).await?;
        std::io::Result::Ok(String::from_utf8_lossy(&answer).into_owned())
    };
    tokio::time::timeout(ANSWER_TIMEOUT, question)
        .await
        .with_context(|| format!("no answer within {} s", ANSWER_TIMEOUT.as_secs()))?
        .with_context(|| format!("no server answers on port {} of {host}", config.api.port))
}
