//! The connection between `functions serve` and a server that runs already: the command sends its options, the server sends back
//! what functions print. The options apply until the connection ends, as the Supabase CLI replaces the runtime's container for that
//! time.
//!
//! The connection is TCP on loopback, because the path of a unix socket is limited to about 100 bytes. Port and access token are in
//! a file that only this user can read.

use std::fs::OpenOptions;
use std::io::Write as _;
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context, Result, bail};
use selvedge_config::Flags;
use selvedge_functions::InspectMode;
use selvedge_gateway::logging::{self, LogLine};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use tokio::io::{AsyncBufReadExt as _, AsyncReadExt as _, AsyncWriteExt as _, BufReader};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{broadcast, mpsc, oneshot};
use tokio::task::JoinHandle;
use tokio::time::timeout;
use tracing::Level;
use uuid::Uuid;

/// The file in the data folder with the port and token of the running server.
const ADDRESS_FILE: &str = "functions-session.json";
/// How many unsent lines are kept for a slow session; older ones are dropped.
const LINE_BUFFER: usize = 1024;
/// The longest message of a session in bytes.
const MAX_MESSAGE_BYTES: u64 = 256 * 1024;
/// How long a client may take to send its options.
const REQUEST_TIME: Duration = Duration::from_secs(5);
/// The log target of lines that functions print. Targets of log lines about functions begin with it, too.
const FUNCTION_TARGET: &str = "edge_function";

/// Options of `functions serve`; paths are absolute, because the server has another working directory.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub(crate) struct SessionOptions {
    env_file: Option<PathBuf>,
    import_map: Option<PathBuf>,
    no_verify_jwt: bool,
    inspect: Option<InspectMode>,
}

/// A line of output for `functions serve`: printed by a function, or logged about one.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct SessionLine {
    /// Whether to print it to standard error.
    pub(crate) is_error: bool,
    pub(crate) text: String,
}

/// Asks the functions service to apply a session's options, or to return to those of the configuration.
pub(super) struct SessionChange {
    /// The options; `None` when the session has ended.
    pub(super) options: Option<SessionOptions>,
    /// Receives the outcome: an error when the options cannot be used.
    pub(super) applied: oneshot::Sender<Result<(), String>>,
}

/// The client's end of a session, used by `functions serve`.
pub(crate) struct Session {
    messages: BufReader<TcpStream>,
}

#[derive(Serialize, Deserialize)]
struct Address {
    port: u16,
    token: String,
}

#[derive(Serialize, Deserialize)]
struct Request {
    token: String,
    options: SessionOptions,
}

#[derive(Serialize, Deserialize)]
struct Reply {
    error: Option<String>,
}

impl SessionOptions {
    /// Returns the options among the command's flags.
    pub(crate) fn from_flags(flags: &Flags) -> Self {
        Self {
            env_file: flags.env_file.clone(),
            import_map: flags.import_map.clone(),
            no_verify_jwt: flags.no_verify_jwt,
            inspect: flags.inspect,
        }
    }

    /// Returns the flags with which the server was started, overridden by these options.
    pub(super) fn add_to(&self, flags: &Flags) -> Flags {
        let flags = flags.clone();
        Flags {
            env_file: self.env_file.clone().or(flags.env_file),
            import_map: self.import_map.clone().or(flags.import_map),
            no_verify_jwt: self.no_verify_jwt || flags.no_verify_jwt,
            inspect: self.inspect.or(flags.inspect),
            ..flags
        }
    }
}

impl Session {
    /// Connects to the server that runs with this data folder, and makes it apply `options`.
    ///
    /// # Errors
    /// When the server does not accept sessions, or cannot use the options.
    pub(crate) async fn begin(data_dir: &Path, options: SessionOptions) -> Result<Self> {
        let file = data_dir.join(ADDRESS_FILE);
        let text = std::fs::read_to_string(&file).with_context(|| {
            format!(
                "the running project does not serve functions: {} is not there",
                file.display()
            )
        })?;
        let Address { port, token } =
            serde_json::from_str(&text).context("the file with the address is damaged")?;
        let stream = TcpStream::connect(("127.0.0.1", port))
            .await
            .context("the running project does not answer")?;
        let mut messages = BufReader::new(stream);
        write_message(messages.get_mut(), &Request { token, options }).await?;
        match read_message(&mut messages).await? {
            Some(Reply { error: None }) => Ok(Self { messages }),
            Some(Reply { error: Some(error) }) => bail!(error),
            None => bail!("the running project has refused the connection"),
        }
    }

    /// Waits for the next line; `None` when the server has stopped, or has begun another session.
    pub(crate) async fn next_line(&mut self) -> Option<SessionLine> {
        read_message(&mut self.messages).await.ok().flatten()
    }
}

/// Accepts sessions until the process ends. A new session ends the one before it.
pub(super) async fn accept_sessions(data_dir: PathBuf, changes: mpsc::Sender<SessionChange>) {
    let (listener, token) = match open_listener(&data_dir).await {
        Ok(opened) => opened,
        Err(error) => {
            tracing::warn!("`functions serve` cannot be used while this server runs: {error:#}");
            return;
        }
    };
    let (lines, _) = broadcast::channel(LINE_BUFFER);
    forward_function_lines(lines.clone());
    let mut current: Option<JoinHandle<()>> = None;
    while let Ok((stream, _)) = listener.accept().await {
        let mut messages = BufReader::new(stream);
        let Some(options) = authenticate(&mut messages, &token).await else {
            continue;
        };
        if let Some(previous) = current.take() {
            previous.abort();
        }
        let session = serve_session(messages, options, changes.clone(), lines.subscribe());
        current = Some(tokio::spawn(session));
    }
}

/// Listens on a port that the system chooses, and writes port and a new token to [`ADDRESS_FILE`].
async fn open_listener(data_dir: &Path) -> Result<(TcpListener, String)> {
    let listener = TcpListener::bind(("127.0.0.1", 0)).await?;
    let address = Address {
        port: listener.local_addr()?.port(),
        token: Uuid::new_v4().to_string(),
    };
    let path = data_dir.join(ADDRESS_FILE);
    // The mode applies to new files only, so an old one is removed first.
    let _ = std::fs::remove_file(&path);
    let mut file = OpenOptions::new()
        .write(true)
        .create_new(true)
        .mode(0o600)
        .open(&path)
        .with_context(|| format!("cannot write {}", path.display()))?;
    file.write_all(&serde_json::to_vec(&address)?)?;
    Ok((listener, address.token))
}

/// Passes log lines of functions to all sessions.
fn forward_function_lines(lines: broadcast::Sender<SessionLine>) {
    logging::listen_to_lines(Arc::new(move |line: &LogLine| {
        if line.target.starts_with(FUNCTION_TARGET) {
            // An error means that there is no session.
            let _ = lines.send(render_line(line));
        }
    }));
}

/// Renders a line as Supabase's edge runtime prints it: output of functions as `[Info] …`.
fn render_line(line: &LogLine) -> SessionLine {
    let (level, is_error) = match line.level {
        Level::ERROR => ("Error", true),
        Level::WARN => ("Warning", true),
        Level::INFO => ("Info", false),
        _ => ("Debug", false),
    };
    if line.target == FUNCTION_TARGET {
        let text = format!("[{level}] {}", line.text);
        return SessionLine { is_error, text };
    }
    SessionLine {
        is_error: true,
        text: line.text.clone(),
    }
}

/// Reads a client's request and returns its options; `None` without the right token.
async fn authenticate(messages: &mut BufReader<TcpStream>, token: &str) -> Option<SessionOptions> {
    let request: Request = timeout(REQUEST_TIME, read_message(messages)).await.ok()?.ok()??;
    (request.token == token).then_some(request.options)
}

/// Applies a client's options, sends it lines until it disconnects, and restores the configuration's options.
async fn serve_session(
    mut messages: BufReader<TcpStream>,
    options: SessionOptions,
    changes: mpsc::Sender<SessionChange>,
    mut lines: broadcast::Receiver<SessionLine>,
) {
    let error = change_options(&changes, Some(options)).await.err();
    let is_refused = error.is_some();
    // If the client has disconnected already, the read below returns at once.
    let _ = write_message(messages.get_mut(), &Reply { error }).await;
    if is_refused {
        return;
    }
    let mut end = [0; 1];
    loop {
        let line = tokio::select! {
            // Clients send nothing more, so the read returns only when the connection ends.
            _ = messages.read(&mut end) => break,
            line = lines.recv() => match line {
                Ok(line) => line,
                Err(broadcast::error::RecvError::Lagged(count)) => SessionLine {
                    is_error: true,
                    text: format!("{count} lines are left out"),
                },
                Err(broadcast::error::RecvError::Closed) => break,
            },
        };
        if write_message(messages.get_mut(), &line).await.is_err() {
            break;
        }
    }
    let _ = change_options(&changes, None).await;
}

async fn change_options(
    changes: &mpsc::Sender<SessionChange>,
    options: Option<SessionOptions>,
) -> Result<(), String> {
    let (applied, outcome) = oneshot::channel();
    let is_sent = changes.send(SessionChange { options, applied }).await;
    let stopped = || "the project is stopping".to_owned();
    is_sent.map_err(|_| stopped())?;
    outcome.await.map_err(|_| stopped())?
}

/// Writes a value as one line of JSON.
async fn write_message(stream: &mut TcpStream, message: &impl Serialize) -> Result<()> {
    let mut line = serde_json::to_vec(message)?;
    line.push(b'\n');
    Ok(stream.write_all(&line).await?)
}

/// Reads a line of JSON; `None` at the end of the connection.
async fn read_message<T: DeserializeOwned>(messages: &mut BufReader<TcpStream>) -> Result<Option<T>> {
    let mut line = Vec::new();
    let length = messages
        .take(MAX_MESSAGE_BYTES)
        .read_until(b'\n', &mut line)
        .await?;
    if length == 0 {
        return Ok(None);
    }
    Ok(Some(serde_json::from_slice(&line)?))
}
