//! Requests that are well-formed but refused, and names that do not exist.

use serde_json::json;

use super::{Case, NULL, error_body};

pub(super) fn refused_preferences() -> Vec<Case> {
    vec![
        Case::get(
            "/books",
            400,
            error_body(
                "PGRST122",
                "Invalid preferences given with handling=strict",
                "Invalid preferences: a=b, c",
                NULL,
            ),
        )
        .with("prefer", "handling=strict, a=b, count=exact, c"),
        Case::get(
            "/books?select=id.sum()",
            400,
            error_body("PGRST123", "Use of aggregate functions is not allowed", NULL, NULL),
        ),
        // All rows of the table in one, past `max_rows`.
        Case::get(
            "/books?select=json_agg",
            400,
            error_body("PGRST123", "Use of aggregate functions is not allowed", NULL, NULL),
        ),
        Case::get(
            "/books?select=id,authors!books_author_id_fkey(x:array_agg)",
            400,
            error_body("PGRST123", "Use of aggregate functions is not allowed", NULL, NULL),
        ),
        Case::new(
            "DELETE",
            "/books",
            NULL,
            400,
            error_body(
                "PGRST124",
                "Query result exceeds max-affected preference constraint",
                "The query affects 2 rows",
                NULL,
            ),
        )
        .with("prefer", "handling=strict, max-affected=1"),
        Case::get("/books/1", 404, error_body("PGRST125", "Invalid path specified in request URL", NULL, NULL)),
        Case::new(
            "POST",
            "/rpc/add",
            json!({"a": 1, "b": 2}),
            400,
            error_body(
                "PGRST128",
                "Function must return SETOF or TABLE when max-affected preference is used with handling=strict",
                NULL,
                NULL,
            ),
        )
        .with("prefer", "handling=strict, max-affected=1"),
    ]
}

pub(super) fn unknown_names() -> Vec<Case> {
    let of_key = |column: &str| {
        json!({
            "cardinality": "many-to-one",
            "embedding": "books with authors",
            "relationship": format!("books_{column}_fkey using books({column}) and authors(id)"),
        })
    };
    vec![
        Case::get(
            "/books?select=id,autors!books_author_id_fkey(id)",
            400,
            error_body(
                "PGRST200",
                "Could not find a relationship between 'books' and 'autors' in the schema cache",
                "Searched for a foreign key relationship between 'books' and 'autors' using the hint \
                 'books_author_id_fkey' in the schema 'public', but no matches were found.",
                "Perhaps you meant 'authors' instead of 'autors'.",
            ),
        ),
        Case::get(
            "/books?select=id,authors(id)",
            300,
            error_body(
                "PGRST201",
                "Could not embed because more than one relationship was found for 'books' and 'authors'",
                json!([of_key("author_id"), of_key("editor_id")]),
                "Try changing 'authors' to one of the following: 'authors!books_author_id_fkey', \
                 'authors!books_editor_id_fkey'. Find the desired relationship in the 'details' key.",
            ),
        ),
        Case::new(
            "POST",
            "/rpc/add",
            json!({"c": 1, "a": 2}),
            404,
            error_body(
                "PGRST202",
                "Could not find the function public.add(a, c) in the schema cache",
                "Searched for the function public.add with parameters a, c or with a single unnamed json/jsonb \
                 parameter, but no matches were found in the schema cache.",
                "Perhaps you meant to call the function public.add(a, b)",
            ),
        ),
        Case::get(
            "/rpc/pick?a=1",
            300,
            error_body(
                "PGRST203",
                "Could not choose the best candidate function between: public.pick(a => integer), public.pick(a => text)",
                NULL,
                "Try renaming the parameters or the function itself in the database so function overloading can be \
                 resolved",
            ),
        ),
        Case::new(
            "POST",
            "/books",
            json!({"colour": "red"}),
            400,
            error_body(
                "PGRST204",
                "Could not find the 'colour' column of 'books' in the schema cache",
                NULL,
                NULL,
            ),
        ),
        Case::get(
            "/boks",
            404,
            error_body(
                "PGRST205",
                "Could not find the table 'public.boks' in the schema cache",
                NULL,
                "Perhaps you meant the table 'public.books'",
            ),
        ),
    ]
}
