//! Parses `CREATE EXTENSION` and `DROP EXTENSION`. Pure.

use super::statement_reader::{StatementReader, first_word};
use crate::identifier::quote_literal;

/// A parsed `CREATE EXTENSION` or `DROP EXTENSION`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum ExtensionStatement {
    Create {
        name: String,
        if_not_exists: bool,
        schema: Option<String>,
        version: Option<String>,
        cascade: bool,
    },
    Drop {
        names: Vec<String>,
        if_exists: bool,
        cascade: bool,
    },
}

impl ExtensionStatement {
    /// Names of the extensions in the statement.
    pub(crate) fn names(&self) -> Vec<&str> {
        match self {
            Self::Create { name, .. } => vec![name],
            Self::Drop { names, .. } => names.iter().map(String::as_str).collect(),
        }
    }

    /// Parses a statement; `None` for any other kind, which is then sent to PostgreSQL as written.
    pub(crate) fn parse(statement: &str) -> Option<Self> {
        let mut words = StatementReader::new(statement);
        if words.take("create") {
            Self::parse_create(words)
        } else if words.take("drop") {
            Self::parse_drop(words)
        } else {
            None
        }
    }

    /// `extension [if not exists] name [with] [schema name] [version name] [cascade]`
    fn parse_create(mut words: StatementReader<'_>) -> Option<Self> {
        words.expect("extension")?;
        let if_not_exists = words.take("if");
        if if_not_exists {
            words.expect("not")?;
            words.expect("exists")?;
        }
        let name = words.name()?;
        words.take("with");
        let (mut schema, mut version, mut cascade) = (None, None, false);
        loop {
            if words.take("schema") {
                schema = Some(words.name()?);
            } else if words.take("version") {
                version = Some(words.name()?);
            } else if words.take("cascade") {
                cascade = true;
            } else {
                break;
            }
        }
        words.at_end().then_some(Self::Create {
            name,
            if_not_exists,
            schema,
            version,
            cascade,
        })
    }

    /// `extension [if exists] name [, name …] [cascade | restrict]`
    fn parse_drop(mut words: StatementReader<'_>) -> Option<Self> {
        words.expect("extension")?;
        let if_exists = words.take("if");
        if if_exists {
            words.expect("exists")?;
        }
        let mut names = vec![words.name()?];
        while words.take(",") {
            names.push(words.name()?);
        }
        let cascade = words.take("cascade");
        words.take("restrict");
        words.at_end().then_some(Self::Drop {
            names,
            if_exists,
            cascade,
        })
    }

    /// The statement's substitute on servers where `postgres` may not create the extension: a call of a
    /// `_selvedge` function (`sql/platform/0011_extensions.sql`).
    pub(crate) fn to_query(&self) -> String {
        match self {
            Self::Create {
                name,
                if_not_exists,
                schema,
                version,
                cascade,
            } => format!(
                "_selvedge.create_extension({}, {if_not_exists}, {}, {}, {cascade})",
                quote_literal(name),
                schema
                    .as_deref()
                    .map_or_else(|| "current_schema()::text".to_owned(), quote_literal),
                version
                    .as_deref()
                    .map_or_else(|| "null".to_owned(), quote_literal),
            ),
            Self::Drop {
                names,
                if_exists,
                cascade,
            } => {
                let names: Vec<String> = names.iter().map(|name| quote_literal(name)).collect();
                format!(
                    "_selvedge.drop_extension(name, {if_exists}, {cascade}) from unnest(array[{}]) as name",
                    names.join(", ")
                )
            }
        }
    }
}

/// Whether an event trigger of the platform reads the text of a statement: it creates or changes an extension, or creates a subscription.
pub(super) fn is_read_by_event_triggers(statement: &str) -> bool {
    let first = first_word(statement);
    if !first.eq_ignore_ascii_case("create") && !first.eq_ignore_ascii_case("alter") {
        return false;
    }
    let mut words = StatementReader::new(statement);
    match words.take("create") {
        true => words.take("extension") || words.take("subscription"),
        false => words.take("alter") && words.take("extension"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn gw_018_parses_create_and_drop_extension_in_every_spelling() {
        let created = |name: &str, if_not_exists, schema: Option<&str>, cascade| ExtensionStatement::Create {
            name: name.into(),
            if_not_exists,
            schema: schema.map(Into::into),
            version: None,
            cascade,
        };
        let cases = [
            ("create extension hstore", created("hstore", false, None, false)),
            (
                "CREATE EXTENSION IF NOT EXISTS \"uuid-ossp\" WITH SCHEMA \"extensions\"",
                created("uuid-ossp", true, Some("extensions"), false),
            ),
            (
                "-- why\ncreate extension if not exists Earthdistance schema public cascade",
                created("earthdistance", true, Some("public"), true),
            ),
        ];

        for (sql, expected) in cases {
            assert_eq!(ExtensionStatement::parse(sql), Some(expected), "{sql}");
        }
        assert_eq!(
            ExtensionStatement::parse("drop extension if exists \"pg_net\", hstore cascade"),
            Some(ExtensionStatement::Drop {
                names: vec!["pg_net".into(), "hstore".into()],
                if_exists: true,
                cascade: true
            })
        );
        for other in [
            "create table extension (id int)",
            "drop table a",
            "select 'create extension x'",
        ] {
            assert_eq!(ExtensionStatement::parse(other), None, "{other}");
        }
    }

    #[test]
    fn gw_018_to_query_doubles_quotes_in_extension_names() {
        let statement = ExtensionStatement::parse("create extension \"a'b\"").expect("is one");

        assert_eq!(
            statement.to_query(),
            "_selvedge.create_extension('a''b', false, current_schema()::text, null, false)"
        );
    }

    #[test]
    fn gw_012_statements_that_event_triggers_read_are_told_from_others() {
        for statement in [
            "create extension hstore",
            "-- why\nALTER EXTENSION hstore update",
            "create subscription s connection 'host=x' publication p",
        ] {
            assert!(is_read_by_event_triggers(statement), "{statement}");
        }
        for statement in [
            "create table extension (id int)",
            "alter subscription s disable",
            "drop extension hstore",
        ] {
            assert!(!is_read_by_event_triggers(statement), "{statement}");
        }
    }
}
