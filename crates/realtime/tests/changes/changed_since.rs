//! Rows that are changed again before the feed gets to their first change: nothing is sent that the subscriber cannot select.

use std::future::Future;

use serde_json::{Value, json};

use super::support::{Event, MARKER, TestFeed, all};

const POSTS: &str = "
    create table posts (id int primary key, body text, published boolean, note text);
    alter table posts enable row level security;
    create policy published on posts for select to anon using (published);
    grant select on posts to anon;
    alter publication supabase_realtime add table posts;";

/// The error of an event whose row was changed again.
const CHANGED: &str = "Error 409: Conflict, the row has changed since";

async fn start(schema: &str) -> TestFeed {
    let test = TestFeed::start(&format!("{schema}{MARKER}")).await;
    test.subscribe(99, "service_role", &[all("marker")]).await;
    test
}

/// Makes changes while the feed is held up, and returns the events that it then delivers to a channel.
async fn held_up(test: &TestFeed, channel: u64, changes: impl Future<Output = ()>) -> Vec<Value> {
    // Before it reads further, the feed waits until the sockets have taken over what it has delivered, for up to five seconds.
    assert_eq!(test.events_until_marker().await, []);
    test.set_open(false);
    changes.await;
    test.set_open(true);
    let events = test.events_until_marker().await;
    let data = events.into_iter().filter_map(|event| match event {
        Event::Change {
            channel: to, data, ..
        } if to == channel => Some(data),
        _ => None,
    });
    data.collect()
}

/// Kind, record and errors of each event.
fn told(events: &[Value]) -> Vec<(Value, Value, Value)> {
    events
        .iter()
        .map(|data| {
            (
                data["type"].clone(),
                data["record"].clone(),
                data["errors"].clone(),
            )
        })
        .collect()
}

#[tokio::test]
async fn realtime_014_a_draft_that_is_edited_before_it_is_published_is_never_delivered() {
    let filler = "create table filler (id int); alter publication supabase_realtime add table filler;";
    let test = start(&format!("{POSTS}{filler}")).await;
    test.subscribe(1, "anon", &[all("posts")]).await;
    let draft = "insert into posts values (1, 'draft', false)";
    let publish = "update posts set body = 'edited', published = true where id = 1";
    let again = "delete from posts where id = 1; insert into posts values (1, 'edited', true)";
    let in_subtransaction = "do $$ begin begin insert into posts values (1, 'draft', false);
        exception when unique_violation then null; end; end $$";
    let published = json!({"id": 1, "body": "edited", "published": true, "note": null});
    for (case, statements) in [
        ("two transactions", vec![draft, publish]),
        ("one transaction", vec!["begin", draft, publish, "commit"]),
        ("a deleted row's key, in transactions", vec![draft, again]),
        (
            "a deleted row's key, in one transaction",
            vec!["begin", draft, again, "commit"],
        ),
        (
            "a subtransaction",
            vec!["begin", in_subtransaction, publish, "commit"],
        ),
        (
            "a transaction of several batches",
            vec![
                "begin",
                draft,
                "insert into filler select generate_series(1, 1200)",
                publish,
                "commit",
            ],
        ),
    ] {
        let events = held_up(&test, 1, async {
            for statement in &statements {
                test.sql(statement).await;
            }
        })
        .await;

        assert!(!format!("{events:?}").contains("draft"), "{case}: {events:?}");
        let whole = told(&events)
            .into_iter()
            .any(|(_, record, errors)| record == published && errors.is_null());
        assert!(whole, "{case}: the published row is delivered: {events:?}");
        test.sql("delete from posts").await;
        test.events_until_marker().await;
    }
}

#[tokio::test]
async fn realtime_014_of_a_row_that_has_changed_since_the_values_that_it_still_has_are_sent() {
    let test = start(POSTS).await;
    test.sql("alter table posts replica identity full").await;
    let inserts = json!({"event": "INSERT", "schema": "public", "table": "posts"});
    let edited = json!({"event": "*", "schema": "public", "table": "posts", "filter": "body=eq.first"});
    let noted = json!({"event": "*", "schema": "public", "table": "posts", "filter": "note=eq.n"});
    test.subscribe(1, "anon", &[inserts]).await;
    test.subscribe(2, "anon", &[edited]).await;
    test.subscribe(3, "anon", &[noted]).await;

    let changes = async {
        test.sql("insert into posts values (1, 'first', true, 'n')").await;
        test.sql("update posts set body = 'second'").await;
        test.sql("update posts set body = 'third'").await;
    };
    let events = held_up(&test, 1, changes).await;

    let partly = json!({"id": 1, "published": true, "note": "n"});
    assert_eq!(
        told(&events),
        [(json!("INSERT"), partly.clone(), json!([CHANGED]))]
    );
    assert_eq!(events[0]["columns"].as_array().map(Vec::len), Some(4));

    let changes = async {
        test.sql("update posts set body = 'first'").await;
        test.sql("update posts set body = 'fourth'").await;
    };
    // A filter that only the earlier value has fulfilled would tell that value.
    assert_eq!(held_up(&test, 2, changes).await, [json!(null); 0]);

    let changes = async {
        test.sql("update posts set body = 'fifth'").await;
        test.sql("update posts set body = 'sixth'").await;
    };
    let events = held_up(&test, 3, changes).await;
    let whole = json!({"id": 1, "body": "sixth", "published": true, "note": "n"});
    assert_eq!(
        told(&events),
        [
            (json!("UPDATE"), partly, json!([CHANGED])),
            (json!("UPDATE"), whole, json!(null))
        ]
    );
    assert_eq!(
        events[0]["old_record"],
        json!({"id": 1}),
        "the row before is not known to have been seen"
    );
    assert_eq!(events[1]["old_record"]["body"], json!("fifth"));
}

#[tokio::test]
async fn realtime_014_unchanged_rows_are_sent_whole_whatever_wrote_them() {
    let test = start(&format!(
        "{POSTS}
         create table partly (id numeric primary key, body jsonb, at timestamptz, code char(3), secret text);
         alter table partly enable row level security;
         create policy everything on partly for select to anon using (true);
         alter publication supabase_realtime add table partly;"
    ))
    .await;
    test.sql("revoke all on partly from anon; grant select (id, body, at, code) on partly to anon")
        .await;
    test.subscribe(1, "anon", &[all("posts"), all("partly")]).await;

    // In a subtransaction, whose number is not that of the transaction.
    test.sql(
        "do $$ begin begin insert into posts values (1, E'a,\"b\\\\{}', true, 'NULL');
           exception when unique_violation then null; end; end $$",
    )
    .await;
    // The role may not select `xmin` of a table on which it has single columns only.
    test.sql("insert into partly values (1.50, '{\"a\": [1, null]}', '2026-01-02 03:04:05+00', 'ab', 's'), (2, null, null, null, null)")
        .await;
    test.sql(
        "begin; insert into posts values (2, 'x', true); update posts set note = 'y' where id = 1; commit",
    )
    .await;
    // As many that the transaction is read in several batches.
    test.sql("insert into posts select g, 'row', true from generate_series(1001, 2200) g")
        .await;

    let events = test.events_until_marker().await;
    let data: Vec<&Value> = events
        .iter()
        .map(|event| match event {
            Event::Change { data, .. } => data,
            other => panic!("only changes: {other:?}"),
        })
        .collect();
    assert_eq!(data.len(), 1205);
    assert!(
        data.iter().skip(1).all(|data| data["errors"].is_null()),
        "{data:?}"
    );
    // Its note may have been changed before the feed got to it.
    assert_eq!(data[0]["record"]["body"], json!("a,\"b\\{}"));
    assert_eq!(
        data[1]["record"],
        json!({"id": 1.50, "body": {"a": [1, null]}, "at": "2026-01-02T03:04:05+00:00", "code": "ab "})
    );
    assert_eq!(
        data[2]["record"],
        json!({"id": 2, "body": null, "at": null, "code": null})
    );
}

#[tokio::test]
async fn realtime_014_a_role_with_single_columns_gets_no_values_that_a_row_no_longer_has() {
    let test = start(POSTS).await;
    test.sql("revoke all on posts from anon; grant select (id, body) on posts to anon")
        .await;
    test.subscribe(1, "anon", &[all("posts")]).await;

    let changes = async {
        test.sql("insert into posts values (1, 'draft', false, null), (2, 'open', true, 'a')")
            .await;
        test.sql("update posts set body = 'edited', published = true where id = 1; update posts set note = 'b' where id = 2").await;
    };
    let events = held_up(&test, 1, changes).await;

    let open = json!({"id": 2, "body": "open"});
    assert_eq!(
        told(&events),
        [
            (json!("INSERT"), json!({"id": 1}), json!([CHANGED])),
            // What the role may not select does not count.
            (json!("INSERT"), open.clone(), json!(null)),
            (json!("UPDATE"), json!({"id": 1, "body": "edited"}), json!(null)),
            (json!("UPDATE"), open, json!(null)),
        ]
    );
}

#[tokio::test]
async fn realtime_014_equal_keys_that_are_written_differently_are_different_versions() {
    let test = start(
        "create table prices (id numeric primary key, body text, published boolean);
         alter table prices enable row level security;
         create policy published on prices for select to anon using (published);
         grant select on prices to anon;
         alter publication supabase_realtime add table prices;",
    )
    .await;
    let inserts = json!({"event": "INSERT", "schema": "public", "table": "prices"});
    test.subscribe(1, "anon", &[inserts]).await;

    test.sql("begin; insert into prices values (1.0, 'draft', false); update prices set id = 1.00, body = 'edited', published = true; commit")
        .await;

    let events = test.events_until_marker().await;
    assert!(!format!("{events:?}").contains("draft"), "{events:?}");
}

#[tokio::test]
async fn realtime_014_changes_that_the_publication_leaves_out_count_as_well() {
    let test = start(POSTS).await;
    test.sql("alter publication supabase_realtime set (publish = 'insert')")
        .await;
    test.subscribe(1, "anon", &[all("posts")]).await;

    test.sql("begin; insert into posts values (1, 'draft', false); update posts set body = 'edited', published = true; commit")
        .await;

    let events = test.events_until_marker().await;
    assert!(!format!("{events:?}").contains("draft"), "{events:?}");
}
