//! The query string of a list: which objects are returned.

use actix_web::web;

use super::listing::Listing;
use crate::error::MetaError;

/// Condition on the objects that a list returns.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Filter {
    /// Only objects in these schemas; `None` for all.
    pub(super) included_schemas: Option<Vec<String>>,
    /// No objects in these schemas.
    pub(super) excluded_schemas: Option<Vec<String>>,
    /// Only objects with these ids; `None` for all.
    pub(super) ids: Option<Vec<String>>,
    /// Whether the objects of PostgreSQL itself are listed.
    pub(super) includes_system: bool,
    /// The most objects that are listed.
    pub(super) limit: Option<i64>,
    /// The number of objects that are passed over before.
    pub(super) offset: Option<i64>,
    /// Whether relations carry their columns.
    pub(super) includes_columns: bool,
    /// Whether the row types of tables and views are listed.
    pub(super) includes_table_types: bool,
    /// Whether array types are listed.
    pub(super) includes_array_types: bool,
}

impl Filter {
    /// Parses the query string of a list. Unknown parameters are ignored, as postgres-meta does.
    pub(super) fn parse(query: &str, listing: &Listing) -> Result<Self, MetaError> {
        let mut filter = Self {
            includes_columns: listing.includes_columns,
            ..Self::default()
        };
        for (name, value) in parse_pairs(query)? {
            match name.as_str() {
                "included_schemas" => filter.included_schemas = Some(split_names(&value)),
                "excluded_schemas" => filter.excluded_schemas = Some(split_names(&value)),
                "limit" => filter.limit = Some(parse_count("limit", &value)?),
                "offset" => filter.offset = Some(parse_count("offset", &value)?),
                "include_columns" => filter.includes_columns = value == "true",
                "include_table_types" => filter.includes_table_types = value == "true",
                "include_array_types" => filter.includes_array_types = value == "true",
                name if name == listing.system_flag => filter.includes_system = value == "true",
                _ => {}
            }
        }
        // `included_schemas` overrides the other two, so that it can list PostgreSQL's own schemas.
        if filter.included_schemas.is_some() {
            filter.excluded_schemas = None;
            filter.includes_system = true;
        }
        Ok(filter)
    }

    /// Returns the filter for the objects with these ids, objects of PostgreSQL itself among them.
    pub(crate) fn with_ids(ids: Vec<String>) -> Self {
        Self {
            ids: Some(ids),
            includes_system: true,
            includes_columns: true,
            ..Self::default()
        }
    }
}

/// Decodes the names and values of a query string, in their order.
pub(crate) fn parse_pairs(query: &str) -> Result<Vec<(String, String)>, MetaError> {
    web::Query::<Vec<(String, String)>>::from_query(query)
        .map(web::Query::into_inner)
        .map_err(|error| MetaError::Request(format!("the query string cannot be read: {error}")))
}

/// Splits comma-separated names.
pub(super) fn split_names(value: &str) -> Vec<String> {
    value.split(',').map(|name| name.trim().to_owned()).collect()
}

fn parse_count(name: &str, value: &str) -> Result<i64, MetaError> {
    match value.parse() {
        Ok(count) if count >= 0 => Ok(count),
        _ => Err(MetaError::Request(format!(
            "querystring/{name} must be an integer that is not negative"
        ))),
    }
}

#[cfg(test)]
mod tests {
    use super::super::listing::LISTINGS;
    use super::*;

    #[test]
    fn included_schemas_may_name_system_schemas() {
        let filter =
            Filter::parse("included_schemas=pg_catalog,public&limit=2", &LISTINGS[0]).expect("valid");
        assert_eq!(
            filter.included_schemas,
            Some(vec!["pg_catalog".to_owned(), "public".to_owned()])
        );
        assert!(filter.includes_system && filter.includes_columns);
        assert_eq!(filter.limit, Some(2));
    }

    #[test]
    fn limit_and_offset_must_be_numbers() {
        for query in ["limit=x", "limit=-1", "offset=1.5", "limit="] {
            assert!(Filter::parse(query, &LISTINGS[0]).is_err(), "{query}");
        }
    }
}
