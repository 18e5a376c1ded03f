//! Tests of [`LastHost`].

use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Wake, Waker};

use futures_util::FutureExt;

use super::*;

/// Notes that a task was woken.
#[derive(Default)]
struct Flag(AtomicBool);

impl Wake for Flag {
    fn wake(self: Arc<Self>) {
        self.0.store(true, Ordering::Relaxed);
    }
}

#[tokio::test]
async fn moved_from_completes_when_another_host_accepts_a_login() {
    let last = LastHost::default();
    let mut moved = std::pin::pin!(last.moved_from(0, ServerIdentity::default()));
    let start = last.start_attempt();
    assert_eq!(last.accept(0, start, None), Acceptance::Primary);
    assert!(moved.as_mut().now_or_never().is_none());

    assert_eq!(last.accept(1, start, None), Acceptance::Primary);

    moved.await;
    let config: Config = "host=one,two,three".parse().unwrap();
    assert_eq!(last.order(&config).collect::<Vec<_>>(), [1, 2, 0]);
}

#[test]
fn logins_that_began_before_a_move_do_not_move_back() {
    let last = LastHost::default();
    let before = last.start_attempt();
    assert_eq!(last.accept(1, before, None), Acceptance::Primary);

    assert_eq!(last.accept(0, before, None), Acceptance::Overtaken);
    assert_eq!(last.accept(1, before, None), Acceptance::Primary);
    // An attempt that begins now finds the hosts as they are: the primary may have moved back.
    assert_eq!(last.accept(0, last.start_attempt(), None), Acceptance::Primary);
}

#[test]
fn a_host_with_a_lower_timeline_is_a_former_primary() {
    let last = LastHost::default();
    let accept = |index, timeline| last.accept(index, last.start_attempt(), timeline);
    assert_eq!(accept(0, Some(1)), Acceptance::Primary);
    assert_eq!(accept(1, Some(2)), Acceptance::Primary);
    let moved = last.moved_from(1, ServerIdentity::default());

    assert_eq!(accept(0, Some(1)), Acceptance::Former);
    assert!(moved.now_or_never().is_none());
    // Also when one name leads to different servers.
    assert_eq!(accept(1, Some(1)), Acceptance::Former);

    assert_eq!(accept(0, Some(3)), Acceptance::Primary);
    assert_eq!(accept(1, Some(2)), Acceptance::Former);
    // Servers that do not say their timeline are believed.
    assert_eq!(accept(1, None), Acceptance::Primary);
}

#[test]
fn one_name_that_leads_to_another_server_ends_the_connections_to_the_former_one() {
    let last = LastHost {
        is_one_name: true,
        ..LastHost::default()
    };
    let server = |timeline, system| ServerIdentity {
        timeline: Some(timeline),
        system: Some(system),
        is_standby: false,
    };
    let standby = ServerIdentity {
        timeline: None,
        system: Some(7),
        is_standby: true,
    };
    let accept = |server| last.accept(0, last.start_attempt(), server);
    // As long as no primary was seen the name may mean a standby.
    assert_eq!(accept(standby), Acceptance::Primary);
    assert_eq!(accept(server(1, 7)), Acceptance::Primary);
    let to_first = last.moved_from(0, server(1, 7));
    assert!(last.moved_from(0, server(1, 7)).now_or_never().is_none());

    assert_eq!(accept(server(2, 7)), Acceptance::Primary);
    assert!(to_first.now_or_never().is_some());
    assert_eq!(accept(server(1, 7)), Acceptance::Former);
    assert_eq!(accept(standby), Acceptance::Former);
    let to_second = last.moved_from(0, server(2, 7));

    assert!(to_second.now_or_never().is_none());
}

fn one_name(believed_after: Duration) -> LastHost {
    LastHost {
        is_one_name: true,
        believed_after,
        ..LastHost::default()
    }
}

fn primary(timeline: u32, system: u64) -> ServerIdentity {
    ServerIdentity {
        timeline: Some(timeline),
        system: Some(system),
        is_standby: false,
    }
}

fn standby(system: u64) -> ServerIdentity {
    ServerIdentity {
        timeline: None,
        system: Some(system),
        is_standby: true,
    }
}

#[test]
fn a_former_server_that_is_believed_ends_the_connections_to_the_newer_one() {
    for former in [primary(1, 7), standby(7)] {
        let last = one_name(Duration::ZERO);
        let accept = |server| last.accept(0, last.start_attempt(), server);
        assert_eq!(accept(primary(2, 7)), Acceptance::Primary);
        let woken = Arc::new(Flag::default());
        let waker = Waker::from(Arc::clone(&woken));
        let mut to_newer = std::pin::pin!(last.moved_from(0, primary(2, 7)));
        let mut context = Context::from_waker(&waker);
        assert!(to_newer.as_mut().poll(&mut context).is_pending());

        assert_eq!(accept(former), Acceptance::Primary);

        // Nobody polls it again without that.
        assert!(woken.0.load(Ordering::Relaxed));
        assert!(to_newer.as_mut().poll(&mut context).is_ready());
        assert!(last.moved_from(0, former).now_or_never().is_none());
    }
}

#[test]
fn independent_servers_behind_one_name_do_not_end_each_others_connections() {
    let last = one_name(Duration::ZERO);
    let accept = |server| last.accept(0, last.start_attempt(), server);
    assert_eq!(accept(primary(3, 7)), Acceptance::Primary);
    let to_first = last.moved_from(0, primary(3, 7));
    assert_eq!(accept(primary(1, 8)), Acceptance::Primary);
    let to_second = last.moved_from(0, primary(1, 8));
    for _ in 0..50 {
        assert_eq!(accept(primary(3, 7)), Acceptance::Primary);
        assert_eq!(accept(primary(1, 8)), Acceptance::Primary);
    }

    assert!(to_first.now_or_never().is_none());
    assert!(to_second.now_or_never().is_none());
}

#[test]
fn another_cluster_that_alone_answers_at_one_name_takes_the_place_of_the_former_one() {
    let last = one_name(Duration::ZERO);
    let accept = |server| last.accept(0, last.start_attempt(), server);
    assert_eq!(accept(primary(3, 7)), Acceptance::Primary);
    let to_first = last.moved_from(0, primary(3, 7));
    // A cluster of its own begins with timeline 1.
    for _ in 0..BELIEVED_LOGINS {
        assert_eq!(accept(primary(1, 8)), Acceptance::Primary);
    }

    assert!(to_first.now_or_never().is_some());
    assert!(last.moved_from(0, primary(1, 8)).now_or_never().is_none());
    let slow = one_name(Duration::from_secs(3600));
    let accept = |server| slow.accept(0, slow.start_attempt(), server);
    assert_eq!(accept(primary(3, 7)), Acceptance::Primary);
    let kept = slow.moved_from(0, primary(3, 7));
    for _ in 0..50 {
        assert_eq!(accept(primary(1, 8)), Acceptance::Primary);
    }
    assert!(kept.now_or_never().is_none());
}

#[test]
fn databases_and_tenants_of_one_pooler_know_nothing_of_each_other() {
    let of = |text: &str| LastHost::of(&text.parse().unwrap());
    let address = "host=pooler.example.com port=6543";
    let first = of(&format!("{address} user=postgres.one dbname=postgres"));
    let is_shared = |text: &str| Arc::ptr_eq(&first.current, &of(&format!("{address} {text}")).current);

    assert!(is_shared("user=authenticator.one dbname=postgres password=other"));
    assert!(is_shared(
        "user=postgres.one dbname=postgres options='-c role=postgres'"
    ));
    assert!(is_shared(
        r"user=postgres.one dbname=postgres options='-c default_transaction_isolation=read\\ committed -c role=none'"
    ));
    assert!(!is_shared("user=postgres.two dbname=postgres"));
    assert!(!is_shared(
        r"user=postgres.one dbname=postgres options='-c app.path=\\\\ endpoint=two'"
    ));
    assert!(!is_shared("user=postgres.one dbname=app"));
    assert!(!is_shared(
        "user=postgres.one dbname=postgres options=endpoint=two"
    ));
}

#[test]
fn a_promotion_that_was_taken_back_makes_the_former_primary_the_primary_again() {
    let last = LastHost::default();
    let accept = |index, timeline| last.accept(index, last.start_attempt(), Some(timeline));
    assert_eq!(accept(0, 8), Acceptance::Primary);
    assert_eq!(accept(1, 9), Acceptance::Primary);

    // Host 0 never wrote on timeline 9, so its lower timeline does not mean that 9 was given up.
    last.forget_given_up_timeline(0, 8);
    // Host 1 still has timeline 9, because it follows a primary that was promoted after it.
    last.forget_given_up_timeline(1, 9);
    assert_eq!(accept(0, 8), Acceptance::Former);

    last.forget_given_up_timeline(1, 8);
    assert_eq!(accept(0, 7), Acceptance::Former);
    assert_eq!(accept(0, 8), Acceptance::Primary);
}

#[test]
fn among_all_hosts_only_a_higher_timeline_makes_another_one_the_primary() {
    let last = LastHost::default();
    let config: Config = "host=one,two".parse().unwrap();
    let first = || last.order(&config).next();
    assert!(!last.is_known());

    last.accept_newer(1, last.start_attempt(), 2);
    assert!(last.is_known());
    assert_eq!(first(), Some(1));
    last.accept_newer(0, last.start_attempt(), 2);
    assert_eq!(first(), Some(1));
    let before = last.start_attempt();
    last.accept_newer(0, before, 3);
    assert_eq!(first(), Some(0));
    // This question began before the other host became the primary.
    last.accept_newer(1, before, 4);
    assert_eq!(first(), Some(0));
}

/// Jobs of pg_cron may name any database, and each of them is a place of its own at one name.
#[tokio::test]
async fn places_to_which_nobody_is_connected_are_forgotten() {
    let of = |database: &str| {
        let config: Config = format!("host=many-places dbname={database}").parse().unwrap();
        LastHost::of(&config)
    };
    let kept = of("kept");
    let first = of("connected");
    assert_eq!(
        first.accept(0, first.start_attempt(), Some(1)),
        Acceptance::Primary
    );
    let moved = first.moved_from(0, ServerIdentity::from(Some(1)));
    drop(first);

    for number in 0..1_000 {
        of(&format!("database_{number}"));
    }

    let known = OF_HOSTS.lock().unwrap_or_else(PoisonError::into_inner).len();
    assert!(known < 2 * MOST_UNUSED_PLACES, "{known} places");
    assert!(Arc::ptr_eq(&kept.current, &of("kept").current));
    let again = of("connected");
    assert_eq!(
        again.accept(0, again.start_attempt(), Some(2)),
        Acceptance::Primary
    );
    moved.await;
}
