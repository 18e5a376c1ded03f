//! Which row changes arrive, and their JSON.

use serde_json::json;

use super::support::{Event, TestFeed};

const ITEMS: &str = "
    create type mood as enum ('sad', 'ok');
    create type pair as (x int, y text);
    create table items (id int primary key, name text, big int8, at timestamptz, body bytea, mood mood, pair pair, tags text[]);
    grant select on items to anon;
    alter publication supabase_realtime add table items;";

#[tokio::test]
async fn realtime_011_insert_event_carries_columns_and_values() {
    let test = TestFeed::start(ITEMS).await;
    test.subscribe(
        7,
        "anon",
        &[json!({"event": "*", "schema": "public", "table": "items"})],
    )
    .await;

    test.sql(
        "insert into items values (1, 'a\"b', 9223372036854775807, '2026-01-02 03:04:05.678+09', '\\x0102', 'ok', (3, 'y'), \
         '{a,NULL}')",
    )
    .await;

    let (channel, ids, data) = test.change().await;
    assert_eq!((channel, ids), (7, vec![1]));
    assert_eq!(
        data["record"],
        json!({
            "id": 1, "name": "a\"b", "big": 9_223_372_036_854_775_807_i64, "at": "2026-01-01T18:04:05.678+00:00",
            "body": "0102", "mood": "ok", "pair": {"x": 3, "y": "y"}, "tags": ["a", null]
        })
    );
    assert_eq!(
        (&data["schema"], &data["table"], &data["type"]),
        (&json!("public"), &json!("items"), &json!("INSERT"))
    );
    assert_eq!(data["columns"][5], json!({"name": "mood", "type": "mood"}));
    assert_eq!(data["columns"][7], json!({"name": "tags", "type": "_text"}));
    assert_eq!(data["errors"], json!(null));
    assert!(data.get("old_record").is_none());
    let timestamp = data["commit_timestamp"].as_str().expect("a text");
    assert!(
        timestamp.len() == "2026-01-02T03:04:05.678Z".len() && timestamp.ends_with('Z'),
        "{timestamp}"
    );
}

#[tokio::test]
async fn realtime_012_realtime_013_update_and_delete_events_carry_the_old_key() {
    let test = TestFeed::start(ITEMS).await;
    test.subscribe(
        1,
        "anon",
        &[json!({"event": "*", "schema": "public", "table": "items"})],
    )
    .await;

    test.sql("insert into items (id) values (1); update items set name = 'n'; update items set id = 2; delete from items")
        .await;

    let _insert = test.change().await;
    let (_, _, update) = test.change().await;
    assert_eq!(
        (&update["old_record"], &update["record"]["name"]),
        (&json!({"id": 1}), &json!("n"))
    );
    let (_, _, key_update) = test.change().await;
    assert_eq!(
        (&key_update["old_record"], &key_update["record"]["id"]),
        (&json!({"id": 1}), &json!(2))
    );
    let (_, _, delete) = test.change().await;
    assert_eq!(delete["old_record"], json!({"id": 2}));
    assert!(delete.get("record").is_none());
}

#[tokio::test]
async fn realtime_012_realtime_043_replica_identity_full_carries_the_old_row_and_unchanged_toast_values() {
    let test = TestFeed::start(
        "create table t (id int primary key, n int, big text);
         alter table t alter big set storage external;
         create table f (like t including all);
         alter table f replica identity full;
         grant select on t, f to anon;
         alter publication supabase_realtime add table t, f;",
    )
    .await;
    test.sql("insert into t values (1, 1, repeat('x', 5000)); insert into f select * from t")
        .await;
    test.subscribe(1, "anon", &[json!({"event": "UPDATE", "schema": "public"})])
        .await;

    test.sql("update t set n = 2; update f set n = 2").await;

    let (_, _, default) = test.change().await;
    assert_eq!(
        default["record"],
        json!({"id": 1, "n": 2}),
        "an untouched large value is absent"
    );
    let (_, _, full) = test.change().await;
    assert_eq!(full["record"]["big"].as_str().map(str::len), Some(5000));
    assert_eq!(full["old_record"]["n"], json!(1));
}

#[tokio::test]
async fn realtime_039_realtime_040_sends_one_message_per_column_selection_with_all_binding_ids() {
    let test = TestFeed::start(ITEMS).await;
    test.subscribe(
        1,
        "anon",
        &[
            json!({"event": "*", "schema": "public", "table": "items"}),
            json!({"event": "INSERT", "schema": "public"}),
            json!({"event": "*", "schema": "public", "table": "items", "select": ["name"]}),
        ],
    )
    .await;

    test.sql("insert into items (id, name) values (1, 'a')").await;

    let mut changes = [test.change().await, test.change().await];
    changes.sort_by_key(|(_, ids, _)| ids.clone());
    assert_eq!(changes[0].1, [1, 2]);
    assert_eq!(changes[1].1, [3]);
    assert_eq!(
        changes[1].2["record"],
        json!({"id": 1, "name": "a"}),
        "the key is always there"
    );
}

#[tokio::test]
async fn realtime_033_realtime_036_filters_compare_by_the_type_of_the_column() {
    let test = TestFeed::start(ITEMS).await;
    for (channel, filter) in [
        (1, "id=gt.9"),
        (2, "name=eq.b"),
        (3, "name=ilike.B%"),
        (4, "at=lt.2026-01-01"),
        (5, "name=not.is.null,id=in.(2,10)"),
        (6, "mood=eq.ok"),
    ] {
        test.subscribe(
            channel,
            "anon",
            &[json!({"event": "*", "schema": "public", "table": "items", "filter": filter})],
        )
        .await;
    }

    test.sql("insert into items (id, name, at, mood) values (10, 'b', '2026-02-01', 'sad'), (2, null, '2025-12-31', 'ok')")
        .await;

    let mut seen = Vec::new();
    for _ in 0..6 {
        let (channel, _, data) = test.change().await;
        seen.push((data["record"]["id"].as_i64().expect("an id"), channel));
    }
    seen.sort_unstable();
    assert_eq!(seen, [(2, 4), (2, 6), (10, 1), (10, 2), (10, 3), (10, 5)]);
}

#[tokio::test]
async fn realtime_037_invalid_bindings_are_refused_with_upstream_texts() {
    let test = TestFeed::start(ITEMS).await;

    let unpublished = test
        .refusal(
            1,
            "anon",
            json!({"event": "*", "schema": "public", "table": "nothing"}),
        )
        .await;
    let wrong_type = test
        .refusal(
            2,
            "anon",
            json!({"event": "*", "table": "items", "filter": "id=eq.hey"}),
        )
        .await;

    assert_eq!(
        unpublished,
        "Unable to subscribe to changes with given parameters. Please check Realtime is enabled for the given connect \
         parameters: [event: *, schema: public, table: nothing, filters: [], select: nil]"
    );
    assert_eq!(
        wrong_type,
        "Unable to subscribe to changes with given parameters. An exception happened so please check your connect \
         parameters: [event: *, schema: public, table: items, filters: [{\"id\", \"eq\", \"hey\", false}], select: nil]. \
         Exception: ERROR 22P02 (invalid_text_representation) invalid input syntax for type integer: \"hey\""
    );
}

#[tokio::test]
async fn realtime_038_wildcard_bindings_cover_tables_published_later() {
    let test = TestFeed::start(ITEMS).await;
    test.subscribe(1, "anon", &[json!({"event": "*", "schema": "public"})])
        .await;

    test.sql(
        "create table later (id int primary key); grant select on later to anon;
         alter publication supabase_realtime add table later; insert into later values (5);",
    )
    .await;

    assert_eq!(test.change().await.2["record"], json!({"id": 5}));
}

#[tokio::test]
async fn realtime_031_database_broadcasts_arrive_only_after_commit() {
    let test = TestFeed::start("select 1").await;
    test.feed.set_active(true);
    // Rows that were inserted before the stream started are not delivered, so the test waits for the stream first.
    while !test.feed.is_streaming() {
        tokio::task::yield_now().await;
    }

    test.sql(
        "begin; select realtime.send('{\"a\": 0}', 'gone', 'room', false); rollback;
         select realtime.send('{\"a\": 1}', 'hi', 'room', false);
         select realtime.send_binary('\\x00ff', 'raw', 'room', true);",
    )
    .await;

    let (Event::Broadcast(json), Event::Broadcast(binary)) = (test.next().await, test.next().await) else {
        panic!("two broadcasts");
    };
    assert_eq!(
        (json.topic.as_str(), json.event.as_deref(), json.is_private),
        ("room", Some("hi"), false)
    );
    let payload: serde_json::Value = serde_json::from_slice(&json.payload.expect("a payload")).expect("JSON");
    assert_eq!(payload["id"], json!(json.id));
    assert_eq!(
        (binary.binary_payload.as_deref(), binary.is_private),
        (Some(&[0, 255][..]), true)
    );
}
