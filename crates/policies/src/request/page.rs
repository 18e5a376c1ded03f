//! The part of the matching rows that a read returns: `order`, `limit` and `offset`.

use std::fmt::Write;

use selvedge_postgres::quote_identifier;
use serde::Deserialize;

use crate::SimulationError;
use crate::catalog::Table;

/// The part of the matching rows that a read returns, and their order.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
pub struct Page {
    #[serde(default)]
    pub order: Vec<OrderTerm>,
    /// The number of rows at most; `None` returns all.
    #[serde(default)]
    pub limit: Option<usize>,
    /// The number of visible rows that are skipped.
    #[serde(default)]
    pub offset: usize,
}

/// One term of `order`.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub struct OrderTerm {
    pub column: String,
    #[serde(default)]
    pub descending: bool,
    /// `None` leaves nulls where PostgreSQL puts them: last, or first when descending.
    #[serde(default)]
    pub nulls_first: Option<bool>,
}

impl Page {
    /// Whether the page can be smaller than `rows` rows.
    pub(crate) fn cuts(&self, rows: usize) -> bool {
        self.offset > 0 || self.limit.is_some_and(|limit| limit < rows)
    }

    /// Returns the part of `rows` that the page holds.
    pub(crate) fn slice<'r, T>(&self, rows: &'r [T]) -> &'r [T] {
        let rest = rows.get(self.offset..).unwrap_or(&[]);
        &rest[..self.limit.unwrap_or(rest.len()).min(rest.len())]
    }

    /// Whether no two rows have the same place in the order, so that a limit always returns the same rows.
    pub(crate) fn has_total_order(&self, table: &Table) -> bool {
        let is_ordered = |name: &String| self.order.iter().any(|term| term.column == *name);
        !table.key.is_empty() && table.key.iter().all(is_ordered)
    }

    /// The columns of the order, on which PostgreSQL requires SELECT.
    pub(crate) fn columns(&self) -> Vec<String> {
        self.order.iter().map(|term| term.column.clone()).collect()
    }

    /// Writes the order as `order by …`, followed by the columns `then`; an empty text when there are none at all.
    ///
    /// # Errors
    /// [`SimulationError::Invalid`] for unknown columns.
    pub(crate) fn order_by(&self, table: &Table, then: &[String]) -> Result<String, SimulationError> {
        // With the table's name, because a name alone would mean the text of the same name in the list of the SELECT.
        let qualified = |name: &str| format!("{}.{}", quote_identifier(&table.name), quote_identifier(name));
        let mut terms = Vec::with_capacity(self.order.len() + then.len());
        for term in &self.order {
            table.column(&term.column)?;
            let mut sql = qualified(&term.column);
            if term.descending {
                sql.push_str(" desc");
            }
            match term.nulls_first {
                Some(true) => sql.push_str(" nulls first"),
                Some(false) => sql.push_str(" nulls last"),
                None => {}
            }
            terms.push(sql);
        }
        terms.extend(then.iter().map(|name| qualified(name)));
        Ok(match terms.is_empty() {
            true => String::new(),
            false => format!(" order by {}", terms.join(", ")),
        })
    }

    /// Writes `limit` and `offset`, with at most `most` rows.
    pub(crate) fn limit_clause(&self, most: Option<usize>) -> String {
        let mut sql = String::new();
        if let Some(limit) = [self.limit, most].into_iter().flatten().min() {
            write!(sql, " limit {limit}").expect("writing to a string");
        }
        if self.offset > 0 {
            write!(sql, " offset {}", self.offset).expect("writing to a string");
        }
        sql
    }
}

/// Parses `order=a.desc.nullslast,b`. Returns `None` for terms that are not plain columns, such as those of embedded tables.
pub(crate) fn parse_order(text: &str) -> Option<Vec<OrderTerm>> {
    text.split(',').map(parse_term).collect()
}

fn parse_term(text: &str) -> Option<OrderTerm> {
    let mut parts = text.split('.');
    let column = parts.next().filter(|name| {
        let is_plain = |char: char| char.is_alphanumeric() || matches!(char, '_' | ' ');
        !name.is_empty() && name.chars().all(is_plain)
    })?;
    let mut term = OrderTerm {
        column: column.to_owned(),
        descending: false,
        nulls_first: None,
    };
    for part in parts {
        match part {
            "asc" => term.descending = false,
            "desc" => term.descending = true,
            "nullsfirst" => term.nulls_first = Some(true),
            "nullslast" => term.nulls_first = Some(false),
            _ => return None,
        }
    }
    Some(term)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn console_080_order_is_read_as_the_api_reads_it() {
        let order = parse_order("level.desc.nullslast,the id").unwrap();

        assert_eq!(order[0].column, "level");
        assert_eq!((order[0].descending, order[0].nulls_first), (true, Some(false)));
        assert_eq!((order[1].column.as_str(), order[1].descending), ("the id", false));
        assert_eq!(parse_order("author(name)"), None);
        assert_eq!(parse_order("data->a"), None);
        assert_eq!(parse_order(""), None);
    }

    #[test]
    fn console_080_a_page_is_the_part_behind_its_offset() {
        let page = |limit, offset| Page {
            limit,
            offset,
            ..Page::default()
        };

        assert_eq!(page(Some(2), 1).slice(&[1, 2, 3, 4]), [2, 3]);
        assert_eq!(page(None, 3).slice(&[1, 2, 3, 4]), [4]);
        assert!(page(Some(2), 9).slice(&[1, 2]).is_empty());
        assert!(page(Some(0), 0).slice(&[1]).is_empty());
        assert!(page(Some(2), 0).cuts(3) && !page(Some(3), 0).cuts(3));
    }
}
