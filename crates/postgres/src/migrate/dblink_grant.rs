//! `GRANT` and `REVOKE` on functions of dblink that take a connection. At Supabase its type is text, here it is a domain of text
//! (`sql/platform/0210_connection_options.sql`). Pure.

use super::statement_reader::StatementReader;
use crate::identifier::quote_identifier;

const STATEMENT: &str = "dblink_statement";
const CONNECTION: &str = "dblink_connection";

/// The statement with the domain in the place of `text`; `None` for any other one, and for one about several functions.
pub(super) fn name_domain(statement: &str) -> Option<String> {
    let mut words = StatementReader::new(statement);
    if !words.take("grant") && !words.take("revoke") {
        return None;
    }
    while !words.take("on") {
        words.name()?;
        words.take(",");
    }
    if !words.take("function") && !words.take("routine") {
        return None;
    }
    let (mut schema, mut name) = (None, words.name()?);
    if words.take(".") {
        schema = Some(std::mem::replace(&mut name, words.name()?));
    }
    words.expect("(")?;
    let mut types = Vec::new();
    loop {
        let place = words.peek()?;
        types.push((place, words.name()?));
        if !words.take(",") {
            break;
        }
    }
    words.expect(")")?;
    // A statement about several functions is left as it is.
    if words.take(",") {
        return None;
    }
    let names: Vec<&str> = types.iter().map(|(_, name)| name.as_str()).collect();
    let (index, domain) = match (name.as_str(), names.as_slice()) {
        ("dblink" | "dblink_exec", ["text", "text"] | ["text", "text", "boolean" | "bool"])
        | ("dblink_connect" | "dblink_connect_u", ["text"]) => (0, CONNECTION),
        ("dblink" | "dblink_exec", ["text", "boolean" | "bool"]) => (0, STATEMENT),
        ("dblink_connect" | "dblink_connect_u", ["text", "text"]) => (1, CONNECTION),
        _ => return None,
    };
    let schema = schema.map_or_else(String::new, |schema| format!("{}.", quote_identifier(&schema)));
    let place = types[index].0;
    Some(format!(
        "{}{schema}{domain}{}",
        &statement[..place.start],
        &statement[place.end..]
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn gw_018_grants_on_functions_of_dblink_name_the_domain() {
        for (given, expected) in [
            (
                "GRANT ALL ON FUNCTION \"public\".\"dblink\"(\"text\", \"text\") TO \"anon\"",
                "GRANT ALL ON FUNCTION \"public\".\"dblink\"(\"public\".dblink_connection, \"text\") TO \"anon\"",
            ),
            (
                "revoke execute on function dblink_exec(text, text, boolean) from public",
                "revoke execute on function dblink_exec(dblink_connection, text, boolean) from public",
            ),
            (
                "-- why\nrevoke all on function extensions.dblink(text, bool) from anon, authenticated",
                "-- why\nrevoke all on function extensions.dblink(\"extensions\".dblink_statement, bool) from anon, authenticated",
            ),
            (
                "grant execute on routine extensions.dblink_connect(text, text) to anon",
                "grant execute on routine extensions.dblink_connect(text, \"extensions\".dblink_connection) to anon",
            ),
        ] {
            assert_eq!(name_domain(given).as_deref(), Some(expected), "{given}");
        }
        for other in [
            "grant execute on function extensions.dblink(text) to anon",
            "grant select on public.dblink to anon",
            "grant execute on function f(text, text) to anon",
            "grant anon to postgres",
            "revoke all on function dblink(text, text), dblink_connect(text) from public",
            "select 1",
        ] {
            assert_eq!(name_domain(other), None, "{other}");
        }
    }
}
