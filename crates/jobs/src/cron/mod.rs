//! pg_cron: runs the jobs of `cron.job`.
//!
//! `schedule` parses schedules, `clock` returns what is due when time has passed, `scheduler` starts runs, `run` executes
//! one on a connection of the job's user, `result` describes a statement's result, `store` contains the SQL.

mod clock;
mod result;
mod run;
mod schedule;
mod scheduler;
mod store;

pub(crate) use scheduler::run_due_jobs;
