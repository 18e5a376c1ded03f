//! The objects of schema `realtime` that migrations, policies and triggers of projects use.

use serde_json::json;
use tokio_postgres::Client as Database;

use super::support::TestServer;

/// Functions with their argument types and result, as `pg_get_function_identity_arguments` and `format_type` write them.
const FUNCTIONS: [&str; 11] = [
    "broadcast_changes(topic_name text, event_name text, operation text, table_name text, table_schema text, new record, \
     old record, level text) void",
    "cast(val text, type_ regtype) jsonb",
    "check_equality_op(op realtime.equality_op, type_ regtype, val_1 text, val_2 text, negate boolean) boolean",
    "is_visible_through_filters(columns realtime.wal_column[], filters realtime.user_defined_filter[]) boolean",
    "maintain_messages_partitions(days_ahead integer) void",
    "send(payload jsonb, event text, topic text, private boolean) void",
    "send_binary(payload bytea, event text, topic text, private boolean) void",
    "subscription_check_filters() trigger",
    "to_regrole(role_name text) regrole",
    "topic() text",
    "filter_values(list text, type_ regtype) text[]",
];

/// Composite types and tables: their columns with type, and `not null` where they have it.
const COLUMNS: [(&str, &str); 6] = [
    (
        "messages",
        "topic text not null, extension text not null, payload jsonb, event text, private boolean, updated_at \
         timestamp without time zone not null, inserted_at timestamp without time zone not null, id uuid not null, \
         binary_payload bytea",
    ),
    (
        "subscription",
        "id bigint not null, subscription_id uuid not null, entity regclass not null, filters \
         realtime.user_defined_filter[] not null, claims jsonb not null, claims_role regrole not null, created_at \
         timestamp without time zone not null, action_filter text, selected_columns text[]",
    ),
    (
        "schema_migrations",
        "version bigint not null, inserted_at timestamp(0) without time zone",
    ),
    (
        "user_defined_filter",
        "column_name text, op realtime.equality_op, value text, negate boolean",
    ),
    (
        "wal_column",
        "name text, type_name text, type_oid oid, value jsonb, is_pkey boolean, is_selectable boolean",
    ),
    (
        "wal_rls",
        "wal jsonb, is_rls_enabled boolean, subscription_ids uuid[], errors text[]",
    ),
];

async fn texts(database: &Database, sql: &str) -> Vec<String> {
    let rows = database.query(sql, &[]).await.expect("the statement is valid");
    rows.iter().map(|row| row.get(0)).collect()
}

async fn is_true(database: &Database, condition: &str) -> bool {
    let row = database.query_one(&format!("select {condition}"), &[]).await;
    row.expect("the condition is valid").get(0)
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn realtime_070_functions_types_and_tables_have_the_names_and_signatures_of_the_contract() {
    let server = TestServer::start().await;
    let database = server.database.superuser().await;

    let functions = texts(
        &database,
        "select format('%s(%s) %s', proname, pg_get_function_identity_arguments(oid), format_type(prorettype, null))
         from pg_proc where pronamespace = 'realtime'::regnamespace",
    )
    .await;
    for function in FUNCTIONS {
        assert!(
            functions.iter().any(|found| found == function),
            "{function} is not among {functions:#?}"
        );
    }
    for (relation, columns) in COLUMNS {
        let found = texts(
            &database,
            &format!(
                "select string_agg(format('%s %s%s', attname, format_type(atttypid, atttypmod),
                   case when attnotnull then ' not null' end), ', ' order by attnum)
                 from pg_attribute where attrelid = 'realtime.{relation}'::regclass and attnum > 0 and not attisdropped"
            ),
        )
        .await;
        assert_eq!(found, [columns], "{relation}");
    }
    let labels = texts(
        &database,
        "select format('%s: %s', enumtypid::regtype, string_agg(enumlabel, ', ' order by enumsortorder))
         from pg_enum where enumtypid::regtype::text like 'realtime.%' group by enumtypid order by 1",
    )
    .await;
    assert_eq!(
        labels,
        [
            "realtime.action: INSERT, UPDATE, DELETE, TRUNCATE, ERROR",
            "realtime.equality_op: eq, neq, lt, lte, gt, gte, in, like, ilike, is, match, imatch, isdistinct",
        ]
    );
    let messages = "select format('%s by %s, key %s', relrowsecurity, pg_get_partkeydef(oid),
           (select pg_get_constraintdef(c.oid) from pg_constraint as c where conrelid = r.oid and contype = 'p'))
         from pg_class as r where oid = 'realtime.messages'::regclass";
    assert_eq!(
        texts(&database, messages).await,
        ["t by RANGE (inserted_at), key PRIMARY KEY (id, inserted_at)"]
    );
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn realtime_070_the_roles_of_the_api_have_the_grants_of_the_contract_and_no_others() {
    let server = TestServer::start().await;
    let database = server.database.superuser().await;

    for role in ["anon", "authenticated", "service_role"] {
        assert!(
            is_true(
                &database,
                &format!("has_schema_privilege('{role}', 'realtime', 'usage')")
            )
            .await
        );
        assert!(
            is_true(
                &database,
                &format!("not has_schema_privilege('{role}', 'realtime', 'create')")
            )
            .await
        );
        for function in [
            "topic()",
            "send(jsonb, text, text, boolean)",
            "send_binary(bytea, text, text, boolean)",
            "broadcast_changes(text, text, text, text, text, record, record, text)",
        ] {
            let may_execute = format!("has_function_privilege('{role}', 'realtime.{function}', 'execute')");
            assert!(is_true(&database, &may_execute).await, "{role}: {function}");
        }
        for (table, privilege, expected) in [
            ("messages", "select", true),
            ("messages", "insert", true),
            ("messages", "update", true),
            ("messages", "delete", false),
            ("messages", "truncate", false),
            // They hold the claims of other users.
            ("subscription", "select", false),
            ("subscription", "insert", false),
            ("schema_migrations", "select", false),
        ] {
            let has = format!("has_table_privilege('{role}', 'realtime.{table}', '{privilege}')");
            assert_eq!(
                is_true(&database, &has).await,
                expected,
                "{role}: {privilege} on {table}"
            );
        }
    }
    let owner = "pg_get_userbyid(relowner) = 'supabase_realtime_admin' from pg_class where oid = 'realtime.messages'::regclass";
    assert!(is_true(&database, owner).await);
    let login = "not rolcanlogin and not rolinherit from pg_roles where rolname = 'supabase_realtime_admin'";
    assert!(is_true(&database, login).await);
    assert!(
        is_true(
            &database,
            "has_schema_privilege('postgres', 'realtime', 'usage with grant option')"
        )
        .await
    );
    let policies = texts(
        &database,
        "select polname::text from pg_policy where polrelid = 'realtime.messages'::regclass",
    )
    .await;
    assert_eq!(policies, [""; 0]);
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn realtime_070_policies_and_triggers_of_the_documentation_apply_without_change() {
    let server = TestServer::start().await;
    // Run as `postgres`, who is not a superuser, as a project's migration is.
    let postgres = server.database.connect("postgres").await;
    postgres
        .batch_execute(
            r#"create table public.rooms_users (user_id uuid, room_topic text);
               alter table public.rooms_users enable row level security;
               create policy "own" on public.rooms_users for select to authenticated using (user_id = auth.uid());
               grant select on public.rooms_users to authenticated;

               create policy "authenticated can receive broadcast"
               on "realtime"."messages"
               for select
               to authenticated
               using (
               exists (
                   select
                     user_id
                   from
                     rooms_users
                   where
                     user_id = (select auth.uid())
                     and room_topic = (select realtime.topic())
                     and realtime.messages.extension in ('broadcast')
                 )
               );

               create policy "authenticated can track presence"
               on "realtime"."messages"
               for insert
               to authenticated
               with check ( realtime.messages.extension in ('presence') );

               create table public.todos (id bigint generated always as identity primary key, task text);
               create or replace function public.room_messages_broadcast_trigger()
               returns trigger
               security definer
               language plpgsql
               as $$
               begin
                 perform realtime.broadcast_changes(
                   'topic:' || coalesce(new.id, old.id)::text, -- topic - the topic to which we're broadcasting
                   tg_op,                                      -- event - the event that triggered the function
                   tg_op,                                      -- operation - the operation that triggered the function
                   tg_table_name,                              -- table - the table that caused the trigger
                   tg_table_schema,                            -- schema - the schema of the table
                   new,                                        -- new record - the record after the change
                   old                                         -- old record - the record before the change
                 );
                 return null;
               end;
               $$;
               create trigger handle_your_table_changes
               after insert or update or delete
               on public.todos
               for each row
               execute function public.room_messages_broadcast_trigger();"#,
        )
        .await
        .expect("postgres may make all of it");
    const ADA: &str = "6e9c7b1e-1b1f-4b9c-9d0c-0d5c3b1e2f3a";
    postgres
        .batch_execute(&format!(
            "insert into public.rooms_users values ('{ADA}', 'topic:1')"
        ))
        .await
        .expect("a row");
    let mut client = server.connect_anon().await;
    let payload = |token: String| json!({"config": {"private": true}, "access_token": token});

    let stranger = server.user_token("00000000-0000-4000-8000-000000000000");
    let refused = client.join("realtime:topic:1", payload(stranger)).await;
    assert_eq!(refused["status"], "error", "{refused}");
    let joined = client
        .join("realtime:topic:1", payload(server.user_token(ADA)))
        .await;
    assert_eq!(joined["status"], "ok", "{joined}");

    // The stream of broadcasts begins with the first channel, so the row is changed until the change is heard.
    let mut change = "insert into public.todos (task) values ('first')".to_owned();
    let message = loop {
        postgres.batch_execute(&change).await.expect("a change");
        change = "update public.todos set task = 'again' where id = 1".to_owned();
        let next = tokio::time::timeout(std::time::Duration::from_secs(1), client.next_message());
        if let Ok(message) = next.await {
            break message;
        }
    };
    let bytes = message.into_data();
    let text = String::from_utf8_lossy(&bytes);
    for part in [
        r#""table": "todos""#,
        r#""schema": "public""#,
        r#""operation": "#,
        r#""record": {"#,
    ] {
        assert!(text.contains(part), "{part} is not in {text}");
    }
}
