//! A worker's output: reports and log lines on standard output, Deno's messages on standard error.

use std::borrow::Cow;

use serde::Deserialize;
use tokio::io::{AsyncBufReadExt, AsyncRead, BufReader};

/// Begins a report on standard output.
const REPORT_MARK: u8 = 0x1e;
/// Longest line that is logged; the rest of a longer one is left out.
const LONGEST_LINE_BYTES: usize = 64 * 1024;

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

/// Writes a line of a function to the server's log. Control characters, with which a terminal would move its cursor, are escaped; line
/// ends stay, and text logs indent what follows them.
pub(crate) fn log_line(level: LogLevel, function: &str, request_id: Option<&str>, text: &str) {
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
