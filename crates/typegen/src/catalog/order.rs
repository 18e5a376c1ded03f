//! Sorts names as JavaScript's `localeCompare` does in an English locale. PostgreSQL's ICU collation provides the order.

use std::cmp::Ordering;
use std::collections::{BTreeSet, HashMap};

use tokio_postgres::Client;

/// ICU's collation for English, which PostgreSQL has unless it was built without ICU.
const COLLATION: &str = "en-x-icu";

/// The sort position of every name that is compared.
#[derive(Debug, Default)]
pub(super) struct NameOrder {
    // All names are sorted by one query and compared by their position, because each comparison would otherwise be a query.
    ranks: HashMap<String, usize>,
}

impl NameOrder {
    /// Sorts `names` by one query, or by [`compare_without_icu`] when PostgreSQL was built without ICU.
    pub(super) async fn load(
        client: &Client,
        names: BTreeSet<String>,
    ) -> Result<Self, tokio_postgres::Error> {
        let mut names: Vec<String> = names.into_iter().collect();
        // `collencoding` is -1 for ICU collations, which work in any encoding.
        let has_collation = client
            .query_one(
                "select exists (select from pg_catalog.pg_collation where collname = $1 \
                 and collencoding in (-1, (select encoding from pg_catalog.pg_database where datname = current_database())))",
                &[&COLLATION],
            )
            .await?
            .get(0);
        if has_collation {
            let sql =
                format!("select name from unnest($1::text[]) as name order by name collate \"{COLLATION}\"");
            let rows = client.query(&sql, &[&names]).await?;
            names = rows.iter().map(|row| row.get(0)).collect();
        } else {
            names.sort_by(|left, right| compare_without_icu(left, right));
        }
        Ok(Self {
            ranks: names.into_iter().zip(0..).collect(),
        })
    }

    /// Compares two names, both of which must have been passed to [`Self::load`].
    pub(super) fn compare(&self, left: &str, right: &str) -> Ordering {
        self.ranks.get(left).cmp(&self.ranks.get(right))
    }
}

/// Orders ASCII names as ICU does: punctuation, digits, then letters, lower case before upper case where names are otherwise equal.
fn compare_without_icu(left: &str, right: &str) -> Ordering {
    let primary = |name: &str| -> Vec<(bool, char)> {
        name.chars()
            .map(|letter| (letter.is_alphanumeric(), letter.to_ascii_lowercase()))
            .collect()
    };
    let swap_case = |name: &str| -> Vec<(bool, char)> {
        name.chars()
            .map(|letter| (letter.is_uppercase(), letter))
            .collect()
    };
    primary(left)
        .cmp(&primary(right))
        .then_with(|| swap_case(left).cmp(&swap_case(right)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn compare_without_icu_orders_ascii_names_as_icu_does() {
        let mut names = ["b", "UPPER", "a_b", "1st", "ab", "B", "a", "_under"];

        names.sort_by(|left, right| compare_without_icu(left, right));

        assert_eq!(names, ["_under", "1st", "a", "a_b", "ab", "b", "B", "UPPER"]);
    }
}
