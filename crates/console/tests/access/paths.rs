//! Which names the console's own sessions look up, where the project has given the database a search path.

use std::time::{Duration, Instant};

use super::support::{Console, PASSWORD};

#[tokio::test]
async fn console_171_code_of_the_project_runs_in_no_session_of_the_console() {
    let console = Console::start().await;
    let superuser = console.database.superuser().await;
    let postgres = console.database.connect("postgres").await;
    postgres
        .batch_execute(
            "create schema evil; grant usage on schema evil to public;
             create table public.seen (who name, name text); grant insert on public.seen to public;
             create function evil.now() returns timestamptz language plpgsql as $$
             begin insert into public.seen values (current_user, 'now'); return pg_catalog.now(); end $$;
             create function evil.set_config(text, text, boolean) returns text language plpgsql as $$
             begin insert into public.seen values (current_user, 'set_config'); return pg_catalog.set_config($1, $2, $3); end $$;",
        )
        .await
        .expect("postgres may");
    superuser
        .batch_execute(
            "do $$ begin execute format('alter database %I set search_path = evil, pg_catalog, public', current_database()); end $$;
             select pg_terminate_backend(pid) from pg_stat_activity where usename = 'selvedge_console_service' and datname = current_database()",
        )
        .await
        .expect("as postgres may");

    // The pool may still have a connection whose end it has not seen.
    let deadline = Instant::now() + Duration::from_secs(30);
    while console.try_sign_in("vera", PASSWORD, "").status != 200 {
        assert!(Instant::now() < deadline, "nobody can sign in");
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
    let session = console.sign_in("vera");
    assert_eq!(console.page_as(&session, "GET", "/api/logs").status, 200);

    let seen = "select count(*) from public.seen where who = 'selvedge_console_service'";
    let seen: i64 = superuser.query_one(seen, &[]).await.expect("counted").get(0);
    assert_eq!(seen, 0);
    let fresh = console.database.connect("selvedge_console_service").await;
    fresh.batch_execute("select now()").await.expect("the trap works");
    let trap = "select count(*) from public.seen where who = 'selvedge_console_service'";
    let trap: i64 = superuser.query_one(trap, &[]).await.expect("counted").get(0);
    assert_eq!(trap, 1);

    let forged =
        "insert into selvedge_console.selvedge_sessions (cookie_digest, header_digest, account, address, expires_at)
        values (sha256('c'), sha256('h'), 'adam', 'x', pg_catalog.now() + interval '1 h')";
    let refused = postgres
        .batch_execute(forged)
        .await
        .expect_err("no session of its own");
    assert_eq!(refused.code().expect("by PostgreSQL").code(), "42501");
}
