//! Code of a project never runs in a session of the login that reads the stream: with REPLICATION one can load any library.

use std::rc::Rc;
use std::time::Duration;

use selvedge_realtime::RealtimeConfig;
use serde_json::json;
use tokio_postgres::Client;

use super::support::TestServer;

/// A function, a trigger and a policy, each of which notes who has logged in. Sequences keep what a rollback takes away.
const NOTING: &str = "
    create sequence public.with_replication;
    create sequence public.with_another_login;
    create function public.note() returns boolean language plpgsql security definer as $$ begin
      perform nextval(case session_user when 'supabase_replication_admin' then 'public.with_replication'
        else 'public.with_another_login' end);
      return true; end $$;
    create function public.note_insert() returns trigger language plpgsql as $$ begin perform public.note(); return new; end $$;
    create trigger noting before insert on realtime.messages for each row execute function public.note_insert();
    create policy noting on realtime.messages for select to authenticated using (public.note());
    set role supabase_realtime_admin;
    create or replace function realtime.maintain_messages_partitions(days_ahead integer default 3) returns void
      language plpgsql security invoker as $$ begin perform public.note(); end $$;
    reset role";

async fn count(client: &Client, sequence: &str) -> i64 {
    let count = format!("select case when is_called then last_value else 0 end from public.{sequence}");
    client.query_one(&count, &[]).await.expect("a number").get(0)
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn gw_012_code_of_a_project_never_has_the_login_of_the_stream() {
    let first = TestServer::start().await;
    let superuser = first.database.superuser().await;
    superuser.batch_execute(NOTING).await.expect("made");
    let server = TestServer::start_on(Rc::clone(&first.database), RealtimeConfig::default()).await;
    while count(&superuser, "with_another_login").await + count(&superuser, "with_replication").await == 0 {
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    let maintained = count(&superuser, "with_another_login").await;

    let token = server.user_token("6e9c7b1e-1b1f-4b9c-9d0c-0d5c3b1e2f3a");
    let mut client = server.connect("2.0.0", &token).await;
    let config = json!({"private": true, "broadcast": {"replay": {"since": 0}}});
    client.join_ok("realtime:open-a", config).await;

    assert_eq!(count(&superuser, "with_replication").await, 0);
    assert_eq!(maintained, 1, "the partitions are maintained");
    assert!(
        count(&superuser, "with_another_login").await >= 3,
        "a trigger and a policy have run"
    );
}
