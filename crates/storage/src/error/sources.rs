//! Maps errors of PostgreSQL, the connection pool, the blob store and the file system to [`StorageError`]s.

use std::io;

use deadpool_postgres::PoolError;
use selvedge_postgres::{is_outage, is_outage_code};
use tokio_postgres::error::DbError;

use super::{StorageError, UniqueKey};
use crate::backend::BackendError;

impl StorageError {
    /// Maps an error of PostgreSQL. The only place where SQLSTATEs are read.
    pub(crate) fn from_postgres(sqlstate: &str, message: &str, unique_key: UniqueKey) -> Self {
        match sqlstate {
            // Compat: the original reports each message about row-level security as this one, without the table's name.
            "42501" if message.contains("row-level security") => {
                Self::AccessDenied("new row violates row-level security policy".to_owned())
            }
            "42501" => Self::AccessDenied(message.to_owned()),
            "23505" => match unique_key {
                UniqueKey::Object => Self::KeyAlreadyExists,
                UniqueKey::Bucket => Self::BucketAlreadyExists,
                UniqueKey::Other => Self::ResourceAlreadyExists,
            },
            // One SQLSTATE has two meanings: a deleted row is still referred to, or an inserted row refers to nothing.
            "23503" if message.contains("update or delete") => Self::ResourceReferenced(message.to_owned()),
            "23503" => Self::RelatedResourceMissing,
            "55P03" => Self::ResourceLocked,
            "40P01" => Self::Deadlock,
            // 57014 (query_canceled) is what `statement_timeout` raises.
            "57014" => Self::DatabaseTimeout,
            "25006" => Self::DatabaseReadOnly,
            "25P02" => Self::DatabaseTransactionAborted,
            "42P17" => Self::DatabaseInvalidObjectDefinition(message.to_owned()),
            "42703" | "42P01" => Self::DatabaseSchemaMismatch,
            // The caller's fault, as a role that may not be assumed is. Its name is for the log.
            "22023" if message.starts_with("role ") && message.ends_with("does not exist") => {
                Self::AccessDenied("the role of the token does not exist".to_owned())
            }
            // Of the trigger of buckets in the platform's file 0201.
            "22023" if message.starts_with("The versioning status") => Self::InvalidText(message.to_owned()),
            "22P02" | "22P05" | "22021" => Self::InvalidText(message.to_owned()),
            "53300" => Self::TooManyConnections,
            code if is_outage_code(code) => Self::DatabaseUnavailable(message.to_owned()),
            other => {
                tracing::warn!(
                    sqlstate = other,
                    message,
                    "the database refused a storage statement"
                );
                Self::Database(other.to_owned())
            }
        }
    }

    /// Does the same as [`Self::from_postgres`] for statements that ran in a separate transaction, outside of the request
    /// pool.
    pub(crate) fn from_tokio_postgres(error: tokio_postgres::Error, unique_key: UniqueKey) -> Self {
        match error
            .as_db_error()
            .map(|db: &DbError| (db.code().code().to_owned(), db.message().to_owned()))
        {
            Some((sqlstate, message)) => Self::from_postgres(&sqlstate, &message, unique_key),
            None if is_outage(&error) => Self::DatabaseUnavailable(error.to_string()),
            None => Self::internal(error),
        }
    }

    /// Maps an error of COMMIT: only after an error reported by PostgreSQL it is certain that nothing was committed.
    pub(crate) fn from_commit(error: tokio_postgres::Error, unique_key: UniqueKey) -> Self {
        if error.as_db_error().is_none() || is_outage(&error) {
            return Self::ConnectionLost(error.to_string());
        }
        Self::from_tokio_postgres(error, unique_key)
    }

    /// Maps a failure to get a connection from a pool.
    pub(crate) fn from_pool(error: PoolError) -> Self {
        match error {
            PoolError::Timeout(_) => Self::DatabaseTimeout,
            PoolError::Backend(error) => Self::from_tokio_postgres(error, UniqueKey::Other),
            other => Self::internal(other),
        }
    }
}

impl From<io::Error> for StorageError {
    fn from(error: io::Error) -> Self {
        use io::ErrorKind;
        // Readers and writers of a store can return no other errors, so its own come inside of one.
        let error = match error.downcast::<BackendError>() {
            Ok(inside) => return inside.into(),
            Err(error) => error,
        };
        match error.kind() {
            ErrorKind::StorageFull | ErrorKind::QuotaExceeded | ErrorKind::FileTooLarge => {
                tracing::error!(%error, "the store of objects is full");
                Self::StorageFull
            }
            _ => Self::internal(error),
        }
    }
}

impl From<BackendError> for StorageError {
    fn from(error: BackendError) -> Self {
        match error {
            BackendError::Missing => Self::BlobMissing,
            BackendError::Io(error) => error.into(),
            BackendError::Unavailable(cause) => Self::StoreUnavailable(cause),
            BackendError::SlowDown(cause) => Self::StoreSlowDown(cause),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn store_009_a_store_that_is_away_while_its_bytes_are_read_is_no_fault_of_the_server() {
        let inside = || BackendError::Unavailable("connection refused".to_owned());

        for error in [
            StorageError::from(io::Error::other(inside())),
            BackendError::Io(io::Error::other(inside())).into(),
        ] {
            assert!(matches!(error, StorageError::StoreUnavailable(_)), "{error}");
        }
    }

    #[test]
    fn store_009_row_level_security_messages_omit_the_table() {
        let error = StorageError::from_postgres(
            "42501",
            "new row violates row-level security policy for table \"objects\"",
            UniqueKey::Object,
        );

        assert_eq!(error.to_string(), "new row violates row-level security policy");
    }

    #[test]
    fn store_004_a_unique_violation_is_reported_by_the_statements_key() {
        let code = |key| {
            StorageError::from_postgres("23505", "duplicate key", key)
                .wire()
                .code
        };

        assert_eq!(code(UniqueKey::Object), "KeyAlreadyExists");
        assert_eq!(code(UniqueKey::Bucket), "BucketAlreadyExists");
        assert_eq!(code(UniqueKey::Other), "ResourceAlreadyExists");
    }
}
