//! `postgres` calls the functions of the platform's schemas with hostile arguments: no role, no file and no right of a superuser comes of
//! it. `SELVEDGE_HOSTILE_CALLS_S` is the duration in seconds (2 without it), `SELVEDGE_HOSTILE_CALLS_SEED` repeats a run.

use std::path::Path;
use std::time::{Duration, Instant, SystemTime};

use selvedge_testing::TestDatabase;
use tokio_postgres::Client;

use super::query_value;

/// A file that no call may create.
const FILE: &str = "/tmp/gw_012_hostile_call";

/// What arguments name: functions that make a superuser when they run as one, and record that they ran.
const PREPARE: &str = r#"
    create function public.evil() returns void language plpgsql as $$
    begin
      if (select rolsuper from pg_catalog.pg_roles where rolname = current_user) then
        create role gw_012_evil superuser;
      end if;
    end $$;
    create function public.evil_trigger() returns event_trigger language plpgsql set role = 'postgres' as $$
    begin perform set_config('role', 'none', true); perform public.evil(); exception when others then perform public.evil(); end $$;
    create function public.evil_validator(text[], oid) returns void language plpgsql as $$ begin perform public.evil(); end $$;
    create function extensions.format(text, text, text) returns text language plpgsql as $$ begin perform public.evil(); return ''; end $$;
    create function public.joined(text, integer) returns text language plpgsql as $$ begin perform public.evil(); return ''; end $$;
    create operator public.|| (leftarg = text, rightarg = integer, function = public.joined);
    create schema "a""b"; create schema "$$"; create schema "@extschema@";
    create extension postgres_fdw schema extensions;
    create extension pg_trgm schema extensions;
    alter extension pg_trgm add function extensions.format(text, text, text);
    select _selvedge.create_extension('file_fdw', true, 'extensions', null, false);
    select _selvedge.create_extension('pg_cron', true, 'public', null, false);
    select _selvedge.create_extension('pgmq', true, 'public', null, false);
    select _selvedge.create_extension('http', true, 'public', null, false);
    select cron.schedule('mine', '1 second', 'select 1');
    select pgmq.create('queue');"#;

/// Functions with the names and types of their arguments.
const FUNCTIONS: &str = "
    select p.oid::regproc::text, array(select format_type(t, null) from unnest(p.proargtypes) as t),
      coalesce(p.proargnames, '{}')
    from pg_proc p
    join pg_namespace n on n.oid = p.pronamespace
    where (n.nspname in ('_selvedge', 'cron', 'net', 'vault', 'pgmq', 'realtime', 'selvedge_console') or p.proname like 'http%')
      and has_function_privilege('postgres', p.oid, 'execute')
      and p.prorettype not in ('trigger'::regtype, 'event_trigger'::regtype)
      -- These wait.
      and p.proname not in ('wait_until_running', '_await_response', 'read_with_poll')
    order by p.oid::regprocedure::text";

const TEXTS: &[&str] = &[
    "null",
    "''",
    "'pg_catalog'",
    "'public'",
    "'extensions'",
    "'_selvedge'",
    "'vault'",
    "'cron'",
    "'a\"b'",
    "'$$'",
    "'@extschema@'",
    "'pg_trgm'",
    "'postgres_fdw'",
    "'file_fdw'",
    "'plpgsql'",
    "'pgmq'",
    "'hstore'",
    "'dblink'",
    "'moddatetime'",
    "'http'",
    "'supabase_vault'",
    "'basejump-supabase_test_helpers'",
    "'pgtap'",
    "'supabase_admin'",
    "'postgres'",
    "'anon'",
    "'gw_012_evil'",
    "'x\"; create role gw_012_evil superuser; --'",
    "'x''); create role gw_012_evil superuser; --'",
    "'$1 %I %s %L'",
    "'public.evil()'",
    "'public.evil_trigger()'",
    "'ddl_command_end'",
    "'ddl_command_start'",
    "'sql_drop'",
    "'CREATE TABLE'",
    "'1 second'",
    "'* * * * *'",
    "'select public.evil()'",
    "'copy (select 1) to ''/tmp/gw_012_hostile_call'''",
    "'/tmp/gw_012_hostile_call'",
    "'../../../../../../tmp/gw_012_hostile_call'",
    "'file:///tmp/gw_012_hostile_call'",
    "'http://127.0.0.1:1/'",
    "'queue'",
    "'mine'",
    "'publish'",
    "'insert'",
    "repeat('x', 70)",
    "chr(1)",
    "'host=/tmp user=supabase_admin'",
];

/// What half of the arguments of these names are, so that calls get beyond the first check.
const PLAUSIBLE: &[(&str, &[&str])] = &[
    (
        "event",
        &[
            "'ddl_command_end'",
            "'sql_drop'",
            "'ddl_command_start'",
            "'table_rewrite'",
        ],
    ),
    ("tags", &["null", "array['CREATE TABLE']"]),
    ("original", &["'public.evil_trigger()'"]),
    ("options", &["null", "array['publish', 'insert']"]),
    (
        "target_schema",
        &["'public'", "'extensions'", "'pg_catalog'", "'vault'"],
    ),
    (
        "new_schema",
        &["'public'", "'extensions'", "'pg_catalog'", "'vault'"],
    ),
    ("version", &["null"]),
    (
        "handler_function",
        &[
            "'extensions.postgres_fdw_handler'",
            "'extensions.file_fdw_handler'",
            "null",
        ],
    ),
    (
        "validator_function",
        &[
            "'extensions.postgres_fdw_validator'",
            "'public.evil_validator'",
            "null",
        ],
    ),
    ("schedule", &["'1 second'"]),
    ("queue_name", &["'queue'"]),
    ("username", &["null", "'postgres'", "'supabase_admin'"]),
    ("database", &["current_database()"]),
];

/// A generator of Steele and Vigna (SplitMix64), seeded so that a run can be repeated.
struct Random(u64);

impl Random {
    fn next(&mut self) -> usize {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        usize::try_from((mixed ^ (mixed >> 31)) >> 33).expect("31 bits")
    }

    fn choose<'a>(&mut self, list: &[&'a str]) -> &'a str {
        list[self.next() % list.len()]
    }

    /// A value of the type, as SQL.
    fn value(&mut self, name: &str, kind: &str) -> String {
        let plausible = PLAUSIBLE.iter().find(|(known, _)| *known == name);
        if let Some((_, values)) = plausible.filter(|_| self.next().is_multiple_of(2)) {
            return format!("{}::{kind}", self.choose(values));
        }
        let value = match kind {
            "boolean" => self.choose(&["true", "false", "null"]),
            "integer" | "bigint" | "smallint" => self.choose(&["0", "1", "-1", "32767", "null"]),
            "oid" => self.choose(&[
                "0",
                "'public.evil_trigger()'::regprocedure",
                "'pg_proc'::regclass",
                "10",
            ]),
            "regprocedure" => self.choose(&[
                "'public.evil_trigger()'",
                "'public.evil()'",
                "'extensions.pgrst_ddl_watch()'",
                "'_selvedge.open_new_extension()'",
                "null",
            ]),
            "regproc" => self.choose(&[
                "'public.evil_validator'",
                "'extensions.postgres_fdw_handler'",
                "'extensions.postgres_fdw_validator'",
                "'extensions.file_fdw_handler'",
                "'extensions.file_fdw_validator'",
                "null",
            ]),
            "text[]" => {
                let (one, other) = (self.choose(TEXTS), self.choose(TEXTS));
                return format!("array[{one}, {other}]::text[]");
            }
            "json" | "jsonb" => self.choose(&["'{}'", "'[1, {\"a\": \"b\"}]'", "'null'", "null"]),
            "bytea" => self.choose(&["'\\x00ff'", "''", "null"]),
            "uuid" => self.choose(&["gen_random_uuid()", "null"]),
            "text" | "character varying" | "name" => self.choose(TEXTS),
            _ => "null",
        };
        format!("{value}::{kind}")
    }
}

/// A function of the platform, with the types and names of its arguments.
struct Function {
    name: String,
    types: Vec<String>,
    names: Vec<String>,
}

impl Function {
    async fn list(client: &Client) -> Vec<Self> {
        let rows = client.query(FUNCTIONS, &[]).await.expect("a list");
        rows.iter()
            .map(|row| Self {
                name: row.get(0),
                types: row.get(1),
                names: row.get(2),
            })
            .collect()
    }

    fn make_call(&self, random: &mut Random) -> String {
        let arguments: Vec<String> = self
            .types
            .iter()
            .enumerate()
            .map(|(index, kind)| random.value(self.names.get(index).map_or("", String::as_str), kind))
            .collect();
        format!("select {}({})", self.name, arguments.join(", "))
    }
}

/// Calls, uses what the call has made, and looks for rights of a superuser; all of it is taken back. Returns whether the call was accepted.
async fn try_call(postgres: &Client, call: &str, seed: u64) -> bool {
    postgres
        .batch_execute("begin; set local statement_timeout = '500ms'")
        .await
        .expect("begun");
    let is_accepted = postgres.batch_execute(call).await.is_ok();
    if is_accepted {
        let used = postgres
            .batch_execute(
                "set local statement_timeout = '10s'; savepoint used; create table public.probe (id int); drop table public.probe",
            )
            .await;
        if used.is_err() {
            postgres
                .batch_execute("rollback to used")
                .await
                .expect("rolled back");
        }
        let evil = "select count(*) from pg_roles where rolname = 'gw_012_evil'
            or (rolname = 'postgres' and rolsuper) or pg_has_role('postgres', oid, 'member') and rolsuper";
        assert_eq!(query_value(postgres, evil).await, "0", "seed {seed}: {call}");
        let in_catalog = "select count(*) from pg_proc p join pg_roles o on o.oid = p.proowner
            where p.pronamespace = 'pg_catalog'::regnamespace and not o.rolsuper";
        assert_eq!(
            query_value(postgres, in_catalog).await,
            "0",
            "seed {seed}: {call}"
        );
    }
    postgres.batch_execute("rollback").await.expect("rolled back");
    assert!(!Path::new(FILE).exists(), "seed {seed}: {call}");
    is_accepted
}

#[tokio::test]
async fn gw_012_hostile_calls_of_the_platforms_functions_give_postgres_nothing() {
    let seconds = std::env::var("SELVEDGE_HOSTILE_CALLS_S").map_or(2, |text| text.parse().expect("seconds"));
    let seed = std::env::var("SELVEDGE_HOSTILE_CALLS_SEED").map_or_else(
        |_| {
            u64::from(
                SystemTime::UNIX_EPOCH
                    .elapsed()
                    .expect("after 1970")
                    .subsec_nanos(),
            )
        },
        |text| text.parse().expect("a number"),
    );
    let database = TestDatabase::create().await;
    let postgres = database.connect("postgres").await;
    postgres.batch_execute(PREPARE).await.expect("prepared");
    postgres
        .batch_execute("set client_min_messages = error")
        .await
        .expect("set");
    let functions = Function::list(&postgres).await;
    let mut random = Random(seed);
    let (mut calls, mut accepted) = (0, 0);
    let end = Instant::now() + Duration::from_secs(seconds);

    // Each function at least once.
    while Instant::now() < end || calls < functions.len() {
        let chosen = if calls < functions.len() {
            calls
        } else {
            random.next() % functions.len()
        };
        let call = functions[chosen].make_call(&mut random);
        calls += 1;
        if try_call(&postgres, &call, seed).await {
            accepted += 1;
        }
    }

    assert!(accepted > calls / 20, "{accepted} of {calls} calls were accepted");
}
