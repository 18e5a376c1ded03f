//! Who may see and change which row of a table, and why.
//!
//! In: a table, a subject (role and claims) and a request. Out: for each row what every policy says about it, and what
//! PostgreSQL really answers, compared with each other ([`simulate`]); or, for all tables, what each role may do
//! ([`load_access_matrix`]). The real answer is the truth and the explanation is checked against it, so that a mistake
//! in this crate shows up as a warning and never as a wrong statement about access.
//!
//! ```text
//! simulation   the steps in order, and the report
//! truth        runs the real statement as the subject, and compares
//! evaluate     runs the policies' expressions as the subject, on rows that were read as the owner
//! decision     pure: verdicts of policies → allowed or denied, as PostgreSQL combines them
//! request      verbs, filters and REST requests as they were sent
//! catalog      what decides, read from the database: privileges, row security, policies
//! ```
//!
//! Left to others: HTTP, who may ask (the console), and how claims are made (auth).

mod access;
mod catalog;
mod decision;
mod error;
mod evaluate;
mod request;
mod simulation;
mod truth;

pub use access::{AccessCell, AccessMatrix, load_access_matrix};
pub use error::SimulationError;
pub use request::{Filter, OrderTerm, Page, Request, RowId, Subject, UnsavedPolicy, Verb, VerbRequest};
pub use simulation::{Connections, Options, Report, simulate};
