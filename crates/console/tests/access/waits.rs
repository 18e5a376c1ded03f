//! Requests that wait for connections and locks, and what must not wait for them.

use std::sync::Arc;
use std::time::{Duration, Instant};

use tokio::task::spawn_blocking;

use super::paths::add_member;
use super::support::{Answer, Console, SignedIn};

/// Sends a request in a thread of its own.
async fn send(
    console: &Arc<Console>,
    session: &Arc<SignedIn>,
    method: &'static str,
    path: &'static str,
) -> Answer {
    let (console, session) = (Arc::clone(console), Arc::clone(session));
    spawn_blocking(move || console.page_as(&session, method, path))
        .await
        .expect("an answer")
}

/// Returns when this many sessions of a login wait for a lock.
async fn wait_for_blocked_sessions(superuser: &tokio_postgres::Client, login: &str, count: i64) {
    let waiting = "select count(*) from pg_stat_activity
        where usename::text = $1 and datname = current_database() and wait_event_type = 'Lock'";
    let deadline = Instant::now() + Duration::from_secs(10);
    loop {
        let found: i64 = superuser
            .query_one(waiting, &[&login])
            .await
            .expect("counted")
            .get(0);
        if found >= count {
            return;
        }
        assert!(Instant::now() < deadline, "{found} wait");
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
}

#[tokio::test]
async fn console_013_more_first_requests_at_once_than_connections_do_not_wait_for_each_other() {
    let console = Arc::new(Console::start().await);
    let session = Arc::new(console.sign_in("vera"));
    let superuser = console.database.superuser().await;
    // As after a pause, so that each request has to note the time; and none goes on before all connections are in use.
    superuser
        .batch_execute(
            "update selvedge_console.selvedge_sessions set seen_at = now() - interval '1 min';
             begin; lock table selvedge_console.selvedge_sessions in access exclusive mode",
        )
        .await
        .expect("locked");
    let requests = (0..5).map(|_| {
        let (console, session) = (Arc::clone(&console), Arc::clone(&session));
        spawn_blocking(move || console.page_as(&session, "GET", "/api/logs"))
    });
    let requests: Vec<_> = requests.collect();
    // A transaction sees the list of sessions as it was at its first look.
    let observer = console.database.superuser().await;
    wait_for_blocked_sessions(&observer, "selvedge_console_service", 4).await;
    superuser.batch_execute("commit").await.expect("released");
    let released = Instant::now();

    for request in requests {
        let answer = request.await.expect("an answer");
        assert_eq!(answer.status, 200, "{}", answer.body);
    }

    assert!(
        released.elapsed() < Duration::from_secs(5),
        "{:?}",
        released.elapsed()
    );
    let seen = "select bool_and(seen_at > now() - interval '15 s') from selvedge_console.selvedge_sessions";
    assert!(
        superuser
            .query_one(seen, &[])
            .await
            .expect("a time")
            .get::<_, bool>(0)
    );
}

#[tokio::test]
async fn console_013_a_sign_out_that_auth_keeps_waiting_fails_soon_and_succeeds_later() {
    let console = Arc::new(Console::start_for_project_users().await);
    let session = Arc::new(add_member(&console).await);
    let owner = console.database.connect("supabase_auth_admin").await;
    owner
        .batch_execute("begin; lock table auth.sessions in share mode")
        .await
        .expect("locked, as a migration does");

    let begun = Instant::now();
    let refused = send(&console, &session, "DELETE", "/api/session").await;
    assert_eq!(refused.status, 503, "{}", refused.body);
    assert!(begun.elapsed() < Duration::from_secs(8), "{:?}", begun.elapsed());
    owner.batch_execute("commit").await.expect("released");

    let answer = send(&console, &session, "DELETE", "/api/session").await;
    assert_eq!(answer.status, 204, "{}", answer.body);
    let left = "select count(*) from auth.sessions";
    assert_eq!(
        owner
            .query_one(left, &[])
            .await
            .expect("counted")
            .get::<_, i64>(0),
        0
    );
    let status = send(&console, &session, "GET", "/api/logs").await.status;
    assert_eq!(status, 401);
}

/// An index that changes the session in which it is planned.
const CHANGES_THE_SESSION: &str = "
    create function public.change() returns void language plpgsql as $$ begin end $$;
    create function public.trap() returns boolean language plpgsql immutable as $$ begin perform public.change(); return true; end $$;
    create index trapped on auth.users (id) where public.trap();
    create or replace function public.change() returns void language plpgsql as $$
      begin
        perform set_config('statement_timeout', '1', false), pg_advisory_lock(1);
        perform pg_sleep(0);
      end $$;";

#[tokio::test]
async fn console_171_what_an_index_of_auth_changes_in_a_session_ends_with_its_use() {
    let console = Arc::new(Console::start_for_project_users().await);
    let session = Arc::new(add_member(&console).await);
    let postgres = console.database.connect("postgres").await;
    postgres
        .batch_execute(CHANGES_THE_SESSION)
        .await
        .expect("postgres may");
    send(&console, &session, "GET", "/api/logs").await;
    let locks = "select count(*) from pg_locks where locktype = 'advisory' and objid = 1
        and database = (select oid from pg_database where datname = current_database())";
    assert_eq!(
        postgres
            .query_one(locks, &[])
            .await
            .expect("counted")
            .get::<_, i64>(0),
        1,
        "the trap works"
    );

    postgres
        .batch_execute("drop index auth.trapped")
        .await
        .expect("mended");
    // Another session at the console, of which nothing is cached.
    let service = console.database.connect("selvedge_console_service").await;
    let digests = "update selvedge_console.selvedge_sessions set cookie_digest = sha256('other')";
    service.batch_execute(digests).await.expect("the console may");
    let other = Arc::new(SignedIn {
        cookie: "selvedge_console=other".to_owned(),
        secret: session.secret.clone(),
    });
    let answer = send(&console, &other, "GET", "/api/logs").await;

    assert_eq!(answer.status, 200, "{}", answer.body);
    assert_eq!(
        postgres
            .query_one(locks, &[])
            .await
            .expect("counted")
            .get::<_, i64>(0),
        0
    );
}

/// The lookup of a user may wait for a migration. A session that has ended meanwhile is not brought back by the request that waited.
#[tokio::test]
async fn console_013_a_session_that_ends_while_its_user_is_looked_up_lets_nobody_in() {
    let console = Arc::new(Console::start_for_project_users().await);
    let session = Arc::new(add_member(&console).await);
    let (owner, observer) = (
        console.database.connect("supabase_auth_admin").await,
        console.database.superuser().await,
    );
    let service = console.database.connect("selvedge_console_service").await;
    for (ended, is_same) in [
        ("expires_at = now() - interval '1 s'", "expires_at < now()"),
        (
            "seen_at = now() - interval '1 d'",
            "seen_at < now() - interval '1 h'",
        ),
    ] {
        let begin = "update selvedge_console.selvedge_sessions set expires_at = now() + interval '1 h', seen_at = now() - interval '1 min'";
        service.batch_execute(begin).await.expect("a session");
        owner
            .batch_execute("begin; lock table auth.users in access exclusive mode")
            .await
            .expect("locked");
        let request = {
            let (console, session) = (Arc::clone(&console), Arc::clone(&session));
            spawn_blocking(move || console.page_as(&session, "GET", "/api/logs"))
        };
        // The session that waits for the lock is that of the lookup, which has logged in as the owner of Auth's tables.
        wait_for_blocked_sessions(&observer, "supabase_auth_admin", 1).await;
        let end = format!("update selvedge_console.selvedge_sessions set {ended}");
        service.batch_execute(&end).await.expect("ended");
        owner.batch_execute("commit").await.expect("released");

        let answer = request.await.expect("an answer");

        assert_eq!(answer.status, 401, "{ended}: {}", answer.body);
        let stays = format!("select bool_and({is_same}) from selvedge_console.selvedge_sessions");
        let row = observer.query_one(&stays, &[]).await.expect("a row");
        assert!(row.get::<_, bool>(0), "{ended}");
    }
}

/// A trigger that sleeps at the commit, where `statement_timeout` does not end it, and catches the cancellation.
const SLEEPS_AT_THE_COMMIT: &str = "
    create function public.sleep() returns trigger language plpgsql as $$
      begin loop begin perform pg_sleep(60); exception when query_canceled then null; end; end loop; end $$;
    create constraint trigger later after delete on auth.sessions deferrable initially deferred
      for each row execute function public.sleep();";

#[tokio::test]
async fn console_171_code_of_the_project_at_a_commit_keeps_no_session_of_the_console() {
    let console = Arc::new(Console::start_for_project_users().await);
    let session = Arc::new(add_member(&console).await);
    let postgres = console.database.connect("postgres").await;
    postgres
        .batch_execute(SLEEPS_AT_THE_COMMIT)
        .await
        .expect("postgres may");

    let begun = Instant::now();
    // Two, as the console has two connections to Auth's tables.
    let requests = [(); 2].map(|()| send(&console, &session, "DELETE", "/api/session"));
    let [first, second] = requests;
    let (first, second) = tokio::join!(first, second);
    assert_eq!(
        (first.status, second.status),
        (503, 503),
        "{}{}",
        first.body,
        second.body
    );
    assert!(begun.elapsed() < Duration::from_secs(9), "{:?}", begun.elapsed());

    let answer = send(&console, &session, "GET", "/api/logs").await;
    assert_eq!(answer.status, 200, "{}", answer.body);
    let superuser = console.database.superuser().await;
    let end = "select count(pg_terminate_backend(pid)) from pg_stat_activity
        where usename = 'supabase_auth_admin' and datname = current_database()";
    superuser.query_one(end, &[]).await.expect("ended");
}
