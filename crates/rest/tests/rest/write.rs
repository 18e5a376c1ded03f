//! Inserts, updates, upserts and deletes, and what they return.

use serde_json::json;

use crate::support::{ANA, BEN, TestApp};

const REPRESENTATION: (&str, &str) = ("prefer", "return=representation");
const OBJECT: (&str, &str) = ("accept", "application/vnd.pgrst.object+json");

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn rest_037_insert_answers_201_with_an_empty_body_by_default() {
    let app = TestApp::blog().await;

    let response = app
        .user(ANA)
        .post("/tags", &json!({ "id": 7, "name": "new" }))
        .await;

    assert_eq!((response.status, response.text.as_str()), (201, ""));
    assert_eq!(
        (response.header("content-type"), response.header("content-length")),
        (None, Some("0"))
    );
    assert_eq!(response.header("content-range"), Some("*/*"));
}

/// Tables whose triggers and rules change what an INSERT does.
const TRIGGERS_AND_RULES: &str = r#"
create table public.kept (id int primary key, color text default 'blue', note json);
create table public.elsewhere (id int);
create function public.take_away() returns trigger language plpgsql as $$ begin
  perform set_config('response.status', '202', true), set_config('response.headers', '[{"X-Gone": "' || new.id || '"}]', true);
  insert into public.kept (id) values (new.id);
  return null;
end $$;
create trigger take_away before insert on public.elsewhere for each row execute function public.take_away();
create table public.ruled (id int);
create rule ruled as on insert to public.ruled do instead nothing;
create table public.parted (id int) partition by list (id);
create table public.parted_7 partition of public.parted for values in (7);
create trigger take_away before insert on public.parted_7 for each row execute function public.take_away();
grant insert on all tables in schema public to anon;
"#;

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn rest_037_single_row_inserts_respect_triggers_rules_and_partitions() {
    let app = TestApp::start(TRIGGERS_AND_RULES).await;
    let anon = app.anon();

    let plain = anon
        .post("/kept", &json!({ "id": 1, "note": { "a": [1] } }))
        .await;
    assert_eq!((plain.status, plain.text.as_str()), (201, ""));
    for (path, id) in [("/elsewhere", 6), ("/parted", 7)] {
        let taken = anon.post(path, &json!({ "id": id })).await;
        assert_eq!(
            (taken.status, taken.header("x-gone")),
            (202, Some(id.to_string().as_str())),
            "{path}"
        );
    }
    let ruled = anon.post("/ruled", &json!({ "id": 1 })).await;
    assert_eq!((ruled.status, ruled.code().as_str()), (400, "0A000"));
    let seen = app.service_role().get("/kept?order=id").await;
    assert_eq!(
        seen.json(),
        json!([
            { "id": 1, "color": "blue", "note": { "a": [1] } },
            { "id": 6, "color": "blue", "note": null },
            { "id": 7, "color": "blue", "note": null }
        ])
    );
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn rest_038_the_returned_representation_follows_select_and_embeds() {
    let app = TestApp::blog().await;

    let response = app
        .user(ANA)
        .post_with(
            "/posts?select=title,status,author:profiles!author_id(username)",
            &[REPRESENTATION],
            &json!({ "title": "New", "author_id": ANA }),
        )
        .await;

    assert_eq!(response.status, 201);
    assert_eq!(
        response.json(),
        json!([{ "title": "New", "status": "draft", "author": { "username": "ana" } }])
    );
    assert_eq!(
        response.header("preference-applied"),
        Some("return=representation")
    );
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn rest_039_bulk_insert_fills_missing_keys_with_null_or_the_default() {
    let app = TestApp::blog().await;
    let rows = json!([{ "title": "A", "author_id": ANA, "status": "x" }, { "title": "B", "author_id": ANA }]);
    let path = "/posts?columns=\"title\",\"author_id\",\"status\"&select=status";

    let nulls = app.user(ANA).post_with(path, &[REPRESENTATION], &rows).await;
    let defaults = app
        .user(ANA)
        .post_with(
            path,
            &[("prefer", "return=representation, missing=default")],
            &rows,
        )
        .await;

    assert_eq!((nulls.status, nulls.code().as_str()), (400, "23502"));
    assert_eq!(defaults.json(), json!([{ "status": "x" }, { "status": "draft" }]));
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn rest_040_041_043_unequal_unknown_broken_and_empty_bodies_are_refused() {
    let app = TestApp::blog().await;
    let ana = app.user(ANA);

    let uneven = ana.post("/tags", &json!([{ "id": 8 }, { "name": "x" }])).await;
    let unknown = ana.post("/tags", &json!({ "id": 8, "colour": "red" })).await;
    let broken = ana.send("POST", "/tags", &[], Some("{\"id\":".to_owned())).await;
    let empty = ana
        .send("POST", "/tags", &[("content-type", "application/json")], None)
        .await;

    assert_eq!(
        (uneven.status, uneven.json()["message"].as_str()),
        (400, Some("All object keys must match"))
    );
    assert_eq!((unknown.status, unknown.code().as_str()), (400, "PGRST204"));
    assert_eq!(
        (broken.status, broken.json()["message"].as_str()),
        (400, Some("Empty or invalid json"))
    );
    assert_eq!((empty.status, empty.code().as_str()), (400, "PGRST102"));
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn rest_042_empty_arrays_insert_nothing() {
    let app = TestApp::blog().await;

    let response = app
        .user(ANA)
        .post_with("/tags", &[REPRESENTATION], &json!([]))
        .await;

    assert_eq!((response.status, response.text.as_str()), (201, "[]"));
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn rest_044_constraint_violations_are_409_or_400() {
    let app = TestApp::blog().await;
    let ana = app.user(ANA);

    for (path, body, status, code) in [
        ("/tags", json!({ "id": 1, "name": "x" }), 409, "23505"),
        (
            "/comments",
            json!({ "id": 9, "post_id": 99, "body": "x" }),
            409,
            "23503",
        ),
        ("/tags", json!({ "id": 9 }), 400, "23502"),
        ("/posts", json!({ "title": "", "author_id": ANA }), 400, "23514"),
    ] {
        let response = ana.post(path, &body).await;

        assert_eq!((response.status, response.code().as_str()), (status, code));
    }
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn rest_045_046_upserts_merge_or_ignore_duplicates() {
    let app = TestApp::blog().await;
    let ana = app.user(ANA);
    let merge = [("prefer", "return=representation, resolution=merge-duplicates")];
    let ignore = [("prefer", "return=representation, resolution=ignore-duplicates")];

    let new = ana
        .post_with("/tags", &merge, &json!({ "id": 5, "name": "five" }))
        .await;
    let old = ana
        .post_with("/tags", &merge, &json!({ "id": 5, "name": "FIVE" }))
        .await;
    let by_name = ana
        .post_with(
            "/tags?on_conflict=name",
            &merge,
            &json!({ "id": 6, "name": "FIVE" }),
        )
        .await;
    let skipped = ana
        .post_with("/tags", &ignore, &json!({ "id": 6, "name": "six" }))
        .await;

    assert_eq!((new.status, old.status), (201, 200));
    assert_eq!(old.json(), json!([{ "id": 5, "name": "FIVE" }]));
    assert_eq!(
        (by_name.status, by_name.json()),
        (200, json!([{ "id": 6, "name": "FIVE" }]))
    );
    assert_eq!((skipped.status, skipped.json()), (201, json!([])));
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn rest_047_on_conflict_without_a_unique_constraint_answers_42p10() {
    let app = TestApp::blog().await;

    let response = app
        .user(ANA)
        .post_with(
            "/posts?on_conflict=title",
            &[("prefer", "resolution=merge-duplicates")],
            &json!({ "title": "x", "author_id": ANA }),
        )
        .await;

    assert_eq!((response.status, response.code().as_str()), (400, "42P10"));
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn rest_048_050_updates_and_deletes_answer_204_or_the_rows() {
    let app = TestApp::blog().await;
    let ana = app.user(ANA);
    let body = Some(json!({ "status": "archived" }).to_string());

    let quiet = ana.send("PATCH", "/posts?id=eq.2", &[], body.clone()).await;
    let shown = ana
        .send(
            "PATCH",
            "/posts?id=eq.3&select=id,status",
            &[REPRESENTATION],
            body.clone(),
        )
        .await;
    let none = ana
        .send("PATCH", "/posts?id=eq.99", &[REPRESENTATION], body)
        .await;
    let deleted = ana
        .send(
            "DELETE",
            "/comments?id=eq.3&select=id,posts(title)",
            &[REPRESENTATION, ("content-type", "application/json")],
            None,
        )
        .await;

    assert_eq!(
        (quiet.status, quiet.header("content-range")),
        (204, Some("0-0/*"))
    );
    assert_eq!(
        (shown.status, shown.json()),
        (200, json!([{ "id": 3, "status": "archived" }]))
    );
    assert_eq!((none.status, none.text.as_str()), (200, "[]"));
    assert_eq!(
        (deleted.status, deleted.json()),
        (200, json!([{ "id": 3, "posts": { "title": "Third" } }]))
    );
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn rest_049_an_empty_patch_changes_nothing() {
    let app = TestApp::blog().await;

    let response = app
        .user(ANA)
        .send(
            "PATCH",
            "/posts?id=eq.1",
            &[REPRESENTATION],
            Some("{}".to_owned()),
        )
        .await;

    assert_eq!((response.status, response.text.as_str()), (200, "[]"));
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn rest_055_a_singular_write_of_several_rows_is_rolled_back() {
    let app = TestApp::blog().await;
    let ana = app.user(ANA);

    let refused = ana
        .send(
            "PATCH",
            "/posts?id=gt.0",
            &[OBJECT],
            Some(json!({ "status": "gone" }).to_string()),
        )
        .await;
    let after = ana.get("/posts?status=eq.gone").await;
    let one = ana
        .send(
            "PATCH",
            "/posts?id=eq.1&select=id",
            &[OBJECT, REPRESENTATION],
            Some(json!({ "status": "x" }).to_string()),
        )
        .await;

    assert_eq!((refused.status, refused.code().as_str()), (406, "PGRST116"));
    assert_eq!(refused.json()["details"], "The result contains 3 rows");
    assert_eq!(after.text, "[]");
    assert_eq!((one.status, one.text.as_str()), (200, r#"{"id":1}"#));
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn rest_062_writes_with_count_report_the_affected_rows() {
    let app = TestApp::blog().await;

    let response = app
        .user(ANA)
        .send(
            "DELETE",
            "/comments?post_id=eq.3",
            &[("prefer", "count=exact")],
            None,
        )
        .await;

    assert_eq!(
        (response.status, response.header("content-range")),
        (204, Some("*/1"))
    );
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn rest_085_location_names_the_one_inserted_row() {
    let app = TestApp::blog().await;

    let response = app
        .user(ANA)
        .post_with(
            "/likes",
            &[("prefer", "return=headers-only")],
            &json!({ "post_id": 2 }),
        )
        .await;

    assert_eq!(response.status, 201, "{}", response.text);
    assert_eq!(
        response.header("location"),
        Some(format!("/likes?user_id=eq.{ANA}&post_id=eq.2").as_str())
    );
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn rest_088_exceeding_max_affected_rolls_back() {
    let app = TestApp::blog().await;
    let prefer = [("prefer", "handling=strict, max-affected=1")];

    let response = app
        .user(ANA)
        .send("DELETE", "/comments?id=gt.0", &prefer, None)
        .await;
    let left = app.anon().get("/comments?select=id").await;

    assert_eq!((response.status, response.code().as_str()), (400, "PGRST124"));
    assert_eq!(left.json().as_array().map(Vec::len), Some(3));
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn rest_088_a_page_of_a_write_has_no_effect_and_is_refused_under_strict_handling() {
    let app = TestApp::blog().await;
    let ana = app.user(ANA);
    let strict = [("prefer", "handling=strict")];

    let refused = ana
        .send("DELETE", "/comments?id=gt.0&limit=1", &strict, None)
        .await;
    let offset = ana
        .send(
            "PATCH",
            "/comments?id=gt.0&offset=1",
            &strict,
            Some("{}".to_owned()),
        )
        .await;
    let read = ana
        .send("GET", "/comments?select=id&limit=1", &strict, None)
        .await;
    let lenient = ana
        .send("DELETE", "/comments?id=gt.0&limit=1", &[REPRESENTATION], None)
        .await;

    for response in [refused, offset] {
        assert_eq!((response.status, response.code().as_str()), (400, "PGRST122"));
    }
    assert_eq!(read.status, 200);
    assert!(
        lenient.json().as_array().is_some_and(|rows| rows.len() > 1),
        "{}",
        lenient.text
    );
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn rest_080_a_column_named_like_all_columns_is_a_column() {
    let schema = "create table odd (id int primary key, \"*\" text); grant all on odd to anon; insert into odd values (1, 'old'), (2, 'two')";
    let app = TestApp::start(schema).await;
    let anon = app.anon();

    let created = anon
        .send(
            "POST",
            "/odd",
            &[REPRESENTATION],
            Some(json!({ "id": 3, "*": "three" }).to_string()),
        )
        .await;
    let changed = anon
        .send(
            "PATCH",
            "/odd?id=eq.1",
            &[REPRESENTATION],
            Some(json!({ "*": "new" }).to_string()),
        )
        .await;
    let merged = anon
        .send(
            "POST",
            "/odd",
            &[("prefer", "resolution=merge-duplicates,return=representation")],
            Some(json!([{ "id": 2, "*": "zwei" }]).to_string()),
        )
        .await;

    assert_eq!(
        created.json(),
        json!([{ "id": 3, "*": "three" }]),
        "{}",
        created.text
    );
    assert_eq!(
        changed.json(),
        json!([{ "id": 1, "*": "new" }]),
        "{}",
        changed.text
    );
    assert_eq!(
        merged.json(),
        json!([{ "id": 2, "*": "zwei" }]),
        "{}",
        merged.text
    );
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn rest_100_put_inserts_or_replaces_exactly_one_row() {
    let app = TestApp::blog().await;
    let ana = app.user(ANA);
    let put = |path: &'static str, body: serde_json::Value| {
        let ana = ana.clone();
        async move {
            ana.send("PUT", path, &[REPRESENTATION], Some(body.to_string()))
                .await
        }
    };

    let created = put("/tags?id=eq.9", json!({ "id": 9, "name": "nine" })).await;
    let replaced = put("/tags?id=eq.9", json!({ "id": 9, "name": "neun" })).await;
    let mismatch = put("/tags?id=eq.9", json!({ "id": 10, "name": "ten" })).await;
    let filters = put("/tags?name=eq.x", json!({ "id": 10, "name": "ten" })).await;

    assert_eq!((created.status, replaced.status), (201, 200));
    assert_eq!((mismatch.status, mismatch.code().as_str()), (400, "PGRST115"));
    assert_eq!((filters.status, filters.code().as_str()), (405, "PGRST105"));
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn rest_025_row_level_security_decides_about_rows() {
    let app = TestApp::blog().await;
    let ana = app.user(ANA);

    let for_ben = ana.post("/likes", &json!({ "user_id": BEN, "post_id": 2 })).await;
    let of_ben = ana
        .send("DELETE", "/likes?post_id=eq.1", &[REPRESENTATION], None)
        .await;

    assert_eq!((for_ben.status, for_ben.code().as_str()), (403, "42501"));
    assert_eq!(of_ben.text, "[]");
}
