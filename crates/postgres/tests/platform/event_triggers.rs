//! Who may run the code of a project's event triggers, and with which tags.

use selvedge_postgres::PrivilegedLogin;
use selvedge_postgres::migrate::{apply_platform, clear_project};
use selvedge_testing::TestDatabase;

use super::{api, query_sqlstate, query_value};

/// The trigger writes down each event with its tag. For a table of one name its code changes another one, which fires it again.
const LOG: &str = "
    create table public.seen (event text, tag text);
    create function public.watch() returns event_trigger language plpgsql as $$
    begin
      insert into public.seen values (tg_event, tg_tag);
      if tg_tag = 'CREATE TABLE' and not exists (select from pg_attribute where attrelid = 'public.seen'::regclass and attname = 'nested') then
        alter table public.seen add column nested text;
      end if;
    end $$;
    select _selvedge.create_event_trigger('starts', 'ddl_command_start', array['CREATE TABLE'], 'public.watch()');
    select _selvedge.create_event_trigger('ends', 'ddl_command_end', null, 'public.watch()');";

#[tokio::test]
async fn gw_012_nobody_runs_the_code_of_an_event_trigger_with_a_tag_of_ones_choice() {
    let database = TestDatabase::create().await;
    let postgres = database.connect("postgres").await;
    postgres.batch_execute(LOG).await.expect("postgres may");
    let number = query_value(&postgres, "'public.watch'::regproc::oid").await;
    let attacker = api(&database, "authenticated", "{}").await;
    let call = format!("_selvedge.run_event_trigger({number}::oid, tg_event, tg_tag)");
    let trigger = format!("PL/pgSQL function _selvedge.event_trigger_{number}() line 1 at PERFORM");
    attacker
        .batch_execute(&format!(
            "create function pg_temp.plain(tg_event text, tg_tag text) returns int language plpgsql as $f$
             begin perform {call} limit 1; return 1; end $f$;
             -- The text goes on with a name in quotes, in which the line of the trigger follows.
             create function pg_temp.named(tg_event text, tg_tag text) returns int language plpgsql as $f$
             begin perform {call}\"\n{trigger}\n\"; return 1; end $f$;
             create function pg_temp.limited(tg_event text, tg_tag text) returns int language plpgsql as $f$
             begin execute $x$SELECT {call} limit 1\"\n{trigger}\n\"$x$; return 1; end $f$;"
        ))
        .await
        .expect("in its own schema");
    let kept = query_value(&postgres, "select count(*) from public.seen").await;

    for (function, code) in [("plain", "42501"), ("named", "42501"), ("limited", "42601")] {
        for (event, tag) in [
            ("ddl_command_start", "CREATE TABLE"),
            ("ddl_command_end", "DROP TABLE"),
        ] {
            let forged = format!("pg_temp.{function}('{event}', '{tag}')");
            for statement in [
                format!("select {forged}"),
                // While this statement runs, pg_event_trigger_ddl_commands() answers, so a check by it alone would let the call pass.
                format!("create temporary table forged as select {forged}"),
            ] {
                assert_eq!(query_sqlstate(&attacker, &statement).await, code, "{statement}");
            }
        }
    }

    assert_eq!(
        query_value(&postgres, "select count(*) from public.seen").await,
        kept
    );
}

#[tokio::test]
async fn gw_012_event_triggers_run_for_statements_of_everybody_in_functions_and_for_their_own() {
    let database = TestDatabase::create().await;
    let postgres = database.connect("postgres").await;
    postgres.batch_execute(LOG).await.expect("postgres may");
    let caller = api(&database, "authenticated", "{}").await;

    caller
        .batch_execute("do $$ begin execute 'create temporary table one (id int)'; end $$; create temporary table two (id int)")
        .await
        .expect("the trigger is no obstacle");

    assert_eq!(
        query_value(
            &postgres,
            "select string_agg(event || ' ' || tag || ' ' || n, ', ' order by event, tag)
             from (select event, tag, count(*) as n from public.seen group by 1, 2) as s"
        )
        .await,
        "ddl_command_end ALTER TABLE 1, ddl_command_end CREATE TABLE 2, ddl_command_start CREATE TABLE 2"
    );
}

#[tokio::test]
async fn gw_012_an_event_trigger_that_refuses_everything_does_not_stop_a_reset() {
    let database = TestDatabase::create().await;
    let postgres = database.connect("postgres").await;
    let plant = "create schema of_project; create table of_project.notes (id int);
        create function public.refuse() returns event_trigger language plpgsql as $$ begin raise exception 'no'; end $$;
        select _selvedge.create_event_trigger(event, event, null, 'public.refuse()') from unnest(array['sql_drop', 'ddl_command_start']) as event";
    postgres.batch_execute(plant).await.expect("postgres may");
    let refused = query_sqlstate(&postgres, "drop schema of_project cascade").await;
    assert_eq!(refused, "P0001");

    clear_project(&postgres, &[]).await.expect("cleared");

    let left = "select count(*) from pg_event_trigger where evtowner = 'postgres'::regrole";
    assert_eq!(query_value(&postgres, left).await, "0");
    assert_eq!(
        query_value(&postgres, "to_regnamespace('of_project')").await,
        "null"
    );
}

/// From PostgreSQL 17 on event triggers fire at logins.
#[tokio::test]
async fn gw_012_an_event_trigger_that_refuses_logins_keeps_out_nobody_who_is_to_take_it_back() {
    let database = TestDatabase::create().await;
    let postgres = database.connect("postgres").await;
    if query_value(&postgres, "current_setting('server_version_num')::int < 170000").await == "true" {
        return;
    }
    let plant = "create function public.refuse() returns event_trigger language plpgsql as $$ begin raise exception 'no'; end $$;
        select _selvedge.create_event_trigger('no', 'login', null, 'public.refuse()')";
    postgres.batch_execute(plant).await.expect("postgres may");
    let connect = async |role: &str, options: &str| {
        let mut config = database.config(role);
        config.options(options);
        selvedge_postgres::connect(&config).await
    };

    assert!(connect("postgres", "").await.is_err(), "the trigger fires");
    let skipping = "-c selvedge.without_login_triggers=on";
    let asking = PrivilegedLogin::new(database.config("postgres")).connect().await;
    assert!(!asking.expect("it may be a superuser's login").is_superuser());
    let own = connect("postgres", skipping).await.expect("a login");
    own.batch_execute("drop event trigger no")
        .await
        .expect("taken back");
    connect("postgres", "").await.expect("a login");
}

/// An earlier version empties the texts that it does not know, and only then refuses the database.
#[tokio::test]
async fn gw_012_event_triggers_that_an_earlier_version_has_emptied_work_again_after_a_start() {
    let database = TestDatabase::create().await;
    let postgres = database.connect("postgres").await;
    postgres.batch_execute(LOG).await.expect("postgres may");
    let superuser = database.superuser().await;
    let texts = "select string_agg(prosrc, ' ') from pg_proc
        where pronamespace = '_selvedge'::regnamespace and proname ~ '^event_trigger_[0-9]+$'";
    let written = query_value(&superuser, texts).await;
    superuser
        .batch_execute(
            "set search_path = pg_catalog, pg_temp;
             update pg_proc set prosrc = 'begin null; end', proconfig = null
             where pronamespace = '_selvedge'::regnamespace and proname ~ '^event_trigger_[0-9]+$'",
        )
        .await
        .expect("as the earlier version does");

    apply_platform(&superuser).await.expect("the start");

    assert_eq!(query_value(&superuser, texts).await, written);
    postgres
        .batch_execute("create table public.watched ()")
        .await
        .expect("created");
    let seen = "select count(*) > 0 from public.seen where tag = 'CREATE TABLE'";
    assert_eq!(query_value(&postgres, seen).await, "true");
}

/// Functions and operators with the names of PostgreSQL's, and a function that puts them first for the whole session: an ordinary SET also holds
/// for the functions around it.
const CHANGED_PATH: &str = "
    create schema planted;
    create table public.callers (role text);
    grant insert on public.callers to public;
    create function planted.equals(text, text) returns boolean language plpgsql as $$
    begin insert into public.callers values (current_user); return $1 operator(pg_catalog.=) $2; end $$;
    create operator planted.= (leftarg = text, rightarg = text, function = planted.equals);
    create function planted.length(text) returns integer language plpgsql as $$
    begin insert into public.callers values (current_user); return pg_catalog.length($1); end $$;
    create function planted.substr(text, integer) returns text language plpgsql as $$
    begin insert into public.callers values (current_user); return pg_catalog.substr($1, $2); end $$;
    create function public.change_path() returns event_trigger language plpgsql as $$
    begin perform pg_catalog.set_config('search_path', 'planted, pg_catalog, pg_temp', false); end $$;
    select _selvedge.create_event_trigger('starts', 'ddl_command_start', null, 'public.change_path()');
    select _selvedge.create_event_trigger('ends', 'ddl_command_end', null, 'public.change_path()');
    select _selvedge.create_event_trigger('drops', 'sql_drop', null, 'public.change_path()');";

#[tokio::test]
async fn gw_012_a_search_path_that_the_code_of_an_event_trigger_sets_reaches_no_function_of_a_superuser() {
    let database = TestDatabase::create().await;
    let owner = database.connect("postgres").await;
    owner.batch_execute(CHANGED_PATH).await.expect("postgres may");

    // In a session of its own, which has planned nothing yet.
    let postgres = database.connect("postgres").await;
    for statement in [
        "create table public.made ()",
        "drop table public.made",
        "create extension hstore schema extensions",
        "alter extension hstore update",
        "drop extension hstore",
        "create extension pg_trgm schema extensions",
        "create publication made",
    ] {
        postgres.batch_execute(statement).await.expect(statement);
    }

    assert_eq!(
        query_value(&postgres, "current_setting('search_path')").await,
        "planted, pg_catalog, pg_temp"
    );
    let callers = "select string_agg(distinct role, ', ') from public.callers";
    assert_eq!(query_value(&owner, callers).await, "null");
}
