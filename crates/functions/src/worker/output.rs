//! A worker's output: reports and log lines on standard output, Deno's messages on standard error.

use std::borrow::Cow;
use std::collections::HashMap;
use std::sync::{LazyLock, Mutex, PoisonError};

use selvedge_limits::LogRate;
use serde::Deserialize;
use tokio::io::{AsyncBufReadExt, AsyncRead, BufReader};

/// Begins a report on standard output.
const REPORT_MARK: u8 = 0x1e;
/// Longest line that is logged; the rest of a longer one is left out.
const LONGEST_LINE_BYTES: usize = 64 * 1024;
/// Bytes of one function that are logged in a second, and at once after a quiet second. Whoever calls it may make it print without an end.
const BYTES_PER_SECOND: usize = 256 * 1024;

/// What each function, by its name, may log. There are as many as the project has.
static RATES: LazyLock<Mutex<HashMap<String, LogRate>>> = LazyLock::new(Mutex::default);

/// One line of a worker's standard output.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum OutputLine {
    Report(Report),
    /// Something that the function printed without `console`.
    Text(String),
}

/// A report of the bootstrap script.
#[derive(Debug, PartialEq, Eq, Deserialize)]
#[serde(untagged)]
pub(crate) enum Report {
    /// The worker accepts requests.
    Ready { ready: bool },
    /// Whether work of `EdgeRuntime.waitUntil` is going on.
    Background { background: bool },
    /// A message of `console`.
    Log {
        log: LogLevel,
        request_id: Option<String>,
        text: String,
    },
}

/// The level of a log line, by the method of `console`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum LogLevel {
    Debug,
    Info,
    Warn,
    Error,
}

/// Calls `use_line` with each line of a stream until it ends.
pub(crate) async fn read_lines(stream: impl AsyncRead + Unpin, mut use_line: impl FnMut(&[u8])) {
    let mut reader = BufReader::with_capacity(LONGEST_LINE_BYTES, stream);
    let mut line = Vec::new();
    loop {
        let (used, ends) = match reader.fill_buf().await {
            Ok([]) | Err(_) => break,
            Ok(bytes) => match bytes.iter().position(|byte| *byte == b'\n') {
                Some(end) => (end + 1, true),
                None => (bytes.len(), false),
            },
        };
        let room = LONGEST_LINE_BYTES.saturating_sub(line.len());
        let bytes = reader.buffer();
        line.extend_from_slice(&bytes[..(used - usize::from(ends)).min(room)]);
        reader.consume(used);
        if ends {
            use_line(&line);
            line.clear();
        }
    }
    if !line.is_empty() {
        use_line(&line);
    }
}

/// Parses one line of a worker's standard output.
pub(crate) fn parse_output_line(line: &[u8]) -> OutputLine {
    let report = line
        .strip_prefix(&[REPORT_MARK])
        .and_then(|json| serde_json::from_slice(json).ok());
    match report {
        Some(report) => OutputLine::Report(report),
        None => OutputLine::Text(String::from_utf8_lossy(line).into_owned()),
    }
}

/// Writes a line of a function to the server's log, unless it has written too many in this second; the next one then says how many are
/// missing. Control characters, with which a terminal would move its cursor, are escaped; line
/// ends stay, and text logs indent what follows them.
pub(crate) fn log_line(level: LogLevel, function: &str, request_id: Option<&str>, text: &str) {
    let Some(omitted) = pass_rate(function, text.len()) else {
        return;
    };
    if omitted > 0 {
        tracing::warn!(target: "edge_function", function, omitted, "lines were left out, because too many came at once");
    }
    let text = escape_controls(text);
    // The target has its own level in the default filters, so that developers see what their functions print.
    macro_rules! log_at {
        ($level:ident) => {
            match request_id {
                Some(request_id) => tracing::$level!(target: "edge_function", function, request_id, "{text}"),
                None => tracing::$level!(target: "edge_function", function, "{text}"),
            }
        };
    }
    match level {
        LogLevel::Debug => log_at!(debug),
        LogLevel::Info => log_at!(info),
        LogLevel::Warn => log_at!(warn),
        LogLevel::Error => log_at!(error),
    }
}

fn pass_rate(function: &str, bytes: usize) -> Option<u64> {
    let mut rates = RATES.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(rate) = rates.get_mut(function) {
        return rate.pass(bytes);
    }
    let mut rate = LogRate::new(BYTES_PER_SECOND);
    let passed = rate.pass(bytes);
    rates.insert(function.to_owned(), rate);
    passed
}

/// Escapes all control characters but line ends and tabs.
fn escape_controls(text: &str) -> Cow<'_, str> {
    let is_shown = |c: char| !c.is_control() || c == '\n' || c == '\t';
    if text.chars().all(is_shown) {
        return Cow::Borrowed(text);
    }
    let mut escaped = String::with_capacity(text.len());
    for c in text.chars() {
        match is_shown(c) {
            true => escaped.push(c),
            false => escaped.extend(c.escape_default()),
        }
    }
    Cow::Owned(escaped)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn control_characters_of_a_function_are_shown_and_not_sent_to_a_terminal() {
        assert_eq!(escape_controls("a\n\tb"), "a\n\tb");
        assert_eq!(escape_controls("a\r\u{1b}[2Jb"), "a\\r\\u{1b}[2Jb");
    }

    #[test]
    fn gw_049_what_one_function_logs_in_a_second_is_bounded_and_others_log_beside_it() {
        let passed = (0..100)
            .filter(|_| pass_rate("flooding", BYTES_PER_SECOND / 10).is_some())
            .count();

        assert!((10..30).contains(&passed), "{passed}");
        assert_eq!(pass_rate("other", 100), Some(0));
    }

    #[actix_web::test]
    async fn lines_are_cut_at_the_longest_length_and_the_last_needs_no_end() {
        let long = "x".repeat(LONGEST_LINE_BYTES + 10);
        let text = format!("first\n{long}\nlast");
        let mut lines = Vec::new();

        read_lines(text.as_bytes(), |line| lines.push(line.to_vec())).await;

        let lengths: Vec<usize> = lines.iter().map(Vec::len).collect();
        assert_eq!(lengths, [5, LONGEST_LINE_BYTES, 4]);
    }

    #[test]
    fn reports_are_told_from_what_a_function_prints() {
        let log = b"\x1e{\"log\":\"warn\",\"request_id\":\"a-1\",\"text\":\"careful\"}";

        assert_eq!(
            parse_output_line(log),
            OutputLine::Report(Report::Log {
                log: LogLevel::Warn,
                request_id: Some("a-1".to_owned()),
                text: "careful".to_owned(),
            })
        );
        assert_eq!(
            parse_output_line(b"\x1e{\"ready\":true}"),
            OutputLine::Report(Report::Ready { ready: true })
        );
        assert_eq!(parse_output_line(b"plain"), OutputLine::Text("plain".to_owned()));
    }
}
