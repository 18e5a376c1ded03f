//! Reads which nodes and shards a database with Citus has, in order to remove their addresses and numbers from errors.

mod hints;

use regex::{Captures, Regex};
use tokio_postgres::{Client, Error};

use self::hints::find_hint;
use crate::{DatabaseError, RequestError};

const SQL: &str = include_str!("../sql/citus_nodes.sql");

/// Replaces the address of a node in error messages.
const SOME_NODE: &str = "a node of the database";

/// Occurs in the messages of Citus about a failed connection to a worker node.
const REMOTE_NODE: &str = "the remote node";

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
    /// Matches such a name without quotes, as in `permission denied for table likes_102011`.
    bare_numbered_name: Regex,
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
        let bare_numbered_name =
            Regex::new(r#"\b([\p{L}_][\p{L}\p{N}_$]*)_([0-9]{5,18})\b"#).expect("the pattern is a constant");
        Self {
            addresses,
            shards,
            distributes_objects: false,
            numbered_name,
            bare_numbered_name,
        }
    }

    /// Removes node addresses and shard ids from an error's texts, and adds a hint to those errors of Citus that have none.
    pub(crate) fn hide_in(&self, error: RequestError) -> RequestError {
        match error {
            RequestError::Database(error) => RequestError::Database(Box::new(self.hide_in_fault(*error))),
            other => other,
        }
    }

    fn hide_in_fault(&self, error: DatabaseError) -> DatabaseError {
        let hint = find_hint(&error.message);
        // Only Citus's own messages are replaced: a function of the project may raise the same code.
        let message = if error.code.starts_with("08") && error.message.contains(REMOTE_NODE) {
            format!("{SOME_NODE} does not answer")
        } else if error.code.starts_with("42") {
            // PostgreSQL writes names without quotes in some messages about privileges and unknown functions.
            self.remove_shards(&self.bare_numbered_name, &self.clean(&error.message), "")
        } else {
            self.clean(&error.message)
        };
        DatabaseError {
            message,
            detail: error.detail.map(|detail| self.clean(&detail)),
            hint: hint.or_else(|| error.hint.map(|hint| self.clean(&hint))),
            ..error
        }
    }

    fn clean(&self, text: &str) -> String {
        let mut text = text.to_owned();
        for address in &self.addresses {
            text = text.replace(address, SOME_NODE);
        }
        self.remove_shards(&self.numbered_name, &text, "\"")
    }

    /// Removes the numbers of shards from the names that `pattern` finds, and puts the names between `quotes`.
    fn remove_shards(&self, pattern: &Regex, text: &str, quotes: &str) -> String {
        let Some((first, last)) = self.shards else {
            return text.to_owned();
        };
        let is_shard = |number: &str| {
            number
                .parse()
                .is_ok_and(|number| (first..=last).contains(&number))
        };
        let replace = |found: &Captures<'_>| {
            if is_shard(&found[2]) {
                format!("{quotes}{}{quotes}", &found[1])
            } else {
                found[0].to_owned()
            }
        };
        pattern.replace_all(text, replace).into_owned()
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

        assert!(shown.hint.is_some_and(|hint| hint.contains("no policy")));
    }

    #[test]
    fn shard_ids_are_removed_from_names_without_quotes() {
        let nodes = CitusNodes::new(Vec::new(), Some((102_008, 102_040)));
        for (code, message, expected) in [
            (
                "42501",
                "permission denied for table staff_pay_102029",
                "permission denied for table staff_pay",
            ),
            (
                "42883",
                "function public.full_label(products_102014, integer) does not exist",
                "function public.full_label(products, integer) does not exist",
            ),
            (
                "42883",
                "function f(events_202401) does not exist",
                "function f(events_202401) does not exist",
            ),
            ("P0001", "order_102029 is closed", "order_102029 is closed"),
        ] {
            let RequestError::Database(shown) = nodes.hide_in(error(code, message, "")) else {
                panic!("another kind of error");
            };

            assert_eq!(shown.message, expected);
        }
    }

    #[test]
    fn what_citus_refuses_has_a_hint() {
        let nodes = CitusNodes::new(Vec::new(), None);
        for message in [
            "cannot modify views when the query contains citus tables",
            "relation price_board is not distributed",
            "cannot perform a lateral outer join when a distributed subquery references a reference table",
            "modifying the partition value of rows is not allowed",
            "the partition column of table public.likes should have a value",
        ] {
            let RequestError::Database(shown) = nodes.hide_in(error("0A000", message, "")) else {
                panic!("another kind of error");
            };

            assert!(shown.hint.is_some(), "{message}");
        }
        let RequestError::Database(other) = nodes.hide_in(error("22012", "division by zero", "")) else {
            panic!("another kind of error");
        };
        assert_eq!(other.hint, None);
    }
}
