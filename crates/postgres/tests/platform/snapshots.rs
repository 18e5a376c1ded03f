//! Transactions that see an older state of the catalog than what their statements find, while a second session changes it.

use selvedge_testing::TestDatabase;

use super::{query_sqlstate, query_value};

/// Isolation levels whose transactions keep the snapshot of their first statement.
const OLD_SNAPSHOTS: [&str; 2] = ["repeatable read", "serializable"];

#[tokio::test]
async fn gw_012_code_of_event_triggers_that_was_changed_meanwhile_does_not_run_on_an_old_snapshot() {
    let database = TestDatabase::create().await;
    let first = database.connect("postgres").await;
    let second = database.connect("postgres").await;
    // A transaction that only reads could make no role, so a superuser shows itself by an error of its own.
    first
        .batch_execute(
            "create function public.a() returns event_trigger language plpgsql as $$
             begin perform set_config('transaction_read_only', 'on', true); end $$;
             create function public.b() returns event_trigger language plpgsql as $$
             begin
               if (select rolsuper from pg_catalog.pg_roles where rolname = current_user) then
                 raise exception 'as a superuser' using errcode = 'GW012';
               end if;
             end $$;
             select _selvedge.create_event_trigger('a', 'ddl_command_end', null, 'public.a()');
             select _selvedge.create_event_trigger('b', 'ddl_command_end', null, 'public.b()');",
        )
        .await
        .expect("postgres may");
    let body = query_value(
        &first,
        "select '_selvedge.event_trigger_' || 'public.b'::regproc::oid || '_body(text,text)'",
    )
    .await;
    let change = |rights: &str, further: &str| {
        format!(
            "alter event trigger a disable; alter event trigger b disable; alter function {body} security {rights};
             alter event trigger b enable; {further}"
        )
    };

    for isolation in OLD_SNAPSHOTS {
        for (further, code) in [("alter event trigger a enable", "25006"), ("", "40001")] {
            second
                .batch_execute(&change("definer", further))
                .await
                .expect("its owner may");
            first
                .batch_execute(&format!(
                    "begin isolation level {isolation}; select from pg_class limit 1"
                ))
                .await
                .expect("a snapshot");
            second
                .batch_execute(&change("invoker", further))
                .await
                .expect("its owner may");
            let found = query_sqlstate(&first, "create table public.x ()").await;
            assert_eq!(found, code, "{isolation} {further}");
            first.batch_execute("rollback").await.expect("ended");
        }
    }
}

#[tokio::test]
async fn gw_012_functions_of_a_superuser_that_look_before_they_change_refuse_old_snapshots() {
    let database = TestDatabase::create().await;
    let first = database.connect("postgres").await;
    let second = database.connect("postgres").await;
    first
        .batch_execute(
            "create extension pg_trgm schema extensions; create schema other;
             create function public.late() returns event_trigger language plpgsql as 'begin end';",
        )
        .await
        .expect("postgres may");

    for (number, isolation) in OLD_SNAPSHOTS.into_iter().enumerate() {
        for statement in [
            "select _selvedge.set_extension_schema('pg_trgm', 'other')",
            "select _selvedge.create_extension('file_fdw', false, 'extensions', null, false)",
            "create extension citext schema extensions",
            "select _selvedge.create_foreign_data_wrapper('w', null, null)",
            "select _selvedge.create_event_trigger('late', 'ddl_command_end', null, 'public.late()')",
        ] {
            first
                .batch_execute(&format!(
                    "begin isolation level {isolation}; select from pg_class limit 1"
                ))
                .await
                .expect("a snapshot");
            assert_eq!(
                query_sqlstate(&first, statement).await,
                "0A000",
                "{isolation} {statement}"
            );
            first.batch_execute("rollback").await.expect("ended");
        }
        // What the second session adds, the first one does not see.
        first
            .batch_execute(&format!(
                "begin isolation level {isolation}; select from pg_class limit 1"
            ))
            .await
            .expect("a snapshot");
        second
            .batch_execute(&format!(
                "create function extensions.added_{number}() returns integer language sql as 'select 1';
                 alter extension pg_trgm add function extensions.added_{number}()"
            ))
            .await
            .expect("postgres may");
        let set_schema = "select _selvedge.set_extension_schema('pg_trgm', 'other')";
        assert_eq!(query_sqlstate(&first, set_schema).await, "0A000", "{isolation}");
        first.batch_execute("rollback").await.expect("ended");
        assert_eq!(query_sqlstate(&first, set_schema).await, "42501", "{isolation}");
    }
    assert_eq!(
        query_value(
            &first,
            "select extnamespace::regnamespace from pg_extension where extname = 'pg_trgm'"
        )
        .await,
        "extensions"
    );
}

#[tokio::test]
async fn gw_012_the_vault_calls_its_own_functions_also_where_others_of_their_names_exist() {
    let database = TestDatabase::create().await;
    let superuser = database.superuser().await;
    let postgres = database.connect("postgres").await;
    superuser
        .batch_execute(
            "create function vault._crypto_aead_det_encrypt(
               message bytea, additional bytea, key_id integer, context bytea default '', nonce bytea default null
             ) returns bytea language plpgsql as $$ begin raise exception 'the wrong function'; end $$;
             create function vault._crypto_aead_det_decrypt(
               message bytea, additional bytea, key_id integer, context bytea default '', nonce bytea default null
             ) returns bytea language plpgsql as $$ begin raise exception 'the wrong function'; end $$;",
        )
        .await
        .expect("a superuser may");

    query_value(&postgres, "select vault.create_secret('one', 'a')").await;
    postgres
        .batch_execute(
            "select vault.update_secret(id, new_secret := 'two') from vault.secrets where name = 'a'",
        )
        .await
        .expect("changed");
    let read = "select decrypted_secret from vault.decrypted_secrets where name = 'a'";
    assert_eq!(query_value(&postgres, read).await, "two");
}
