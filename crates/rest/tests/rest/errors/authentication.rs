//! Callers with a bad token, or without the privilege.

use serde_json::{Value, json};

use super::{Case, NONE, error};
use crate::standalone_app::StandaloneApp;

pub(super) fn refused_callers(app: &StandaloneApp) -> Vec<Case> {
    const INVALID: &str =
        "Bearer error=\"invalid_token\", error_description=\"No suitable key or wrong key type\"";
    let bearer = |claims: Value| format!("Bearer {}", app.with_claims(&claims).token.expect("a token"));
    let refused = |message: &str, header: String, challenge: &'static str| {
        Case::get("/books", 401, error("PGRST303", message, NONE, NONE))
            .with("authorization", header)
            .challenged(challenge)
    };
    let good = bearer(json!({"role": "anon"}));
    let (unsigned, _) = good.rsplit_once('.').expect("three parts");
    vec![
        Case::get(
            "/books",
            401,
            error(
                "PGRST301",
                "Empty JWT is sent in Authorization header",
                NONE,
                NONE,
            ),
        )
        .with("authorization", "Bearer ")
        .challenged(
            "Bearer error=\"invalid_token\", error_description=\"Empty JWT is sent in Authorization header\"",
        ),
        Case::get(
            "/books",
            401,
            error("PGRST301", "Expected 3 parts in JWT; got 2", NONE, NONE),
        )
        .with("authorization", "bearer a.b")
        .challenged("Bearer error=\"invalid_token\", error_description=\"Expected 3 parts in JWT; got 2\""),
        Case::get(
            "/books",
            401,
            error(
                "PGRST301",
                "No suitable key or wrong key type",
                "None of the keys was able to decode the JWT",
                NONE,
            ),
        )
        .with("authorization", format!("{unsigned}.{}", "A".repeat(43)))
        .challenged(INVALID),
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
            error("22023", "role \"nobody_here\" does not exist", NONE, NONE),
        )
        .with("authorization", bearer(json!({"role": "nobody_here"})))
        .challenged("Bearer"),
        Case::get(
            "/hidden",
            401,
            error("42501", "permission denied for table hidden", NONE, NONE),
        )
        .challenged("Bearer"),
        Case::get(
            "/hidden",
            403,
            error("42501", "permission denied for table hidden", NONE, NONE),
        )
        .with("authorization", bearer(json!({"role": "authenticated"}))),
    ]
}
