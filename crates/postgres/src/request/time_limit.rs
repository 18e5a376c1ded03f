//! The time limit of a transaction with Citus.
//!
//! PostgreSQL enforces `statement_timeout` itself. Citus does not when a worker node is frozen: it sends the worker a cancellation,
//! and waits for its response.

use std::time::Duration;

use super::RequestTransaction;
use crate::{DatabaseError, RequestError, RoleSettings, TransactionStage};

/// Time after PostgreSQL's own limit until the transaction is given up.
const GRACE: Duration = Duration::from_secs(1);

/// Returns the time after which a transaction is given up: the `statement_timeout` of its function or role, and [`GRACE`]. `None`
/// without Citus, or without `statement_timeout`.
pub(super) fn find_time_limit(
    transaction: &RequestTransaction<'_>,
    roles: &RoleSettings,
) -> Option<Duration> {
    if !roles.has_citus() {
        return None;
    }
    let of_role = roles.for_role(transaction.context.role).iter();
    let settings = of_role.map(|(name, value)| (name.as_str(), value.as_str()));
    // A function's settings are among the extra ones, which are set after those of the role and override them.
    let latest = settings
        .chain(transaction.context.extra.iter().copied())
        .rfind(|(name, _)| name.eq_ignore_ascii_case("statement_timeout"))?;
    let limit = parse_milliseconds(latest.1).filter(|limit| !limit.is_zero())?;
    Some(limit + GRACE)
}

/// Parses a duration setting of PostgreSQL, such as `250` (milliseconds) or `1.5 min`.
fn parse_milliseconds(value: &str) -> Option<Duration> {
    let value = value.trim();
    let unit_at = value
        .find(|character: char| !character.is_ascii_digit() && character != '.')
        .unwrap_or(value.len());
    let (number, unit) = value.split_at(unit_at);
    let seconds = match unit.trim() {
        "us" => 1e-6,
        "" | "ms" => 1e-3,
        "s" => 1.0,
        "min" => 60.0,
        "h" => 3600.0,
        "d" => 86_400.0,
        _ => return None,
    };
    Duration::try_from_secs_f64(number.parse::<f64>().ok()? * seconds).ok()
}

/// Returns the error that PostgreSQL reports for a statement timeout.
pub(super) fn timeout_error() -> RequestError {
    RequestError::Database(Box::new(DatabaseError {
        stage: TransactionStage::Statement,
        code: "57014".to_owned(),
        message: "canceling statement due to statement timeout".to_owned(),
        detail: None,
        hint: Some("A node of the database does not answer.".to_owned()),
    }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parse_milliseconds_accepts_postgresqls_units() {
        for (text, milliseconds) in [
            ("3s", 3000),
            ("250", 250),
            ("1.5 min", 90_000),
            ("0", 0),
            ("2h", 7_200_000),
        ] {
            assert_eq!(
                parse_milliseconds(text),
                Some(Duration::from_millis(milliseconds)),
                "{text}"
            );
        }
        assert_eq!(parse_milliseconds("soon"), None);
    }
}
