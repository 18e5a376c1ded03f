//! Questions to PostgreSQL that fail: a change is delivered, or its subscriber is told.

use serde_json::json;

use super::support::{ALICE, Event, MARKER, TestFeed, all};

const ITEMS: &str = "
    create table gate (id int);
    create table items (id int primary key, owner uuid, name text, size int);
    alter table items alter name set storage external;
    alter table items enable row level security;
    create policy own on items for select to authenticated
      using (owner = auth.uid() and not exists (select from gate where id = 0));
    grant select on items, gate to authenticated;
    alter publication supabase_realtime add table items;";

/// The notices that a channel got.
fn notices(events: &[Event], to: u64) -> Vec<&str> {
    let notices = events.iter().filter_map(|event| match event {
        Event::System {
            channel,
            is_ok: false,
            message,
        } if *channel == to => Some(message.as_str()),
        _ => None,
    });
    notices.collect()
}

#[tokio::test]
async fn realtime_057_a_channel_is_told_when_row_level_security_could_not_be_asked() {
    let limit = "do $$ begin execute format(
        'alter role authenticator in database %I set statement_timeout = %L', current_database(), '500ms'); end $$;";
    let test = TestFeed::start_as_superuser(&format!("{ITEMS}{MARKER}{limit}")).await;
    let superuser = test.superuser().await;
    let filtered = json!({"event": "*", "schema": "public", "table": "items", "filter": "size=eq.7"});
    test.subscribe(1, ALICE, &[all("items")]).await;
    test.subscribe(2, ALICE, &[filtered]).await;
    test.subscribe(99, "service_role", &[all("marker")]).await;
    test.sql(&format!("insert into items values (0, '{ALICE}', 'a', 1)"))
        .await;
    assert_eq!(test.change().await.2["record"]["id"], json!(0));
    test.events_until_marker().await;

    superuser
        .batch_execute("begin; lock table gate in access exclusive mode")
        .await
        .expect("locked");
    test.sql(&format!("insert into items values (1, '{ALICE}', 'a', 1)"))
        .await;
    let events = test.events_until_marker().await;
    superuser.batch_execute("rollback").await.expect("unlocked");

    let told = "Changes were not delivered: row-level security could not be checked";
    assert_eq!(notices(&events, 1), [told]);
    // Whose filter is not fulfilled is told, too: nobody learns by it what a hidden row has.
    assert_eq!(notices(&events, 2), [told]);
    test.sql(&format!("insert into items values (2, '{ALICE}', 'a', 1)"))
        .await;
    assert_eq!(test.change().await.2["record"]["id"], json!(2));
}

#[tokio::test]
async fn realtime_057_a_filter_that_fails_costs_no_other_filter_its_changes_and_its_channel_is_told() {
    let test = TestFeed::start(
        "create table words (id int primary key, x text); grant select on words to anon;
         alter publication supabase_realtime add table words;",
    )
    .await;
    let everywhere = json!({"event": "*", "schema": "public", "filter": "x=like.a%"});
    let words = json!({"event": "*", "schema": "public", "table": "words", "filter": "x=like.a%"});
    test.subscribe(2, "anon", &[words]).await;
    test.subscribe(1, "anon", &[everywhere]).await;
    // The operator of the filter does not exist for the column of a table that is published later.
    test.sql(
        "create table numbers (id int primary key, x int); grant select on numbers to anon;
         alter publication supabase_realtime add table numbers;",
    )
    .await;

    test.sql("begin; insert into numbers values (1, 5); insert into words values (1, 'abc'); commit")
        .await;

    let mut events = Vec::new();
    while events.len() < 3 {
        events.push(test.next().await);
    }
    let told = "Changes were not delivered: a filter of this channel could not be evaluated";
    assert_eq!(notices(&events, 1), [told], "{events:?}");
    let mut delivered: Vec<u64> = events
        .iter()
        .filter_map(|event| match event {
            Event::Change { channel, data, .. } if data["table"] == "words" => Some(*channel),
            _ => None,
        })
        .collect();
    delivered.sort_unstable();
    assert_eq!(delivered, [1, 2], "{events:?}");
}

#[tokio::test]
async fn realtime_043_a_channel_is_told_when_its_filter_names_a_large_value_that_an_update_left_alone() {
    let test = TestFeed::start(&format!("{ITEMS}{MARKER}")).await;
    let filtered =
        json!({"event": "*", "schema": "public", "table": "items", "filter": "name=like.x%,size=eq.2"});
    test.subscribe(1, ALICE, std::slice::from_ref(&filtered)).await;
    // Who does not see the row is not told either.
    test.subscribe(2, super::support::BOB, &[filtered]).await;
    test.subscribe(99, "service_role", &[all("marker")]).await;

    test.sql(&format!(
        "insert into items values (1, '{ALICE}', repeat('x', 5000), 1)"
    ))
    .await;
    test.sql("update items set size = 2").await;

    let events = test.events_until_marker().await;
    let told = "Changes were not delivered: a filter of this channel could not be evaluated";
    assert_eq!(notices(&events, 1), [told], "{events:?}");
    assert_eq!(events.len(), 1, "{events:?}");
}
