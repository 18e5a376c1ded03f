//! Databases besides the project's, which `postgres` may make, and which a start guards.

use std::cell::Cell;
use std::rc::Rc;
use std::time::Duration;

use actix_web::rt::spawn;
use tokio_postgres::Client;

use super::query;
use crate::support::{Project, connect};

const IS_GUARDED: &str = "select exists (select from pg_event_trigger where evtname = 'selvedge_check_extension' and evtenabled = 'A')";

/// As a database is that an earlier version has made.
const UNGUARD: &str = "alter extension plpgsql drop event trigger selvedge_check_extension;
    drop event trigger selvedge_check_extension";

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

#[actix_web::test]
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
    ] {
        postgres.batch_execute(statement).await.expect("postgres may");
    }
    let superuser = project.superuser().await;
    let forget = "delete from _selvedge.project_settings where name = 'extensions.guard'";
    superuser.batch_execute(forget).await.expect("deleted");
    for database in ["template1", "held", "latin", "japanese"] {
        let client = connect(&of_superuser(database)).await.expect("a login");
        client.batch_execute(UNGUARD).await.expect("as before");
    }
    // In the catalog the name is the one byte that it is there, which is no letter elsewhere.
    let client = connect(&of_postgres("latin")).await.expect("a login");
    for statement in ["create database \"\u{e9}\"", "create role \"\u{e9}\""] {
        client.batch_execute(statement).await.expect("postgres may");
    }
    drop(client);
    running.stop();

    let is_started = Rc::new(Cell::new(false));
    let made = spawn(make_databases(of_postgres("postgres"), is_started.clone()));
    // Whoever owns a database may keep its row as it is.
    let holding = spawn({
        let (url, is_started) = (of_postgres("postgres"), is_started.clone());
        async move {
            let client = connect_early(&url, &is_started).await?;
            let hold = "begin; alter database held with connection limit 7";
            client.batch_execute(hold).await.ok();
            Some(client)
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
    drop(holding.await.expect("ended"));
    let superuser = project.superuser().await;
    let attributes =
        "select string_agg(concat_ws(' ', datname, datallowconn, datconnlimit), ', ' order by datname)
        from pg_database where datname in ('closed', 'template0')";
    let attributes: String = query(&superuser, attributes).await;
    assert_eq!(attributes, "closed f 7, template0 f -1");
    let open = "alter database closed with allow_connections true";
    superuser.batch_execute(open).await.expect("a superuser may");
    let is_recorded =
        "select exists (select from _selvedge.project_settings where name = 'extensions.guard')";
    assert!(query::<bool>(&superuser, is_recorded).await);
    let renamed: String = query(
        &superuser,
        "select string_agg(datname, ', ') from pg_database where datname like 'renamed%'",
    )
    .await;
    let roles = "select count(*) from pg_roles where rolname like 'renamed%'";
    assert_eq!(query::<i64>(&superuser, roles).await, 1);
    let databases = (0..made).map(|number| format!("made_{number}"));
    let others = [
        "held",
        "closed",
        "template1",
        "latin",
        "japanese",
        renamed.as_str(),
    ]
    .map(str::to_owned);
    for database in databases.chain(others) {
        let client = connect(&of_superuser(&database)).await.expect("a login");
        let is_guarded: bool = query(&client, IS_GUARDED).await;
        assert!(is_guarded, "{database} of {made}");
    }
    running.stop();
}
