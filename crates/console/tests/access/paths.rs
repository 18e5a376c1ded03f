//! Code of the project that the console's own sessions could run: names of a search path, and what an index of Auth's tables calls.

use std::time::{Duration, Instant};

use super::support::{Console, PASSWORD, SignedIn};

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
}

/// Who writes accounts or sessions is the console's admin: by SQL only its own login does.
#[tokio::test]
async fn console_171_postgres_writes_no_account_and_no_session_of_the_console() {
    let console = Console::start().await;
    let postgres = console.database.connect("postgres").await;

    for statement in [
        "insert into selvedge_console.selvedge_accounts (name, level, password_hash) values ('eve', 'admin', 'x')",
        "update selvedge_console.selvedge_accounts set level = 'admin'",
        "delete from selvedge_console.selvedge_accounts",
        "insert into selvedge_console.selvedge_sessions (cookie_digest, header_digest, account, address, expires_at)
         values (sha256('c'), sha256('h'), 'adam', 'x', now() + interval '1 h')",
        "update selvedge_console.selvedge_sessions set account = 'adam'",
        "delete from selvedge_console.selvedge_sessions",
        "delete from selvedge_console.selvedge_snippets",
        "create trigger t after insert on selvedge_console.selvedge_sessions execute function suppress_redundant_updates_trigger()",
    ] {
        let refused = postgres.batch_execute(statement).await.expect_err(statement);
        assert_eq!(
            refused.code().expect("by PostgreSQL").code(),
            "42501",
            "{statement}"
        );
    }
}

const USER: &str = "00000000-0000-4000-8000-000000000001";

/// A user of the project with a session of the console, as a sign-in makes them.
pub(super) async fn add_member(console: &Console) -> SignedIn {
    let auth = console.database.connect("supabase_auth_admin").await;
    auth.batch_execute(&format!(
        "insert into auth.users (id, email, raw_app_meta_data) values ('{USER}', 'ana@example.org', '{{\"console\": \"viewer\"}}');
         insert into auth.mfa_factors (id, user_id, factor_type, status, created_at, updated_at)
           values (gen_random_uuid(), '{USER}', 'totp', 'verified', now(), now());
         insert into auth.sessions (id, user_id, created_at) values ('{USER}', '{USER}', now())"
    ))
    .await
    .expect("a user");
    let service = console.database.connect("selvedge_console_service").await;
    service
        .batch_execute(&format!(
            "insert into selvedge_console.selvedge_sessions (cookie_digest, header_digest, user_id, auth_session, address, expires_at)
             values (sha256('cookie'), sha256('header'), '{USER}', '{USER}', '::1', now() + interval '1 h')"
        ))
        .await
        .expect("a session");
    SignedIn {
        cookie: "selvedge_console=cookie".to_owned(),
        secret: "header".to_owned(),
    }
}

/// PostgreSQL materialises a cursor WITH HOLD at the commit, and until version 17 runs deferred triggers then, as the role that has logged in.
const LEAVES_CODE_FOR_THE_COMMIT: &str = "
    create table public.seen (who name, place text); grant select, insert on public.seen to public;
    create table public.queue (id int); grant insert on public.queue to public;
    create function public.note(place text) returns int language plpgsql as $$
      begin insert into public.seen values (current_user, place); return 1; end $$;
    create function public.note_later() returns trigger language plpgsql as $$
      begin perform public.note('trigger'); return null; end $$;
    create constraint trigger later after insert on public.queue deferrable initially deferred
      for each row execute function public.note_later();
    create function public.leave() returns void language plpgsql as $$ begin end $$;
    create function public.trap() returns boolean language plpgsql immutable as $$
      begin perform public.leave(); return true; end $$;
    create index on auth.users (id) where public.trap();
    create or replace function public.leave() returns void language plpgsql as $$
      begin
        insert into public.queue values (1);
        execute 'declare late cursor with hold for select public.note(''cursor'')';
      exception when duplicate_cursor then null;
      end $$;";

#[tokio::test]
async fn console_171_what_an_index_of_auth_leaves_for_the_commit_does_not_run_as_the_console() {
    let console = Console::start_for_project_users().await;
    let session = add_member(&console).await;
    let postgres = console.database.connect("postgres").await;
    postgres
        .batch_execute(LEAVES_CODE_FOR_THE_COMMIT)
        .await
        .expect("postgres may");

    let answer = console.page_as(&session, "GET", "/api/logs");
    assert_eq!(answer.status, 200, "{}", answer.body);
    let accounts = console.page_as(&session, "GET", "/api/session");
    assert!(accounts.body.contains("ana@example.org"), "{}", accounts.body);

    let seen = "select string_agg(distinct place || ' as ' || who, ', ') from public.seen";
    let row = postgres.query_one(seen, &[]).await.expect("noted");
    let seen: &str = row.get(0);
    assert!(
        seen.contains("cursor as supabase_auth_admin"),
        "the trap works: {seen}"
    );
    assert!(!seen.contains("selvedge_console"), "{seen}");
}

#[tokio::test]
async fn console_013_a_user_of_the_project_is_let_in_as_long_as_auth_says_so() {
    let console = Console::start_for_project_users().await;
    let session = add_member(&console).await;
    let auth = console.database.connect("supabase_auth_admin").await;
    let status = || console.page_as(&session, "GET", "/api/logs").status;
    assert_eq!(status(), 200);

    for (refused, allowed) in [
        (
            "update auth.users set raw_app_meta_data = '{\"console\": \"owner\"}'",
            "update auth.users set raw_app_meta_data = '{\"console\": \"viewer\"}'",
        ),
        (
            "update auth.users set banned_until = now() + interval '1 h'",
            "update auth.users set banned_until = now() - interval '1 h'",
        ),
        (
            "update auth.users set deleted_at = now()",
            "update auth.users set deleted_at = null",
        ),
        (
            "update auth.mfa_factors set status = 'unverified'",
            "update auth.mfa_factors set status = 'verified'",
        ),
        ("delete from auth.sessions", ""),
    ] {
        for (statement, expected) in [(refused, 401), (allowed, 200)] {
            if statement.is_empty() {
                continue;
            }
            auth.batch_execute(statement).await.expect("changed");
            let deadline = Instant::now() + Duration::from_secs(5);
            while status() != expected {
                assert!(Instant::now() < deadline, "{statement}: {}", status());
                tokio::time::sleep(Duration::from_millis(50)).await;
            }
        }
    }
}
