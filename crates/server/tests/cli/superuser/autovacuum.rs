//! Autovacuum computes the expressions of indexes: the code of a project, as the owner of the table, in a session of the superuser.

use std::time::{Duration, Instant};

use tokio_postgres::Client;

use super::extensions::{CREATE, PLANTED, UNPLANT, refusal, run};
use super::query;
use crate::support::Project;

/// Lets autovacuum look for work each second.
pub(super) async fn hurry_autovacuum(project: &Project) {
    let superuser = project.superuser().await;
    for statement in [
        "alter system set autovacuum_naptime = 1",
        "select pg_reload_conf()",
    ] {
        superuser.batch_execute(statement).await.expect("a superuser may");
    }
}

/// Waits until autovacuum has called a sequence of the project, which it does in a minute on a busy machine.
pub(super) async fn wait_for_sequence(client: &Client, sequence: &str) {
    let deadline = Instant::now() + Duration::from_secs(60);
    let is_called = format!("select is_called from {sequence}");
    while !query::<bool>(client, &is_called).await {
        assert!(
            Instant::now() < deadline,
            "autovacuum has not come in a minute: {sequence}"
        );
        actix_web::rt::time::sleep(Duration::from_millis(20)).await;
    }
}

/// Lets autovacuum run statements of plpgsql once, which call the sequence `public.attempted`.
async fn run_in_autovacuum(client: &Client, statements: &str) {
    let attempt = format!(
        "create sequence public.attempted;
         create function public.attempt() returns int language plpgsql as $attempt$ begin
           if session_user <> 'postgres' and not (select is_called from public.attempted) then {statements} end if;
           return 1; end $attempt$;
         create function public.computed(id int) returns int language plpgsql immutable as 'begin return public.attempt(); end';
         create table public.analyzed_again (id int)
           with (autovacuum_analyze_threshold = 0, autovacuum_analyze_scale_factor = 0);
         create index on public.analyzed_again (public.computed(id));
         insert into public.analyzed_again values (1)"
    );
    run(client, &attempt).await;
    wait_for_sequence(client, "public.attempted").await;
}

const CLEAN: &str =
    "drop table public.analyzed_again; drop function public.computed(int); drop function public.attempt();
    drop sequence public.attempted";

/// Whoever has logged in, what is planted is looked for. `client` is connected where [`PLANTED`] is.
pub(super) async fn check_creation_by_autovacuum(client: &Client) {
    let create = format!(
        "begin
           execute '{CREATE}';
           perform setval('public.attempted', 2);
         exception when insufficient_privilege then
           perform setval('public.attempted', 1);
         end;"
    );
    run_in_autovacuum(client, &create).await;
    let outcome: i64 = query(client, "select last_value from public.attempted").await;
    assert_eq!(outcome, 1, "refused");
    run(client, CLEAN).await;
}

/// What autovacuum is about to commit is waited for, as what other sessions are.
pub(super) async fn check_plants_of_autovacuum(client: &Client) {
    run(client, UNPLANT).await;
    let plant = format!(
        "execute $plant$ {PLANTED} $plant$;
         perform setval('public.attempted', 1);
         perform pg_sleep(3);"
    );
    run_in_autovacuum(client, &plant).await;
    let message = refusal(client, CREATE).await;
    assert!(message.contains("public.format(text,text)"), "{message}");
    run(client, CLEAN).await;
}
