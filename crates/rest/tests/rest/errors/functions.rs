//! Functions that set response settings or raise errors in a wrong form.

use serde_json::json;

use super::{Case, NULL, error_body};

pub(super) fn invalid_responses() -> Vec<Case> {
    let headers =
        "response.headers guc must be a JSON array composed of objects with a single key and a string value";
    let response = |headers: &str, status: &str| json!({"headers": headers, "status": status});
    let raise =
        |message: &str, detail: Option<&str>| json!({"code": "PGRST", "message": message, "detail": detail});
    let unparsable = |details: &str, hint: &str| {
        error_body(
            "PGRST121",
            "Could not parse JSON in the \"RAISE SQLSTATE 'PGRST'\" error",
            details,
            hint,
        )
    };
    let of_message = "MESSAGE must be a JSON object with obligatory keys: 'code', 'message' and optional keys: 'details', 'hint'.";
    let of_detail = "DETAIL must be a JSON object with obligatory keys: 'status', 'headers' and optional key: 'status_text'.";
    let good = r#"{"code":"X1","message":"m"}"#;
    let mut cases = vec![
        Case::new(
            "POST",
            "/rpc/response",
            response("[]", "no status"),
            500,
            error_body(
                "PGRST112",
                "response.status guc must be a valid status code",
                NULL,
                NULL,
            ),
        ),
        Case::new(
            "POST",
            "/rpc/raise",
            raise("x", None),
            500,
            unparsable("Invalid JSON value for MESSAGE: 'x'", of_message),
        ),
        Case::new(
            "POST",
            "/rpc/raise",
            raise(r#"{"code":"X1"}"#, Some("{}")),
            500,
            unparsable(r#"Invalid JSON value for MESSAGE: '{"code":"X1"}'"#, of_message),
        ),
        Case::new(
            "POST",
            "/rpc/raise",
            raise(good, None),
            500,
            unparsable("DETAIL is missing in the RAISE statement", of_detail),
        ),
        Case::new(
            "POST",
            "/rpc/raise",
            raise(good, Some(r#"{"status":402}"#)),
            500,
            unparsable(r#"Invalid JSON value for DETAIL: '{"status":402}'"#, of_detail),
        ),
    ];
    for wrong in [
        "{}",
        "[1]",
        r#"[{"A":1}]"#,
        r#"[{"A":"b","C":"d"}]"#,
        r#"[{}]"#,
        "nonsense",
        r#"[{"bad name":"x"}]"#,
    ] {
        let refused = error_body("PGRST111", headers, NULL, NULL);
        cases.push(Case::new(
            "POST",
            "/rpc/response",
            response(wrong, "200"),
            500,
            refused,
        ));
    }
    cases
}
