//! Compares the functions of the platform's own schemas with the texts that this program ships.
//!
//! Functions of these schemas run as a superuser, or are called by functions that do. Who can change one is a superuser already; the
//! comparison shows what somebody has left who was one for a while, and what a restored dump or a repair by hand has replaced.

use tokio_postgres::{Client, Error};

use super::platform::{is_of_this_version, platform_texts};
use crate::SHIPPED;

/// Functions in languages whose text is in the catalog. Those of event triggers are written for each project, and a rule of
/// `privileges.sql` is about them. The vault may be the original one, which is a library with functions of its own.
const FUNCTIONS: &str = "
    select p.oid::pg_catalog.regprocedure::pg_catalog.text, n.nspname::pg_catalog.text, p.proname::pg_catalog.text, p.prosrc
    from pg_catalog.pg_proc as p
    join pg_catalog.pg_namespace as n on n.oid operator(pg_catalog.=) p.pronamespace
    join pg_catalog.pg_language as l on l.oid operator(pg_catalog.=) p.prolang
    where (n.nspname operator(pg_catalog.=) '_selvedge'::pg_catalog.name
        or n.nspname operator(pg_catalog.=) 'selvedge_console'::pg_catalog.name
        or n.nspname operator(pg_catalog.=) 'vault'::pg_catalog.name)
      and (l.lanname operator(pg_catalog.=) 'sql'::pg_catalog.name or l.lanname operator(pg_catalog.=) 'plpgsql'::pg_catalog.name)
      and p.proname operator(pg_catalog.!~) '^event_trigger_[0-9]+(_body)?$'::pg_catalog.text
      and not (n.nspname operator(pg_catalog.=) 'vault'::pg_catalog.name and exists (
        select from pg_catalog.pg_proc as v
        where v.pronamespace operator(pg_catalog.=) n.oid and v.probin operator(pg_catalog.~) 'vault'::pg_catalog.text
      ))
    order by 1";

/// Lists the functions that are not as they were shipped, each with the difference. None is compared in a database that another version of this program has made,
/// which has other texts.
///
/// # Errors
/// When a query fails.
pub(super) async fn list_changed_functions(client: &Client) -> Result<Vec<String>, Error> {
    if !is_of_this_version(client).await? {
        return Ok(Vec::new());
    }
    let texts: Vec<&str> = platform_texts()
        .chain(SHIPPED.iter().map(|extension| extension.script))
        .collect();
    let mut changed = Vec::new();
    for row in client.query(FUNCTIONS, &[]).await? {
        let (signature, schema, name): (String, &str, &str) = (row.get(0), row.get(1), row.get(2));
        if let Some(difference) = find_difference(&texts, &format!("{schema}.{name}("), row.get(3)) {
            changed.push(format!("{signature} {difference}"));
        }
    }
    Ok(changed)
}

/// How a function differs from those in `texts`. The body of one that is bound to what it calls is not in `pg_proc` as a text; a rule of
/// `privileges.sql` says what it may use.
fn find_difference(texts: &[&str], name: &str, body: &str) -> Option<&'static str> {
    let mut mentioning = texts.iter().filter(|text| text.contains(name)).peekable();
    if mentioning.peek().is_none() {
        return Some("is none of them");
    }
    let has_body = |text: &&str| text.contains(&format!("${body}$"));
    (!body.is_empty() && !mentioning.any(has_body)).then_some("has another text")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_function_is_one_that_was_shipped_if_a_text_has_its_name_and_its_whole_body() {
        let texts = [
            "create function vault.f(a int) returns int as $$\nbegin\n  return 1;\nend\n$$;",
            "create function _selvedge.g() returns int begin atomic select 1; end;",
        ];
        let find = |name: &str, body: &str| find_difference(&texts, name, body);

        assert_eq!(find("vault.f(", "\nbegin\n  return 1;\nend\n"), None);
        assert_eq!(find("_selvedge.g(", ""), None);
        assert_eq!(
            find("vault.f(", "\nbegin\n  return 2;\nend\n"),
            Some("has another text")
        );
        // A part of a body is not the function.
        assert_eq!(find("vault.f(", "\n  return 1;\n"), Some("has another text"));
        assert_eq!(
            find("vault.h(", "\nbegin\n  return 1;\nend\n"),
            Some("is none of them")
        );
    }
}
