//! A database on somebody else's server, which `migrate up` has made: the same rules, read from its catalog.

use std::io::{Read as _, Write as _};
use std::net::TcpListener;
use std::process::{Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::thread;

use selvedge_postgres::migrate::{PrivilegeFault, find_privilege_faults};
use selvedge_testing::{create_every_extension, list_definers, list_judged_definers};

use super::{assert_contains, expect_failure, expect_success, query, text_of};
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
    let of_superuser = doctor(server.url());
    assert_contains(
        &of_superuser,
        &["every login needs a password", "DATABASE_URL names a superuser"],
    );
    assert!(!of_superuser.contains("could not look"), "{of_superuser}");
    assert_contains(
        &doctor(server.url_of("authenticator", "of-the-services")),
        &[
            "could not look: passwords that are stored by md5 (pg_authid); a password in primary_conninfo; passwords of subscriptions; \
             passwords of user mappings, needs postgres, a superuser",
            "could not look: logins without a password (pg_hba_file_rules), needs a superuser",
            "could not look: accounts and identities (schema auth), needs postgres",
        ],
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
    check_accounts_of_the_console(&project, &server);
    check_addresses_of_standbys(&project, &server);
    check_passwords_of_others(&project, &server).await;
    check_older_schema(&project, &server).await;
}

/// Whoever writes accounts is an admin of the console, so the password of `postgres` is not enough.
fn check_accounts_of_the_console(project: &Project, server: &PlainServer) {
    let add = |url: &str, variables: &[(&str, &str)]| {
        let mut adding = project
            .command(&["console", "user", "add", "ana", "--level", "admin"])
            .env("DATABASE_URL", url)
            .envs(variables.iter().copied())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .expect("the binary starts");
        let mut input = adding.stdin.take().expect("a pipe");
        input.write_all(b"correct horse battery\n").expect("it reads");
        drop(input);
        text_of(&adding.wait_with_output().expect("it ends"))
    };
    let of_postgres = server.url_of("postgres", "of-postgres");

    let refused = add(&of_postgres, &[]);
    assert_contains(&refused, &["set SELVEDGE_CONSOLE_PASSWORD as for `serve`"]);
    let added = add(&of_postgres, &[("SELVEDGE_CONSOLE_PASSWORD", "of-the-console")]);
    assert_contains(&added, &["added ana as admin"]);
    assert_contains(&add(&server.url(), &[]), &["there is an account ana already"]);
}

/// What `postgres` reads of passwords of others is refused or named: those by md5, and those in the text of a standby's connection.
async fn check_passwords_of_others(project: &Project, server: &PlainServer) {
    let superuser = server.superuser().await;
    for statement in [
        "set password_encryption = 'md5'; create role of_others superuser login password 'x'",
        "alter system set primary_conninfo = 'postgresql://rep:secret@127.0.0.1:1/x'",
        "select pg_reload_conf()",
    ] {
        superuser.batch_execute(statement).await.expect("a superuser may");
    }
    // One server for both, under another name: with a login that may read the setting, and with one that may not.
    let urls = [server.url(), server.url_of("authenticator", "of-the-services")].join(",");
    let standbys = urls.replace("127.0.0.1", "localhost");
    let set = |command: &mut Command, is_accepted: bool| {
        command
            .env("SELVEDGE_REPLICAS_URLS", &standbys)
            .env("SELVEDGE_ACCEPT_MD5_ROLES", is_accepted.to_string());
    };
    let doctor = |is_accepted: bool| {
        let mut command = project.command(&["doctor"]);
        set(command.env("DATABASE_URL", server.url()), is_accepted);
        text_of(&command.output().expect("the binary runs"))
    };
    let config = |text: &str| project.write("config.toml", &format!("project_id = \"cli\"\n{text}"));
    let mut migrate_up = server.migrate_up_command(project);

    // `accept_md5_roles` in a file of the project does not count, and one warning says so.
    config("[selvedge]\naccept_md5_roles = true\n");
    let of_file = expect_failure(&mut server.migrate_up_command(project));
    let said = "config.toml:3: selvedge.accept_md5_roles has no effect in a file of the project";
    assert_eq!(of_file.matches(said).count(), 1, "{of_file}");
    assert_contains(
        &of_file,
        &[
            "set SELVEDGE_ACCEPT_MD5_ROLES in the environment",
            "as md5: of_others.",
        ],
    );
    config("");
    set(&mut migrate_up, false);
    let refused = expect_failure(&mut migrate_up);
    assert_contains(
        &refused,
        &["as md5: of_others.", "SELVEDGE_ACCEPT_MD5_ROLES=true"],
    );
    set(&mut migrate_up, true);
    let accepted = expect_success(&mut migrate_up);
    let is_accepted = "whose passwords are stored by md5 (SELVEDGE_ACCEPT_MD5_ROLES): of_others";
    let of_standby = [
        "primary_conninfo has a password",
        "primary_conninfo of localhost:",
        "has a password, which postgres reads there",
        "was not looked at: the login of its URL is no member of pg_read_all_settings",
    ];
    assert_contains(&accepted, &[is_accepted]);
    assert_contains(&accepted, &of_standby);
    let refusing = doctor(false);
    assert_contains(&refusing, &["are stored by scram-sha-256, but: of_others"]);
    assert_contains(&refusing, &of_standby);
    assert_contains(&doctor(true), &[is_accepted]);
}

/// As an older version has made it: without the newest file, and with other names of tables. Nobody is shown errors of PostgreSQL about that.
async fn check_older_schema(project: &Project, server: &PlainServer) {
    server
        .superuser()
        .await
        .batch_execute(
            "alter table _selvedge.platform_migrations disable trigger all;
             delete from _selvedge.platform_migrations where version = (select max(version) from _selvedge.platform_migrations);
             alter table selvedge_console.selvedge_accounts rename to accounts;
             alter table selvedge_console.selvedge_audit_seals rename to audit_seals;
             alter table _selvedge.selvedge_sso_proven_identities rename to proven",
        )
        .await
        .expect("a superuser may");
    let run = |arguments: &[&str]| {
        let mut command = project.command(arguments);
        command
            .env("DATABASE_URL", server.url_of("postgres", "of-postgres"))
            .env("SELVEDGE_CONSOLE_PASSWORD", "of-the-console");
        text_of(&command.output().expect("the binary runs"))
    };

    let (listed, found) = (run(&["console", "user", "list"]), run(&["doctor"]));

    assert_contains(&listed, &["bring it up to date with:  selvedge migrate up"]);
    let advice = "bring the schema up to date first";
    assert_contains(
        &found,
        &[
            "could not look: the seals of the console's audit",
            "could not look: users of single sign-on",
            advice,
        ],
    );
    for printed in [listed, found] {
        assert!(!printed.contains("does not exist"), "{printed}");
    }
}

/// A file of the project may name any address as a standby. What is there gets the password of its own URL and no other.
fn check_addresses_of_standbys(project: &Project, server: &PlainServer) {
    let (port, received) = receive_passwords();
    let standby = format!("postgresql://authenticator:of-standby@127.0.0.1:{port}/postgres?sslmode=disable");
    let mut doctor = project.command(&["doctor"]);
    doctor.env("DATABASE_URL", server.url());

    for mut command in [doctor, server.migrate_up_command(project)] {
        let printed = text_of(
            &command
                .env("SELVEDGE_REPLICAS_URLS", &standby)
                .output()
                .expect("the binary runs"),
        );
        let refusal = format!("primary_conninfo of 127.0.0.1:{port} was not looked at: ");
        assert_contains(&printed, &[refusal.as_str()]);
    }

    let passwords: Vec<String> = received.try_iter().collect();
    assert!(!passwords.is_empty(), "it is asked");
    for password in passwords {
        assert!(password.ends_with("of-standby\0"), "{password:?}");
    }
}

/// A server that asks for passwords as they are. Returns its port, and what comes in answer.
fn receive_passwords() -> (u16, Receiver<String>) {
    let listener = TcpListener::bind(("127.0.0.1", 0)).expect("a port");
    let port = listener.local_addr().expect("an address").port();
    let (sender, received) = channel();
    thread::spawn(move || {
        for stream in listener.incoming() {
            let mut stream = stream.expect("a connection");
            let mut buffer = [0; 4096];
            // The message that begins a session; then AuthenticationCleartextPassword.
            let _ = stream.read(&mut buffer);
            let _ = stream.write_all(b"R\0\0\0\x08\0\0\0\x03");
            let length = stream.read(&mut buffer).unwrap_or_default();
            let text = String::from_utf8_lossy(&buffer[..length]).into_owned();
            if sender.send(text).is_err() {
                return;
            }
        }
    });
    (port, received)
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
