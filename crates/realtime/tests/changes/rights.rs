//! Which subscribers get which changes: grants, row-level security, refreshed claims, and a broken replication stream.

use serde_json::json;

use selvedge_realtime::changes::ChannelKey;

use super::support::{ALICE, BOB, Event, MARKER, TestFeed, all, claims_of};

const NOTES: &str = "
    create table notes (id int primary key, owner uuid, body text);
    alter table notes replica identity full;
    alter table notes enable row level security;
    grant select on notes to anon, authenticated, service_role;
    create policy own on notes for select to authenticated using (owner = auth.uid());
    alter publication supabase_realtime add table notes;";

#[tokio::test]
async fn realtime_014_realtime_015_rows_reach_only_subscribers_whose_policies_show_them() {
    let test = TestFeed::start(&format!("{NOTES}{MARKER}")).await;
    test.subscribe(1, ALICE, &[all("notes")]).await;
    test.subscribe(2, BOB, &[all("notes")]).await;
    test.subscribe(3, "anon", &[all("notes")]).await;
    test.subscribe(4, "service_role", &[all("notes")]).await;
    test.subscribe(99, "service_role", &[all("marker")]).await;

    test.sql(&format!(
        "insert into notes values (1, '{ALICE}', 'a'), (2, '{BOB}', 'b'), (3, null, 'nobody');
         update notes set owner = '{BOB}' where id = 1;
         delete from notes where id = 2;"
    ))
    .await;

    let mut seen = Vec::new();
    for event in test.events_until_marker().await {
        let Event::Change { channel, data, .. } = event else {
            panic!("only changes: {event:?}");
        };
        let row = if data["type"] == "DELETE" {
            &data["old_record"]
        } else {
            &data["record"]
        };
        seen.push((
            channel,
            data["type"].as_str().expect("a text").to_owned(),
            row.to_string(),
        ));
    }
    let told = |channel: u64| -> Vec<String> {
        seen.iter()
            .filter(|(to, ..)| *to == channel)
            .map(|(_, kind, row)| format!("{kind} {row}"))
            .collect()
    };
    let deleted = r#"DELETE {"id":2}"#.to_owned();
    // The visibility check reads the current table: the row already belongs to Bob when its insert is checked for Alice.
    assert_eq!(told(1), std::slice::from_ref(&deleted));
    assert!(told(2).contains(&format!(r#"UPDATE {{"id":1,"owner":"{BOB}","body":"a"}}"#)));
    assert!(told(2).iter().all(|event| !event.contains("nobody")));
    assert_eq!(told(3), std::slice::from_ref(&deleted));
    assert!(told(4).iter().any(|event| event.contains("nobody")) && told(4).contains(&deleted));
}

#[tokio::test]
async fn realtime_016_realtime_045_events_omit_columns_the_role_may_not_select() {
    let test = TestFeed::start(
        "create table cols (id int primary key, pub text, secret text);
         create table closed (id int primary key);
         create table keyless (a int);
         grant select (id, pub) on cols to anon;
         grant select on keyless to anon;
         alter publication supabase_realtime add table cols, closed, keyless;",
    )
    .await;
    test.sql("revoke all on closed, cols from anon; grant select (id, pub) on cols to anon")
        .await;
    test.subscribe(1, "anon", &[json!({"event": "*", "schema": "public"})])
        .await;

    test.sql("insert into cols values (1, 'p', 's'); insert into closed values (1); insert into keyless values (1)").await;

    let (_, _, cols) = test.change().await;
    assert_eq!(cols["record"], json!({"id": 1, "pub": "p"}));
    assert!(!cols.to_string().contains("secret"));
    let (_, _, closed) = test.change().await;
    assert_eq!(
        closed,
        json!({"schema": "public", "table": "closed", "type": "INSERT", "commit_timestamp": null, "columns": [],
               "record": {}, "errors": ["Error 401: Unauthorized"]})
    );
    let (_, _, keyless) = test.change().await;
    assert_eq!(
        keyless["errors"],
        json!(["Error 400: Bad Request, no primary key"])
    );
    let refused = test
        .refusal(
            2,
            "anon",
            json!({"event": "*", "schema": "public", "table": "cols", "filter": "secret=eq.s"}),
        )
        .await;
    assert!(
        refused.ends_with("ERROR P0001 (raise_exception) invalid column for filter secret"),
        "{refused}"
    );
}

#[tokio::test]
async fn realtime_026_refreshed_claims_apply_to_the_next_change() {
    let test = TestFeed::start(&format!("{NOTES}{MARKER}")).await;
    test.subscribe(1, ALICE, &[all("notes")]).await;
    test.subscribe(99, "service_role", &[all("marker")]).await;

    let (role, claims) = claims_of(BOB);
    test.feed.set_claims(ChannelKey(1), role, claims);
    assert!(matches!(
        test.next().await,
        Event::System {
            channel: 1,
            is_ok: true,
            ..
        }
    ));
    test.sql(&format!(
        "insert into notes values (1, '{ALICE}', 'a'), (2, '{BOB}', 'b')"
    ))
    .await;

    let events = test.events_until_marker().await;
    let bodies: Vec<_> = events
        .iter()
        .map(|event| match event {
            Event::Change { data, .. } => data["record"]["body"].clone(),
            other => panic!("only changes: {other:?}"),
        })
        .collect();
    assert_eq!(bodies, [json!("b")]);
}

#[tokio::test]
async fn realtime_057_replication_restarts_after_a_killed_walsender_and_channels_are_notified() {
    let test = TestFeed::start(NOTES).await;
    test.subscribe(1, "service_role", &[all("notes")]).await;

    test.sql("select pg_terminate_backend(active_pid) from pg_replication_slots where database = current_database()")
        .await;

    let resumed = Event::System {
        channel: 1,
        is_ok: true,
        message: "Subscribed to PostgreSQL".into(),
    };
    assert_eq!(test.next().await, resumed);
    test.sql("insert into notes values (1, null, 'after')").await;
    assert_eq!(test.change().await.2["record"]["body"], json!("after"));
}
