//! Sets up logging to standard error: readable lines in development, JSON in production.

use std::fmt::{self, Write as _};
use std::io::{self, IsTerminal, Write};
use std::sync::{Arc, PoisonError, RwLock};

use tracing::field::{Field, Visit};
use tracing::{Event, Level, Subscriber};
use tracing_subscriber::EnvFilter;
use tracing_subscriber::fmt::writer::MakeWriterExt;
use tracing_subscriber::layer::{Context, Layer, SubscriberExt as _};
use tracing_subscriber::util::SubscriberInitExt as _;

/// The form in which log lines are written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LogFormat {
    Pretty,
    Json,
}

/// A line of the log as a listener gets it, such as the console's log, which shows the lines of a request.
#[derive(Debug)]
pub struct LogLine {
    /// The line's level, such as `WARN` or `INFO`.
    pub level: Level,
    /// The log target, such as `edge_function`.
    pub target: &'static str,
    /// The id of the request during which the line was written, where it names one.
    pub request_id: Option<String>,
    /// The message, followed by `name=value` for each further field.
    pub text: String,
}

/// A function that gets every line which passes the filter of `RUST_LOG`.
pub type LineListener = Arc<dyn Fn(&LogLine) + Send + Sync>;

static LINE_LISTENERS: RwLock<Vec<LineListener>> = RwLock::new(Vec::new());

/// Calls `listener` for every further log line, until the process ends.
pub fn listen_to_lines(listener: LineListener) {
    let mut listeners = LINE_LISTENERS.write().unwrap_or_else(PoisonError::into_inner);
    listeners.push(listener);
}

/// Starts logging to standard error. `filter` is in the syntax of `RUST_LOG`; an invalid one falls back to `info`.
pub fn init_logging(format: LogFormat, filter: &str) {
    let filter = EnvFilter::try_new(filter).unwrap_or_else(|_| EnvFilter::new("info"));
    let lines = tracing_subscriber::fmt::layer()
        .with_ansi(std::io::stderr().is_terminal())
        .with_writer((|| IndentedLines(std::io::stderr())).with_max_level(Level::TRACE));
    let registry = tracing_subscriber::registry().with(filter).with(LineLayer);
    // Fails when logging is set up already: tests start several servers in one process, and the first one's format stays.
    let _ = match format {
        LogFormat::Pretty => registry.with(lines.with_target(false).compact()).try_init(),
        LogFormat::Json => registry.with(lines.json().flatten_event(true)).try_init(),
    };
}

/// Indents every line of an event but its first, so that a line end in a text of a user does not begin a line that looks like one of this
/// server.
struct IndentedLines<W>(W);

impl<W: Write> Write for IndentedLines<W> {
    /// `bytes` is a whole event, which `tracing-subscriber` writes at once.
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let (event, end) = match bytes.split_last() {
            Some((b'\n', event)) => (event, &b"\n"[..]),
            _ => (bytes, &b""[..]),
        };
        if !event.contains(&b'\n') {
            self.0.write_all(bytes)?;
            return Ok(bytes.len());
        }
        let lines: Vec<&[u8]> = event.split(|byte| *byte == b'\n').collect();
        let mut indented = lines.join(&b"\n    "[..]);
        indented.extend_from_slice(end);
        self.0.write_all(&indented)?;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.0.flush()
    }
}

/// The layer that renders each line for the listener.
struct LineLayer;

impl<S: Subscriber> Layer<S> for LineLayer {
    fn on_event(&self, event: &Event<'_>, _: Context<'_, S>) {
        // The list is cloned, because a listener may log a line itself and would then wait for the lock.
        let listeners = LINE_LISTENERS
            .read()
            .unwrap_or_else(PoisonError::into_inner)
            .clone();
        // A server without a console has no listener, and then rendering the fields would be wasted time.
        if listeners.is_empty() {
            return;
        }
        let mut fields = LineFields::default();
        event.record(&mut fields);
        let line = LogLine {
            level: *event.metadata().level(),
            target: event.metadata().target(),
            request_id: fields.request_id,
            text: fields.message + &fields.rest,
        };
        for listener in &listeners {
            listener(&line);
        }
    }
}

/// Collects the fields of a line as text.
#[derive(Default)]
struct LineFields {
    message: String,
    rest: String,
    request_id: Option<String>,
}

impl Visit for LineFields {
    fn record_str(&mut self, field: &Field, value: &str) {
        match field.name() {
            "message" => self.message.push_str(value),
            "request_id" => self.request_id = Some(value.to_owned()),
            name => {
                let _ = write!(self.rest, " {name}={value}");
            }
        }
    }

    fn record_debug(&mut self, field: &Field, value: &dyn fmt::Debug) {
        self.record_str(field, &format!("{value:?}"));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_end_in_a_text_begins_no_new_log_line() {
        let mut written = Vec::new();
        let event = b"INFO edge_function: hello\n2026-11-28 ERROR forged\n";

        let count = IndentedLines(&mut written).write(event).expect("memory");

        assert_eq!(count, event.len());
        let text = String::from_utf8(written).expect("text");
        assert_eq!(text, "INFO edge_function: hello\n    2026-11-28 ERROR forged\n");
    }
}
