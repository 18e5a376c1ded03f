//! pg_cron: runs the jobs of `cron.job`.
//!
//! `schedule` parses when a job runs, `clock` says what is due when time has passed, `scheduler` starts runs, `run` makes
//! one over a connection of the job's user, `result` says what a statement did, `store` holds the SQL.

mod clock;
mod result;
mod run;
mod schedule;
mod scheduler;
mod store;

pub(crate) use scheduler::run_due_jobs;
