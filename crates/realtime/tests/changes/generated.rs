//! Generated columns, which PostgreSQL's stream does not contain.

use serde_json::json;

use super::support::{ALICE, BOB, Event, TestFeed, all};

const PRICES: &str = "
    create table prices (
      id int primary key, owner uuid, net int,
      gross int generated always as (net * 2) stored,
      label text generated always as ('net ' || net) stored
    );
    grant select on prices to anon, authenticated, service_role;
    alter publication supabase_realtime add table prices;";

fn filtered(filter: &str) -> serde_json::Value {
    json!({"event": "*", "schema": "public", "table": "prices", "filter": filter})
}

#[tokio::test]
async fn realtime_041_generated_columns_are_in_records_and_filters_test_them() {
    let test = TestFeed::start(PRICES).await;
    test.subscribe(1, "anon", &[filtered("gross=eq.20")]).await;
    test.subscribe(2, "anon", &[filtered("label=like.net 1%")]).await;

    test.sql("insert into prices values (1, null, 7), (2, null, 10)")
        .await;
    let expected = json!({"id": 2, "owner": null, "net": 10, "gross": 20, "label": "net 10"});
    let mut channels = Vec::new();
    for _ in 0..2 {
        let (to, _, data) = test.change().await;
        assert_eq!(data["record"], expected);
        channels.push(to);
    }
    channels.sort_unstable();
    assert_eq!(channels, [1, 2]);

    test.sql("update prices set net = 15 where id = 1").await;
    let (to, _, data) = test.change().await;
    let updated = json!({"id": 1, "owner": null, "net": 15, "gross": 30, "label": "net 15"});
    assert_eq!((to, &data["record"]), (2, &updated));
}

#[tokio::test]
async fn realtime_014_generated_columns_are_shown_by_policies_and_rights_as_all_others() {
    let test = TestFeed::start(&format!(
        "{PRICES}
         alter table prices enable row level security;
         create policy own on prices for select using (owner = auth.uid());
         revoke select on prices from authenticated;
         grant select (id, owner, net, label) on prices to authenticated;"
    ))
    .await;
    test.subscribe(1, ALICE, &[all("prices")]).await;
    test.subscribe(2, BOB, &[all("prices")]).await;

    test.sql(&format!(
        "insert into prices values (1, '{ALICE}', 7), (2, '{BOB}', 8)"
    ))
    .await;

    for (channel, owner, net) in [(1, ALICE, 7), (2, BOB, 8)] {
        let (to, _, data) = test.change().await;
        let expected = json!({"id": channel, "owner": owner, "net": net, "label": format!("net {net}")});
        assert_eq!((to, &data["record"]), (channel, &expected));
    }
}

#[tokio::test]
async fn realtime_041_generated_columns_of_a_row_that_is_gone_are_null_and_filters_on_them_are_told() {
    let test = TestFeed::start(PRICES).await;
    test.subscribe(1, "anon", &[all("prices")]).await;
    test.subscribe(2, "anon", &[filtered("gross=eq.20")]).await;

    test.sql("begin; insert into prices values (1, null, 7); delete from prices; commit")
        .await;

    let mut is_told = false;
    loop {
        match test.next().await {
            Event::Change { channel, data, .. } => {
                assert_eq!(channel, 1);
                if data["type"] == "DELETE" {
                    break;
                }
                let expected = json!({"id": 1, "owner": null, "net": 7, "gross": null, "label": null});
                assert_eq!(data["record"], expected);
            }
            Event::System { channel, message, .. } => {
                assert_eq!(channel, 2);
                assert!(
                    message.contains("a filter of this channel could not be evaluated"),
                    "{message}"
                );
                is_told = true;
            }
            other @ Event::Broadcast(_) => panic!("{other:?}"),
        }
    }
    assert!(is_told);
}

#[tokio::test]
async fn realtime_041_changes_of_other_tables_do_not_wait_for_a_locked_table_with_generated_columns() {
    let plain = "create table plain (id int primary key); grant select on plain to anon;
        alter publication supabase_realtime add table plain;";
    let test = TestFeed::start(&format!("{PRICES} {plain}")).await;
    test.subscribe(1, "anon", &[all("prices")]).await;
    test.subscribe(2, "anon", &[all("plain")]).await;
    let (writer, holder) = (test.superuser().await, test.superuser().await);
    let written = writer
        .batch_execute("begin; insert into prices values (1, null, 7)")
        .await;
    written.expect("an open transaction");

    // The lock is asked for while the row is not committed, so it is granted before the feed can read the row.
    let lock = holder.batch_execute("begin; lock table prices in access exclusive mode");
    let commit = async {
        test.wait_for_lock(&writer, "prices").await;
        writer.batch_execute("commit").await.expect("committed");
    };
    let (locked, ()) = tokio::join!(lock, commit);
    locked.expect("the lock");
    test.sql("insert into plain values (1)").await;

    let (to, _, data) = test.change().await;
    let expected = json!({"id": 1, "owner": null, "net": 7, "gross": null, "label": null});
    assert_eq!((to, &data["record"]), (1, &expected));
    let (to, _, data) = test.change().await;
    assert_eq!((to, &data["record"]), (2, &json!({"id": 1})));
    holder
        .batch_execute("commit")
        .await
        .expect("it was locked all the time");
}
