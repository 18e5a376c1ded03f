//! A database on somebody else's server, which `migrate up` has made: the same rules, read from its catalog.

use std::collections::BTreeSet;

use selvedge_postgres::SHIPPED;
use selvedge_postgres::migrate::{PrivilegeFault, find_privilege_faults};
use tokio_postgres::Client;

use super::{assert_contains, expect_success, query, text_of};
use crate::plain_server::PlainServer;
use crate::support::{Project, connect};

/// Functions that run with a superuser's rights, whoever calls them. Those of contrib are closed to everybody.
const DEFINERS: &str = "
    select n.nspname || '.' || p.proname
    from pg_proc p
    join pg_namespace n on n.oid = p.pronamespace
    join pg_roles o on o.oid = p.proowner and o.rolsuper
    join pg_language l on l.oid = p.prolang
    where p.prosecdef and l.lanname <> 'c'";

/// Creates in schema public what `postgres` may create. Returns the number.
async fn create_every_extension(postgres: &Client) -> usize {
    let available =
        "select name::text from pg_available_extensions where installed_version is null order by 1";
    let rows = postgres.query(available, &[]).await.expect("a list");
    let mut names: BTreeSet<&str> = rows.iter().map(|row| row.get(0)).collect();
    names.extend(SHIPPED.iter().map(|extension| extension.name));
    let mut created = 0;
    for name in names {
        let create = format!("select _selvedge.create_extension('{name}', true, 'public', null, true)");
        match postgres.batch_execute(&create).await {
            Ok(()) => created += 1,
            Err(error) => assert_eq!(
                error.code().map(|code| code.code().to_owned()).as_deref(),
                Some("42501"),
                "{name}: {error:?}"
            ),
        }
    }
    created
}

#[actix_web::test]
async fn no_object_of_an_external_database_breaks_a_rule_also_after_every_extension_was_created() {
    let (project, server) = (Project::new(), PlainServer::start().await);
    server.migrate_up(&project);
    let postgres = connect(&server.url_of("postgres", "of-postgres"))
        .await
        .expect("a login");

    let created = create_every_extension(&postgres).await;

    assert!(created > 30, "{created}");
    assert_eq!(
        find_privilege_faults(&postgres).await.expect("a list"),
        Vec::<PrivilegeFault>::new()
    );
    let in_catalog =
        "select count(*) from pg_proc where pronamespace = 'pg_catalog'::regnamespace and oid >= 16384";
    assert_eq!(query::<i64>(&postgres, in_catalog).await, 0);
    let definers: BTreeSet<String> = postgres
        .query(DEFINERS, &[])
        .await
        .expect("a list")
        .iter()
        .map(|row| row.get::<_, String>(0).replace("public._http", "http._http"))
        .collect();
    let listed: BTreeSet<String> = include_str!("../../../../../docs/decisions.md")
        .lines()
        .filter_map(|line| {
            let (name, verdict) = line.strip_prefix("| `")?.split_once("` |")?;
            verdict.contains("safe because").then(|| name.to_owned())
        })
        .collect();
    assert_eq!(definers, listed, "each has its verdict in docs/decisions.md");

    // What somebody has changed is shown by the next `migrate up`, and by doctor.
    let superuser = server.superuser().await;
    superuser
        .batch_execute(
            "update pg_proc set prosrc = prosrc || ' ' where oid = '_selvedge.refuse_change()'::regprocedure",
        )
        .await
        .expect("a superuser may");
    let expected = "that were shipped, but: _selvedge.refuse_change() has another text";
    let printed = expect_success(&mut server.migrate_up_command(&project));
    assert_contains(&printed, &[expected]);
    let doctor = |url: String| {
        let mut command = project.command(&["doctor"]);
        text_of(
            &command
                .env("DATABASE_URL", url)
                .output()
                .expect("the binary runs"),
        )
    };
    assert_contains(&doctor(server.url_of("postgres", "of-postgres")), &[expected]);
    assert_contains(
        &doctor(server.url()),
        &["every login needs a password", "DATABASE_URL names a superuser"],
    );
    let let_in = "create temporary table lines as
          select line from regexp_split_to_table(pg_read_file(current_setting('hba_file')), E'\\n') as line
          union all values ('local all nobody peer'), ('host all nobody 127.0.0.9/32 trust');
        do $$ begin execute format('copy lines to %L', current_setting('hba_file')); end $$";
    superuser.batch_execute(let_in).await.expect("a superuser may");
    let open =
        "logins without a password are allowed: local all nobody peer; host all nobody 127.0.0.9 trust";
    assert_contains(&doctor(server.url()), &[open]);
    assert_contains(&expect_success(&mut server.migrate_up_command(&project)), &[open]);
}
