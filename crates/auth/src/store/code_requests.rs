//! `_selvedge.selvedge_code_requests`: which networks have asked for a code to an address or number in the last hour.
//!
//! Strangers who try codes of an address use up attempts that all share. A network that has asked for a code has attempts of its own at
//! it: five for each code that was sent. A request that sends nothing, because the address is not registered, is noted, too, so that the
//! answers to attempts do not tell which addresses are.
//!
//! A row counts for an hour and then goes with the next clean-up, at most ten minutes later. How many there are of an address is not
//! bounded, because whoever may push out rows pushes out the owner's. Anybody can write a row without a mail for each address that they
//! name at `/recover` and `/resend`: with the default limits, 30 at once and then 360 an hour at each of both for one IPv4 address, and
//! sixteen times as many for an IPv6 /48, which are 11 520 an hour of about 200 bytes. Source: Auth contract §3.4, AUTH-110.

use deadpool_postgres::GenericClient;

use super::{DbResult, find_row, run_statement};
use crate::crypto::one_time_code::CodeKey;

/// Attempts that a request for a code gives its network, as many as it has at a code.
const ATTEMPTS: i16 = 5;

/// Whether a network that tries a code has asked for one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Asking {
    /// It has not, or more than an hour ago, or has made all attempts since.
    No,
    /// It has, and nothing was sent. Its attempts count apart from those of others.
    Unanswered,
    /// A code was sent.
    Sent,
}

/// Notes that a network has asked for a code to an address or number, and whether one was sent.
pub(crate) async fn record(
    db: &impl GenericClient,
    key: &CodeKey,
    (address, network): (&str, &str),
    was_sent: bool,
) -> DbResult<()> {
    const SQL: &str = include_str!("../../sql/record_code_request.sql");
    let request = key.attempt_subject(PURPOSE, address.to_lowercase().as_bytes(), network);
    run_statement(db, SQL, &[&request.of_network, &ATTEMPTS, &was_sent]).await
}

/// Counts an attempt of a network at the codes of an address or number; returns whether it has asked for one.
pub(crate) async fn take_attempt(
    db: &impl GenericClient,
    key: &CodeKey,
    (address, network): (&str, &str),
) -> DbResult<Asking> {
    const SQL: &str = include_str!("../../sql/take_code_request.sql");
    let request = key.attempt_subject(PURPOSE, address.to_lowercase().as_bytes(), network);
    let Some(row) = find_row(db, SQL, &[&request.of_network]).await? else {
        return Ok(Asking::No);
    };
    Ok(match (row.try_get("has_asked")?, row.try_get("was_sent")?) {
        (_, true) => Asking::Sent,
        (true, false) => Asking::Unanswered,
        (false, false) => Asking::No,
    })
}

const PURPOSE: &str = "requests for a code";
