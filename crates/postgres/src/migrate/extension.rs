//! Parses `CREATE EXTENSION` and `DROP EXTENSION`, so that missing extensions are reported before a migration runs
//! (GW-019) and the statements run with the rights that Supabase gives to `postgres` (see
//! `sql/platform/0011_extensions.sql`). Pure.

use super::lexer::{Lexer, Token, TokenKind};

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

/// What to do about an extension that the server does not have.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Missing {
    /// Dumps of hosted projects create it whether or not it is used: it is skipped, with this warning.
    Ignorable(&'static str),
    /// The migration fails; the text says how to install the extension.
    Needed(&'static str),
}

/// Decides whether a missing extension is skipped or stops the migration.
pub(crate) fn decide_missing(name: &str) -> Missing {
    match name {
        "pg_graphql" => Missing::Ignorable("graphql_public.graphql() answers that it is not enabled"),
        "pgsodium" => Missing::Ignorable("its functions do not exist"),
        "http" => Missing::Ignorable("calls of http(), http_get() and http_post() will fail when they run"),
        "hypopg" | "index_advisor" => Missing::Ignorable("index advice is not available"),
        "pg_stat_monitor" | "plan_filter" | "safeupdate" => Missing::Ignorable("it only observes"),
        "vector" => {
            Missing::Needed("install pgvector for this PostgreSQL (Debian: postgresql-<version>-pgvector)")
        }
        "postgis" => {
            Missing::Needed("install PostGIS for this PostgreSQL (Debian: postgresql-<version>-postgis-3)")
        }
        "pgtap" => Missing::Needed("install pgTAP for this PostgreSQL (Debian: postgresql-<version>-pgtap)"),
        _ => Missing::Needed(
            "install it for this PostgreSQL, or use another one: --pg-bin DIR, or DATABASE_URL for a server of your own",
        ),
    }
}

impl ExtensionStatement {
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

    /// The call of the `_selvedge` function that does the same with more rights than `postgres` has.
    pub(crate) fn to_sql(&self) -> String {
        match self {
            Self::Create {
                name,
                if_not_exists,
                schema,
                version,
                cascade,
            } => format!(
                "select _selvedge.create_extension({}, {if_not_exists}, {}, {}, {cascade})",
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
                    "select _selvedge.drop_extension(name, {if_exists}, {cascade}) from unnest(array[{}]) as name",
                    names.join(", ")
                )
            }
        }
    }
}

/// `value` as a string literal. A simple query takes no parameters, so quotes are doubled here.
fn quote_literal(value: &str) -> String {
    format!("'{}'", value.replace('\'', "''"))
}

/// The tokens of a statement without white space and comments, read from the front.
struct StatementReader<'a> {
    sql: &'a str,
    tokens: std::vec::IntoIter<Token>,
}

impl<'a> StatementReader<'a> {
    fn new(sql: &'a str) -> Self {
        let mut lexer = Lexer::new(sql);
        let mut tokens = Vec::new();
        while let Some(Ok(token)) = lexer.next_token() {
            if !matches!(token.kind, TokenKind::Whitespace | TokenKind::Comment) {
                tokens.push(token);
            }
            // Statements about extensions are shorter than this; the limit avoids reading the long bodies of functions.
            if tokens.len() > 32 {
                break;
            }
        }
        Self {
            sql,
            tokens: tokens.into_iter(),
        }
    }

    fn text(&self, token: Token) -> &'a str {
        &self.sql[token.start..token.end]
    }

    fn take(&mut self, word: &str) -> bool {
        let found = self
            .tokens
            .as_slice()
            .first()
            .is_some_and(|token| self.text(*token).eq_ignore_ascii_case(word));
        if found {
            self.tokens.next();
        }
        found
    }

    fn expect(&mut self, word: &str) -> Option<()> {
        self.take(word).then_some(())
    }

    /// An identifier (unquoted ones in lower case, as in PostgreSQL) or the content of a string.
    fn name(&mut self) -> Option<String> {
        let token = self.tokens.next()?;
        let text = self.text(token);
        match token.kind {
            TokenKind::Word => Some(text.to_lowercase()),
            TokenKind::QuotedIdentifier if text.starts_with('"') => {
                Some(text[1..text.len() - 1].replace("\"\"", "\""))
            }
            TokenKind::String if text.starts_with('\'') => Some(text[1..text.len() - 1].replace("''", "'")),
            _ => None,
        }
    }

    fn at_end(&self) -> bool {
        self.tokens.as_slice().is_empty()
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
    fn gw_018_to_sql_doubles_quotes_in_extension_names() {
        let statement = ExtensionStatement::parse("create extension \"a'b\"").expect("is one");

        assert_eq!(
            statement.to_sql(),
            "select _selvedge.create_extension('a''b', false, current_schema()::text, null, false)"
        );
    }
}
