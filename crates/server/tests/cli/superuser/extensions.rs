//! Scripts of extensions that a superuser runs in a schema of the project.

use std::fs::Permissions;
use std::os::unix::fs::PermissionsExt;
use std::time::{Duration, Instant};

use tokio_postgres::Client;

use super::autovacuum::{check_creation_by_autovacuum, check_plants_of_autovacuum, hurry_autovacuum};
use super::query;
use crate::support::{Project, connect};

/// An extension of somebody else, whose script calls a function of PostgreSQL without naming its schema. The server lets `postgres` create
/// one of this name.
const CONTROL: &str = "default_version = '1.0'\nrelocatable = false\n";
const SCRIPT: &str = "-- lower('X'::text)
\\echo Use CREATE EXTENSION \\quit
create function advise(int) returns int language sql as 'select 1';
create function noted() returns int language plpgsql as $note$ begin perform 1; perform rewrite('x'::text); return 1; end $note$;
comment on function advise(int) is 'advise(1)';
do $$ begin perform FORMAT('%s'::text, 'x'::text), CAST('x' as text); end $$;";

/// One that calls what it has made, which calls others in its turn.
const CALLING_SCRIPT: &str = "
create function inner_step() returns text language plpgsql as $body$ begin return upper('x'::varchar); end $body$;
create function install_step() returns text language sql as 'select inner_step()';
create function unused_step() returns text language plpgsql as $body$ begin return rewrite('x'::text); end $body$;
select install_step();";

/// One that calls nothing, as that of pgvector.
const QUIET_SCRIPT: &str =
    "create function hypo(int) returns text language sql as 'select format(''%s''::text, ''x''::text)';";

/// Two of which the second one requires the first. Its own schema comes before that of the first in the path of its script.
const REQUIRED_SCRIPT: &str = "create domain geometry as text; create table spatial_ref_sys (id int);";
const REQUIRING_CONTROL: &str =
    "default_version = '1.0'\nrelocatable = false\nschema = topology\nrequires = 'postgis'\n";
const REQUIRING_SCRIPT: &str =
    "create table layer (shape geometry); insert into layer select 'x' from spatial_ref_sys;";

/// What PostgreSQL would call in its place.
pub(super) const PLANTED: &str =
    "create function public.format(text, text) returns text language plpgsql as $$
    begin create role attacker superuser; return ''; end $$";
pub(super) const UNPLANT: &str = "drop function public.format(text, text)";

pub(super) const CREATE: &str = "create extension index_advisor schema public";
const DOUBLED_QUOTE: &str = r#"do $$ begin
    execute E'create extension if not exists plpgsql schema "a""\n"; create extension index_advisor schema public'; end $$"#;

pub(super) async fn refusal(client: &Client, sql: &str) -> String {
    let error = client.batch_execute(sql).await.expect_err(sql);
    let error = error.as_db_error().expect("of PostgreSQL");
    assert_eq!(error.code().code(), "42501", "{error:?}");
    error.message().to_owned()
}

pub(super) async fn run(client: &Client, sql: &str) {
    client
        .batch_execute(sql)
        .await
        .unwrap_or_else(|error| panic!("{sql}: {error:?}"));
}

/// Runs a statement that is refused after another session has committed, for which it waits as `waits` says.
async fn refusal_after_commit(project: &Project, waiting: &Client, sql: &str, other: &Client) -> String {
    let waits = format!(
        "select exists (select from pg_stat_activity where query = '{sql}' and (wait_event = 'PgSleep' or wait_event_type = 'Lock'))"
    );
    let commit = async {
        let watching = project.database().await;
        let deadline = Instant::now() + Duration::from_secs(60);
        while !query::<bool>(&watching, &waits).await {
            assert!(Instant::now() < deadline, "nobody waits");
            actix_web::rt::time::sleep(Duration::from_millis(5)).await;
        }
        run(other, "commit").await;
    };
    tokio::join!(refusal(waiting, sql), commit).0
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn no_script_of_an_extension_calls_a_function_of_the_project_as_a_superuser() {
    let project = Project::new();
    let cache = tempfile::Builder::new()
        // Run as root, the cluster belongs to another user, who has to read its programs there.
        .permissions(Permissions::from_mode(0o755))
        .tempdir()
        .expect("a temporary folder");
    for version in 15..=18 {
        let folder = cache
            .path()
            .join(format!("selvedge/extensions-{version}/scripts"));
        std::fs::create_dir_all(&folder).expect("a folder");
        for (name, control, script) in [
            ("index_advisor", CONTROL, SCRIPT),
            ("hypopg", CONTROL, QUIET_SCRIPT),
            ("pg_hashids", CONTROL, CALLING_SCRIPT),
            ("postgis", CONTROL, REQUIRED_SCRIPT),
            ("postgis_topology", REQUIRING_CONTROL, REQUIRING_SCRIPT),
        ] {
            std::fs::write(folder.join(format!("{name}.control")), control).expect("written");
            std::fs::write(folder.join(format!("{name}--1.0.sql")), script).expect("written");
        }
    }
    let cache = cache.path().display().to_string();
    let running = project.spawn(&project.start_arguments(), &[("XDG_CACHE_HOME", &cache)]);
    running.wait_until_ready().await;
    let postgres = project.database().await;
    let harmless = "create function public.lower(int) returns int language sql as 'select 1';
        create function public.rewrite(text) returns text language sql as 'select $1';
        create function public.advise(text) returns text language sql as 'select $1'";
    run(&postgres, harmless).await;
    run(&postgres, PLANTED).await;

    check_refusals(&postgres).await;
    check_hidden_names(&postgres).await;
    check_own_functions(&postgres).await;
    check_tables_and_types(&postgres).await;
    check_others_are_created(&project, &postgres).await;
    check_backslashes(&postgres).await;
    check_event_triggers(&postgres).await;
    check_other_sessions(&project, &postgres).await;
    hurry_autovacuum(&project).await;
    check_plants_of_autovacuum(&postgres).await;
    check_other_databases(&project, &postgres).await;

    let attackers = "select count(*) from pg_roles where rolname = 'attacker'";
    assert_eq!(query::<i64>(&postgres, attackers).await, 0);
    running.stop();
}

/// However the extension is created, the refusal names it and what it would call, and nothing else.
async fn check_refusals(postgres: &Client) {
    for way in [
        CREATE,
        "select _selvedge.create_extension('index_advisor', false, 'public', null, false)",
        "set session_replication_role = replica; create extension index_advisor schema public",
        "reset session_replication_role; set standard_conforming_strings = off; create extension index_advisor schema public",
        "do $$ begin create extension index_advisor; end $$",
        // Each names `citext` first, so that whoever reads only the beginning takes it for the extension that is created.
        "do $$ begin execute 'create extension citext schema \"public\"
            ; create extension index_advisor schema public'; end $$",
        "create extension citext; create extension index_advisor schema public",
        // A doubled quote before a line end is no end of a name.
        DOUBLED_QUOTE,
        "/* create extension citext */ create extension index_advisor schema public",
    ] {
        let message = refusal(postgres, way).await;
        run(postgres, "reset all").await;
        assert!(
            message.contains("index_advisor")
                && message.contains("public.format(text,text)")
                && !message.contains("public.lower")
                && !message.contains("rewrite")
                && !message.contains("advise("),
            "{way}: {message}"
        );
    }
}

/// An owner may take rights from itself, and give its schema away, after it has created something.
async fn check_hidden_names(postgres: &Client) {
    let plant = PLANTED.replace("public.", "hidden.");
    run(postgres, &format!("{UNPLANT}; create schema hidden; {plant}")).await;
    for hide in [
        "revoke create on schema hidden from postgres",
        "create role keeper; grant keeper to postgres; grant create on database postgres to keeper;
         alter schema hidden owner to keeper; grant usage on schema hidden to public; revoke keeper from postgres",
    ] {
        run(postgres, hide).await;
        for way in [
            "create extension index_advisor schema hidden",
            "select _selvedge.create_extension('index_advisor', false, 'hidden', null, false)",
        ] {
            let message = refusal(postgres, way).await;
            assert!(
                message.contains("hidden.format(text,text)") || message.contains("permission denied for schema hidden"),
                "{hide}: {message}"
            );
        }
    }
    let clean = "grant keeper to postgres; drop schema hidden cascade; revoke create on database postgres from keeper; drop role keeper";
    run(postgres, &format!("{clean}; {PLANTED}")).await;
}

/// `postgres` may make databases, which have no platform schema, and the scripts of extensions run there as well.
async fn check_other_databases(project: &Project, postgres: &Client) {
    run(postgres, "create database other").await;
    let url = format!(
        "postgresql://postgres:postgres@127.0.0.1:{}/other",
        project.ports.database
    );
    let (other, second) = (
        connect(&url).await.expect("a login"),
        connect(&url).await.expect("a login"),
    );
    run(&other, PLANTED).await;
    for way in [
        CREATE,
        DOUBLED_QUOTE,
        "set session_replication_role = replica; create extension index_advisor schema public",
    ] {
        let message = refusal(&other, way).await;
        run(&other, "reset all").await;
        assert!(message.contains("public.format(text,text)"), "{way}: {message}");
    }
    check_creation_by_autovacuum(&other).await;
    // Those of contrib call nothing.
    run(&other, "create extension citext schema public").await;
    run(&other, UNPLANT).await;
    check_backslashes(&other).await;
    check_names_of_the_platform(&other).await;
    check_tables_and_types(&other).await;
    run(&other, CREATE).await;
    let is_dumped = "select count(*) from pg_event_trigger as t where not exists (
        select from pg_depend as d where d.classid = 'pg_event_trigger'::regclass and d.objid = t.oid and d.deptype = 'e')";
    assert_eq!(query::<i64>(&other, is_dumped).await, 0);

    // An overload that fits the calls of the vault better than the vault's own function, which nobody sees yet.
    let overload = "create schema vault; begin;
        create function vault._crypto_aead_det_encrypt(message bytea, additional bytea, key_id bigint, nonce bytea) returns bytea
          language plpgsql as $$ begin create role attacker superuser; return ''; end $$";
    run(&second, overload).await;
    let message = refusal_after_commit(project, &other, "create extension supabase_vault", &second).await;
    assert!(message.contains("vault._crypto_aead_det_encrypt"), "{message}");
    check_copies(project, &other).await;
}

/// A copy of the project has the check of the day on which it was made, which may be one that sees nothing.
async fn check_copies(project: &Project, other: &Client) {
    let url = project.superuser_url().replace("/postgres", "/other");
    let superuser = connect(&url).await.expect("a login");
    let check = "create schema _selvedge;
        create function _selvedge.check_extension_scripts() returns event_trigger language plpgsql as 'begin end';
        create event trigger selvedge_check_extension_scripts on ddl_command_start when tag in ('CREATE EXTENSION')
          execute function _selvedge.check_extension_scripts();
        alter event trigger selvedge_check_extension_scripts enable always";
    run(&superuser, check).await;
    run(other, &format!("drop extension index_advisor; {PLANTED}")).await;
    let message = refusal(other, CREATE).await;
    assert!(message.contains("public.format(text,text)"), "{message}");

    // Code of the project would run after the check.
    run(other, UNPLANT).await;
    let trigger =
        "create function _selvedge.event_trigger_1() returns event_trigger language plpgsql as 'begin end';
        create event trigger zzz on ddl_command_start execute function _selvedge.event_trigger_1()";
    run(&superuser, trigger).await;
    let message = refusal(other, CREATE).await;
    assert!(
        message.starts_with("an event trigger of the project"),
        "{message}"
    );
    run(other, "create extension hstore schema public").await;
    run(&superuser, "drop event trigger zzz").await;
    run(other, CREATE).await;
    run(other, "drop extension index_advisor").await;

    // That of today is enough. It is not called here.
    let update = "do $do$ declare definition text; begin
        -- They call each other.
        perform set_config('check_function_bodies', 'off', true);
        for definition in
          select replace(pg_get_functiondef(p.oid), 'pg_catalog.selvedge_', '_selvedge.') from pg_proc as p
          where p.pronamespace = 'pg_catalog'::regnamespace and p.proname ~ '^selvedge_'
            and p.proname not in ('selvedge_check_extension', 'selvedge_is_known_script', 'selvedge_is_allowed_extension')
        loop execute definition; end loop; end $do$";
    run(&superuser, update).await;
    let harmless = "create function public.format(text, text) returns text language sql as $$ select '' $$";
    run(other, harmless).await;
    run(other, CREATE).await;
}

/// A backslash decides where a text of a script ends, and a session decides what a backslash is.
async fn check_backslashes(client: &Client) {
    run(client, "set standard_conforming_strings = off").await;
    let message = refusal(client, "create extension hypopg schema public").await;
    assert!(
        message.contains("standard_conforming_strings") && message.contains("\"hypopg\""),
        "{message}"
    );
    run(client, "create extension tcn schema public").await;
    run(client, "reset standard_conforming_strings").await;
}

/// Where there is no platform its schemas are names like any other.
async fn check_names_of_the_platform(other: &Client) {
    for schema in ["_selvedge", "selvedge_console"] {
        let plant = PLANTED.replace("public.", &format!("{schema}."));
        run(other, &format!("create schema {schema}; {plant}")).await;
        let message = refusal(other, &format!("create extension index_advisor schema {schema}")).await;
        assert!(
            message.contains(&format!("{schema}.format(text,text)")),
            "{message}"
        );
        run(other, &format!("drop schema {schema} cascade")).await;
    }
}

/// A domain and a view call functions, too, wherever the script finds them first. Elsewhere they are nobody's business.
async fn check_tables_and_types(client: &Client) {
    let elsewhere = "create schema gis; create table public.spatial_ref_sys (id int); create domain public.geometry as text;
        create table public.layer (id int)";
    run(client, elsewhere).await;
    let message = refusal(client, "create extension postgis schema public").await;
    assert!(
        message.ends_with(": public.geometry, public.spatial_ref_sys"),
        "{message}"
    );
    run(client, "create extension postgis schema gis").await;
    let attack = "create schema topology;
        create function public.attack() returns boolean language plpgsql as $$ begin create role attacker superuser; return true; end $$";
    run(client, attack).await;
    for (kind, plant, object) in [
        ("domain", "as text check (public.attack())", "topology.geometry"),
        (
            "view",
            "as select public.attack() as id",
            "topology.spatial_ref_sys",
        ),
        ("table", "(id int)", "pg_temp.layer"),
    ] {
        run(client, &format!("create {kind} {object} {plant}")).await;
        for way in [
            "create extension postgis_topology",
            "do $$ begin create extension postgis_topology; end $$",
        ] {
            let message = refusal(client, way).await;
            let found = object.trim_start_matches("pg_temp.");
            assert!(message.ends_with(&format!(": {found}")), "{message}");
        }
        run(client, &format!("drop {kind} {object}")).await;
    }
    run(client, "create extension postgis_topology").await;
    let clean = "drop extension postgis_topology; drop extension postgis; drop schema gis cascade; drop schema topology cascade;
        drop function public.attack(); drop table public.spatial_ref_sys, public.layer; drop domain public.geometry";
    run(client, clean).await;
}

/// What a script calls of its own functions is looked at as well, and what these call.
async fn check_own_functions(postgres: &Client) {
    let planted = "create function public.upper(varchar) returns text language sql as 'select $1::text'";
    run(postgres, planted).await;
    let message = refusal(postgres, "create extension pg_hashids schema public").await;
    assert!(
        message.contains("public.upper(character varying)") && !message.contains("rewrite"),
        "{message}"
    );
    run(postgres, "drop function public.upper(varchar)").await;
    run(postgres, "create extension pg_hashids schema public").await;
}

/// One that nobody creates refuses no other, whoever sends the statement, if it can be known which one it is about.
async fn check_others_are_created(project: &Project, postgres: &Client) {
    for way in [
        "create extension if not exists pgcrypto with schema extensions",
        "-- of the project\nCREATE EXTENSION \"citext\" WITH SCHEMA public VERSION '1.6';\n",
        "do $$ begin create extension if not exists hstore schema extensions cascade; end $$",
        "do $$ begin create extension if not exists fuzzystrmatch with schema \"extensions\"; create extension isn schema \"public\"; end $$",
        "select _selvedge.create_extension('seg', false, 'public', null, false)",
        "alter extension citext update",
        "select _selvedge.set_extension_schema('citext', 'extensions')",
    ] {
        run(postgres, way).await;
    }
    let prepared = postgres.execute("create extension cube", &[]).await;
    prepared.expect("postgres may");
    project.write(
        "migrations/20260101000000_text.sql",
        "create table public.texts (id int);\n-- for search\ncreate extension if not exists unaccent;\nselect 1;",
    );
    project.run_and_expect_success(&["migration", "up"]);
    // Among other statements all count whose names the text has, or may have.
    run(
        postgres,
        "select 1; create extension ltree schema public; drop extension ltree",
    )
    .await;
    for text in [
        "select 1 as index_advisor; create extension ltree",
        "select 1; create extension U&\"index\\005fadvisor\"",
        "do $$ begin execute 'select 1; create extension ' || upper('INDEX_') || 'ADVISOR'; end $$",
    ] {
        let message = refusal(postgres, text).await;
        assert!(message.contains("may be \"index_advisor\""), "{text}: {message}");
    }
}

/// The code of a project's event trigger runs before the script.
async fn check_event_triggers(postgres: &Client) {
    let trigger = |body: &str| {
        format!(
            "create or replace function public.before_extensions() returns event_trigger language plpgsql as $f$ begin
               if coalesce(current_setting('test.nested', true), '') = '' then
                 perform set_config('test.nested', 'x', true); {body}
               end if; end $f$"
        )
    };
    let make = "select _selvedge.create_event_trigger('zzz', 'ddl_command_start', array['CREATE EXTENSION'], 'public.before_extensions()')";
    run(
        postgres,
        &trigger("create extension index_advisor schema public;"),
    )
    .await;
    run(postgres, make).await;
    let message = refusal(postgres, "create extension intarray").await;
    assert!(
        message.contains("the script of the extension \"index_advisor\""),
        "{message}"
    );

    run(postgres, UNPLANT).await;
    run(postgres, &trigger(&format!("execute $p$ {PLANTED} $p$;"))).await;
    let message = refusal(postgres, CREATE).await;
    assert!(message.contains("public.format(text,text)"), "{message}");
    run(postgres, "drop event trigger zzz").await;
}

/// What another session is about to change is waited for.
async fn check_other_sessions(project: &Project, postgres: &Client) {
    let other = project.database().await;
    run(&other, &format!("begin; {PLANTED}")).await;
    let message = refusal_after_commit(project, postgres, CREATE, &other).await;
    assert!(message.contains("public.format(text,text)"), "{message}");

    run(postgres, UNPLANT).await;
    run(postgres, CREATE).await;
    // Once it is there its script does not run any more. One that calls nothing waits for nobody and refuses nothing.
    run(postgres, PLANTED).await;
    run(postgres, "alter extension index_advisor update").await;
    run(postgres, "alter extension index_advisor update to '1.0'").await;
    let message = refusal(postgres, "alter extension index_advisor update to '2.0'").await;
    assert!(message.contains("public.format(text,text)"), "{message}");
    run(&other, "begin; create table public.open (id int)").await;
    run(
        postgres,
        "create extension ltree schema public; create extension hypopg schema public",
    )
    .await;
    run(&other, "drop extension index_advisor").await;
    let again = "create extension if not exists index_advisor schema public";
    let message = refusal_after_commit(project, postgres, again, &other).await;
    assert!(message.contains("public.format(text,text)"), "{message}");
}
