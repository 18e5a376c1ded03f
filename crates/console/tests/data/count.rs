//! Counts the effects of a destructive statement before it runs.

use serde_json::json;

use super::support::TestConsole;

const COUNT: &str = "/api/sql/count";

#[tokio::test]
async fn console_094_rows_and_dependants_are_counted_as_the_subject_of_the_run_sees_them() {
    let console = TestConsole::start().await;
    console
        .sql(
            r#"create table "Big Items" (id int primary key, owner text);
               insert into "Big Items" select n, 'ana' from generate_series(1, 7) n;
               create view totals as select count(*) from "Big Items";
               alter table "Big Items" enable row level security;
               create policy few on "Big Items" to authenticated using (id <= 2);
               create type mood as enum ('good'); create table moods (mood mood);
               create function f() returns int language sql as 'select 1';
               create schema app; create table app.a (id int); grant usage on schema app to anon"#,
        )
        .await;
    let objects = json!([
        { "kind": "table", "name": "\"Big Items\"" },
        { "kind": "table", "name": "nowhere" },
        { "kind": "table", "name": "a; drop table moods" },
        { "kind": "relation", "name": "totals" },
        { "kind": "type", "name": "mood" },
        { "kind": "function", "name": "f" },
        { "kind": "schema", "name": "app" },
    ]);

    let body = console.post(COUNT, &json!({ "objects": objects })).await;
    let names = |index: usize| -> Vec<&str> {
        let dependants = body["objects"][index]["dependants"].as_array().expect("a list");
        dependants
            .iter()
            .filter_map(|dependant| dependant["name"].as_str())
            .collect()
    };
    let rows: Vec<_> = (0..7)
        .map(|index| body["objects"][index]["rows"].clone())
        .collect();
    assert_eq!(
        json!(rows),
        json!([7, null, null, null, null, null, null]),
        "{body}"
    );
    assert_eq!(body["objects"][0]["exact"], true);
    assert_eq!(names(0), ["public.totals"]);
    assert_eq!(body["objects"][1]["fault"], "It does not exist yet");
    assert_ne!(body["objects"][2]["fault"], json!(null));
    assert_eq!(names(4), ["public.moods.mood"]);
    assert_eq!(names(6), ["app.a"]);

    let user = json!({ "kind": "user", "id": "11111111-1111-4111-8111-111111111111" });
    let asked = json!({ "objects": [{ "kind": "table", "name": "public.\"Big Items\"" }], "subject": user });
    assert_eq!(console.post(COUNT, &asked).await["objects"][0]["rows"], 2);
    let asked = json!({ "objects": [
        { "kind": "table", "name": "app.a" },
        { "kind": "table", "name": "moods" },
    ], "subject": { "kind": "anon" } });
    let body = console.post(COUNT, &asked).await;
    let fault = body["objects"][0]["fault"].as_str().expect("a reason");
    assert!(fault.contains("permission denied"), "{fault}");

    let viewers = TestConsole::start_for_viewers().await;
    let (status, _) = viewers
        .refused(COUNT, &json!({ "objects": [], "subject": user }))
        .await;
    assert_eq!(status, 403);
}

#[tokio::test]
async fn console_094_a_count_that_takes_too_long_returns_an_estimate_or_a_reason_but_never_zero_rows() {
    let console = TestConsole::start().await;
    console
        .sql(
            "create table known (id int); insert into known select generate_series(1, 9); analyze known; \
             create table filled_later (id int); analyze filled_later; \
             insert into filled_later select generate_series(1, 9)",
        )
        .await;
    let locking = console.database.connect("postgres").await;
    locking
        .batch_execute("begin; lock table known, filled_later in access exclusive mode")
        .await
        .expect("the tables are locked");

    let objects = json!([{ "kind": "table", "name": "known" }, { "kind": "table", "name": "filled_later" }]);
    let body = console.post(COUNT, &json!({ "objects": objects })).await;
    assert_eq!(body["objects"][0]["rows"], 9, "{body}");
    assert_eq!(body["objects"][0]["exact"], false, "{body}");
    assert_eq!(body["objects"][1]["rows"], json!(null), "{body}");
    let fault = body["objects"][1]["fault"].as_str().expect("a reason");
    assert!(fault.contains("timeout"), "{fault}");
}
