//! Reads the query string like the original's schema validation: a parameter that is given twice is refused.

use crate::error::StorageError;

/// The decoded parameters of a query string.
pub(crate) struct Query(Vec<(String, String)>);

impl Query {
    /// Reads `application/x-www-form-urlencoded` text; a name without `=` has the empty value.
    pub(crate) fn parse(raw: &str) -> Self {
        Self(serde_urlencoded::from_str(raw).unwrap_or_default())
    }

    /// The only value of `name`.
    ///
    /// # Errors
    /// `Schema` when it is given twice.
    pub(crate) fn text(&self, name: &str) -> Result<Option<&str>, StorageError> {
        let mut values = self
            .0
            .iter()
            .filter(|(key, _)| key == name)
            .map(|(_, value)| value.as_str());
        // Compat: the original parses a repeated parameter as a list, and the schema then demands a string.
        let first = values.next();
        match values.next() {
            None => Ok(first),
            Some(_) => Err(StorageError::Schema(format!("querystring/{name} must be string"))),
        }
    }

    /// Whether `name` is given, with or without a value.
    pub(crate) fn has_key(&self, name: &str) -> bool {
        self.0.iter().any(|(key, _)| key == name)
    }

    /// Names and values, in the order of the query.
    pub(crate) fn pairs(&self) -> impl Iterator<Item = (&str, &str)> {
        self.0.iter().map(|(name, value)| (name.as_str(), value.as_str()))
    }

    /// A required value.
    ///
    /// # Errors
    /// `Schema` when it is missing or given twice.
    pub(crate) fn required(&self, name: &str) -> Result<&str, StorageError> {
        self.text(name)?
            .ok_or_else(|| StorageError::Schema(format!("querystring must have required property '{name}'")))
    }

    /// An integer of at least `minimum`.
    ///
    /// # Errors
    /// `Schema`.
    pub(crate) fn integer(&self, name: &str, minimum: i64) -> Result<Option<i64>, StorageError> {
        let Some(text) = self.text(name)? else {
            return Ok(None);
        };
        let number: i64 = text
            .parse()
            .map_err(|_| StorageError::Schema(format!("querystring/{name} must be integer")))?;
        if number < minimum {
            return Err(StorageError::Schema(format!(
                "querystring/{name} must be >= {minimum}"
            )));
        }
        Ok(Some(number))
    }

    /// `true` or `false`.
    ///
    /// # Errors
    /// `Schema`.
    pub(crate) fn boolean(&self, name: &str) -> Result<Option<bool>, StorageError> {
        match self.text(name)? {
            None => Ok(None),
            Some("true" | "1") => Ok(Some(true)),
            Some("false" | "0" | "") => Ok(Some(false)),
            Some(_) => Err(StorageError::Schema(format!(
                "querystring/{name} must be boolean"
            ))),
        }
    }

    /// A value that is one of `words`.
    ///
    /// # Errors
    /// `Schema`.
    pub(crate) fn one_of<'w>(&self, name: &str, words: &[&'w str]) -> Result<Option<&'w str>, StorageError> {
        let Some(text) = self.text(name)? else {
            return Ok(None);
        };
        words
            .iter()
            .find(|word| **word == text)
            .map(|word| Some(*word))
            .ok_or_else(|| {
                StorageError::Schema(format!(
                    "querystring/{name} must be equal to one of the allowed values"
                ))
            })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn store_024_parameters_without_a_value_are_empty_and_repeated_ones_refused() {
        let query = Query::parse("download&limit=3&x=a&x=b&name=x+y%20z");

        assert_eq!(query.text("download").expect("once"), Some(""));
        assert_eq!(query.text("name").expect("once"), Some("x y z"));
        assert_eq!(query.integer("limit", 1).expect("integer"), Some(3));
        assert_eq!(
            query.integer("limit", 4).expect_err("too small").to_string(),
            "querystring/limit must be >= 4"
        );
        assert_eq!(
            query.text("x").expect_err("twice").to_string(),
            "querystring/x must be string"
        );
    }
}
