//! The loop of pg_cron: keeps the list of jobs, and starts each when it is due and not running already.

use std::collections::BTreeMap;
use std::convert::Infallible;
use std::time::Duration;

use chrono::{DateTime, TimeDelta, Utc};
use futures_util::StreamExt;
use futures_util::stream::FuturesUnordered;
use selvedge_postgres::Database;
use tokio::sync::Notify;
use tokio::time::Instant;
use tokio_postgres::Client;

use super::clock::{Progress, count_due_runs, start_of_minute};
use super::run::run_job;
use super::schedule::Schedule;
use super::store::{
    Job, count_starts, fail_unfinished_runs, is_installed, list_active_jobs, list_started_jobs,
};
use crate::config::CronConfig;
use crate::error::JobsError;

/// The longest sleep, after which the clock is read again, as it may have been set.
const MAX_SLEEP: Duration = Duration::from_secs(60);

/// Runs jobs until the database fails. Perhaps no node led after `since`, so jobs that became due since then and were not started run
/// first. `wake` announces that `cron.job` has changed.
pub(crate) async fn run_due_jobs(
    client: &Client,
    database: &Database,
    config: &CronConfig,
    wake: &Notify,
    mut since: DateTime<Utc>,
) -> Result<Infallible, JobsError> {
    let now = config.now;
    while !is_installed(client).await? {
        wait(wake, MAX_SLEEP).await;
        since = now();
    }
    fail_unfinished_runs(client).await?;
    let mut jobs = take_over_jobs(client, since, now()).await?;
    let mut running = FuturesUnordered::new();
    loop {
        jobs.advance(now(), Instant::now());
        while running.len() < config.max_running
            && let Some(job) = jobs.take_due(Instant::now())
        {
            running.push(async move { run_job(client, database, &job, now).await.map(|()| job.id) });
        }
        tokio::select! {
            Some(finished) = running.next() => jobs.set_finished(finished?),
            () = wake.notified() => jobs.replace(list_active_jobs(client).await?),
            () = tokio::time::sleep(jobs.time_to_next(now(), Instant::now())) => {}
        }
    }
}

/// Reads the jobs and makes those due that became due after `since` and that no node has started, and those of `@reboot` that have
/// not run since PostgreSQL was started.
async fn take_over_jobs(
    client: &Client,
    since: DateTime<Utc>,
    now: DateTime<Utc>,
) -> Result<Jobs, JobsError> {
    let mut jobs = Jobs::new(since);
    jobs.replace(list_active_jobs(client).await?);
    jobs.advance(now, Instant::now());
    let due = jobs.list_due();
    if !due.is_empty() {
        let first_minute = start_of_minute(since) + TimeDelta::minutes(1);
        jobs.remove_begun_runs(&count_starts(client, &due, first_minute).await?);
    }
    let at_reboot = jobs.list_reboot_jobs();
    if !at_reboot.is_empty() {
        jobs.start_reboot_jobs(&list_started_jobs(client, &at_reboot).await?);
    }
    Ok(jobs)
}

async fn wait(wake: &Notify, longest: Duration) {
    tokio::select! {
        () = wake.notified() => {}
        () = tokio::time::sleep(longest) => {}
    }
}

/// The scheduler's state of a job.
struct JobState {
    job: Job,
    /// `None` when it is malformed: such a job never runs.
    schedule: Option<Schedule>,
    /// Runs that are due and have not begun.
    pending: u32,
    is_running: bool,
    /// False once it is switched off or deleted while it runs.
    is_active: bool,
    /// When its last run began, or when it became known.
    last_start: Instant,
}

/// All jobs and the clock. Holds no connection, so that tests can set the time.
struct Jobs {
    states: BTreeMap<i64, JobState>,
    last_minute: DateTime<Utc>,
}

impl Jobs {
    /// No jobs yet. The first minute whose jobs become due is the one after the minute of `since`.
    fn new(since: DateTime<Utc>) -> Self {
        Self {
            states: BTreeMap::new(),
            last_minute: start_of_minute(since),
        }
    }

    /// Replaces the list of jobs. Running jobs that are not in the new list stay until they end.
    fn replace(&mut self, list: Vec<Job>) {
        for state in self.states.values_mut() {
            state.is_active = false;
        }
        for job in list {
            let schedule = Schedule::parse(&job.schedule);
            if schedule.is_none() {
                tracing::warn!(
                    job = job.id,
                    schedule = job.schedule,
                    "the schedule of a job is malformed"
                );
            }
            match self.states.get_mut(&job.id) {
                Some(state) => {
                    state.schedule = schedule;
                    state.job = job;
                    state.is_active = true;
                }
                None => {
                    self.states.insert(
                        job.id,
                        JobState {
                            job,
                            schedule,
                            pending: 0,
                            is_running: false,
                            is_active: true,
                            last_start: Instant::now(),
                        },
                    );
                }
            }
        }
        self.states.retain(|_, state| state.is_active || state.is_running);
    }

    /// Lists the ids of the jobs that have a run to start.
    fn list_due(&self) -> Vec<i64> {
        self.list(|state| state.pending > 0)
    }

    fn list_reboot_jobs(&self) -> Vec<i64> {
        self.list(|state| state.schedule == Some(Schedule::Reboot))
    }

    fn list(&self, is_wanted: impl Fn(&JobState) -> bool) -> Vec<i64> {
        let wanted = self.states.iter().filter(|(_, state)| is_wanted(state));
        wanted.map(|(id, _)| *id).collect()
    }

    /// Removes due runs that another node has started, so that they do not run twice. `begun` has the id of each job and the number
    /// of its started runs.
    fn remove_begun_runs(&mut self, begun: &[(i64, u32)]) {
        for (id, count) in begun {
            if let Some(state) = self.states.get_mut(id) {
                state.pending = state.pending.saturating_sub(*count);
            }
        }
    }

    /// Makes the jobs of `@reboot` due, except those in `started`, which have run already.
    fn start_reboot_jobs(&mut self, started: &[i64]) {
        for (id, state) in &mut self.states {
            state.pending += u32::from(state.schedule == Some(Schedule::Reboot) && !started.contains(id));
        }
    }

    /// Counts the runs that have become due.
    fn advance(&mut self, now: DateTime<Utc>, instant: Instant) {
        let minute = start_of_minute(now);
        let progress = Progress::between(self.last_minute, minute);
        for state in self.states.values_mut().filter(|state| state.is_active) {
            match &state.schedule {
                Some(Schedule::Fields(fields)) => {
                    state.pending += count_due_runs(fields, progress, self.last_minute, minute);
                }
                // After a run that took longer than the interval, only one further run follows immediately.
                Some(Schedule::Seconds(seconds)) => {
                    let interval = Duration::from_secs(u64::from(*seconds));
                    if state.pending == 0 && instant.duration_since(state.last_start) >= interval {
                        state.pending = 1;
                    }
                }
                Some(Schedule::Reboot) | None => {}
            }
        }
        // Until a clock that was set back has caught up, fixed times count as past.
        if progress != Progress::Backward {
            self.last_minute = minute;
        }
    }

    /// A job that is due and does not run; it counts as running from now on.
    fn take_due(&mut self, instant: Instant) -> Option<Job> {
        let state = self
            .states
            .values_mut()
            .find(|state| state.is_active && !state.is_running && state.pending > 0)?;
        state.pending -= 1;
        state.is_running = true;
        state.last_start = instant;
        Some(state.job.clone())
    }

    fn set_finished(&mut self, id: i64) {
        if let Some(state) = self.states.get_mut(&id) {
            state.is_running = false;
            if !state.is_active {
                self.states.remove(&id);
            }
        }
    }

    /// How long nothing becomes due, as far as is known: until the next minute or the next interval.
    fn time_to_next(&self, now: DateTime<Utc>, instant: Instant) -> Duration {
        if self.states.is_empty() {
            return MAX_SLEEP;
        }
        let next_minute = start_of_minute(now) + TimeDelta::minutes(1);
        let until_minute = (next_minute - now).to_std().unwrap_or(MAX_SLEEP);
        let intervals = self.states.values().filter_map(|state| match state.schedule {
            Some(Schedule::Seconds(seconds)) if state.is_active && state.pending == 0 => {
                let due = state.last_start + Duration::from_secs(u64::from(seconds));
                Some(due.saturating_duration_since(instant))
            }
            _ => None,
        });
        intervals.fold(until_minute, Duration::min)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn job(id: i64, schedule: &str) -> Job {
        Job {
            id,
            schedule: schedule.to_owned(),
            command: String::new(),
            database: String::new(),
            username: String::new(),
            is_user_allowed: true,
        }
    }

    fn time(text: &str) -> DateTime<Utc> {
        DateTime::parse_from_rfc3339(&format!("2026-11-23T{text}Z"))
            .expect("a time")
            .to_utc()
    }

    #[test]
    fn a_job_never_runs_twice_at_once_and_catches_up_afterwards() {
        let mut jobs = Jobs::new(time("10:00:30"));
        let start = Instant::now();
        jobs.replace(vec![job(1, "* * * * *")]);

        jobs.advance(time("10:00:59"), start);
        assert_eq!(jobs.take_due(start), None);
        jobs.advance(time("10:02:00"), start);
        assert!(jobs.take_due(start).is_some());
        assert_eq!(jobs.take_due(start), None, "it runs already");

        jobs.set_finished(1);
        assert!(jobs.take_due(start).is_some(), "the second minute");
        jobs.set_finished(1);
        assert_eq!(jobs.take_due(start), None);
        assert_eq!(
            jobs.time_to_next(time("10:02:45"), start),
            Duration::from_secs(15)
        );
    }

    #[test]
    fn a_node_that_takes_over_runs_what_began_meanwhile_and_was_not_begun() {
        let mut jobs = Jobs::new(time("10:00:58"));
        let start = Instant::now();
        jobs.replace(vec![
            job(1, "* * * * *"),
            job(2, "1 10 * * *"),
            job(3, "*/5 * * * *"),
            job(4, "@reboot"),
            job(5, "@reboot"),
        ]);

        jobs.advance(time("10:02:07"), start);
        assert_eq!(jobs.list_due(), [1, 2]);
        jobs.remove_begun_runs(&[(1, 1), (2, 1)]);
        assert_eq!(jobs.list_reboot_jobs(), [4, 5]);
        jobs.start_reboot_jobs(&[5]);

        assert_eq!(jobs.list_due(), [1, 4]);
        assert_eq!(jobs.states[&1].pending, 1, "of two minutes, one was begun");
    }

    #[test]
    fn intervals_count_from_the_last_start_and_queue_one_run_at_most() {
        let mut jobs = Jobs::new(time("10:00:00"));
        let start = Instant::now();
        jobs.replace(vec![job(1, "10 seconds"), job(2, "nonsense")]);
        let after = |seconds| Instant::now() + Duration::from_secs(seconds);

        jobs.advance(time("10:00:05"), start + Duration::from_secs(5));
        assert_eq!(jobs.take_due(start), None);
        jobs.advance(time("10:00:11"), after(11));
        assert_eq!(jobs.take_due(after(11)).map(|job| job.id), Some(1));
        jobs.advance(time("10:00:55"), after(55));
        jobs.advance(time("10:00:56"), after(56));
        jobs.set_finished(1);
        assert!(jobs.take_due(after(56)).is_some());
        jobs.set_finished(1);
        assert_eq!(jobs.take_due(after(57)), None);
    }

    #[test]
    fn jobs_that_are_gone_run_no_more_and_are_kept_while_they_run() {
        let mut jobs = Jobs::new(time("10:00:00"));
        let start = Instant::now();
        jobs.replace(vec![job(1, "@reboot"), job(2, "@reboot")]);
        jobs.start_reboot_jobs(&[]);
        assert_eq!(jobs.take_due(start).map(|job| job.id), Some(1));

        jobs.replace(Vec::new());

        assert_eq!(jobs.take_due(start), None, "job 2 is gone");
        assert_eq!(jobs.states.len(), 1);
        jobs.set_finished(1);
        assert!(jobs.states.is_empty());
    }
}
