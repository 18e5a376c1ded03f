//! A database on somebody else's server, which `migrate up` has made: the same rules, read from its catalog.

use selvedge_postgres::migrate::{PrivilegeFault, find_privilege_faults};
use selvedge_testing::{create_every_extension, list_definers, list_judged_definers};

use super::{assert_contains, expect_success, query, text_of};
use crate::plain_server::PlainServer;
use crate::support::{Project, connect};

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn no_object_of_an_external_database_breaks_a_rule_also_after_every_extension_was_created() {
    let (project, server) = (Project::new(), PlainServer::start().await);
    server.migrate_up(&project);
    let postgres = connect(&server.url_of("postgres", "of-postgres"))
        .await
        .expect("a login");

    let created = create_every_extension(&postgres, "public").await;

    assert!(created > 30, "{created}");
    assert_eq!(
        find_privilege_faults(&postgres).await.expect("a list"),
        Vec::<PrivilegeFault>::new()
    );
    let in_catalog =
        "select count(*) from pg_proc where pronamespace = 'pg_catalog'::regnamespace and oid >= 16384";
    assert_eq!(query::<i64>(&postgres, in_catalog).await, 0);
    let judged = list_judged_definers();
    assert_eq!(list_definers(&postgres).await, judged, "each has its verdict");

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

/// The image of PostgreSQL trusts its own container, and SQL of a project can open connections there.
#[test]
fn services_of_the_compose_files_have_no_password_of_a_superuser_and_no_login_without_one() {
    for text in [
        include_str!("../../../../../docker/compose.yaml"),
        include_str!("../../../../../docker/compose.cluster.yaml"),
    ] {
        let urls: Vec<&str> = text
            .lines()
            .filter(|line| line.trim_start().starts_with("DATABASE_URL:"))
            .collect();
        let (of_superuser, of_services): (Vec<&str>, Vec<&str>) = urls
            .into_iter()
            .partition(|url| url.contains("//supabase_admin:${POSTGRES_PASSWORD:?}@"));
        assert_eq!(of_superuser.len(), 1, "that of migrate: {of_superuser:?}");
        assert!(!of_services.is_empty());
        for url in of_services {
            assert!(url.contains("//authenticator:${SERVICE_PASSWORD:?}@"), "{url}");
        }
        assert!(
            text.contains("POSTGRES_PASSWORD: \"\""),
            "not by an env_file either"
        );
        assert!(text.contains("POSTGRES_INITDB_ARGS: --auth=scram-sha-256"));
    }
}
