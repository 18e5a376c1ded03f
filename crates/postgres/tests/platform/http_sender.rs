//! The role as which the extension http sends its requests to the server beside PostgreSQL, and that a foreign server with the name of its
//! connection cannot redirect them.

use selvedge_testing::TestDatabase;
use tokio_postgres::Client;

use super::escalation::{assert_no_superuser, attacker};
use super::{query_sqlstate, query_value};

/// The function as it was before `selvedge_http`, a superuser's.
const EARLIER_SENDER: &str = r"
    alter function extensions._http_send(text) owner to supabase_admin;
    update pg_proc set proargtypes = '25 25' where proname = '_http_dblink';
    delete from pg_depend where objid in (select oid from pg_proc where proname in ('_http_dblink', '_http_send'))
      and refobjid = 'extensions._http_connection'::regtype;
    create or replace function extensions._http_send(question text) returns text
      language sql volatile security definer
      set search_path = pg_catalog, pg_temp
    begin atomic
      select a.answer
      from extensions._http_dblink(
        pg_catalog.concat(
          'host=''', pg_catalog.replace(
            pg_catalog.replace(
              pg_catalog.concat(
                pg_catalog.split_part(pg_catalog.current_setting('unix_socket_directories'::text), ','::text, 1), '/http'::text
              ), '\'::text, '\\'::text
            ), ''''::text, '\'''::text
          ),
          ''' port=1 dbname=http user=http sslmode=disable gssencmode=disable connect_timeout=5'
        ),
        _http_send.question
      ) as a (answer text);
    end;
    alter extension http drop domain extensions._http_connection; drop domain extensions._http_connection;
    revoke execute on function extensions._http_dblink(text, text) from selvedge_http;";

/// Attributes of the role, and what it may do that everybody else may not.
const RIGHTS: &str = "
    select concat_ws(' ', r.rolsuper, r.rolcanlogin, r.rolinherit, r.rolcreaterole, r.rolcreatedb, r.rolreplication, r.rolbypassrls,
      (select string_agg(p.pronamespace::regnamespace || '.' || p.proname, ', ') from pg_proc as p
       where has_function_privilege(r.oid, p.oid, 'execute') and p.proowner <> r.oid
         and (p.proacl is not null and not exists (select from aclexplode(p.proacl) as a where a.grantee = 0))),
      (select string_agg(c.oid::regclass::text, ', ') from pg_class as c
       where c.relkind in ('r', 'p', 'v') and has_table_privilege(r.oid, c.oid, 'select, insert, update, delete')
         and not exists (select from aclexplode(c.relacl) as a where a.grantee = 0)))
    from pg_roles as r where r.rolname = 'selvedge_http'";

/// Makes a server that dblink takes for the connection of the extension, as one could before `0210_connection_options.sql`. It leads to this
/// very database.
async fn mislead(database: &TestDatabase, superuser: &Client) {
    let url = database.url("postgres");
    let password = url.split([':', '@']).nth(2).expect("a password");
    let statements = format!(
        "select format(
           'create server %1$I foreign data wrapper dblink_fdw options (host %2$L, port %3$L, dbname %4$L);
            alter server %1$I owner to postgres;
            create user mapping for supabase_admin server %1$I options (user ''postgres'', password ''{password}'')',
           left(concat('host=''', s.folder, '/http'' port=1 dbname=http user=http'), 63), s.folder, current_setting('port'),
           current_database())
         from split_part(current_setting('unix_socket_directories'), ',', 1) as s (folder)"
    );
    let statements = query_value(superuser, &statements).await;
    superuser
        .batch_execute(&format!(
            "create extension dblink schema extensions;
             alter event trigger _selvedge_check_connections disable; {statements};
             alter event trigger _selvedge_check_connections enable always"
        ))
        .await
        .expect("a superuser may");
}

#[tokio::test]
async fn gw_012_requests_of_http_are_sent_by_a_role_that_can_do_nothing_else() {
    for is_earlier in [false, true] {
        let database = TestDatabase::create().await;
        let superuser = database.superuser().await;
        let postgres = attacker(&database).await;
        postgres
            .batch_execute("create extension http schema extensions")
            .await
            .expect("postgres may");
        mislead(&database, &superuser).await;
        let any_statement = "select extensions._http_send('select concat(current_user, 1)')";
        if is_earlier {
            superuser.batch_execute(EARLIER_SENDER).await.expect("as it was");
            assert_eq!(query_value(&postgres, any_statement).await, "postgres1");
            let upgrade = include_str!("../../../../sql/platform/0212_http_sender.sql");
            superuser
                .batch_execute(&format!(
                    "begin; create type extensions._http_connection as (a int);
                     set local search_path = pg_catalog, pg_temp; {upgrade}; commit"
                ))
                .await
                .expect("upgraded");
        }

        assert_eq!(query_sqlstate(&postgres, any_statement).await, "22P02");
        // The server has no mapping for the role of the function.
        let json = "select extensions._http_send('{}')";
        assert_eq!(query_sqlstate(&postgres, json).await, "42704");
        assert_eq!(
            query_value(&superuser, RIGHTS).await,
            "f f t f f f f extensions._http_dblink",
            "the earlier form: {is_earlier}"
        );
        // PostgreSQL 15 lets `postgres` become every role that is no superuser.
        superuser
            .batch_execute("grant selvedge_http to postgres")
            .await
            .expect("a superuser may");
        let hostile = "set role selvedge_http;
            select * from extensions._http_dblink('host=x password=x sslkey=/x:y', '') as t (a text)";
        assert_eq!(query_sqlstate(&postgres, hostile).await, "42501");
        superuser
            .batch_execute("revoke selvedge_http from postgres")
            .await
            .expect("a superuser may");
        assert_no_superuser(&postgres, "http").await;
    }
}
