//! Asks the server of the project on this machine how it is, over HTTP: for `serve --ready`, `start --detach` and `doctor`.

use std::time::Duration;

use anyhow::{Context, Result, bail};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

use crate::config::Config;

/// How long the server may take to answer.
const ANSWER_TIMEOUT: Duration = Duration::from_secs(5);

/// Answers 200 when requests are served.
const READY: &str = "/health/ready";

/// The longest answer that is read; what a health check answers is far shorter.
const MAX_ANSWER_BYTES: u64 = 64 * 1024;

/// `selvedge serve --ready`, for health checks of containers, whose image has no other program.
///
/// # Errors
/// When the running server is not ready, which it gives a reason for, or does not answer.
pub(super) async fn check_ready(config: &Config) -> Result<()> {
    let answer = ask(config, READY).await?;
    if !shows_ready(config, &answer) {
        let (head, body) = answer.split_once("\r\n\r\n").unwrap_or((&answer, ""));
        bail!("{} {body}", head.lines().next().unwrap_or_default());
    }
    anstream::println!("ready");
    Ok(())
}

/// Whether the running server is ready.
pub(super) async fn is_ready(config: &Config) -> bool {
    ask(config, READY)
        .await
        .is_ok_and(|answer| shows_ready(config, &answer))
}

/// Whether an answer to [`READY`] is that of a ready server. One with TLS refuses the request, which shows that it runs.
fn shows_ready(config: &Config, answer: &str) -> bool {
    config.api.tls.is_some() || is_ok(answer)
}

/// Whether the server answers 200 to this path. Without an answer within five seconds it does not.
pub(super) async fn answers_ok(config: &Config, path: &str) -> bool {
    ask(config, path).await.is_ok_and(|answer| is_ok(&answer))
}

fn is_ok(answer: &str) -> bool {
    answer.starts_with("HTTP/1.1 200 ")
}

/// Status line, headers and body of the answer to a GET. A server with TLS refuses the request in words of its own.
async fn ask(config: &Config, path: &str) -> Result<String> {
    // A server that listens on all addresses is asked on loopback.
    let host = match config.selvedge.host.as_deref() {
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
