//! Filters on columns that the role may not select, because a right was revoked or the table was published later.

use serde_json::json;

use super::support::{Event, MARKER, TestFeed, all};

const NOTES: &str = "
    create table notes (id int primary key, body text, secret text);
    grant select on notes to anon, service_role;
    alter publication supabase_realtime add table notes;";

async fn start() -> TestFeed {
    let test = TestFeed::start(&format!("{NOTES}{MARKER}")).await;
    test.subscribe(99, "service_role", &[all("marker")]).await;
    test
}

/// Waits until the channel is told that its filter names a hidden column.
async fn wait_for_refusal(test: &TestFeed) {
    loop {
        match test.next().await {
            Event::System {
                channel: 1,
                is_ok: false,
                message,
            } => {
                assert!(message.ends_with("invalid column for filter secret"), "{message}");
                return;
            }
            Event::Change { channel: 1, .. } => panic!("nothing is delivered by a hidden column"),
            _ => {}
        }
    }
}

fn is_change(event: &Event) -> bool {
    matches!(event, Event::Change { channel: 1, .. })
}

#[tokio::test]
async fn realtime_045_a_filter_on_a_revoked_column_decides_nothing_and_its_channel_is_told() {
    let test = start().await;
    let by_secret = json!({"event": "*", "schema": "public", "table": "notes", "filter": "secret=like.4%"});
    test.subscribe(1, "anon", &[by_secret]).await;
    test.sql("insert into notes values (1, 'x', '4711')").await;
    assert_eq!(test.change().await.2["record"]["id"], json!(1));

    test.sql("revoke select on notes from anon; grant select (id, body) on notes to anon")
        .await;
    test.sql("insert into notes values (2, 'x', '4712'), (3, 'x', '0815')")
        .await;

    wait_for_refusal(&test).await;
    assert!(!test.events_until_marker().await.iter().any(is_change));
    test.sql("grant select on notes to anon").await;
    let allowed = Event::System {
        channel: 1,
        is_ok: true,
        message: "Subscribed to PostgreSQL".into(),
    };
    assert_eq!(test.next().await, allowed);
    test.sql("insert into notes values (4, 'x', '4713')").await;
    assert_eq!(test.change().await.2["record"]["id"], json!(4));
}

#[tokio::test]
async fn realtime_045_a_binding_to_all_tables_does_not_filter_by_a_hidden_column_of_one_published_later() {
    let test = start().await;
    let everywhere = json!({"event": "*", "schema": "public", "filter": "secret=eq.s"});
    test.sql("alter table marker add column secret text; grant select on marker to anon")
        .await;
    test.events_until_marker().await;
    test.subscribe(1, "anon", std::slice::from_ref(&everywhere)).await;

    test.sql(
        "create table later (id int primary key, secret text); revoke all on later from anon;
         grant select (id) on later to anon; alter publication supabase_realtime add table later;",
    )
    .await;
    test.sql("insert into later values (1, 's'), (2, 'other')").await;

    wait_for_refusal(&test).await;
    assert!(!test.events_until_marker().await.iter().any(is_change));
    test.sql("insert into notes values (1, 'x', 's')").await;
    assert_eq!(
        test.change().await.2["table"],
        json!("notes"),
        "other tables are not affected"
    );
}

#[tokio::test]
async fn realtime_045_changes_of_roles_that_fire_no_event_trigger_are_noticed() {
    let test = start().await;
    let superuser = test.superuser().await;
    let (watcher, readers) = (
        format!("watcher_{}", test.database().name()),
        format!("readers_{}", test.database().name()),
    );
    superuser
        .batch_execute(&format!(
            "create role {watcher} bypassrls; create role {readers}; grant {readers} to {watcher};
             grant {watcher} to authenticator; revoke all on notes from public;
             grant select on notes to {readers}; alter table notes enable row level security;"
        ))
        .await
        .expect("a superuser may");
    let filtered = json!({"event": "*", "schema": "public", "table": "notes", "filter": "secret=eq.s"});
    test.subscribe(1, &watcher, &[filtered]).await;
    test.sql("insert into notes values (1, 'x', 's')").await;
    assert_eq!(test.change().await.2["record"]["id"], json!(1));

    let roles_count_after = |statement: String, from: i32| {
        let (test, superuser) = (&test, &superuser);
        async move {
            superuser
                .batch_execute(&statement)
                .await
                .expect("a superuser may");
            // Within a second, because nothing announces it.
            for id in from.. {
                test.sql(&format!("insert into notes values ({id}, 'x', 's')"))
                    .await;
                let events = test.events_until_marker().await;
                if !events.iter().any(is_change) {
                    return events;
                }
                assert!(id < from + 300, "the change of the role is never noticed");
            }
            Vec::new()
        }
    };
    roles_count_after(format!("alter role {watcher} nobypassrls"), 10).await;
    superuser
        .batch_execute(&format!("alter role {watcher} bypassrls"))
        .await
        .expect("a superuser may");
    // Noticed at the latest with the question for visible rows, which this role has to be asked now.
    test.sql("insert into notes values (2, 'x', 's')").await;
    assert_eq!(test.change().await.2["record"]["id"], json!(2));
    let mut events = roles_count_after(format!("revoke {readers} from {watcher}"), 5000).await;
    if !events.iter().any(|event| matches!(event, Event::System { .. })) {
        events.push(test.next().await);
    }
    let is_refusal = |event: &Event| {
        matches!(
            event,
            Event::System {
                channel: 1,
                is_ok: false,
                ..
            }
        )
    };
    assert!(events.iter().any(is_refusal), "{events:?}");

    superuser
        .batch_execute(&format!(
            "drop owned by {watcher}, {readers}; drop role {watcher}, {readers}"
        ))
        .await
        .expect("a superuser may");
}

#[tokio::test]
async fn realtime_045_a_filter_tells_nothing_of_rows_without_a_key_to_ask_about() {
    let test = start().await;
    test.sql(
        "alter table notes enable row level security;
         create policy own on notes for select to anon using (body = 'mine')",
    )
    .await;
    let by_secret = json!({"event": "*", "schema": "public", "table": "notes", "filter": "secret=eq.4711"});
    test.subscribe(1, "anon", &[by_secret]).await;

    test.sql("alter table notes drop constraint notes_pkey").await;
    loop {
        match test.next().await {
            Event::System {
                channel: 1,
                is_ok: false,
                message,
            } if message.contains("no primary key") => break,
            Event::Change { channel: 1, .. } => panic!("no row was written"),
            _ => {}
        }
    }
    test.sql("insert into notes values (1, 'theirs', '4711'), (2, 'mine', '4711')")
        .await;
    assert!(!test.events_until_marker().await.iter().any(is_change));

    test.sql("alter table notes add primary key (id)").await;
    let allowed = Event::System {
        channel: 1,
        is_ok: true,
        message: "Subscribed to PostgreSQL".into(),
    };
    while test.next().await != allowed {}
    test.sql("insert into notes values (3, 'theirs', '4711'), (4, 'mine', '4711')")
        .await;
    assert_eq!(test.change().await.2["record"]["id"], json!(4));
}
