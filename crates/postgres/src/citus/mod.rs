//! Reads which nodes and shards a database with Citus has, in order to remove their addresses and numbers from errors.

use regex::{Captures, Regex};
use tokio_postgres::{Client, Error};

use crate::{DatabaseError, RequestError};

const SQL: &str = include_str!("../sql/citus_nodes.sql");

/// Replaces the address of a node in error messages.
const SOME_NODE: &str = "a node of the database";

/// Occurs in the messages of Citus about a failed connection to a worker node.
const REMOTE_NODE: &str = "the remote node";

/// How Citus fails at a write of a role to whose rows no policy applies: PostgreSQL then plans no scan of the table.
const NO_SHARD_IS_LEFT: &str = "could not find valid entry for shard";

/// The hint for it.
const NO_POLICY_HINT: &str =
    "The role may write to the table, but no policy applies to it: add a policy, or revoke the privilege.";

/// The nodes and shards of a database with Citus.
#[derive(Debug)]
pub(crate) struct CitusNodes {
    /// `host:port` of each node.
    addresses: Vec<String>,
    /// The lowest and the highest shard id.
    shards: Option<(i64, i64)>,
    /// Whether `storage.objects` is a distributed table.
    pub(crate) distributes_objects: bool,
    /// Matches a quoted name that ends in a number, as shards' tables and constraints are named: `"likes_pkey_102011"`.
    numbered_name: Regex,
}

impl CitusNodes {
    /// Reads nodes and shards from the system catalog; `None` in a database without Citus.
    pub(crate) async fn load(client: &Client) -> Result<Option<Self>, Error> {
        let is_installed = "select 1 from pg_catalog.pg_extension where extname = 'citus'";
        if client.query_typed(is_installed, &[]).await?.is_empty() {
            return Ok(None);
        }
        let mut nodes = Self::new(Vec::new(), None);
        let has_tables = "select 1 where to_regclass('pg_catalog.pg_dist_node') is not null";
        if client.query_typed(has_tables, &[]).await?.is_empty() {
            return Ok(Some(nodes));
        }
        if let Some(row) = client.query_typed(SQL, &[]).await?.first() {
            nodes.addresses = row.get("addresses");
            nodes.distributes_objects = row.get("distributes_objects");
            nodes.shards = row
                .get::<_, Option<i64>>("first_shard")
                .zip(row.get("last_shard"));
        }
        Ok(Some(nodes))
    }

    fn new(addresses: Vec<String>, shards: Option<(i64, i64)>) -> Self {
        let numbered_name = Regex::new(r#""([^"]*)_([0-9]{5,18})""#).expect("the pattern is a constant");
        Self {
            addresses,
            shards,
            distributes_objects: false,
            numbered_name,
        }
    }

    /// Removes node addresses and shard ids from an error's texts.
    pub(crate) fn hide_in(&self, error: RequestError) -> RequestError {
        match error {
            RequestError::Database(error) => RequestError::Database(Box::new(DatabaseError {
                // Only Citus's own messages are replaced: a function of the project may raise the same code.
                message: if error.code.starts_with("08") && error.message.contains(REMOTE_NODE) {
                    format!("{SOME_NODE} does not answer")
                } else {
                    self.clean(&error.message)
                },
                detail: error.detail.map(|detail| self.clean(&detail)),
                hint: if error.message.starts_with(NO_SHARD_IS_LEFT) {
                    Some(NO_POLICY_HINT.to_owned())
                } else {
                    error.hint.map(|hint| self.clean(&hint))
                },
                ..*error
            })),
            other => other,
        }
    }

    fn clean(&self, text: &str) -> String {
        let mut text = text.to_owned();
        for address in &self.addresses {
            text = text.replace(address, SOME_NODE);
        }
        let Some((first, last)) = self.shards else {
            return text;
        };
        let is_shard = |number: &str| {
            number
                .parse()
                .is_ok_and(|number| (first..=last).contains(&number))
        };
        self.numbered_name
            .replace_all(&text, |found: &Captures<'_>| {
                if is_shard(&found[2]) {
                    format!("\"{}\"", &found[1])
                } else {
                    found[0].to_owned()
                }
            })
            .into_owned()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::TransactionStage;

    fn error(code: &str, message: &str, detail: &str) -> RequestError {
        RequestError::Database(Box::new(DatabaseError {
            stage: TransactionStage::Statement,
            code: code.to_owned(),
            message: message.to_owned(),
            detail: Some(detail.to_owned()),
            hint: None,
        }))
    }

    #[test]
    fn hide_in_removes_node_addresses_and_shard_ids() {
        let nodes = CitusNodes::new(vec!["10.0.0.5:5432".to_owned()], Some((102_008, 102_040)));
        let refused = error(
            "23505",
            "duplicate key value violates unique constraint \"likes_pkey_102011\"",
            "Table \"events_202401\" on 10.0.0.5:5432, at 10:00:05",
        );

        let RequestError::Database(shown) = nodes.hide_in(refused) else {
            panic!("another kind of error");
        };

        assert_eq!(
            shown.message,
            "duplicate key value violates unique constraint \"likes_pkey\""
        );
        assert_eq!(
            shown.detail.as_deref(),
            Some("Table \"events_202401\" on a node of the database, at 10:00:05")
        );
    }

    #[test]
    fn a_lost_worker_is_reported_without_its_address_and_login() {
        let nodes = CitusNodes::new(Vec::new(), None);
        let lost = error(
            "08006",
            "connection to the remote node anon@10.0.0.5:5432 failed",
            "",
        );

        assert_eq!(
            nodes.hide_in(lost).to_string(),
            "08006: a node of the database does not answer"
        );
    }

    #[test]
    fn a_write_that_no_policy_allows_is_refused_with_a_hint() {
        let nodes = CitusNodes::new(Vec::new(), None);

        let RequestError::Database(shown) =
            nodes.hide_in(error("XX000", "could not find valid entry for shard 0", ""))
        else {
            panic!("another kind of error");
        };

        assert_eq!(shown.hint.as_deref(), Some(NO_POLICY_HINT));
    }
}
