//! The objects of schema `realtime` that triggers and policies of projects use (realtime.md §12).

use selvedge_testing::TestDatabase;

use super::{api, query_sqlstate, query_value};

#[tokio::test]
async fn send_stores_a_message_under_its_topic_and_adds_an_id() {
    let database = TestDatabase::create().await;
    let postgres = database.connect("postgres").await;

    postgres
        .batch_execute(
            "select realtime.send('{\"a\":1}', 'event', 'room:1');
             select realtime.send('{\"id\":\"mine\"}', 'event', 'room:1', false);
             select realtime.send_binary('\\x0102', 'event', 'room:1');",
        )
        .await
        .expect("sends");

    assert_eq!(
        query_value(
            &postgres,
            "select string_agg(concat_ws(' ', topic, event, extension, private::text,
               case when payload ->> 'id' = id::text then 'own id' else payload ->> 'id' end, binary_payload), '|'
               order by binary_payload nulls first, private desc) from realtime.messages"
        )
        .await,
        "room:1 event broadcast true own id|room:1 event broadcast false mine|room:1 event broadcast true \\x0102"
    );
}

#[tokio::test]
async fn a_failed_broadcast_does_not_fail_the_calling_statement() {
    let database = TestDatabase::create().await;
    let anon = api(&database, "anon", "{}").await;

    // No policy allows the insert, but the call succeeds.
    anon.batch_execute("select realtime.send('{}', 'e', 't')")
        .await
        .expect("only a warning");

    let postgres = database.connect("postgres").await;
    assert_eq!(
        query_value(&postgres, "select count(*) from realtime.messages").await,
        "0"
    );
}

#[tokio::test]
async fn changes_are_broadcast_by_row_triggers() {
    let database = TestDatabase::create().await;
    let postgres = database.connect("postgres").await;

    postgres
        .batch_execute(
            "create table todos (id int primary key, note text);
             create function todos_changed() returns trigger security definer language plpgsql as $$
             begin
               perform realtime.broadcast_changes('topic:' || coalesce(new.id, old.id)::text, tg_op, tg_op,
                 tg_table_name, tg_table_schema, new, old);
               return null;
             end $$;
             create trigger changed after insert or update or delete on todos
               for each row execute function todos_changed();
             insert into todos values (1, 'a'); update todos set note = 'b'; delete from todos;",
        )
        .await
        .expect("applies");

    assert_eq!(
        query_value(
            &postgres,
            "select string_agg(concat_ws(' ', topic, event, payload ->> 'operation', payload #>> '{record,note}',
               payload #>> '{old_record,note}'), '|' order by event desc) from realtime.messages where private"
        )
        .await,
        "topic:1 UPDATE UPDATE b a|topic:1 INSERT INSERT a|topic:1 DELETE DELETE b"
    );
    assert_eq!(
        query_sqlstate(
            &postgres,
            "select realtime.broadcast_changes('t', 'e', 'TRUNCATE', 'a', 'b', null::todos, null::todos)"
        )
        .await,
        "P0001"
    );
}

#[tokio::test]
async fn partitions_cover_yesterday_to_three_days_ahead_and_old_ones_go() {
    let database = TestDatabase::create().await;
    let admin = database.superuser().await;
    let days = "select count(to_regclass(to_char(day, '\"realtime.messages_\"YYYY_MM_DD')))
        from generate_series((now() at time zone 'utc')::date - 1, (now() at time zone 'utc')::date + 3, '1 day') as day";

    // The database may be the copy of one that was made before midnight.
    admin
        .batch_execute(
            "set role supabase_realtime_admin;
             create table realtime.messages_2020_01_01 partition of realtime.messages
               for values from ('2020-01-01') to ('2020-01-02');
             select realtime.maintain_messages_partitions();",
        )
        .await
        .expect("maintained");
    assert_eq!(query_value(&admin, days).await, "5");
    assert_eq!(
        query_value(
            &admin,
            "select to_regclass('realtime.messages_2020_01_01') is null"
        )
        .await,
        "true"
    );
    assert_eq!(
        query_sqlstate(
            &admin,
            "insert into realtime.messages (topic, extension, inserted_at) values ('t', 'e', '2020-01-01')"
        )
        .await,
        "23514"
    );
}

#[tokio::test]
async fn subscriptions_reject_invalid_filters() {
    let database = TestDatabase::create().await;
    let admin = database.superuser().await;
    admin
        .batch_execute(
            "create table public.t (id int primary key, name text, done boolean);
             grant select (id, name, done) on t to authenticated;",
        )
        .await
        .expect("created");

    for (filter, expected) in [
        ("(id,eq,5,false)", "ok"),
        (
            "(id,eq,hey,false)",
            "invalid input syntax for type integer: \"hey\"",
        ),
        ("(nope,eq,5,false)", "invalid column for filter nope"),
        ("(id,in,\"{1,2}\",false)", "ok"),
        (
            "(id,like,1%,false)",
            "operator like requires a text-compatible column type, got integer",
        ),
        (
            "(name,match,[,false)",
            "invalid regular expression for match filter",
        ),
        (
            "(id,is,true,false)",
            "is true filter requires a boolean column, got integer",
        ),
        (
            "(id,is,no,false)",
            "invalid value for is filter: must be null, true, false, or unknown",
        ),
        ("(done,is,true,false)", "ok"),
    ] {
        let outcome = admin
            .execute(
                "insert into realtime.subscription (subscription_id, entity, filters, claims) values
                 (gen_random_uuid(), 'public.t', array[$1::text::realtime.user_defined_filter],
                  '{\"role\":\"authenticated\"}')",
                &[&filter],
            )
            .await;
        let said = match outcome {
            Ok(_) => "ok".to_owned(),
            Err(error) => error
                .as_db_error()
                .map(|db| db.message().to_owned())
                .expect("by PostgreSQL"),
        };
        assert!(said.starts_with(expected), "{filter}: {said}");
    }
    let anon = api(&database, "anon", "{}").await;
    assert_eq!(
        query_sqlstate(&anon, "select from realtime.subscription").await,
        "42501"
    );
}

#[tokio::test]
async fn filters_compare_as_the_columns_type_does() {
    let database = TestDatabase::create().await;
    let postgres = database.connect("postgres").await;

    for (call, expected) in [
        ("'eq', 'int4', '5', '5'", "true"),
        ("'lt', 'int4', '10', '9'", "false"),
        ("'lt', 'text', '10', '9'", "true"),
        ("'in', 'int4', '2', '{1,2}'", "true"),
        ("'ilike', 'text', 'Ana', 'a%'", "true"),
        ("'match', 'text', 'ana', '^a.a$'", "true"),
        ("'is', 'bool', 'true', 'true'", "true"),
        ("'is', 'int4', null, 'null'", "true"),
        ("'isdistinct', 'int4', null, '1'", "true"),
        ("'eq', 'int4', null, '1'", "false"),
        ("'eq', 'int4', null, '1', true", "false"),
        ("'eq', 'int4', '2', '1', true", "true"),
    ] {
        assert_eq!(
            query_value(&postgres, &format!("realtime.check_equality_op({call})")).await,
            expected,
            "{call}"
        );
    }
}
