//! Tells a database that is not there from one that refuses a statement.

use std::error::Error;
use std::io;

/// Whether the database cannot be used at the moment, whatever the statement is: it is shutting down, starting up or
/// recovering, or the connection to it is lost or cannot be made. The same statement may succeed a moment later.
pub fn is_outage(error: &tokio_postgres::Error) -> bool {
    match error.as_db_error() {
        Some(error) => is_outage_code(error.code().code()),
        None => error.is_closed() || error.source().is_some_and(|cause| cause.is::<io::Error>()),
    }
}

/// Whether a SQLSTATE means an outage: admin_shutdown, crash_shutdown, cannot_connect_now, or a connection exception.
pub fn is_outage_code(sqlstate: &str) -> bool {
    ["57P01", "57P02", "57P03"].contains(&sqlstate) || sqlstate.starts_with("08")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_server_that_is_not_there_is_an_outage() {
        let folder = tempfile::tempdir().expect("a folder");
        let mut config = tokio_postgres::Config::new();
        config.host_path(folder.path()).user("x");

        let error = config
            .connect(tokio_postgres::NoTls)
            .await
            .err()
            .expect("nobody listens");

        assert!(is_outage(&error), "{error:?}");
    }

    #[test]
    fn a_refused_statement_is_no_outage() {
        assert!(!is_outage_code("42501"));
        assert!(is_outage_code("57P03"));
        assert!(is_outage_code("08006"));
    }
}
