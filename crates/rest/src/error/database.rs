//! Errors that PostgreSQL reports, and the HTTP status of each SQLSTATE. Source: REST contract §7.

use serde_json::Value;

use super::wire::Wire;

/// An error that PostgreSQL reported.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DatabaseFault {
    pub sqlstate: String,
    pub message: String,
    pub detail: Option<String>,
    pub hint: Option<String>,
    /// Whether the request ran as another role than the anonymous one: a missing privilege is then 403 instead of 401.
    pub authenticated: bool,
}

/// Longest text of an error that is sent, in bytes. PostgreSQL puts refused values into its messages whole, and those may be as long as a body.
const LONGEST_TEXT: usize = 16 * 1024;

/// The text, or the beginning of a long one.
fn shorten(text: &str) -> String {
    let kept = text.floor_char_boundary(LONGEST_TEXT);
    match text.len() - kept {
        0 => text.to_owned(),
        more => format!("{}… ({more} bytes more)", text.get(..kept).unwrap_or_default()),
    }
}

impl DatabaseFault {
    /// Returns the error for `count=planned` on tables whose number of rows PostgreSQL cannot estimate, because Citus plans on the
    /// nodes that have them.
    pub(crate) fn without_estimate() -> Self {
        Self {
            sqlstate: "0A000".to_owned(),
            message: "the number of rows of a distributed table cannot be estimated".to_owned(),
            detail: None,
            hint: Some("Use count=exact.".to_owned()),
            authenticated: true,
        }
    }

    /// Returns the error for a result with two columns of one name, the second of which Citus would rename.
    pub(crate) fn with_repeated_name(name: &str) -> Self {
        Self {
            sqlstate: "0A000".to_owned(),
            message: format!(
                "several columns of the result are named \"{name}\", which Citus does not support"
            ),
            detail: None,
            hint: Some("Give each column a name of its own, as in select=first:id,second:id.".to_owned()),
            authenticated: true,
        }
    }

    /// Returns the error for a result as CSV with a computed column of a table that Citus distributes.
    pub(crate) fn with_computed_csv(name: &str) -> Self {
        Self {
            sqlstate: "0A000".to_owned(),
            message: format!(
                "the computed column \"{name}\" of a result cannot be rendered as CSV with Citus"
            ),
            detail: None,
            hint: Some("Ask for JSON, or read the table.".to_owned()),
            authenticated: true,
        }
    }

    /// Returns the response: PostgreSQL's own texts, with a status by SQLSTATE.
    pub(super) fn wire(&self) -> Wire {
        if self.sqlstate == "PGRST" {
            return self.raised_wire();
        }
        let status = self.status();
        let mut wire = Wire::new(status, &self.sqlstate, shorten(&self.message));
        wire.details = self
            .detail
            .as_deref()
            .map(|detail| Value::String(shorten(detail)));
        wire.hint = self.hint.as_deref().map(shorten);
        // `RAISE SQLSTATE 'PT402' USING MESSAGE = 'Payment Required'`
        wire.reason = self.raised_status().map(|_| self.message.clone());
        match status {
            401 => wire.header("WWW-Authenticate", "Bearer"),
            503 => wire.header("Retry-After", "0"),
            _ => wire,
        }
    }

    /// The status in an SQLSTATE like `PT402`, by which a function chooses it.
    fn raised_status(&self) -> Option<u16> {
        let status = self.sqlstate.strip_prefix("PT")?.parse().ok()?;
        (100..=999).contains(&status).then_some(status)
    }

    /// HTTP status of the SQLSTATE.
    fn status(&self) -> u16 {
        let state = self.sqlstate.as_str();
        match state {
            "23503" | "23505" => return 409,
            // A write in a read-only transaction: a volatile function was called by GET.
            "25006" => return 405,
            // pg_safeupdate refuses writes without a filter by this code, which is the client's mistake.
            "21000" => {
                return if self.message.ends_with("requires a WHERE clause") {
                    400
                } else {
                    500
                };
            }
            // The role of the token does not exist.
            "22023" => {
                let unknown_role =
                    self.message.starts_with("role") && self.message.ends_with("does not exist");
                return if unknown_role { 401 } else { 400 };
            }
            // Exceptions from their classes below: these are faults of the server's configuration.
            "53400" => return 500,
            "57P01" => return 503,
            "P0001" => return 400,
            // Compat: `xmlagg` fails to apply where XML is asked for rows that are not XML.
            "42883" => {
                return if self.message.starts_with("function xmlagg(") {
                    406
                } else {
                    404
                };
            }
            "42P01" => return 404,
            "42P17" => return 500,
            // A missing privilege: signing in could help an anonymous caller (401), others lack the right (403).
            "42501" => return if self.authenticated { 403 } else { 401 },
            _ => {}
        }
        match state.get(..2).unwrap_or_default() {
            // Classes of SQLSTATE (PostgreSQL's appendix A), as PostgREST maps them.
            "08" | "53" => 503,
            "0L" | "0P" | "28" => 403,
            "09" | "25" | "2D" | "38" | "39" | "3B" | "40" | "54" | "55" | "57" | "58" | "F0" | "HV"
            | "P0" | "XX" => 500,
            "PT" => self.raised_status().unwrap_or(500),
            _ => 400,
        }
    }

    /// The response of `RAISE SQLSTATE 'PGRST'`: MESSAGE is the body, DETAIL has status and headers, both as JSON.
    fn raised_wire(&self) -> Wire {
        let malformed = |details: String, hint: &str| {
            Wire::new(
                500,
                "PGRST121",
                "Could not parse JSON in the \"RAISE SQLSTATE 'PGRST'\" error",
            )
            .details(details)
            .hint(hint)
        };
        const DETAIL_HINT: &str = "DETAIL must be a JSON object with obligatory keys: 'status', 'headers' and \
                                   optional key: 'status_text'.";
        let Ok(body) = serde_json::from_str::<RaisedBody>(&self.message) else {
            return malformed(
                format!("Invalid JSON value for MESSAGE: '{}'", self.message),
                "MESSAGE must be a JSON object with obligatory keys: 'code', 'message' and optional keys: \
                 'details', 'hint'.",
            );
        };
        let Some(detail) = &self.detail else {
            return malformed("DETAIL is missing in the RAISE statement".to_owned(), DETAIL_HINT);
        };
        let Ok(head) = serde_json::from_str::<RaisedHead>(detail) else {
            return malformed(format!("Invalid JSON value for DETAIL: '{detail}'"), DETAIL_HINT);
        };
        Wire {
            status: head.status,
            code: body.code,
            message: body.message,
            details: body.details.map(Value::String),
            hint: body.hint,
            headers: head.headers.into_iter().collect(),
            reason: head.status_text,
        }
    }
}

/// MESSAGE of `RAISE SQLSTATE 'PGRST'`.
#[derive(serde::Deserialize)]
struct RaisedBody {
    code: String,
    message: String,
    details: Option<String>,
    hint: Option<String>,
}

/// DETAIL of `RAISE SQLSTATE 'PGRST'`.
#[derive(serde::Deserialize)]
struct RaisedHead {
    status: u16,
    headers: std::collections::BTreeMap<String, String>,
    status_text: Option<String>,
}

#[cfg(test)]
mod tests {
    use super::*;

    fn database_fault(sqlstate: &str, message: &str, authenticated: bool) -> DatabaseFault {
        DatabaseFault {
            sqlstate: sqlstate.to_owned(),
            message: message.to_owned(),
            detail: None,
            hint: None,
            authenticated,
        }
    }

    #[test]
    fn gw_049_a_refused_value_of_many_megabytes_does_not_come_back_whole() {
        let message = format!(
            "invalid input syntax for type integer: \"{}\"",
            "é".repeat(5_000_000)
        );

        let wire = database_fault("22P02", &message, true).wire();

        assert!(wire.message.len() < LONGEST_TEXT + 40, "{}", wire.message.len());
        assert!(wire.message.ends_with("bytes more)"));
        assert!(wire.message.starts_with(&message[..100]));
    }

    #[test]
    fn rest_008_and_073_sqlstates_map_to_http_statuses() {
        for (sqlstate, message, authenticated, status) in [
            ("23505", "", true, 409),
            ("23503", "", true, 409),
            ("23514", "", true, 400),
            ("25006", "", true, 405),
            ("25P02", "", true, 500),
            ("21000", "UPDATE requires a WHERE clause", true, 400),
            ("21000", "more than one row", true, 500),
            ("22023", "role \"x\" does not exist", true, 401),
            ("22023", "other", true, 400),
            ("42501", "", true, 403),
            ("42501", "", false, 401),
            ("42P01", "", true, 404),
            ("42883", "", true, 404),
            ("42883", "function xmlagg(x) does not exist", true, 406),
            ("42703", "", true, 400),
            ("57014", "", true, 500),
            ("57P01", "", true, 503),
            ("53300", "", true, 503),
            ("53400", "", true, 500),
            ("08006", "", true, 503),
            ("P0001", "", true, 400),
            ("P0002", "", true, 500),
            ("PT418", "", true, 418),
            ("PTxyz", "", true, 500),
            ("XX000", "", true, 500),
            ("ZZ123", "", true, 400),
        ] {
            assert_eq!(
                database_fault(sqlstate, message, authenticated).wire().status,
                status,
                "{sqlstate} {message}"
            );
        }
    }

    #[test]
    fn rest_075_raised_json_becomes_the_response_or_pgrst121() {
        let mut raised = database_fault("PGRST", r#"{"code":"X1","message":"m","hint":"h"}"#, true);
        raised.detail = Some(r#"{"status":402,"headers":{"X-A":"b"}}"#.to_owned());

        let wire = raised.wire();
        let without_detail = DatabaseFault {
            detail: None,
            ..raised.clone()
        }
        .wire();
        let broken = DatabaseFault {
            message: "x".to_owned(),
            ..raised
        }
        .wire();

        assert_eq!(
            (wire.status, wire.code.as_str(), wire.hint.as_deref()),
            (402, "X1", Some("h"))
        );
        assert_eq!(wire.headers, [("X-A".to_owned(), "b".to_owned())]);
        assert_eq!(without_detail.code, "PGRST121");
        assert_eq!(
            broken.details,
            Some(Value::from("Invalid JSON value for MESSAGE: 'x'"))
        );
    }
}
