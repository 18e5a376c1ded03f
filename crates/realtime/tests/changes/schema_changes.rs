//! DDL, grants and policies between changes: changes after them are delivered by the new rules immediately.

use serde_json::{Value, json};

use super::support::{Event, MARKER, TestFeed, all, claims_of};
use selvedge_realtime::changes::ChannelKey;

const CARDS: &str = "
    create table cards (id int primary key, secret text, name text);
    grant select (id, name) on cards to anon;
    grant all on cards to service_role;
    alter publication supabase_realtime add table cards;";

/// The records that a channel got until now.
async fn records(test: &TestFeed, channel: u64) -> Vec<Value> {
    let events = test.events_until_marker().await;
    let mut found = Vec::new();
    for event in events {
        if let Event::Change {
            channel: to, data, ..
        } = event
            && to == channel
        {
            found.push(data["record"].clone());
        }
    }
    found
}

async fn start() -> TestFeed {
    let test = TestFeed::start(&format!("{CARDS}{MARKER}")).await;
    // A role inherits nothing from `public` here, so that the column grants above are all that `anon` has.
    test.sql("revoke all on cards from anon; grant select (id, name) on cards to anon")
        .await;
    test.subscribe(1, "anon", &[all("cards")]).await;
    test.subscribe(99, "service_role", &[all("marker")]).await;
    test
}

#[tokio::test]
async fn realtime_016_no_column_is_taken_for_another_when_the_table_is_altered_between_changes() {
    let test = start().await;

    // From here on the feed identifies the columns by their numbers.
    test.sql("insert into cards values (0, 'hidden', 'zero')").await;
    assert_eq!(records(&test, 1).await, [json!({"id": 0, "name": "zero"})]);

    // Sent without waiting for the events, so that changes of before and after the alteration are read together.
    for statement in [
        "insert into cards values (1, 'hidden', 'one')",
        "alter table cards drop column secret",
        "insert into cards values (2, 'two')",
        "alter table cards add column extra int default 7",
        "grant select (extra) on cards to anon",
        "insert into cards values (3, 'three')",
        "alter table cards rename column name to title",
        "insert into cards values (4, 'four')",
        "begin; insert into cards values (5, 'five'); alter table cards add column more text default 'm';
         insert into cards values (6, 'six'); commit",
    ] {
        test.sql(statement).await;
    }

    let records = records(&test, 1).await;
    // A change of before the renaming may be delivered with the old name or the new one, but with its value.
    let names: Vec<&Value> = records
        .iter()
        .map(|record| {
            record
                .get("name")
                .or_else(|| record.get("title"))
                .unwrap_or(&Value::Null)
        })
        .collect();
    assert_eq!(
        names,
        ["one", "two", "three", "four", "five", "six"],
        "{records:?}"
    );
    for (record, id) in records.iter().zip(1..) {
        assert_eq!(record["id"], json!(id));
        assert!(!record.to_string().contains("hidden"), "{record}");
        // Rows of before the column was added have no value for it.
        assert_eq!(record.get("extra").is_some(), id >= 3, "{record}");
    }
    assert!(
        records[3..].iter().all(|record| record.get("title").is_some()),
        "{records:?}"
    );
}

#[tokio::test]
async fn realtime_014_row_security_counts_from_the_next_transaction_after_it_is_enabled() {
    let test = start().await;

    for round in 0..2 {
        let id = 10 * round;
        test.sql(&format!("insert into cards (id, name) values ({id}, 'seen')"))
            .await;
        // Everything seen has been delivered before the row is hidden.
        let seen = records(&test, 1).await;
        assert_eq!(seen, [json!({"id": id, "name": "seen"})]);
        test.sql("alter table cards enable row level security").await;
        test.sql(&format!(
            "insert into cards (id, name) values ({}, 'unseen')",
            id + 1
        ))
        .await;
        assert_eq!(records(&test, 1).await, [json!(null); 0], "round {round}");
        test.sql("create policy all_rows on cards for select using (true)")
            .await;
        test.sql(&format!(
            "insert into cards (id, name) values ({}, 'policy')",
            id + 2
        ))
        .await;
        let seen = records(&test, 1).await;
        assert_eq!(seen, [json!({"id": id + 2, "name": "policy"})]);
        test.sql("drop policy all_rows on cards").await;
        test.sql(&format!(
            "insert into cards (id, name) values ({}, 'unseen')",
            id + 3
        ))
        .await;
        assert_eq!(records(&test, 1).await, [json!(null); 0], "round {round}");
        test.sql("alter table cards disable row level security").await;
    }
}

#[tokio::test]
async fn realtime_016_a_revoked_column_is_missing_from_the_next_change() {
    let test = start().await;

    for id in 1..=2 {
        test.sql("grant select (secret) on cards to anon").await;
        test.sql(&format!("insert into cards values ({id}, 's', 'n')"))
            .await;
        let shown = records(&test, 1).await;
        assert_eq!(shown, [json!({"id": id, "secret": "s", "name": "n"})]);
        test.sql("revoke select (secret) on cards from anon").await;
        test.sql(&format!("insert into cards values ({}, 's', 'n')", 100 + id))
            .await;
        let hidden = records(&test, 1).await;
        assert_eq!(hidden, [json!({"id": 100 + id, "name": "n"})]);
    }
}

#[tokio::test]
async fn realtime_023_a_role_that_may_not_filter_by_a_column_loses_the_binding_with_the_refreshed_token() {
    let test = start().await;
    let by_secret = json!({"event": "*", "schema": "public", "table": "cards", "filter": "secret=eq.s"});
    test.subscribe(2, "service_role", &[by_secret]).await;

    let (role, claims) = claims_of("anon");
    test.feed.set_claims(ChannelKey(2), role, claims);

    let Event::System {
        channel: 2,
        is_ok: false,
        message,
    } = test.next().await
    else {
        panic!("the binding is refused");
    };
    assert!(message.ends_with("invalid column for filter secret"), "{message}");
    test.sql("insert into cards values (1, 's', 'n')").await;
    assert_eq!(records(&test, 2).await, [json!(null); 0]);
}

#[tokio::test]
async fn realtime_014_keys_of_a_type_with_another_array_delimiter_are_checked() {
    // Only types of a project's own can be such keys; of PostgreSQL's types `box` has another delimiter, but no order.
    let compared = ["eq", "lt", "le", "gt", "ge"].map(|name| {
        format!("create function semi{name}(semi, semi) returns bool language internal immutable strict as 'int4{name}';")
    });
    let test = TestFeed::start_as_superuser(&format!(
        "create type semi;
         create function semiin(cstring) returns semi language internal immutable strict as 'int4in';
         create function semiout(semi) returns cstring language internal immutable strict as 'int4out';
         create type semi (input = semiin, output = semiout, like = int4, delimiter = ';');
         create function semicmp(semi, semi) returns int language internal immutable strict as 'btint4cmp';
         {}
         create operator = (leftarg = semi, rightarg = semi, function = semieq);
         create operator < (leftarg = semi, rightarg = semi, function = semilt);
         create operator <= (leftarg = semi, rightarg = semi, function = semile);
         create operator > (leftarg = semi, rightarg = semi, function = semigt);
         create operator >= (leftarg = semi, rightarg = semi, function = semige);
         create operator class semi_ops default for type semi using btree as
           operator 1 <, operator 2 <=, operator 3 =, operator 4 >=, operator 5 >, function 1 semicmp(semi, semi);
         create table keyed (id semi primary key, shown boolean);
         alter table keyed enable row level security;
         create policy shown on keyed for select using (shown);
         grant select on keyed to anon;
         alter publication supabase_realtime add table keyed;
         {MARKER}",
        compared.concat()
    ))
    .await;
    test.subscribe(1, "anon", &[all("keyed")]).await;
    test.subscribe(99, "service_role", &[all("marker")]).await;

    test.sql("insert into keyed values ('1', true), ('2', false), ('3', true)")
        .await;

    let records = records(&test, 1).await;
    let ids: Vec<&Value> = records.iter().map(|record| &record["id"]).collect();
    assert_eq!(ids, ["1", "3"]);
}
