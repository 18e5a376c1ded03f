//! A leading node that is frozen: its connections stay open and its kernel acknowledges what it is sent, but it does nothing.

use std::sync::mpsc as blocking;

use selvedge_postgres::testing::TestDatabase;
use tokio::sync::mpsc;

use crate::cron::create_database;
use crate::{development, logins_of, query_value, start_node, start_workers, wait_until};

/// A node on a thread of its own, which can be frozen.
struct FreezableNode {
    freezes: mpsc::UnboundedSender<blocking::Receiver<()>>,
}

impl FreezableNode {
    fn start(database: &TestDatabase) -> Self {
        let (freezes, mut begun) = mpsc::unbounded_channel::<blocking::Receiver<()>>();
        let logins = logins_of(database);
        std::thread::spawn(move || {
            let runtime = tokio::runtime::Builder::new_current_thread()
                .enable_all()
                .build()
                .expect("a runtime");
            runtime.block_on(async {
                let node = start_workers(logins, development()).await;
                while let Some(end) = begun.recv().await {
                    // Blocks the only thread of the runtime, and with it everything that the node does.
                    end.recv().expect_err("nothing is sent");
                }
                node.abort();
            });
        });
        Self { freezes }
    }

    /// Freezes the node until the result is dropped.
    fn freeze(&self) -> blocking::Sender<()> {
        let (thaw, end) = blocking::channel();
        self.freezes.send(end).expect("it runs");
        thaw
    }
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
    let first = FreezableNode::start(&database);
    wait_until(
        &client,
        "select count(*) > 1 and exists (select from cron.job_run_details join cron.job using (jobid)
           where jobname = 'slow' and status = 'running') from public.ticks",
    )
    .await;
    let second = start_node(&database, development()).await;

    let thaw = first.freeze();
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
