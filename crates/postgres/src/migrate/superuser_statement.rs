//! Statements that PostgreSQL reserves for superusers and that `postgres` may run at Supabase, as calls of the functions of
//! `sql/platform/0023_superuser_statements.sql`. Pure.

use super::statement_reader::StatementReader;
use crate::identifier::quote_literal;

/// The statement that is run instead of the original.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Substitute {
    /// A statement to run before the call.
    pub(crate) before: Option<String>,
    /// SQL text of the function call that replaces the statement.
    pub(crate) call: String,
}

/// Returns the statement to send instead of one that PostgreSQL reserves for superusers: a call of a platform function that runs it,
/// as in migrations. `None` when the statement can be sent as written.
#[must_use]
pub fn substitute_superuser_statement(statement: &str, major_version: u32) -> Option<String> {
    find_substitute(statement, major_version).map(|substitute| substitute.to_statement())
}

/// The substitute of a statement; `None` when it is run as written.
pub(crate) fn find_substitute(statement: &str, major_version: u32) -> Option<Substitute> {
    let mut words = StatementReader::new(statement);
    if words.take("comment") {
        return pass_comment_by(words);
    }
    let creates = words.take("create");
    if !creates {
        words.expect("alter")?;
    }
    let call = if creates && words.take("event") {
        create_event_trigger(words)?
    } else if creates && words.take("publication") {
        create_publication(words)?
    } else if creates && words.take("foreign") {
        create_foreign_data_wrapper(words)?
    } else if !creates && words.take("publication") {
        alter_publication(words)?
    } else if !creates && words.take("extension") {
        set_extension_schema(words)?
    } else {
        return set_bypassrls(statement, major_version);
    };
    Some(Substitute { before: None, call })
}

/// `on extension plpgsql is '…'`: older dumps contain it, and the extension belongs to the superuser. Nothing is sent in its place.
fn pass_comment_by(mut words: StatementReader<'_>) -> Option<Substitute> {
    words.expect("on")?;
    words.expect("extension")?;
    (words.name()? == "plpgsql").then(|| Substitute {
        before: None,
        call: "null::text".to_owned(),
    })
}

/// `name set schema schema`
fn set_extension_schema(mut words: StatementReader<'_>) -> Option<String> {
    let name = words.name()?;
    words.expect("set")?;
    words.expect("schema")?;
    let schema = words.name()?;
    words.at_end().then(|| {
        format!(
            "_selvedge.set_extension_schema({}, {})",
            quote_literal(&name),
            quote_literal(&schema)
        )
    })
}

/// `trigger name on event [when tag in ('…', …) [and …]] execute {function | procedure} name()`
fn create_event_trigger(mut words: StatementReader<'_>) -> Option<String> {
    words.expect("trigger")?;
    let name = words.name()?;
    words.expect("on")?;
    let event = words.name()?;
    let mut tags = Vec::new();
    if words.take("when") {
        loop {
            words.expect("tag")?;
            words.expect("in")?;
            words.expect("(")?;
            loop {
                tags.push(quote_literal(&words.string()?));
                if !words.take(",") {
                    break;
                }
            }
            words.expect(")")?;
            if !words.take("and") {
                break;
            }
        }
    }
    words.expect("execute")?;
    if !words.take("function") {
        words.expect("procedure")?;
    }
    let function = words.qualified_name()?;
    words.expect("(")?;
    words.expect(")")?;
    words.at_end().then(|| {
        format!(
            "_selvedge.create_event_trigger({}, {}, array[{}]::text[], {}::regprocedure)",
            quote_literal(&name),
            quote_literal(&event),
            tags.join(", "),
            quote_literal(&format!("{function}()")),
        )
    })
}

/// `name for {all tables | tables in schema a, …} [with (option = value, …)]`
fn create_publication(mut words: StatementReader<'_>) -> Option<String> {
    let name = quote_literal(&words.name()?);
    words.expect("for")?;
    let schemas = if words.take("all") {
        words.expect("tables")?;
        None
    } else {
        Some(read_schemas(&mut words)?)
    };
    let options = read_options(&mut words)?;
    words.at_end().then(|| match schemas {
        None => format!("_selvedge.create_publication_for_all_tables({name}, array[{options}]::text[])"),
        Some(schemas) => format!(
            "_selvedge.create_publication_for_schemas({name}, array[{schemas}]::text[], array[{options}]::text[])"
        ),
    })
}

/// `name {add | set} tables in schema a, …`
fn alter_publication(mut words: StatementReader<'_>) -> Option<String> {
    let name = quote_literal(&words.name()?);
    let action = if words.take("add") {
        "add"
    } else {
        words.expect("set")?;
        "set"
    };
    let schemas = read_schemas(&mut words)?;
    words.at_end().then(|| {
        format!("_selvedge.alter_schemas_of_publication({name}, '{action}', array[{schemas}]::text[])")
    })
}

/// `tables in schema a, b` as literals. `current_schema` is none of the names: it depends on the session.
fn read_schemas(words: &mut StatementReader<'_>) -> Option<String> {
    for word in ["tables", "in", "schema"] {
        words.expect(word)?;
    }
    let mut schemas = Vec::new();
    loop {
        if words.take("current_schema") {
            return None;
        }
        schemas.push(quote_literal(&words.name()?));
        if !words.take(",") {
            return Some(schemas.join(", "));
        }
    }
}

/// `[with (option = value, …)]` as literals, each name before its value.
fn read_options(words: &mut StatementReader<'_>) -> Option<String> {
    let mut options = Vec::new();
    if words.take("with") {
        words.expect("(")?;
        loop {
            options.push(quote_literal(&words.name()?));
            let value = if words.take("=") {
                words.name()?
            } else {
                "true".to_owned()
            };
            options.push(quote_literal(&value));
            if !words.take(",") {
                break;
            }
        }
        words.expect(")")?;
    }
    Some(options.join(", "))
}

/// `data wrapper name [handler f | no handler] [validator f | no validator]`
fn create_foreign_data_wrapper(mut words: StatementReader<'_>) -> Option<String> {
    words.expect("data")?;
    words.expect("wrapper")?;
    let name = words.name()?;
    let (mut handler, mut validator) = ("null".to_owned(), "null".to_owned());
    while !words.at_end() {
        if words.take("handler") {
            handler = format!("{}::regproc", quote_literal(&words.qualified_name()?));
        } else if words.take("validator") {
            validator = format!("{}::regproc", quote_literal(&words.qualified_name()?));
        } else {
            words.expect("no")?;
            if !words.take("handler") {
                words.expect("validator")?;
            }
        }
    }
    Some(format!(
        "_selvedge.create_foreign_data_wrapper({}, {handler}, {validator})",
        quote_literal(&name)
    ))
}

/// `{create | alter} {role | user} name … [no]bypassrls …`. From PostgreSQL 16 on, `postgres` may do so itself.
fn set_bypassrls(statement: &str, major_version: u32) -> Option<Substitute> {
    if major_version >= 16 {
        return None;
    }
    let mut words = StatementReader::new(statement);
    let creates = words.take("create");
    if !creates {
        words.expect("alter")?;
    }
    if !words.take("role") {
        words.expect("user")?;
    }
    let name = words.name()?;
    let attribute = words.position_of(&["bypassrls", "nobypassrls"])?;
    let (start, end) = (attribute.start, attribute.end);
    let bypasses = statement[start..end].eq_ignore_ascii_case("bypassrls");
    let rest = format!("{}{}", &statement[..start], &statement[end..]);
    // `alter role r` without options is not a valid statement.
    let is_complete = creates || words.count() > 1;
    Some(Substitute {
        before: is_complete.then(|| rest.trim_end().to_owned()),
        call: format!("_selvedge.set_bypassrls({}, {bypasses})", quote_literal(&name)),
    })
}

impl Substitute {
    /// The substitute as SQL for a place outside of a function.
    pub(crate) fn to_statement(&self) -> String {
        match &self.before {
            None => format!("select {}", self.call),
            // One statement in the place of one, because completions are counted to find the one that failed.
            Some(before) => format!(
                "do {}",
                quote_literal(&format!(
                    "begin execute {}; perform {}; end",
                    quote_literal(before),
                    self.call
                ))
            ),
        }
    }

    /// The substitute as statements of plpgsql, without the final semicolon.
    pub(crate) fn to_plpgsql(&self) -> String {
        match &self.before {
            None => format!("perform {}", self.call),
            Some(before) => format!("{before}; perform {}", self.call),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn call(statement: &str) -> Option<String> {
        find_substitute(statement, 15).map(|substitute| substitute.to_statement())
    }

    #[test]
    fn gw_018_statements_of_superusers_become_calls() {
        let cases = [
            (
                "CREATE EVENT TRIGGER ensure_rls ON ddl_command_end WHEN TAG IN ('CREATE TABLE', 'SELECT INTO')\n\
                 EXECUTE FUNCTION public.\"Auto\"()",
                "select _selvedge.create_event_trigger('ensure_rls', 'ddl_command_end', \
                 array['CREATE TABLE', 'SELECT INTO']::text[], '\"public\".\"Auto\"()'::regprocedure)",
            ),
            (
                "create event trigger t on sql_drop execute procedure f()",
                "select _selvedge.create_event_trigger('t', 'sql_drop', array[]::text[], '\"f\"()'::regprocedure)",
            ),
            (
                "create publication p for all tables with (publish = 'insert, update', publish_via_partition_root)",
                "select _selvedge.create_publication_for_all_tables('p', \
                 array['publish', 'insert, update', 'publish_via_partition_root', 'true']::text[])",
            ),
            (
                "create publication p for tables in schema public, \"More\" with (publish = insert)",
                "select _selvedge.create_publication_for_schemas('p', array['public', 'More']::text[], \
                 array['publish', 'insert']::text[])",
            ),
            (
                "alter publication p add tables in schema more",
                "select _selvedge.alter_schemas_of_publication('p', 'add', array['more']::text[])",
            ),
            (
                "create foreign data wrapper w handler extensions.h validator v",
                "select _selvedge.create_foreign_data_wrapper('w', '\"extensions\".\"h\"'::regproc, '\"v\"'::regproc)",
            ),
            (
                "alter extension \"uuid-ossp\" set schema extensions",
                "select _selvedge.set_extension_schema('uuid-ossp', 'extensions')",
            ),
            (
                "COMMENT ON EXTENSION plpgsql IS 'PL/pgSQL procedural language'",
                "select null::text",
            ),
            (
                "alter role r bypassrls",
                "select _selvedge.set_bypassrls('r', true)",
            ),
            (
                "create role r nologin bypassrls",
                "do 'begin execute ''create role r nologin''; perform _selvedge.set_bypassrls(''r'', true); end'",
            ),
        ];

        for (statement, expected) in cases {
            assert_eq!(call(statement).as_deref(), Some(expected), "{statement}");
        }
    }

    #[test]
    fn gw_018_other_statements_are_left_alone() {
        for statement in [
            "create table event (id int)",
            "create publication p for table a, b",
            "create publication p for tables in schema current_schema",
            "alter publication p add table a",
            "alter publication p drop tables in schema a",
            "create role r login",
            "alter role r set search_path = public",
            "select 'create event trigger x'",
            "create foreign table t () server s",
            "alter extension x update",
            "comment on extension pgcrypto is 'x'",
            "comment on table plpgsql is 'x'",
        ] {
            assert_eq!(call(statement), None, "{statement}");
        }
        assert_eq!(find_substitute("create role r bypassrls", 16), None);
    }
}
