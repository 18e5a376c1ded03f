//! Another node takes over from a leading one that ended or is frozen. The connections of a frozen node stay open and its kernel
//! acknowledges what it is sent, but it does nothing.

use std::sync::Arc;
use std::sync::atomic::{AtomicI64, AtomicU64, Ordering};
use std::sync::mpsc as blocking;
use std::time::Duration;

use chrono::{DateTime, TimeDelta, Timelike, Utc};
use selvedge_jobs::{CronConfig, JobsConfig};
use selvedge_postgres::{Login, Logins};
use selvedge_testing::TestDatabase;
use tokio::sync::{mpsc, oneshot, watch};
use tokio_postgres::config::{Host, TargetSessionAttrs};

use crate::cron::create_database;
use crate::{development, logins_of, query_value, start_node, start_workers, wait_until};

/// A node on a thread of its own, which can be frozen.
struct FreezableNode {
    freezes: mpsc::UnboundedSender<Freeze>,
}

/// The order to freeze.
struct Freeze {
    /// Answered when the node is frozen.
    begun: oneshot::Sender<()>,
    /// Closed when it may go on.
    end: blocking::Receiver<()>,
}

impl FreezableNode {
    fn start(database: &TestDatabase, config: JobsConfig) -> Self {
        let (freezes, mut orders) = mpsc::unbounded_channel::<Freeze>();
        let logins = logins_of(database);
        std::thread::spawn(move || {
            let runtime = tokio::runtime::Builder::new_current_thread()
                .enable_all()
                .build()
                .expect("a runtime");
            runtime.block_on(async {
                let node = start_workers(logins, config).await;
                while let Some(Freeze { begun, end }) = orders.recv().await {
                    begun.send(()).expect("the test waits");
                    // Blocks the only thread of the runtime, and with it everything that the node does.
                    end.recv().expect_err("nothing is sent");
                }
                node.abort();
            });
        });
        Self { freezes }
    }

    /// Freezes the node until the result is dropped.
    async fn freeze(&self) -> blocking::Sender<()> {
        let (thaw, end) = blocking::channel();
        let (begun, is_frozen) = oneshot::channel();
        let sent = self.freezes.send(Freeze { begun, end });
        assert!(sent.is_ok(), "the node has ended");
        is_frozen.await.expect("it runs");
        thaw
    }
}

/// Milliseconds by which [`adjustable_now`] differs from the system's clock.
static ADJUSTMENT: AtomicI64 = AtomicI64::new(0);

/// A clock of the nodes that [`set_second`] sets, so that a test need not wait for the next minute.
fn adjustable_now() -> DateTime<Utc> {
    Utc::now() + TimeDelta::milliseconds(ADJUSTMENT.load(Ordering::SeqCst))
}

/// Sets the clock of the nodes to a second of its present minute.
fn set_second(second: u32) {
    let now = adjustable_now();
    let difference = (i64::from(second) - i64::from(now.second())) * 1000;
    ADJUSTMENT.fetch_add(difference, Ordering::SeqCst);
}

#[tokio::test]
async fn the_job_of_a_minute_that_begins_without_a_leader_runs_once_and_is_never_repeated() {
    let (database, client) = create_database().await;
    client
        .batch_execute(
            "create table public.ticks (at timestamptz); create table public.minutes ();
             select cron.schedule('tick', '1 second', 'insert into public.ticks values (clock_timestamp())');
             select cron.schedule('minute', '* * * * *', 'insert into public.minutes default values');",
        )
        .await
        .expect("scheduled");
    let config = JobsConfig {
        cron: CronConfig {
            now: adjustable_now,
            ..CronConfig::default()
        },
        ..development()
    };
    let tick_thrice = async || {
        let now = query_value(&client, "clock_timestamp()").await;
        wait_until(
            &client,
            &format!("select count(*) > 2 from public.ticks where at > '{now}'"),
        )
        .await;
    };
    let runs = "select count(*) from public.minutes";

    set_second(20);
    let first = FreezableNode::start(&database, config.clone());
    tick_thrice().await;
    let second = start_node(&database, config.clone()).await;
    let before: i64 = query_value(&client, runs).await.parse().expect("a number");
    set_second(57);
    let _thaw = first.freeze().await;
    // The second node leads after the minute has begun.
    wait_until(
        &client,
        &format!("select count(*) = {before} + 1 from public.minutes"),
    )
    .await;
    tick_thrice().await;
    assert_eq!(query_value(&client, runs).await, (before + 1).to_string());

    let third = start_node(&database, config).await;
    set_second(57);
    wait_until(
        &client,
        &format!("select count(*) = {before} + 2 from public.minutes"),
    )
    .await;
    second.abort();
    // The third node leads within the minute of which the second one has run the job.
    tick_thrice().await;
    assert_eq!(query_value(&client, runs).await, (before + 2).to_string());
    third.abort();
}

#[tokio::test]
async fn a_job_of_reboot_is_not_repeated_by_the_next_leader() {
    let (database, client) = create_database().await;
    client
        .batch_execute(
            "select cron.schedule('boot', '@reboot', 'select 1'), cron.schedule('tick', '1 second', 'select 2')",
        )
        .await
        .expect("scheduled");
    let finished = |command: &str| {
        format!(
            "select exists (select from cron.job_run_details where command = '{command}' and end_time is not null)"
        )
    };
    let first = start_node(&database, development()).await;
    wait_until(&client, &finished("select 1")).await;
    first.abort();
    client
        .batch_execute("delete from cron.job_run_details where command = 'select 2'")
        .await
        .expect("deleted");

    let second = start_node(&database, development()).await;
    // A job of `@reboot` would begin first.
    wait_until(&client, &finished("select 2")).await;

    let runs = "select count(*) from cron.job_run_details where command = 'select 1'";
    assert_eq!(query_value(&client, runs).await, "1");
    second.abort();
}

#[tokio::test]
async fn another_node_leads_while_the_leader_is_frozen_and_nothing_runs_twice() {
    let (database, client) = create_database().await;
    client
        .batch_execute(
            "create table public.go (); create table public.ticks (at timestamptz);
             create table public.spans (began timestamptz, ended timestamptz);
             select cron.schedule('tick', '1 second', 'insert into public.ticks values (clock_timestamp())');
             select cron.schedule('slow', '1 second', $job$
               do $$ declare began timestamptz := clock_timestamp(); begin
                 while not exists (select from public.go) loop perform pg_sleep(0.05); end loop;
                 insert into public.spans values (began, clock_timestamp());
               end $$ $job$);",
        )
        .await
        .expect("scheduled");
    let first = FreezableNode::start(&database, development());
    wait_until(
        &client,
        "select count(*) > 1 and exists (select from cron.job_run_details join cron.job using (jobid)
           where jobname = 'slow' and status = 'running') from public.ticks",
    )
    .await;
    let second = start_node(&database, development()).await;

    let thaw = first.freeze().await;
    // The command that the frozen node has sent ends, and its session keeps the job's lock.
    let frozen_at = query_value(&client, "clock_timestamp()").await;
    client
        .batch_execute("insert into public.go default values")
        .await
        .expect("inserted");
    // A tick that the first node has begun is over after two seconds.
    let ticks = format!("from public.ticks where at > '{frozen_at}'::timestamptz + interval '2 seconds'");
    wait_until(&client, &format!("select count(*) > 2 {ticks}")).await;
    wait_until(&client, "select count(*) > 2 from public.spans").await;
    let pause = query_value(
        &client,
        &format!("select extract(epoch from min(at) - '{frozen_at}'::timestamptz) {ticks}"),
    )
    .await;
    // Eight seconds, and what a busy machine adds.
    assert!(pause.parse::<f64>().expect("a number") < 30.0, "{pause} s");

    drop(thaw);
    let thawed_at = query_value(&client, "clock_timestamp()").await;
    let ticks = format!("from public.ticks where at > '{thawed_at}'::timestamptz");
    wait_until(&client, &format!("select count(*) > 10 {ticks}")).await;
    // Two nodes would run the job twice as often.
    let spare = format!("select extract(epoch from max(at) - min(at)) + 2 > count(*) - 1 {ticks}");
    assert_eq!(query_value(&client, &spare).await, "true");
    let overlaps = "select count(*) from public.spans as a join public.spans as b
        on a.began < b.began and b.began < a.ended";
    assert_eq!(query_value(&client, overlaps).await, "0");
    second.abort();
}

/// Its project locks the table of runs for longer than PostgreSQL lets a session be idle.
#[tokio::test]
async fn a_statement_that_waits_long_costs_the_leader_nothing_but_time() {
    let (database, client) = create_database().await;
    client
        .batch_execute(
            "create table public.ticks (at timestamptz default clock_timestamp());
             select cron.schedule('tick', '1 second', 'insert into public.ticks default values');",
        )
        .await
        .expect("scheduled");
    let node = start_node(&database, development()).await;
    wait_until(&client, "select count(*) > 0 from public.ticks").await;
    let leader = "select pid || ' ' || started from _selvedge.selvedge_worker_sessions where name = 'leader'";
    let superuser = database.superuser().await;
    let before = query_value(&superuser, leader).await;

    client
        .batch_execute("begin; lock table cron.job_run_details; select pg_sleep(12); commit")
        .await
        .expect("locked");

    let unlocked_at = query_value(&client, "clock_timestamp()").await;
    wait_until(
        &client,
        &format!("select count(*) > 2 from public.ticks where at > '{unlocked_at}'"),
    )
    .await;
    assert_eq!(query_value(&superuser, leader).await, before);
    node.abort();
}

/// A primary that needs longer for a login than the other host, which is switched off, has to refuse it.
#[tokio::test]
async fn jobs_go_on_while_the_primary_is_slow_and_another_host_refuses() {
    let (database, client) = create_database().await;
    client
        .batch_execute(
            "create table public.ticks (at timestamptz default clock_timestamp());
             select cron.schedule('tick', '1 second', 'insert into public.ticks default values');",
        )
        .await
        .expect("scheduled");
    let slow = SlowHost::before(&database).await;
    let off = tokio::net::TcpListener::bind("127.0.0.1:0")
        .await
        .expect("a port");
    let off_port = off.local_addr().expect("an address").port();
    drop(off);
    let through = |role: &str| {
        let own = database.config(role);
        let mut config = tokio_postgres::Config::new();
        config
            .host("127.0.0.1")
            .port(slow.port)
            .host("127.0.0.1")
            .port(off_port)
            .user(role)
            .dbname(own.get_dbname().expect("a database"))
            .password(own.get_password().unwrap_or_default())
            .target_session_attrs(TargetSessionAttrs::ReadWrite);
        config
    };
    let logins =
        Logins::with_single_login(through("authenticator")).with_login(Login::Postgres, through("postgres"));
    let node = start_workers(logins, development()).await;
    wait_until(&client, "select count(*) > 0 from public.ticks").await;

    slow.delay.store(3_000, Ordering::SeqCst);
    slow.ends.send_modify(|count| *count += 1);
    let cut_at = query_value(&client, "clock_timestamp()").await;

    wait_until(
        &client,
        &format!(
            "select count(*) > 1 from public.ticks where at > '{cut_at}'::timestamptz + interval '1 second'"
        ),
    )
    .await;
    node.abort();
}

/// Leads to a test's server, whose connections are opened after a delay and can be ended.
struct SlowHost {
    port: u16,
    /// In milliseconds.
    delay: Arc<AtomicU64>,
    /// Ends all connections when it changes.
    ends: watch::Sender<u32>,
}

impl SlowHost {
    async fn before(database: &TestDatabase) -> Self {
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0")
            .await
            .expect("a port");
        let port = listener.local_addr().expect("an address").port();
        let delay = Arc::new(AtomicU64::new(0));
        let (ends, ended) = watch::channel(0);
        let config = database.config("authenticator");
        let Host::Unix(folder) = &config.get_hosts()[0] else {
            panic!("tests' servers listen on sockets");
        };
        let socket = folder.join(format!(".s.PGSQL.{}", config.get_ports()[0]));
        let wait = Arc::clone(&delay);
        tokio::spawn(async move {
            while let Ok((mut client, _)) = listener.accept().await {
                let (socket, mut ended, wait) = (socket.clone(), ended.clone(), Arc::clone(&wait));
                ended.mark_unchanged();
                tokio::spawn(async move {
                    tokio::time::sleep(Duration::from_millis(wait.load(Ordering::SeqCst))).await;
                    let mut server = tokio::net::UnixStream::connect(socket).await?;
                    tokio::select! {
                        copied = tokio::io::copy_bidirectional(&mut client, &mut server) => copied.map(drop),
                        _ = ended.changed() => Ok(()),
                    }
                });
            }
        });
        Self { port, delay, ends }
    }
}

#[tokio::test]
async fn advisory_locks_of_other_roles_stop_neither_a_job_nor_the_leader() {
    let (database, client) = create_database().await;
    client
        .batch_execute(
            "create table public.ticks (at timestamptz default clock_timestamp());
             select cron.schedule('tick', '1 second', 'insert into public.ticks default values');
             select _selvedge.create_extension('pg_net', true, null, null, false);",
        )
        .await
        .expect("scheduled");
    let stranger = database.connect("postgres").await;
    stranger
        .batch_execute(
            "set role anon; select pg_advisory_lock(1936486515, 1), pg_advisory_lock(1936486514, 1785684595)",
        )
        .await
        .expect("every role may take an advisory lock");
    let is_up = "net._is_worker_up()";
    assert_eq!(query_value(&client, is_up).await, "false", "nobody leads");

    let node = start_node(&database, development()).await;

    wait_until(&client, "select count(*) > 2 from public.ticks").await;
    assert_eq!(query_value(&client, is_up).await, "true");
    node.abort();
    wait_until(&client, "select not net._is_worker_up()").await;
    // Roles that cannot become the workers' login cannot write the names of sessions.
    for statement in [
        "select _selvedge.claim_session('leader', 1)",
        "update _selvedge.selvedge_worker_sessions set pid = null",
        "select from _selvedge.selvedge_worker_sessions for update",
    ] {
        let refused = stranger.batch_execute(statement).await;
        assert!(refused.is_err(), "{statement}");
    }
}

#[tokio::test]
async fn a_node_of_an_earlier_version_does_not_lead_beside_this_one() {
    let (database, client) = create_database().await;
    client
        .batch_execute(
            "create table public.ticks (at timestamptz default clock_timestamp());
             select cron.schedule('tick', '1 second', 'insert into public.ticks default values');",
        )
        .await
        .expect("scheduled");
    let earlier = database.connect("authenticator").await;
    let lock = "select pg_try_advisory_lock(1936486514, 1785684595)";
    assert!(
        earlier
            .query_one(lock, &[])
            .await
            .expect("asked")
            .get::<_, bool>(0)
    );

    let node = start_node(&database, development()).await;

    // Longer than a node without another one takes to lead and to run the first job.
    wait_until(
        &client,
        "select clock_timestamp() > backend_start + interval '5 seconds' from pg_stat_activity where pid = pg_backend_pid()",
    )
    .await;
    assert_eq!(
        query_value(&client, "(select count(*) from public.ticks)").await,
        "0"
    );
    drop(earlier);
    wait_until(&client, "select count(*) > 0 from public.ticks").await;
    // The next node of an earlier version waits for this one.
    let earlier = database.connect("authenticator").await;
    assert!(
        !earlier
            .query_one(lock, &[])
            .await
            .expect("asked")
            .get::<_, bool>(0)
    );
    node.abort();
}
