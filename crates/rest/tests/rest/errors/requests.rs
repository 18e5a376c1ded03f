//! Requests that are malformed or contradict themselves.

use serde_json::json;

use super::{Case, NONE, error};

pub(super) fn malformed_requests() -> Vec<Case> {
    let malformed = |message: &str| error("PGRST102", message, NONE, NONE);
    vec![
        Case::get(
            "/books?id=1",
            400,
            error(
                "PGRST100",
                "\"failed to parse filter (1)\" (line 1, column 1)",
                "unexpected \"1\" expecting \"not\" or operator (eq, gt, ...)",
                NONE,
            ),
        ),
        Case::of(
            "PATCH",
            "/rpc/add",
            json!({}),
            405,
            error("PGRST101", "Cannot use the PATCH method on RPC", NONE, NONE),
        ),
        Case::of(
            "POST",
            "/books",
            json!([{"id": 1}, {"title": "x"}]),
            400,
            malformed("All object keys must match"),
        ),
        Case::of(
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
            error(
                "PGRST103",
                "Requested range not satisfiable",
                "Limit should be greater than or equal to zero.",
                NONE,
            ),
        ),
        Case::of(
            "PUT",
            "/books?title=eq.x",
            json!({"id": 1}),
            405,
            error(
                "PGRST105",
                "Filters must include all and only primary key columns with 'eq' operators",
                NONE,
                NONE,
            ),
        ),
        Case::get(
            "/books",
            406,
            error(
                "PGRST106",
                "Invalid schema: hidden",
                NONE,
                "Only the following schemas are exposed: public",
            ),
        )
        .with("accept-profile", "hidden"),
        Case::get(
            "/books",
            406,
            error(
                "PGRST107",
                "None of these media types are available: application/xml, image/png",
                NONE,
                NONE,
            ),
        )
        .with("accept", "application/xml, image/png"),
        Case::get(
            "/books?authors.id=eq.1",
            400,
            error(
                "PGRST108",
                "'authors' is not an embedded resource in this request",
                NONE,
                "Verify that 'authors' is included in the 'select' query parameter.",
            ),
        ),
        Case::of(
            "PUT",
            "/books?id=eq.1&limit=1",
            json!({"id": 1}),
            400,
            error(
                "PGRST114",
                "limit/offset querystring parameters are not allowed for PUT",
                NONE,
                NONE,
            ),
        ),
        Case::of(
            "PUT",
            "/books?id=eq.1",
            json!({"id": 2}),
            400,
            error(
                "PGRST115",
                "Payload values do not match URL in primary key column(s)",
                NONE,
                NONE,
            ),
        ),
        Case::get(
            "/books",
            406,
            error(
                "PGRST116",
                "Cannot coerce the result to a single JSON object",
                "The result contains 2 rows",
                NONE,
            ),
        )
        .with("accept", "application/vnd.pgrst.object+json"),
        Case::of(
            "TRACE",
            "/books",
            NONE,
            405,
            error("PGRST117", "Unsupported HTTP method: TRACE", NONE, NONE),
        ),
        Case::get(
            "/authors?select=id,books!books_author_id_fkey(id)&order=books(id)",
            400,
            error(
                "PGRST118",
                "A related order on 'books' is not possible",
                "'authors' and 'books' do not form a many-to-one or one-to-one relationship",
                NONE,
            ),
        ),
    ]
}
