//! What one subscriber chose, and the others do not wait for.

use serde_json::json;

use super::support::{Event, TestFeed, all};

const ITEMS: &str = "
    create table items (id int primary key, name text);
    grant select on items to anon;
    alter publication supabase_realtime add table items;";

/// The refusal that a channel got.
fn refusal(event: &Event, of: u64) -> &str {
    match event {
        Event::System {
            channel,
            is_ok: false,
            message,
        } if *channel == of => message,
        other => panic!("expected a refusal of channel {of}, got {other:?}"),
    }
}

#[tokio::test]
async fn realtime_076_a_binding_whose_check_takes_long_delays_nobodys_changes() {
    // As long as a regular expression may take that a stranger has sent.
    let slow = "create or replace function realtime.check_binding(
          role_name text, entity regclass, filters realtime.user_defined_filter[], selected_columns text[]
        ) returns void language plpgsql as $$
        begin
          if filters[1].value = 'slow' then perform pg_sleep(60); end if;
        end $$;";
    let test = TestFeed::start_as_superuser(&format!("{ITEMS}{slow}")).await;
    test.subscribe(1, "anon", &[all("items")]).await;
    let filtered = |value: &str| json!({"event": "*", "schema": "public", "table": "items", "filter": format!("name=eq.{value}")});

    test.request(2, "anon", &[all("items"), filtered("slow")]);
    test.request(3, "anon", &[filtered("a")]);
    // Another client's check is done before the slow one has ended.
    assert_eq!(
        test.next().await,
        Event::System {
            channel: 3,
            is_ok: true,
            message: "Subscribed to PostgreSQL".into()
        }
    );
    test.sql("insert into items values (1, 'b')").await;
    let (channel, _, change) = test.change().await;
    assert_eq!((channel, &change["record"]["id"]), (1, &json!(1)));

    let refused = test.next().await;
    let text = refusal(&refused, 2);
    assert!(text.contains("ERROR 57014 (query_canceled)"), "{text}");
}

#[tokio::test]
async fn realtime_037_the_first_of_many_bindings_that_is_wrong_is_named() {
    let test = TestFeed::start(ITEMS).await;
    let binding = |number: usize| {
        let column = if number < 60 { "id" } else { "nothing" };
        json!({"event": "*", "schema": "public", "table": "items", "filter": format!("{column}=gt.{number}")})
    };
    let bindings: Vec<_> = (0..100).map(binding).collect();

    test.request(1, "anon", &bindings);

    let refused = test.next().await;
    assert_eq!(
        refusal(&refused, 1),
        "Unable to subscribe to changes with given parameters. An exception happened so please check your connect parameters: \
         [event: *, schema: public, table: items, filters: [{\"nothing\", \"gt\", \"60\", false}], select: nil]. \
         Exception: ERROR P0001 (raise_exception) invalid column for filter nothing"
    );
}

#[tokio::test]
async fn realtime_038_joins_with_unknown_tables_read_the_published_tables_once_a_second_at_most() {
    let test = TestFeed::start(ITEMS).await;
    test.subscribe(1, "anon", &[all("items")]).await;

    test.request(2, "anon", &[all("unknown")]);
    test.sql(
        "create table later (id int primary key); grant select on later to anon;
              alter publication supabase_realtime add table later",
    )
    .await;
    test.request(3, "anon", &[all("later")]);

    let mut answers = [test.next().await, test.next().await];
    answers.sort_by_key(|event| match event {
        Event::System { channel, .. } => *channel,
        other => panic!("no answer: {other:?}"),
    });
    assert!(refusal(&answers[0], 2).contains("Please check Realtime is enabled"));
    assert!(matches!(
        answers[1],
        Event::System {
            channel: 3,
            is_ok: true,
            ..
        }
    ));
}

#[tokio::test]
async fn realtime_076_a_filter_that_takes_long_costs_nobody_elses_changes_and_ends_after_some_times() {
    // As long as a regular expression with references back may take.
    let slow = "create or replace function realtime.check_equality_op(
          op realtime.equality_op, type_ regtype, val_1 text, val_2 text, negate boolean default false
        ) returns boolean language plpgsql as $$
        begin
          if val_2 = 'slow' then perform pg_sleep(60); end if;
          return val_1 ilike val_2;
        end $$;";
    let test = TestFeed::start_as_superuser(&format!("{ITEMS}{slow}")).await;
    let filtered =
        |filter: &str| json!({"event": "*", "schema": "public", "table": "items", "filter": filter});
    test.subscribe(1, "anon", &[filtered("id=gt.0")]).await;
    test.subscribe(2, "anon", &[filtered("name=ilike.B%")]).await;
    test.subscribe(3, "anon", &[filtered("name=ilike.slow")]).await;

    let failed = "Changes were not delivered: a filter of this channel could not be evaluated";
    let (mut native, mut asked, mut told, mut rows) = (0, 0, Vec::new(), 0);
    while told
        .last()
        .is_none_or(|text: &String| !text.contains("took too long several times"))
    {
        rows += 1;
        assert!(rows <= 10, "{told:?}");
        test.sql(&format!("insert into items values ({rows}, 'b')")).await;
        let failures = told.len();
        // Until the slow channel is told about this row.
        while told.len() == failures || asked < rows {
            match test.next().await {
                Event::Change { channel: 1, .. } => native += 1,
                Event::Change { channel: 2, .. } => asked += 1,
                Event::System {
                    channel: 3, message, ..
                } => {
                    // Delivered long before PostgreSQL gives up the slow filter.
                    assert!(
                        native >= asked && (native == rows || message != failed),
                        "{message}"
                    );
                    told.push(message);
                }
                other => panic!("unexpected: {other:?}"),
            }
        }
    }

    assert!(
        told.iter().filter(|text| *text == failed).count() >= 3,
        "{told:?}"
    );
    test.sql("insert into items values (11, 'b')").await;
    let (first, second) = (test.change().await, test.change().await);
    assert_eq!((first.0, second.0), (1, 2));
    assert_eq!((native, asked), (rows, rows));
}

#[tokio::test]
async fn realtime_076_a_filter_that_is_slow_on_hidden_rows_tells_its_channel_nothing() {
    // A regular expression may take long for values with a certain beginning, so that its time tells how a value begins.
    let slow = "create or replace function realtime.check_equality_op(
          op realtime.equality_op, type_ regtype, val_1 text, val_2 text, negate boolean default false
        ) returns boolean language plpgsql as $$
        begin
          if val_1 = 'hidden' then perform pg_sleep(60); end if;
          return val_1 = val_2;
        end $$;
        alter table items enable row level security;
        create policy seen on items for select to anon using (name <> 'hidden');";
    let test = TestFeed::start_as_superuser(&format!("{ITEMS}{slow}")).await;
    let filter = json!({"event": "*", "schema": "public", "table": "items", "filter": "name=ilike.seen"});
    test.subscribe(1, "anon", &[filter]).await;

    // In the first round the server learns that this client's filters are slow. In the later ones it evaluates them apart.
    for round in 0..5 {
        let (hidden, seen, together) = (3 * round, 3 * round + 1, 3 * round + 2);
        test.sql(&format!("insert into items values ({hidden}, 'hidden')"))
            .await;
        test.sql(&format!("insert into items values ({seen}, 'seen')"))
            .await;
        let (_, _, change) = test.change().await;
        assert_eq!(change["record"]["id"], json!(seen));
        test.sql(&format!(
            "insert into items values ({together}, 'seen'), ({}, 'hidden')",
            -hidden - 1
        ))
        .await;
        let (_, _, change) = test.change().await;
        assert_eq!(change["record"]["id"], json!(together));
    }
    test.sql("insert into items values (100, 'seen')").await;
    assert_eq!(test.change().await.2["record"]["id"], json!(100));
}
