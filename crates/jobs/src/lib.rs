//! The workers behind the extensions that need a process beside the database: pg_net sends the HTTP requests that SQL has
//! queued, http those whose response a statement waits for, and pg_cron runs jobs on a schedule.
//!
//! In: rows of `net.http_request_queue` and `cron.job`, which the extensions' functions write
//! (crates/postgres/extensions). Out: HTTP requests and `net._http_response`, statements and `cron.job_run_details`.
//! One node of a database leads and does all of it (`leader`); the others stand by. Statements that call the extension http
//! ask over a socket in PostgreSQL's folder instead, which the process that started PostgreSQL serves (`http`). The crate
//! serves no other requests.

mod config;
mod cron;
mod error;
mod http;
mod leader;
mod liveness;
mod metrics;
mod net;
mod sender;

pub use config::{CronConfig, JobsConfig, NetConfig};
pub use http::serve_http_requests;
pub use leader::run_jobs_forever;
