//! Runs texts of SQL: results, transactions, subjects, limits, cancelling, and what viewers cannot do.

use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::support::TestConsole;

const RUNS: &str = "/api/sql/runs";

/// Runs a text, and returns its events without the heartbeats.
async fn run(console: &TestConsole, body: &Value) -> Vec<Value> {
    static RUN: AtomicU32 = AtomicU32::new(0);

    let mut body = body.clone();
    if body["id"] == "a" {
        // Runs are registered by account and id within a process, and all tests share one account, so each run needs an
        // id of its own.
        body["id"] = json!(format!("run {}", RUN.fetch_add(1, Ordering::Relaxed)));
    }
    let text = console.send(RUNS, &body).await.text().await.expect("a body");
    let events = text
        .lines()
        .map(|line| serde_json::from_str::<Value>(line).expect("JSON"));
    events.filter(|event| event["event"] != "waiting").collect()
}

fn of_kind<'e>(events: &'e [Value], kind: &str) -> Vec<&'e Value> {
    events.iter().filter(|event| event["event"] == kind).collect()
}

/// Waits until no statement with this text runs any more, and returns how long that took.
async fn time_until_gone(console: &TestConsole, text: &str) -> Duration {
    let start = Instant::now();
    let client = console.database.superuser().await;
    let sql = "select count(*) from pg_stat_activity
        where state = 'active' and query like '%' || $1 || '%' and datname = current_database() and pid <> pg_backend_pid()";
    loop {
        let running: i64 = client.query_one(sql, &[&text]).await.expect("a count").get(0);
        if running == 0 {
            return start.elapsed();
        }
        assert!(start.elapsed() < Duration::from_secs(20), "{text} still runs");
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
}

async fn wait_until_running(console: &TestConsole, text: &str) {
    let client = console.database.superuser().await;
    let sql = "select count(*) from pg_stat_activity
        where state = 'active' and query like '%' || $1 || '%' and datname = current_database() and pid <> pg_backend_pid()";
    for _ in 0..500 {
        let running: i64 = client.query_one(sql, &[&text]).await.expect("a count").get(0);
        if running > 0 {
            return;
        }
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    panic!("{text} never ran");
}

#[tokio::test]
async fn console_091_each_statement_has_its_result_and_all_are_one_transaction() {
    let console = TestConsole::start().await;
    let text = "create table t (id int8 primary key, note text);\n-- ä comment\ninsert into t values (1, null), (2, 'x');\nselect id, note, 1.50 as n from t order by id";
    let events = run(&console, &json!({ "id": "a", "text": text })).await;

    let done: Vec<&Value> = of_kind(&events, "done")
        .iter()
        .map(|event| &event["tag"])
        .collect();
    assert_eq!(
        done,
        [&json!("CREATE TABLE"), &json!("INSERT 0 2"), &json!("SELECT 2")]
    );
    assert_eq!(
        of_kind(&events, "rows")[0]["rows"],
        json!([["1", null, "1.50"], ["2", "x", "1.50"]])
    );
    let columns = &of_kind(&events, "columns")[0]["columns"];
    assert_eq!(columns[0]["type"], "bigint");
    assert_eq!(
        (&columns[2]["type"], &columns[2]["table"]),
        (&json!("numeric"), &Value::Null)
    );
    assert_eq!(events.last().expect("an end")["committed"], true);

    // Where a column comes from is known once its table is committed.
    let again = run(&console, &json!({ "id": "a", "text": "select note from t" })).await;
    assert_eq!(of_kind(&again, "columns")[0]["columns"][0]["column"], "note");

    // A later fault takes the earlier statement back, and its position is one in the whole text.
    let text = "insert into t values (3, 'ä');\nselect nothing";
    let events = run(&console, &json!({ "id": "a", "text": text })).await;
    let error = of_kind(&events, "error")[0];
    assert_eq!((&error["code"], &error["index"]), (&json!("42703"), &json!(1)));
    let position = error["position"].as_u64().expect("a position") as usize;
    assert_eq!(text.chars().skip(position - 1).collect::<String>(), "nothing");
    assert_eq!(events.last().expect("an end")["committed"], false);
    assert_eq!(console.value("select count(*)::text from t").await, "2");

    let events = run(
        &console,
        &json!({ "id": "a", "text": text, "transaction": "autocommit" }),
    )
    .await;
    assert_eq!(of_kind(&events, "error").len(), 1);
    assert_eq!(console.value("select count(*)::text from t").await, "3");
    let events = run(
        &console,
        &json!({ "id": "a", "text": "vacuum t", "transaction": "autocommit" }),
    )
    .await;
    assert_eq!(of_kind(&events, "done")[0]["tag"], "VACUUM");
    // The audit names who ran what, whatever became of the run.
    let audited = console
        .value("select count(*)::text from selvedge_console.selvedge_audit where action = 'sql.run'")
        .await;
    assert_eq!(audited, "5");
}

#[tokio::test]
async fn console_092_a_text_runs_as_a_caller_of_the_api() {
    let console = TestConsole::start().await;
    for (subject, expected) in [
        (json!({ "kind": "admin" }), json!(["postgres", "postgres", null])),
        (json!({ "kind": "anon" }), json!(["anon", "authenticator", null])),
        (
            json!({ "kind": "service_role" }),
            json!(["service_role", "authenticator", null]),
        ),
        (
            json!({ "kind": "user", "id": "00000000-0000-0000-0000-000000000001" }),
            json!([
                "authenticated",
                "authenticator",
                "00000000-0000-0000-0000-000000000001"
            ]),
        ),
    ] {
        for mode in ["one", "autocommit"] {
            let text = "select current_user, session_user, auth.uid()";
            let events = run(
                &console,
                &json!({ "id": "a", "text": text, "subject": subject, "transaction": mode }),
            )
            .await;
            assert_eq!(
                of_kind(&events, "rows")[0]["rows"][0],
                expected,
                "{subject} {mode}"
            );
        }
    }
    let claims = json!({ "kind": "claims", "claims": { "role": "postgres" } });
    let events = run(
        &console,
        &json!({ "id": "a", "text": "select 1", "subject": claims }),
    )
    .await;
    assert_eq!(of_kind(&events, "error").len(), 1, "{events:?}");
    assert!(of_kind(&events, "rows").is_empty());
}

#[tokio::test]
async fn console_093_a_cancelled_run_and_a_closed_tab_end_the_statement() {
    let console = TestConsole::start().await;
    let slow = |id: &str, text: &str| json!({ "id": id, "text": text });
    let cancelled = async { run(&console, &slow("one", "select pg_sleep(101)")).await };
    let cancel = async {
        wait_until_running(&console, "pg_sleep(101)").await;
        let response = console
            .delete("/api/sql/runs/one")
            .send()
            .await
            .expect("a response");
        assert_eq!(response.status(), 204);
        time_until_gone(&console, "pg_sleep(101)").await
    };
    let (events, time) = tokio::join!(cancelled, cancel);
    assert_eq!(of_kind(&events, "error")[0]["code"], "57014");
    assert!(time < Duration::from_secs(5), "{time:?}");
    assert_eq!(
        console
            .delete("/api/sql/runs/one")
            .send()
            .await
            .expect("a response")
            .status(),
        404
    );

    let response = console.send(RUNS, &slow("two", "select pg_sleep(102)")).await;
    wait_until_running(&console, "pg_sleep(102)").await;
    drop(response);
    let time = time_until_gone(&console, "pg_sleep(102)").await;
    assert!(time < Duration::from_secs(5), "{time:?}");

    let timed = json!({ "id": "three", "text": "select pg_sleep(103)", "timeout_s": 1 });
    let events = run(&console, &timed).await;
    assert_eq!(of_kind(&events, "error")[0]["code"], "57014");
}

#[tokio::test]
async fn console_168_a_viewer_ends_no_statement_of_another() {
    let console = TestConsole::start_for_viewers().await;
    let slow = json!({ "id": "of-another", "text": "select pg_sleep(105)" });
    let running = async { run(&console, &slow).await };
    let attack = async {
        wait_until_running(&console, "pg_sleep(105)").await;
        for ends in [
            "pg_cancel_backend(pid) from pg_stat_activity",
            "pg_terminate_backend(pid) from pg_stat_activity",
            "pg_terminate_backend(pid) from set_config('role', 'selvedge_console_reader', true), pg_stat_activity",
        ] {
            let text = format!(
                "select {ends} where usename like 'selvedge_console_reader%' and pid <> pg_backend_pid()
                   and datname = current_database()"
            );
            let events = run(&console, &json!({ "id": "a", "text": text })).await;
            assert_eq!(
                of_kind(&events, "error")[0]["code"],
                "42501",
                "{ends}: {events:?}"
            );
        }
        let ended = console.delete("/api/sql/runs/of-another").send().await;
        assert_eq!(ended.expect("a response").status(), 204, "it runs still");
    };

    let (events, ()) = tokio::join!(running, attack);

    assert_eq!(of_kind(&events, "error")[0]["code"], "57014");
}

#[tokio::test]
async fn console_093_173_rows_values_and_notices_have_limits_and_the_transaction_goes_on() {
    let console = TestConsole::start().await;
    let text = "create table kept (id int); insert into kept values (1);
        select i from generate_series(1, 150000) i;
        do $$ begin for i in 1..5000 loop raise notice '%', i; end loop; end $$;
        select repeat('x', 30000000), 'after'";
    let events = run(&console, &json!({ "id": "a", "text": text })).await;
    let done = of_kind(&events, "done");
    assert_eq!(
        (&done[2]["rows"], &done[2]["truncated"]),
        (&json!(100_000), &json!(true)),
        "{done:?}"
    );
    assert_eq!(of_kind(&events, "notice").len(), 1000);
    assert_eq!(done[3]["notices_left_out"], 4000);
    // The limit counts the rows of the whole run, so the later result is cut, too.
    assert_eq!(done[4]["truncated"], true);
    assert_eq!(events.last().expect("an end")["committed"], true);
    assert_eq!(console.value("select count(*)::text from kept").await, "1");

    let events = run(
        &console,
        &json!({ "id": "a", "text": "select repeat('x', 30000000), 'after'" }),
    )
    .await;
    let rows = of_kind(&events, "rows")[0];
    assert_eq!(
        rows["cuts"],
        json!([{ "row": 0, "column": 0, "bytes": 30_000_000 }])
    );
    assert_eq!(rows["rows"][0][1], "after");
}

#[tokio::test]
async fn console_017_168_no_text_of_a_viewer_writes() {
    let console = TestConsole::start_for_viewers().await;
    console
        .sql(
            "create table t (id int); insert into t values (1);
             create function write_as_owner() returns void language plpgsql security definer as
               $$ begin insert into public.t values (2); end $$;
             create function write_later() returns void language plpgsql security definer as
               $$ begin perform set_config('transaction_read_only', 'off', true); insert into public.t values (3); end $$;
             create procedure commit_and_write() language plpgsql security definer as
               $$ begin commit; insert into public.t values (4); end $$;
             create procedure commit_then_write() language plpgsql as $$ begin commit; insert into public.t values (5); end $$;
             grant all on t to public",
        )
        .await;
    for text in [
        "insert into t values (9)",
        "with w as (insert into t values (9) returning id) select * from w",
        "select write_as_owner()",
        "select write_later()",
        "call commit_and_write()",
        "call commit_then_write()",
        "do $$ begin insert into public.t values (9); end $$",
        "do $$ begin commit; insert into public.t values (9); end $$",
        "do $$ begin perform set_config('transaction_read_only', 'off', false); insert into public.t values (9); end $$",
        "set transaction read write",
        "set session characteristics as transaction read write",
        "commit",
        "commit and chain",
        "rollback; insert into t values (9)",
        "commit; begin read write; insert into t values (9); commit",
        "reset role",
        "set role postgres",
        "set session authorization postgres",
        "create temp table x (id int)",
        "explain analyze insert into t values (9)",
        "copy t from stdin",
        "copy (select 1) to program 'touch /tmp/x'",
        "select lo_create(0)",
        "prepare p as insert into t values (9)",
        "truncate t",
        "lock table t in access exclusive mode",
    ] {
        run(
            &console,
            &json!({ "id": "a", "text": text, "transaction": "autocommit" }),
        )
        .await;
        assert_eq!(
            console.value("select string_agg(id::text, ',') from t").await,
            "1",
            "{text}"
        );
    }
    let events = run(&console, &json!({ "id": "a", "text": "select id from t" })).await;
    assert_eq!(of_kind(&events, "rows")[0]["rows"], json!([["1"]]));
    let (status, _) = console
        .refused(
            RUNS,
            &json!({ "id": "a", "text": "select 1", "subject": { "kind": "service_role" } }),
        )
        .await;
    assert_eq!(status, 403);
}

#[tokio::test]
async fn console_095_plans_are_json_and_what_analyze_writes_is_rolled_back() {
    let console = TestConsole::start().await;
    console.sql("create table t (id int)").await;
    let plan = console
        .post("/api/sql/explain", &json!({ "text": "select * from t" }))
        .await;
    assert_eq!(plan["plan"][0]["Plan"]["Node Type"], "Seq Scan");
    let write = json!({ "text": "insert into t select generate_series(1, 10)", "analyze": true });
    let plan = console.post("/api/sql/explain", &write).await;
    assert!(plan["plan"][0]["Execution Time"].is_number(), "{plan}");
    assert_eq!(console.value("select count(*)::text from t").await, "0");
    let (status, error) = console
        .refused("/api/sql/explain", &json!({ "text": "select nothing" }))
        .await;
    assert_eq!(
        (status, &error["code"], &error["position"]),
        (422, &json!("42703"), &json!(8))
    );
    let two = json!({ "text": "select 1; insert into t values (1)", "analyze": true });
    let (status, error) = console.refused("/api/sql/explain", &two).await;
    assert_eq!((status, &error["code"]), (422, &json!("42601")));
}
