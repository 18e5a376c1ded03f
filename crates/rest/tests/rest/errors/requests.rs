//! Requests that are malformed or contradict themselves.

use serde_json::json;

use super::{Case, NULL, error_body};

pub(super) fn malformed_requests() -> Vec<Case> {
    let malformed = |message: &str| error_body("PGRST102", message, NULL, NULL);
    vec![
        Case::get(
            "/books?id=1",
            400,
            error_body(
                "PGRST100",
                "\"failed to parse filter (1)\" (line 1, column 1)",
                "unexpected \"1\" expecting \"not\" or operator (eq, gt, ...)",
                NULL,
            ),
        ),
        Case::new(
            "PATCH",
            "/rpc/add",
            json!({}),
            405,
            error_body("PGRST101", "Cannot use the PATCH method on RPC", NULL, NULL),
        ),
        Case::new(
            "POST",
            "/books",
            json!([{"id": 1}, {"title": "x"}]),
            400,
            malformed("All object keys must match"),
        ),
        Case::new(
            "POST",
            "/books",
            json!({}),
            400,
            malformed("Content-Type not acceptable: application/xml"),
        )
        .with("content-type", "application/xml"),
        Case::get(
            "/books?limit=-1",
            416,
            error_body(
                "PGRST103",
                "Requested range not satisfiable",
                "Limit should be greater than or equal to zero.",
                NULL,
            ),
        ),
        Case::new(
            "PUT",
            "/books?title=eq.x",
            json!({"id": 1}),
            405,
            error_body(
                "PGRST105",
                "Filters must include all and only primary key columns with 'eq' operators",
                NULL,
                NULL,
            ),
        ),
        Case::get(
            "/books",
            406,
            error_body(
                "PGRST106",
                "Invalid schema: hidden",
                NULL,
                "Only the following schemas are exposed: public",
            ),
        )
        .with("accept-profile", "hidden"),
        Case::get(
            "/books",
            406,
            error_body(
                "PGRST107",
                "None of these media types are available: application/xml, image/png",
                NULL,
                NULL,
            ),
        )
        .with("accept", "application/xml, image/png"),
        Case::get(
            "/books?authors.id=eq.1",
            400,
            error_body(
                "PGRST108",
                "'authors' is not an embedded resource in this request",
                NULL,
                "Verify that 'authors' is included in the 'select' query parameter.",
            ),
        ),
        Case::new(
            "PUT",
            "/books?id=eq.1&limit=1",
            json!({"id": 1}),
            400,
            error_body(
                "PGRST114",
                "limit/offset querystring parameters are not allowed for PUT",
                NULL,
                NULL,
            ),
        ),
        Case::new(
            "PUT",
            "/books?id=eq.1",
            json!({"id": 2}),
            400,
            error_body(
                "PGRST115",
                "Payload values do not match URL in primary key column(s)",
                NULL,
                NULL,
            ),
        ),
        Case::get(
            "/books",
            406,
            error_body(
                "PGRST116",
                "Cannot coerce the result to a single JSON object",
                "The result contains 2 rows",
                NULL,
            ),
        )
        .with("accept", "application/vnd.pgrst.object+json"),
        Case::new(
            "TRACE",
            "/books",
            NULL,
            405,
            error_body("PGRST117", "Unsupported HTTP method: TRACE", NULL, NULL),
        ),
        Case::get(
            "/authors?select=id,books!books_author_id_fkey(id)&order=books(id)",
            400,
            error_body(
                "PGRST118",
                "A related order on 'books' is not possible",
                "'authors' and 'books' do not form a many-to-one or one-to-one relationship",
                NULL,
            ),
        ),
    ]
}
