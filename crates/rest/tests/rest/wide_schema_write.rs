//! The wide schema: what writes refuse, ignore and return.

use serde_json::json;

use crate::wide_schema::start_wide_schema;

const RETURN_REPRESENTATION: [(&str, &str); 1] = [("prefer", "return=representation")];

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn rest_041_unknown_keys_are_refused_unless_columns_leaves_them_out() {
    let app = start_wide_schema().await;
    let anon = app.anon();

    let unknown = anon
        .post("/rooms", &json!({ "id": 9, "name": "x", "floor": 1 }))
        .await;
    assert_eq!((unknown.status, unknown.code().as_str()), (400, "PGRST204"));
    assert_eq!(
        unknown.json()["message"],
        "Could not find the 'floor' column of 'rooms' in the schema cache"
    );
    let patched = anon
        .send(
            "PATCH",
            "/rooms?id=eq.1",
            &[],
            Some(json!({ "floor": 1 }).to_string()),
        )
        .await;
    assert_eq!(patched.code(), "PGRST204");
    let chosen = anon
        .post_with(
            "/rooms?columns=id,name&select=id,name",
            &RETURN_REPRESENTATION,
            &json!([{ "id": 9, "name": "x", "floor": 1 }]),
        )
        .await;
    assert_eq!(
        (chosen.status, chosen.json()),
        (201, json!([{ "id": 9, "name": "x" }]))
    );
    let not_there = anon.post("/rooms?columns=id,floor", &json!({ "id": 10 })).await;
    assert_eq!((not_there.status, not_there.code().as_str()), (400, "PGRST204"));
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn rest_051_safeupdates_refusal_of_unfiltered_writes_is_400() {
    let app = start_wide_schema().await;
    let anon = app.anon();
    let body = Some(json!({ "v": 0 }).to_string());

    for (method, body) in [("PATCH", body.clone()), ("DELETE", None)] {
        let response = anon.send(method, "/guarded", &[], body).await;

        assert_eq!(
            (response.status, response.code().as_str()),
            (400, "21000"),
            "{method}"
        );
        let message = response.json()["message"].as_str().unwrap_or_default().to_owned();
        assert!(message.ends_with("requires a WHERE clause"), "{message}");
    }
    assert_eq!(
        anon.send("PATCH", "/guarded?id=eq.1", &[], body).await.status,
        204
    );
    assert_eq!(
        anon.send("DELETE", "/guarded?id=eq.1", &[], None).await.status,
        204
    );
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn rest_052_delete_ignores_the_content_type() {
    let app = start_wide_schema().await;
    let anon = app.anon();

    for (id, content_type) in [(1, "application/json"), (3, "text/html")] {
        let headers = [
            ("content-type", content_type),
            ("prefer", "return=representation"),
        ];
        let path = format!("/labels?painting_id=eq.{id}&select=painting_id");
        let response = anon.send("DELETE", &path, &headers, None).await;

        assert_eq!(
            (response.status, response.json()),
            (200, json!([{ "painting_id": id }]))
        );
    }
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn rest_053_limits_do_not_apply_to_writes() {
    let config = selvedge_rest::RestConfig {
        max_rows: Some(1),
        ..Default::default()
    };
    let app = crate::support::TestApp::start_with(crate::wide_schema::WIDE_SCHEMA, config).await;
    let anon = app.anon();
    let rows = json!([{ "id": 11, "name": "a" }, { "id": 12, "name": "b" }, { "id": 13, "name": "c" }]);

    let made = anon
        .post_with("/rooms?limit=1&offset=1&select=id", &RETURN_REPRESENTATION, &rows)
        .await;
    assert_eq!(made.json(), json!([{ "id": 11 }, { "id": 12 }, { "id": 13 }]));
    let body = Some(json!({ "name": "d" }).to_string());
    let changed = anon
        .send(
            "PATCH",
            "/rooms?id=gt.10&limit=1&select=id&order=id.desc",
            &RETURN_REPRESENTATION,
            body,
        )
        .await;
    assert_eq!(changed.json(), json!([{ "id": 13 }, { "id": 12 }, { "id": 11 }]));
    let gone = anon
        .send(
            "DELETE",
            "/rooms?id=gt.10&limit=1&offset=2&select=id&order=id",
            &RETURN_REPRESENTATION,
            None,
        )
        .await;
    assert_eq!(gone.json(), json!([{ "id": 11 }, { "id": 12 }, { "id": 13 }]));
    assert_eq!(anon.get("/rooms?select=id").await.json(), json!([{ "id": 1 }]));
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn rest_116_responses_without_rows_have_no_content_type() {
    let app = start_wide_schema().await;
    let anon = app.anon();

    let got = anon.get("/rooms?id=eq.1").await;
    let head = anon.send("HEAD", "/rooms?id=eq.1", &[], None).await;
    assert_eq!((head.status, head.text.as_str()), (200, ""));
    for name in ["content-type", "content-range", "content-location", "vary"] {
        assert_eq!(head.header(name), got.header(name), "{name}");
    }
    assert_eq!(head.header("content-length"), None);
    let made = anon.post("/rooms", &json!({ "id": 20, "name": "x" })).await;
    assert_eq!(
        (
            made.status,
            made.header("content-length"),
            made.header("content-type")
        ),
        (201, Some("0"), None)
    );
    let body = Some(json!({ "name": "y" }).to_string());
    let changed = anon.send("PATCH", "/rooms?id=eq.20", &[], body).await;
    let deleted = anon.send("DELETE", "/rooms?id=eq.20", &[], None).await;
    for response in [changed, deleted] {
        assert_eq!((response.status, response.text.as_str()), (204, ""));
        assert_eq!(
            (response.header("content-length"), response.header("content-type")),
            (None, None)
        );
    }
}
