//! Callers with a bad token, or without the privilege.

use serde_json::{Value, json};

use super::{Case, NULL, error_body};
use crate::standalone_app::StandaloneApp;

pub(super) fn refused_callers(app: &StandaloneApp) -> Vec<Case> {
    const INVALID: &str =
        "Bearer error=\"invalid_token\", error_description=\"No suitable key or wrong key type\"";
    let bearer = |claims: Value| format!("Bearer {}", app.with_claims(&claims).token.expect("a token"));
    let refused = |message: &str, header: String, challenge: &'static str| {
        Case::get("/books", 401, error_body("PGRST303", message, NULL, NULL))
            .with("authorization", header)
            .with_challenge(challenge)
    };
    let good = bearer(json!({"role": "anon"}));
    let (unsigned, _) = good.rsplit_once('.').expect("three parts");
    vec![
        Case::get(
            "/books",
            401,
            error_body(
                "PGRST301",
                "Empty JWT is sent in Authorization header",
                NULL,
                NULL,
            ),
        )
        .with("authorization", "Bearer ")
        .with_challenge(
            "Bearer error=\"invalid_token\", error_description=\"Empty JWT is sent in Authorization header\"",
        ),
        Case::get(
            "/books",
            401,
            error_body("PGRST301", "Expected 3 parts in JWT; got 2", NULL, NULL),
        )
        .with("authorization", "bearer a.b")
        .with_challenge(
            "Bearer error=\"invalid_token\", error_description=\"Expected 3 parts in JWT; got 2\"",
        ),
        Case::get(
            "/books",
            401,
            error_body(
                "PGRST301",
                "No suitable key or wrong key type",
                "None of the keys was able to decode the JWT",
                NULL,
            ),
        )
        .with("authorization", format!("{unsigned}.{}", "A".repeat(43)))
        .with_challenge(INVALID),
        refused(
            "JWT expired",
            bearer(json!({"role": "anon", "exp": 1})),
            "Bearer error=\"invalid_token\", error_description=\"JWT expired\"",
        ),
        refused(
            "JWT not yet valid",
            bearer(json!({"role": "anon", "nbf": 9_999_999_999_u64})),
            "Bearer error=\"invalid_token\", error_description=\"JWT not yet valid\"",
        ),
        refused(
            "JWT issued at future",
            bearer(json!({"role": "anon", "iat": 9_999_999_999_u64})),
            "Bearer error=\"invalid_token\", error_description=\"JWT issued at future\"",
        ),
        refused(
            "The JWT 'exp' claim must be a number",
            bearer(json!({"role": "anon", "exp": "soon"})),
            "Bearer error=\"invalid_token\", error_description=\"The JWT 'exp' claim must be a number\"",
        ),
        refused(
            "The JWT 'aud' claim must be a string or an array of strings",
            bearer(json!({"role": "anon", "aud": [1]})),
            "Bearer error=\"invalid_token\", \
             error_description=\"The JWT 'aud' claim must be a string or an array of strings\"",
        ),
        // Errors of PostgreSQL about the role and its privileges.
        Case::get(
            "/books",
            401,
            error_body("22023", "role \"nobody_here\" does not exist", NULL, NULL),
        )
        .with("authorization", bearer(json!({"role": "nobody_here"})))
        .with_challenge("Bearer"),
        Case::get(
            "/hidden",
            401,
            error_body("42501", "permission denied for table hidden", NULL, NULL),
        )
        .with_challenge("Bearer"),
        Case::get(
            "/hidden",
            403,
            error_body("42501", "permission denied for table hidden", NULL, NULL),
        )
        .with("authorization", bearer(json!({"role": "authenticated"}))),
    ]
}
