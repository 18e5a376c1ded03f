//! Hands the ports of a running server over to a new process of the program and settings that are on the disk by then. No connection is refused and no
//! request fails, because both processes accept connections on the same listeners for a moment, and the old one then finishes what it has accepted.
//!
//! `selvedge restart` and SIGUSR2 request a handover ([`HandoverRequests`]). The old process starts the new one ([`wait_for_successor`]) and passes handles of its
//! listeners and of the home's lock over a socket that is the new one's standard input ([`Predecessor`]). If the new process
//! fails to start, the old one goes on as before.

mod handles;
mod predecessor;
mod requests;
mod service_manager;
mod settings;
mod successor;

use anyhow::bail;
use selvedge_config::Config;

pub(super) use self::predecessor::{Passed, Predecessor};
pub(super) use self::requests::{HandoverRequests, RestartOutcome, RestartRequest, SOCKET, Variables};
pub(super) use self::service_manager::notify_service_manager;
pub(super) use self::settings::{AppliedSettings, ChangedSetting, list_settings};
use self::settings::{Settings, compare_settings};
use self::successor::start_successor;
use super::shutdown::{Signals, is_first_process};

/// Returns when this process is asked to end: `true` when another one serves in its place, `false` for a signal.
pub(super) async fn wait_for_successor(
    signals: &mut Signals,
    requests: &mut HandoverRequests,
    passed: &Passed,
    config: &Config,
) -> bool {
    let settings = list_settings(config);
    loop {
        let request = tokio::select! {
            () = signals.next() => return false,
            request = requests.next() => request,
        };
        tracing::info!("a new process is started in the place of this one");
        let start = async {
            if is_first_process() {
                bail!(
                    "this is the first process of a container, which would end with it: replace the container"
                );
            }
            start_successor(passed, request.environment()).await
        };
        // Dropping the future ends the new process.
        let started = tokio::select! {
            () = signals.next() => return false,
            started = start => started,
        };
        match started {
            Ok((pid, applied)) => {
                let outcome = describe_success(&settings, pid, applied);
                request.answer(&outcome).await;
                return true;
            }
            Err(error) => {
                let reason = format!("{error:#}");
                tracing::error!(
                    error = reason,
                    "the new process does not serve, and this one goes on"
                );
                request.answer(&RestartOutcome::Failed(reason)).await;
            }
        }
    }
}

/// Tells the service manager and the log which process serves now. Returns the answer to the request.
fn describe_success(settings: &Settings, pid: u32, applied: AppliedSettings) -> RestartOutcome {
    notify_service_manager(&format!("MAINPID={pid}"));
    let changed = compare_settings(settings, &applied.settings);
    let keys: Vec<&str> = changed.iter().map(|setting| setting.key.as_str()).collect();
    tracing::info!(
        pid,
        changed_settings = keys.join(", "),
        "the new process serves, and this one finishes its requests"
    );
    RestartOutcome::Serves {
        pid,
        changed,
        waiting: applied.waiting,
    }
}
