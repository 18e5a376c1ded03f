//! The result of a check, and how it is printed.

use selvedge_terminal::{BAD, DIM, GOOD, OutputFormat, WARN, show_foreign_text};
use serde::Serialize;

/// Severity of a finding.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Status {
    Ok,
    /// The checked part works now, but may stop working or is not safe.
    Warning,
    /// A check found an error.
    Error,
}

/// The result of one check.
#[derive(Debug, Serialize)]
pub struct Finding {
    /// Names what was examined, for scripts: `clock`, `disk`, `slots`, …
    pub check: &'static str,
    pub status: Status,
    pub message: String,
    /// How to solve the problem, if it is known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub advice: Option<String>,
}

impl Finding {
    /// Creates a finding without a problem.
    pub(crate) fn ok(check: &'static str, message: impl Into<String>) -> Self {
        Self {
            check,
            status: Status::Ok,
            message: message.into(),
            advice: None,
        }
    }

    /// Creates a finding about something that works, but may stop working or is not safe.
    pub(crate) fn warning(
        check: &'static str,
        message: impl Into<String>,
        advice: impl Into<String>,
    ) -> Self {
        Self {
            status: Status::Warning,
            advice: Some(advice.into()),
            ..Self::ok(check, message)
        }
    }

    /// Creates a finding about something that does not work.
    pub(crate) fn error(check: &'static str, message: impl Into<String>, advice: impl Into<String>) -> Self {
        Self {
            status: Status::Error,
            ..Self::warning(check, message, advice)
        }
    }

    /// Nothing is known of `what`, because the login of the examination may not read it. `needs` is a login that may.
    pub(crate) fn unread(check: &'static str, what: &[&str], needs: &str) -> Self {
        Self::warning(
            check,
            format!("could not look: {}, needs {needs}", what.join("; ")),
            "examine it once with such a login in DATABASE_URL",
        )
    }

    /// A check that this version cannot make in a database whose platform schema an older version of this program has made.
    pub(crate) fn outdated(check: &'static str, what: &str) -> Self {
        Self::warning(
            check,
            format!(
                "could not look: {what}, as an older version of this program has made the platform schema"
            ),
            "bring the schema up to date first: selvedge migrate up (a running project: selvedge stop, selvedge start)",
        )
    }

    /// A check that could not be made.
    pub(crate) fn unknown(check: &'static str, error: &tokio_postgres::Error) -> Self {
        let cause = std::error::Error::source(error).map(|cause| format!(": {cause}"));
        Self::warning(
            check,
            format!("cannot be examined: {error}{}", cause.unwrap_or_default()),
            "use a login in DATABASE_URL that may read it, such as a member of pg_monitor",
        )
    }
}

/// Prints the findings: a list for people, `CHECK="status"` lines, or a JSON array.
pub(crate) fn print_findings(findings: &[Finding], format: OutputFormat) {
    match format {
        OutputFormat::Json => {
            anstream::println!("{}", serde_json::to_string_pretty(findings).unwrap_or_default())
        }
        OutputFormat::Env => {
            for finding in findings {
                let status = format!("{:?}", finding.status).to_lowercase();
                anstream::println!("{}=\"{status}\"", finding.check.to_uppercase());
            }
        }
        OutputFormat::Pretty => {
            for finding in findings {
                anstream::println!("{}", render(finding));
            }
        }
    }
}

/// The lines of a finding, for a terminal. Control characters are escaped, because names and other servers' answers are texts of others.
fn render(finding: &Finding) -> String {
    let (style, word) = match finding.status {
        Status::Ok => (GOOD, "ok"),
        Status::Warning => (WARN, "warning"),
        Status::Error => (BAD, "error"),
    };
    let (check, message) = (finding.check, show_foreign_text(&finding.message));
    let advice = finding.advice.as_deref().map_or_else(String::new, |advice| {
        format!("\n           {DIM}→ {}{DIM:#}", show_foreign_text(advice))
    });
    format!("  {style}{word:>7}{style:#}  {DIM}{check}{DIM:#}  {message}{advice}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn gw_012_names_that_others_have_chosen_move_no_cursor() {
        let finding = Finding::warning("privileges", "the role a\u{1b}[2Kb", "drop role \"a\u{1b}[2Kb\"");

        let rendered = render(&finding);

        assert!(!rendered.contains("\u{1b}[2K"), "{rendered}");
        assert_eq!(rendered.matches("a\\u{1b}[2Kb").count(), 2, "{rendered}");
    }
}
