//! Databases besides the project's, which `postgres` may make, and which a start guards.

use std::cell::Cell;
use std::rc::Rc;
use std::time::Duration;

use actix_web::rt::spawn;
use selvedge_testing::{list_definers, list_judged_definers_of_other_databases};
use tokio_postgres::Client;

use super::{assert_contains, query};
use crate::support::{Project, Running, connect};

const IS_GUARDED: &str = "select exists (select from pg_event_trigger where evtname = 'selvedge_check_extension' and evtenabled = 'A'
    and evtfoid = 'pg_catalog.selvedge_check_extension()'::regprocedure)";

/// As a database is that an earlier version has made.
const UNGUARD: &str = "alter extension plpgsql drop event trigger selvedge_check_extension;
    drop event trigger selvedge_check_extension";

/// In a copy of a project an event trigger of the project may have any name and refuse everything, and a view may hold a function of an
/// earlier check.
const OBSTRUCT: &str = "create schema _selvedge;
    create function _selvedge.event_trigger_1() returns event_trigger language plpgsql as $$ begin raise 'refused'; end $$;
    create function pg_catalog.selvedge_find_callable_names(text) returns setof text language sql as 'select $1';
    create view public.holding as select pg_catalog.selvedge_find_callable_names('x');
    create event trigger selvedge_check_extension on ddl_command_start execute function _selvedge.event_trigger_1();
    alter event trigger selvedge_check_extension enable always;
    update pg_event_trigger set evtowner = 'postgres'::regrole where evtname = 'selvedge_check_extension'";

/// PostgreSQL translates nothing to this encoding, so a client has to come with another one.
fn of_mule(encoding: &str) -> String {
    format!("update pg_database set encoding = pg_char_to_encoding('{encoding}') where datname = 'mule'")
}

/// Logs in as `postgres` as soon as PostgreSQL accepts it; `None` when the start is over.
async fn connect_early(url: &str, is_started: &Cell<bool>) -> Option<Client> {
    while !is_started.get() {
        if let Ok(client) = connect(url).await {
            return Some(client);
        }
        actix_web::rt::time::sleep(Duration::from_millis(1)).await;
    }
    None
}

/// Makes up to ten databases.
async fn make_databases(url: String, is_started: Rc<Cell<bool>>) -> usize {
    let mut made = 0;
    while made < 10
        && let Some(client) = connect_early(&url, &is_started).await
    {
        // It fails while somebody is connected to the template.
        let create = async |number: usize| {
            let create = format!("create database made_{number}");
            client.batch_execute(&create).await.is_ok()
        };
        while made < 10 && create(made).await {
            made += 1;
        }
    }
    made
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn a_start_guards_also_databases_that_are_made_meanwhile_and_lets_nobody_into_those_that_are_closed() {
    let project = Project::new();
    let running = project.start().await;
    let of_superuser = |database: &str| {
        project
            .superuser_url()
            .replace("/postgres", &format!("/{database}"))
    };
    let of_postgres = |database: &str| {
        let port = project.ports.database;
        format!("postgresql://postgres:postgres@127.0.0.1:{port}/{database}")
    };
    let postgres = project.database().await;
    for statement in [
        "create database held",
        "create database closed",
        "alter database closed with allow_connections false connection limit 7",
        "create database latin encoding 'LATIN1' locale_provider libc locale 'C' template template0",
        "create database japanese encoding 'EUC_JP' locale_provider libc locale 'C' template template0",
        "create database mule encoding 'MULE_INTERNAL' locale_provider libc locale 'C' template template0",
        "create database obstructed",
    ] {
        postgres.batch_execute(statement).await.expect("postgres may");
    }
    let superuser = project.superuser().await;
    let forget = "delete from _selvedge.selvedge_project_settings where name = 'extensions.guard'";
    superuser.batch_execute(forget).await.expect("deleted");
    superuser
        .batch_execute(&of_mule("SQL_ASCII"))
        .await
        .expect("a superuser may");
    for database in ["template1", "held", "latin", "japanese", "mule", "obstructed"] {
        let client = connect(&of_superuser(database)).await.expect("a login");
        client.batch_execute(UNGUARD).await.expect("as before");
    }
    superuser
        .batch_execute(&of_mule("MULE_INTERNAL"))
        .await
        .expect("a superuser may");
    let client = connect(&of_superuser("obstructed")).await.expect("a login");
    client.batch_execute(OBSTRUCT).await.expect("a superuser may");
    // In the catalog the name is the one byte that it is there, which is no letter elsewhere.
    let client = connect(&of_postgres("latin")).await.expect("a login");
    for statement in [
        "create database \"\u{e9}\"",
        "create role \"\u{e9}\"",
        "alter database postgres set temp_tablespaces = '\u{e9}'",
        "alter database postgres set work_mem = '5MB'",
        "alter role anon set search_path = '\u{e9}'",
        "comment on database postgres is '\u{e9}'",
    ] {
        client.batch_execute(statement).await.expect("postgres may");
    }
    drop(client);
    running.stop();

    let is_started = Rc::new(Cell::new(false));
    let made = spawn(make_databases(of_postgres("postgres"), is_started.clone()));
    // Whoever owns a database may keep its row as it is, and come again.
    let holding = spawn({
        let (url, is_started) = (of_postgres("postgres"), is_started.clone());
        async move {
            for database in ["held", "closed"] {
                let client = connect_early(&url, &is_started).await?;
                let hold = format!("begin; alter database {database} with connection limit 7");
                client.batch_execute(&hold).await.ok();
                while !client.is_closed() && !is_started.get() {
                    actix_web::rt::time::sleep(Duration::from_millis(5)).await;
                }
            }
            Some(())
        }
    });
    let logins = spawn({
        let (urls, is_started) = (
            [of_postgres("closed"), of_postgres("template0")],
            is_started.clone(),
        );
        async move {
            let mut logins = 0;
            while !is_started.get() {
                for url in &urls {
                    logins += usize::from(connect(url).await.is_ok());
                }
                actix_web::rt::time::sleep(Duration::from_millis(2)).await;
            }
            logins
        }
    });
    let running = project.start().await;
    is_started.set(true);

    assert_eq!(logins.await.expect("ended"), 0, "closed databases stay closed");
    let made = made.await.expect("ended");
    holding.await.expect("ended");
    let superuser = project.superuser().await;
    let attributes =
        "select string_agg(concat_ws(' ', datname, datallowconn, datconnlimit), ', ' order by datname)
        from pg_database where datname in ('closed', 'mule', 'template0')";
    let attributes: String = query(&superuser, attributes).await;
    assert_eq!(attributes, "closed f 7, mule t -1, template0 f -1");
    let encoding = "select pg_encoding_to_char(encoding) from pg_database where datname = 'mule'";
    assert_eq!(query::<String>(&superuser, encoding).await, "MULE_INTERNAL");
    superuser
        .batch_execute(&of_mule("SQL_ASCII"))
        .await
        .expect("a superuser may");
    let settings =
        "select concat_ws(' ', (select string_agg(e, ' ') from pg_db_role_setting, unnest(setconfig) as e
        where e ~ '^(temp_tablespaces|work_mem)=' or setrole = 'anon'::regrole and e ~ '^search_path='),
        shobj_description((select oid from pg_database where datname = 'postgres'), 'pg_database'))";
    assert_eq!(query::<String>(&superuser, settings).await, "work_mem=5MB");
    let open = "alter database closed with allow_connections true";
    superuser.batch_execute(open).await.expect("a superuser may");
    let is_recorded =
        "select exists (select from _selvedge.selvedge_project_settings where name = 'extensions.guard')";
    assert!(query::<bool>(&superuser, is_recorded).await);
    let renamed: String = query(
        &superuser,
        "select string_agg(datname, ', ') from pg_database where datname like 'renamed%'",
    )
    .await;
    let client = connect(&of_superuser("obstructed")).await.expect("a login");
    let left = "select string_agg(concat_ws(' ', left(evtname, 8), evtenabled), ', ' order by evtname) from pg_event_trigger";
    assert_eq!(
        query::<String>(&client, left).await,
        "_selvedg A, _selvedg A, renamed_ A, selvedge A"
    );
    let roles = "select count(*) from pg_roles where rolname like 'renamed%'";
    assert_eq!(query::<i64>(&superuser, roles).await, 1);
    let databases = (0..made).map(|number| format!("made_{number}"));
    let others = [
        "held",
        "closed",
        "template1",
        "latin",
        "japanese",
        "mule",
        "obstructed",
        renamed.as_str(),
    ]
    .map(str::to_owned);
    for database in databases.chain(others) {
        let client = connect(&of_superuser(&database)).await.expect("a login");
        let is_guarded: bool = query(&client, IS_GUARDED).await;
        assert!(is_guarded, "{database} of {made}");
        let judged = list_judged_definers_of_other_databases();
        assert_eq!(list_definers(&client).await, judged, "each has its verdict");
    }
    running.stop();
}

/// Whoever owns a database may close it, and does so each time a start has opened it.
async fn keep_closed(url: String, is_started: Rc<Cell<bool>>) {
    while let Some(client) = connect_early(&url, &is_started).await {
        let close = "alter database raced allow_connections false";
        while !is_started.get() && client.batch_execute(close).await.is_ok() {
            actix_web::rt::time::sleep(Duration::from_millis(1)).await;
        }
    }
}

/// Keeps every further login to a database waiting: its owner may lock what each of them reads.
async fn keep_waiting(url: String, is_started: Rc<Cell<bool>>) -> Option<()> {
    let holding = connect_early(&url, &is_started).await?;
    let hold = "begin; select count(*) from pg_class";
    holding.batch_execute(hold).await.ok();
    let waiting = connect_early(&url, &is_started).await?;
    waiting.batch_execute("vacuum full pg_class").await.ok();
    Some(())
}

/// Keeps roles as they are whose names nobody else can read.
async fn keep_roles(url: String, is_started: Rc<Cell<bool>>) -> Option<()> {
    let client = connect_early(&url, &is_started).await?;
    client.batch_execute("begin").await.ok();
    for number in 1..=3 {
        let hold = format!("alter role \"\u{e9}{number}\" connection limit 5");
        client.batch_execute(&hold).await.ok();
    }
    while !client.is_closed() && !is_started.get() {
        actix_web::rt::time::sleep(Duration::from_millis(5)).await;
    }
    Some(())
}

/// Who may connect to a database, and whose it is.
async fn read_attributes(superuser: &Client, database: &str) -> String {
    let attributes = format!(
        "select concat_ws(' ', datallowconn, datconnlimit, datistemplate, pg_get_userbyid(datdba))
         from pg_database where datname = '{database}'"
    );
    query(superuser, &attributes).await
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn a_start_guards_and_renames_also_what_its_owner_keeps_as_it_is() {
    let project = Project::new();
    let running = project.start().await;
    let of_superuser = |database: &str| {
        project
            .superuser_url()
            .replace("/postgres", &format!("/{database}"))
    };
    let of_postgres = |database: &str| {
        let port = project.ports.database;
        format!("postgresql://postgres:postgres@127.0.0.1:{port}/{database}")
    };
    let postgres = project.database().await;
    for database in ["raced", "changed", "locked"] {
        let create = format!("create database {database}");
        postgres.batch_execute(&create).await.expect("postgres may");
        let client = connect(&of_superuser(database)).await.expect("a login");
        client.batch_execute(UNGUARD).await.expect("as before");
    }
    let latin = "create database latin encoding 'LATIN1' locale_provider libc locale 'C' template template0";
    postgres.batch_execute(latin).await.expect("postgres may");
    let client = connect(&of_postgres("latin")).await.expect("a login");
    for number in 1..=3 {
        let create = format!("create role \"\u{e9}{number}\"");
        client.batch_execute(&create).await.expect("postgres may");
    }
    drop(client);
    let close = "alter database raced with allow_connections false connection limit 7 is_template true";
    postgres.batch_execute(close).await.expect("postgres may");
    let superuser = project.superuser().await;
    let forget = "delete from _selvedge.selvedge_project_settings where name = 'extensions.guard'";
    superuser.batch_execute(forget).await.expect("deleted");
    drop((postgres, superuser));
    running.stop();

    let is_started = Rc::new(Cell::new(false));
    let closing = spawn(keep_closed(of_postgres("postgres"), is_started.clone()));
    let locking = spawn(keep_waiting(of_postgres("locked"), is_started.clone()));
    let holding = spawn(keep_roles(of_postgres("latin"), is_started.clone()));
    let running = project.start().await;
    is_started.set(true);

    let superuser = project.superuser().await;
    let roles = "select count(*) from pg_roles where rolname like 'renamed%'";
    assert_eq!(query::<i64>(&superuser, roles).await, 3);
    holding.await.expect("ended");
    let is_recorded =
        "select exists (select from _selvedge.selvedge_project_settings where name = 'extensions.guard')";
    assert!(query::<bool>(&superuser, is_recorded).await);
    assert_eq!(read_attributes(&superuser, "raced").await, "f 7 t postgres");
    assert_eq!(read_attributes(&superuser, "locked").await, "t -1 f postgres");
    closing.await.expect("ended");
    locking.abort();
    let open = "alter database raced with allow_connections true";
    superuser.batch_execute(open).await.expect("a superuser may");
    for database in ["raced", "changed", "locked"] {
        let client = connect(&of_superuser(database)).await.expect("a login");
        assert!(query::<bool>(&client, IS_GUARDED).await, "{database}");
    }

    // As a start leaves them that was cut off, one of an earlier version that had noted less, and one as somebody has changed it since.
    superuser
        .batch_execute(
            "update pg_database set datallowconn = true, datconnlimit = 0, datdba = 10, datistemplate = false where datname = 'raced';
             alter database changed with connection limit 5; alter database locked with connection limit 0;
             insert into _selvedge.selvedge_project_settings (name, value)
             select 'extensions.opened_databases', json_agg(json_build_object(
               'number', oid::bigint, 'allows_logins', datname = 'locked', 'connection_limit', 7, 'encoding', encoding
             )::jsonb || case when datname = 'locked' then '{}' else jsonb_build_object(
               'owner', 'postgres'::regrole::oid::bigint, 'is_template', datname = 'raced') end)::text
             from pg_database where datname in ('raced', 'changed', 'locked')",
        )
        .await
        .expect("a superuser may");
    drop(superuser);
    running.stop();
    let running = project.start().await;
    let superuser = project.superuser().await;
    assert_eq!(read_attributes(&superuser, "raced").await, "f 7 t postgres");
    assert_eq!(read_attributes(&superuser, "changed").await, "t 5 f postgres");
    assert_eq!(read_attributes(&superuser, "locked").await, "t 7 f postgres");
    check_unreadable_note(&project, superuser, running).await;
}

/// A note that this version cannot read keeps no guard away, and leaves no database to superusers alone.
async fn check_unreadable_note(project: &Project, superuser: Client, running: Running) {
    superuser
        .batch_execute(
            "delete from _selvedge.selvedge_project_settings where name = 'extensions.guard';
             insert into _selvedge.selvedge_project_settings (name, value) values ('extensions.opened_databases', '{');
             update pg_database set datallowconn = true, datconnlimit = 0, datdba = 10 where datname = 'changed'",
        )
        .await
        .expect("a superuser may");
    let url = project.superuser_url().replace("/postgres", "/changed");
    let client = connect(&url).await.expect("a login");
    client.batch_execute(UNGUARD).await.expect("as before");
    drop((superuser, client));
    running.stop();

    let running = project.start().await;

    assert_contains(
        &running.output(),
        &[
            "the note extensions.opened_databases of another version cannot be read",
            "1 databases that it may be about",
        ],
    );
    let superuser = project.superuser().await;
    assert_eq!(read_attributes(&superuser, "changed").await, "f -1 f postgres");
    let notes =
        "select string_agg(concat_ws(' ', name, value), ', ' order by name) from _selvedge.selvedge_project_settings
        where name like 'extensions.opened%'";
    assert_eq!(
        query::<String>(&superuser, notes).await,
        "extensions.opened_databases.unreadable {"
    );
    let open = "alter database changed with allow_connections true";
    superuser.batch_execute(open).await.expect("a superuser may");
    let client = connect(&url).await.expect("a login");
    assert!(query::<bool>(&client, IS_GUARDED).await);
    running.stop();
}
