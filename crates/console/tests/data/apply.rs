//! Staged changes are applied all or nothing, report conflicts, and can be undone.

use serde_json::{Value, json};

use super::support::TestConsole;

const APPLY: &str = "/api/rows/apply";
const SETTLE: &str = "/api/rows/apply/settle";

/// Returns all rows of a table as JSON, in the order of their text.
async fn rows_of(console: &TestConsole, table: &str) -> String {
    let sql = format!("select coalesce(json_agg(t order by t::text)::text, '[]') from {table} t");
    console.value(&sql).await
}

/// Returns the id of the row whose column has this value.
async fn id_of(console: &TestConsole, oid: &str, column: &str, value: &str) -> Value {
    let filters = json!([{ "column": column, "operator": "eq", "value": value }]);
    let page = console
        .post("/api/rows/read", &json!({ "table": oid, "filters": filters }))
        .await;
    page["ids"][0].clone()
}

fn value(text: &str) -> Value {
    json!({ "value": text })
}

#[tokio::test]
async fn console_054_056_changes_of_several_tables_are_one_transaction_and_an_undo_restores_them() {
    let console = TestConsole::start().await;
    console
        .sql(
            "create table a (id int generated always as identity primary key, name text, twice text generated always as (name || name) stored);
             create table b (note text, \"n\"\"o\" numeric);
             insert into a (name) values ('one'), ('two'), (null);
             insert into b values ('x', 1.10), ('x', 1.10), ('y', null)",
        )
        .await;
    let (a, b) = (console.oid("a").await, console.oid("b").await);
    let before = (rows_of(&console, "a").await, rows_of(&console, "b").await);
    let (one, two) = (
        id_of(&console, &a, "name", "one").await,
        id_of(&console, &a, "name", "two").await,
    );
    let (x, y) = (
        id_of(&console, &b, "note", "x").await,
        id_of(&console, &b, "note", "y").await,
    );
    let changes = json!([
        { "kind": "insert", "table": a, "values": { "name": value("new"), "id": { "default": true } } },
        { "kind": "insert", "table": b, "values": {} },
        { "kind": "update", "table": a, "row": one, "base": { "name": "one" }, "values": { "name": { "value": null } } },
        { "kind": "delete", "table": a, "row": two, "base": {} },
        // This changes one of two equal rows of a table without a key.
        { "kind": "update", "table": b, "row": x, "base": {}, "values": { "note": value(""), "n\"o": value("2.50") } },
        { "kind": "delete", "table": b, "row": y, "base": {} },
    ]);
    let preview = console
        .post(APPLY, &json!({ "changes": changes, "preview": true }))
        .await;
    assert_eq!(preview["statements"].as_array().expect("a list").len(), 6);
    assert_eq!(rows_of(&console, "a").await, before.0);

    let applied = console.post(APPLY, &json!({ "changes": changes })).await;

    assert_eq!(applied["rows"][0]["values"]["twice"], "newnew");
    assert!(
        rows_of(&console, "b")
            .await
            .contains(r#"{"note":"","n\"o":2.50}"#)
    );
    assert!(
        rows_of(&console, "b")
            .await
            .contains(r#"{"note":"x","n\"o":1.10}"#)
    );
    let audited = console
        .value("select string_agg(action || ' ' || target || ' ' || rows, ', ' order by id) from selvedge_console.selvedge_audit")
        .await;
    assert_eq!(
        audited,
        "rows.insert public.a 1, rows.insert public.b 1, rows.update public.a 1, rows.delete public.a 1, rows.update public.b 1, \
         rows.delete public.b 1"
    );
    console.post(APPLY, &json!({ "changes": applied["undo"] })).await;
    assert_eq!(
        (rows_of(&console, "a").await, rows_of(&console, "b").await),
        before
    );
}

#[tokio::test]
async fn console_033_what_somebody_else_has_changed_is_a_conflict_and_nothing_is_written() {
    let console = TestConsole::start().await;
    console
        .sql("create table t (id int primary key, a text, b text); insert into t values (1, 'a', 'b'), (2, 'a', 'b'), (3, 'a', 'b')")
        .await;
    let oid = console.oid("t").await;
    let (one, two, three) = (
        id_of(&console, &oid, "id", "1").await,
        id_of(&console, &oid, "id", "2").await,
        id_of(&console, &oid, "id", "3").await,
    );
    console
        .sql("update t set b = 'theirs' where id = 1; delete from t where id = 2")
        .await;
    let before = rows_of(&console, "t").await;
    let update = |row: &Value| json!({ "kind": "update", "table": oid, "row": row, "base": { "a": "a" }, "values": { "a": value("mine") } });

    let (status, error) = console
        .refused(
            APPLY,
            &json!({ "changes": [update(&three), update(&one), update(&two)] }),
        )
        .await;

    assert_eq!((status, &error["code"]), (409, &json!("conflict")));
    let conflicts = error["conflicts"].as_array().expect("a list");
    assert_eq!((conflicts.len(), &conflicts[0]["change"]), (2, &json!(1)));
    assert_eq!(
        conflicts[0]["theirs"],
        json!({ "id": "1", "a": "a", "b": "theirs" })
    );
    assert_eq!(conflicts[0]["mine"], json!({ "a": value("mine") }));
    assert_eq!(
        (&conflicts[1]["theirs"], &conflicts[1]["id"]),
        (&Value::Null, &Value::Null)
    );
    assert_eq!(rows_of(&console, "t").await, before);
    // The same change with the row's current version is the user's decision, and is applied.
    console
        .post(APPLY, &json!({ "changes": [update(&conflicts[0]["id"])] }))
        .await;
    assert!(
        rows_of(&console, "t")
            .await
            .contains(r#"{"id":1,"a":"mine","b":"theirs"}"#)
    );
}

#[tokio::test]
async fn console_054_a_key_that_is_edited_and_then_its_row_come_out_right_and_are_undone() {
    let console = TestConsole::start().await;
    console
        .sql(
            "create table t (id int primary key, a text); insert into t values (1, 'a'), (2, 'b');
             create table k (a text); insert into k values ('x')",
        )
        .await;
    let (oid, keyless) = (console.oid("t").await, console.oid("k").await);
    let before = (rows_of(&console, "t").await, rows_of(&console, "k").await);
    let one = id_of(&console, &oid, "id", "1").await;
    let x = id_of(&console, &keyless, "a", "x").await;
    let edit = |table: &str, row: &Value, values: Value| json!({ "kind": "update", "table": table, "row": row, "base": {}, "values": values });
    let changes = json!([
        edit(&oid, &one, json!({ "id": value("10") })),
        edit(&oid, &one, json!({ "a": value("edited") })),
        edit(&keyless, &x, json!({ "a": value("y") })),
        edit(&keyless, &x, json!({ "a": value("z") })),
    ]);

    let applied = console.post(APPLY, &json!({ "changes": changes })).await;

    assert!(rows_of(&console, "t").await.contains(r#"{"id":10,"a":"edited"}"#));
    assert_eq!(rows_of(&console, "k").await, r#"[{"a":"z"}]"#);
    console.post(APPLY, &json!({ "changes": applied["undo"] })).await;
    assert_eq!(
        (rows_of(&console, "t").await, rows_of(&console, "k").await),
        before
    );
}

#[tokio::test]
async fn console_054_the_faulty_cell_is_named_and_no_other_change_stays() {
    let console = TestConsole::start().await;
    console
        .sql(
            "create table t (id int primary key, n int not null default 0, short varchar(3), day date check (day > '2000-01-01'));
             insert into t values (1)",
        )
        .await;
    let oid = console.oid("t").await;
    let before = rows_of(&console, "t").await;
    for (values, code, column) in [
        (
            json!({ "id": value("2"), "day": value("yesterweek") }),
            "22007",
            "day",
        ),
        (json!({ "id": value("1") }), "23505", "id"),
        (json!({ "id": value("2"), "n": { "value": null } }), "23502", "n"),
        (
            json!({ "id": value("2"), "short": value("long") }),
            "22001",
            "short",
        ),
        (
            json!({ "id": value("2"), "day": value("1999-01-01") }),
            "23514",
            "day",
        ),
        (json!({ "id": value("99999999999") }), "22003", "id"),
    ] {
        let good = json!({ "kind": "insert", "table": oid, "values": { "id": value("7") } });
        let bad = json!({ "kind": "insert", "table": oid, "values": values });
        let (status, error) = console.refused(APPLY, &json!({ "changes": [good, bad] })).await;
        assert_eq!((status, &error["code"]), (422, &json!(code)), "{values}");
        assert_eq!(
            (&error["change"], &error["column"]),
            (&json!(1), &json!(column)),
            "{error}"
        );
        assert_eq!(rows_of(&console, "t").await, before);
    }
}

#[tokio::test]
async fn console_057_all_matching_rows_change_only_if_there_are_as_many_as_before() {
    let console = TestConsole::start().await;
    console
        .sql("create table t (id int primary key, a text); insert into t select i, 'old' || i from generate_series(1, 30) i")
        .await;
    let oid = console.oid("t").await;
    let before = rows_of(&console, "t").await;
    let change = |expected: i64| {
        json!({ "changes": [{ "kind": "update_matching", "table": oid, "expected": expected, "values": { "a": value("new") },
            "filters": [{ "column": "id", "operator": "gt", "value": "10" }] }] })
    };
    let (status, error) = console.refused(APPLY, &change(19)).await;
    assert_eq!((status, &error["found"]), (409, &json!(20)));
    assert_eq!(rows_of(&console, "t").await, before);

    let applied = console.post(APPLY, &change(20)).await;
    assert_eq!(rows_of(&console, "t").await.matches("new").count(), 20);
    console.post(APPLY, &json!({ "changes": applied["undo"] })).await;
    assert_eq!(rows_of(&console, "t").await, before);
}

#[tokio::test]
async fn console_055_partitioned_tables_are_edited_and_viewers_change_nothing() {
    let console = TestConsole::start().await;
    console
        .sql(
            "create table p (a text, n int) partition by list (a);
             create table p_x partition of p for values in ('x');
             create table p_rest partition of p default;
             insert into p values ('x', 1), ('y', 2)",
        )
        .await;
    let oid = console.oid("p").await;
    let before = rows_of(&console, "p").await;
    let x = id_of(&console, &oid, "a", "x").await;
    // The row moves to another partition.
    let change =
        json!({ "kind": "update", "table": oid, "row": x, "base": {}, "values": { "a": value("z") } });
    let insert = json!({ "kind": "insert", "table": oid, "values": { "a": value("x"), "n": value("3") } });
    let applied = console.post(APPLY, &json!({ "changes": [change, insert] })).await;
    assert!(rows_of(&console, "p").await.contains(r#"{"a":"z","n":1}"#));
    console.post(APPLY, &json!({ "changes": applied["undo"] })).await;
    assert_eq!(rows_of(&console, "p").await, before);

    let viewers = TestConsole::start_for_viewers().await;
    let (status, _) = viewers.refused(APPLY, &json!({ "changes": [] })).await;
    assert_eq!(status, 403);
}

#[tokio::test]
async fn console_054_a_repeated_request_gets_the_first_answer_and_inserts_nothing() {
    let console = TestConsole::start().await;
    console
        .sql("create table t (id int generated always as identity primary key, a text)")
        .await;
    let oid = console.oid("t").await;
    let insert = |text: &str| json!([{ "kind": "insert", "table": oid, "values": { "a": value(text) } }]);
    let id = "5f0d4f5c-6d5e-4a35-9d0a-0a3f5e3c1b01";
    let request = json!({ "changes": insert("once"), "request_id": id });

    // The second waits for the first, whichever comes first.
    let (one, other) = tokio::join!(console.post(APPLY, &request), console.post(APPLY, &request));
    let (first, mut repeated) = if one["repeated"] == true {
        (other, one)
    } else {
        (one, other)
    };

    assert_eq!(repeated["repeated"], true);
    assert_eq!(first["repeated"], Value::Null);
    let settled = console.post(SETTLE, &json!({ "request_id": id })).await;
    assert_eq!(settled, repeated);
    repeated.as_object_mut().expect("an object").remove("repeated");
    assert_eq!(repeated, first);
    assert_eq!(rows_of(&console, "t").await, r#"[{"id":1,"a":"once"}]"#);
    let audited = console
        .value("select count(*)::text from selvedge_console.selvedge_audit")
        .await;
    assert_eq!(audited, "1");
    let other = json!({ "changes": insert("other"), "request_id": id });
    let (status, _) = console.refused(APPLY, &other).await;
    assert_eq!(
        status, 422,
        "an id stands for the changes with which it came first"
    );
}

#[tokio::test]
async fn console_054_a_request_that_was_given_up_or_refused_is_not_remembered_as_applied() {
    let console = TestConsole::start().await;
    console.sql("create table t (id int primary key, a int)").await;
    let oid = console.oid("t").await;
    let insert = |id: &str, a: &str| json!([{ "kind": "insert", "table": oid, "values": { "id": value(id), "a": value(a) } }]);
    let (late, refused) = (
        "5f0d4f5c-6d5e-4a35-9d0a-0a3f5e3c1b02",
        "5f0d4f5c-6d5e-4a35-9d0a-0a3f5e3c1b03",
    );

    let settled = console.post(SETTLE, &json!({ "request_id": late })).await;
    assert_eq!(settled, json!({ "applied": false }));
    let (status, error) = console
        .refused(APPLY, &json!({ "changes": insert("1", "1"), "request_id": late }))
        .await;
    assert_eq!((status, &error["code"]), (409, &json!("given_up")));

    let (status, _) = console
        .refused(
            APPLY,
            &json!({ "changes": insert("1", "x"), "request_id": refused }),
        )
        .await;
    assert_eq!(status, 422);
    assert_eq!(rows_of(&console, "t").await, "[]");
    let settled = console.post(SETTLE, &json!({ "request_id": refused })).await;
    assert_eq!(settled, json!({ "applied": false }));
}

#[tokio::test]
async fn console_054_remembered_requests_are_bounded_and_long_answers_are_forgotten_first() {
    let console = TestConsole::start().await;
    console
        .sql(
            "create table t (id int primary key, a text);
             insert into t values (1, repeat('x', 300000));
             insert into selvedge_console.selvedge_applied_requests (account, request_id, at, changes_digest, answer)
             select '', gen_random_uuid(), now() - i * interval '1 minute', sha256('x'), '{}' from generate_series(1, 10100) i;
             insert into selvedge_console.selvedge_applied_requests (account, request_id, at, changes_digest, answer)
             select 'ana', gen_random_uuid(), now() - interval '1 year', sha256('x'), '{}'",
        )
        .await;
    let oid = console.oid("t").await;
    // The undo holds the old value, so the answer is too long to be kept.
    let row = id_of(&console, &oid, "id", "1").await;
    let change =
        json!({ "kind": "update", "table": oid, "row": row, "base": {}, "values": { "a": value("short") } });
    let id = "5f0d4f5c-6d5e-4a35-9d0a-0a3f5e3c1b04";

    let applied = console
        .post(APPLY, &json!({ "changes": [change], "request_id": id }))
        .await;

    assert_eq!(applied["undo"].as_array().map(Vec::len), Some(1));
    let counts = "select string_agg(concat_ws(' ', account, n, answers), ', ' order by account)
        from (select account, count(*) n, count(answer) answers from selvedge_console.selvedge_applied_requests group by 1) s";
    assert_eq!(console.value(counts).await, " 10000 99, ana 1 1");
    let settled = console.post(SETTLE, &json!({ "request_id": id })).await;
    assert_eq!(
        (&settled["applied"], &settled["undo"]),
        (&json!(true), &json!([]))
    );
}
