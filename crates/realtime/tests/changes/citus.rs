//! Changes of Citus's tables, whose shards the publication does not have. Citus's output plugin, which writes changes of shards as
//! changes of their tables, is imitated by tables that have their rows themselves.

use serde_json::{Value, json};

use super::support::{Event, TestFeed};

const ITEMS: &str = "
    create table items (id int primary key);
    create table plain (id int primary key);
    grant select on items, plain to anon;
    alter publication supabase_realtime add table items, plain;";

fn binding_to(table: &str) -> Value {
    json!({"event": "*", "schema": "public", "table": table})
}

/// Makes `items` a table of Citus, whose rows the nodes of these groups store; the coordinator is group 0. `replication` is `s` or,
/// for a reference table, `t`.
async fn convert_items(test: &TestFeed, replication: &str, groups: &[i32]) {
    test.database().pretend_citus().await;
    let superuser = test.superuser().await;
    superuser
        .batch_execute(&format!(
            "insert into pg_catalog.pg_dist_partition values ('public.items', 'n', 0, '{replication}');
             insert into pg_catalog.pg_dist_shard values ('public.items', 102008);
             insert into pg_catalog.pg_dist_placement select 102008, unnest(array{groups:?}::int[]);"
        ))
        .await
        .expect("a changed catalog");
}

/// Lets Citus capture the changes of shards, which sessions notice that begin later.
async fn capture_changes(test: &TestFeed) {
    let name = test.database().name();
    let superuser = test.superuser().await;
    superuser
        .batch_execute(&format!(
            "alter database {name} set citus.enable_change_data_capture = 'on'"
        ))
        .await
        .expect("a changed setting");
}

/// Returns the names of the replication slots that the feed uses.
async fn slots(test: &TestFeed) -> Vec<String> {
    let slots =
        "select slot_name::text from pg_replication_slots where database = current_database() and active";
    let rows = test.superuser().await.query(slots, &[]).await.expect("slots");
    rows.iter().map(|row| row.get(0)).collect()
}

#[tokio::test]
async fn realtime_037_tables_that_citus_distributes_are_refused_because_their_changes_are_not_seen() {
    let test = TestFeed::start(ITEMS).await;
    convert_items(&test, "s", &[1]).await;
    capture_changes(&test).await;

    let refusal = test.refusal(1, "anon", binding_to("items")).await;

    assert_eq!(
        refusal,
        "Unable to subscribe to changes with given parameters. Realtime does not see the changes of tables that Citus distributes; \
         use broadcasts instead. The connect parameters: [event: *, schema: public, table: items, filters: [], select: nil]"
    );
}

#[tokio::test]
async fn realtime_037_tables_that_citus_manages_here_are_refused_unless_it_captures_their_changes() {
    let test = TestFeed::start(ITEMS).await;
    convert_items(&test, "s", &[0]).await;

    let refusal = test.refusal(1, "anon", binding_to("items")).await;

    assert!(
        refusal.contains("only while citus.enable_change_data_capture is on"),
        "{refusal}"
    );
}

#[tokio::test]
async fn realtime_011_changes_arrive_of_tables_that_citus_manages_here_and_whose_changes_it_captures() {
    let test = TestFeed::start(ITEMS).await;
    convert_items(&test, "t", &[0, 1]).await;
    capture_changes(&test).await;
    test.subscribe(1, "anon", &[binding_to("items")]).await;

    test.sql("insert into items values (5)").await;

    assert_eq!(test.change().await.2["record"], json!({"id": 5}));
}

#[tokio::test]
async fn realtime_037_reference_tables_are_refused_on_workers() {
    let test = TestFeed::start(ITEMS).await;
    convert_items(&test, "t", &[0, 1]).await;
    capture_changes(&test).await;
    let superuser = test.superuser().await;
    superuser
        .batch_execute("update pg_catalog.pg_dist_local_group set groupid = 1")
        .await
        .expect("a changed catalog");

    let refusal = test.refusal(1, "anon", binding_to("items")).await;

    assert!(refusal.contains("tables that Citus distributes"), "{refusal}");
}

#[tokio::test]
async fn realtime_038_wildcard_bindings_say_that_changes_of_some_tables_do_not_arrive() {
    let test = TestFeed::start(ITEMS).await;
    convert_items(&test, "s", &[1]).await;

    test.request(1, "anon", &[json!({"event": "*", "schema": "public"})]);
    let (success, warning) = (test.next().await, test.next().await);
    test.sql("insert into plain values (5)").await;

    assert_eq!(
        warning,
        Event::System {
            channel: 1,
            is_ok: false,
            message: "Changes of some tables do not arrive. Realtime does not see the changes of tables that Citus distributes; use \
                      broadcasts instead. The connect parameters: [event: *, schema: public, table: *, filters: [], select: nil]"
                .into()
        }
    );
    assert!(
        matches!(success, Event::System { is_ok: true, .. }),
        "{success:?}"
    );
    assert_eq!(test.change().await.2["record"], json!({"id": 5}));
}

#[tokio::test]
async fn realtime_037_subscribers_learn_that_their_table_has_become_one_of_citus() {
    let test = TestFeed::start(ITEMS).await;
    test.subscribe(1, "anon", &[binding_to("items")]).await;
    test.subscribe(2, "anon", &[binding_to("plain")]).await;

    convert_items(&test, "s", &[0]).await;
    test.sql("notify realtime_catalog").await;

    let event = test.next().await;
    let Event::System {
        channel: 1,
        is_ok: false,
        message,
    } = event
    else {
        panic!("expected a warning of channel 1, got {event:?}");
    };
    assert!(
        message.starts_with("Changes of some tables do not arrive."),
        "{message}"
    );
    assert_eq!(test.waiting(), 0);
}

#[tokio::test]
async fn realtime_037_the_stream_starts_anew_when_citus_begins_to_capture_changes() {
    let test = TestFeed::start(ITEMS).await;
    convert_items(&test, "s", &[0]).await;
    test.subscribe(1, "anon", &[binding_to("plain")]).await;
    let before = slots(&test).await;
    capture_changes(&test).await;

    // The connection that reads the catalog has the old setting until it ends.
    test.end_sessions(&["authenticator"]).await;
    test.subscribe(1, "anon", &[binding_to("items")]).await;
    let after = slots(&test).await;

    assert!(
        after.iter().any(|slot| !before.contains(slot)),
        "{before:?} {after:?}"
    );
}
