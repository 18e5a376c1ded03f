//! Compares the functions of the platform's own schemas with the texts that this program ships.
//!
//! Functions of these schemas run as a superuser, or are called by functions that do. Who can change one is a superuser already; the
//! comparison shows what somebody has left who was one for a while, and what a restored dump or a repair by hand has replaced.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::LazyLock;

use regex::Regex;
use tokio_postgres::{Client, Error};

use super::platform::{is_of_this_version, platform_texts};
use crate::SHIPPED;

/// Functions in languages whose text is in the catalog. Those of event triggers are written for each project, and a rule of
/// `privileges.sql` is about them. The vault may be the original one, which is a library with functions of its own.
const FUNCTIONS: &str = "
    select p.oid::pg_catalog.regprocedure::pg_catalog.text, n.nspname::pg_catalog.text, p.proname::pg_catalog.text, p.prosrc,
      l.lanname::pg_catalog.text, p.prosecdef, p.proconfig, array(
        select p.proargnames[a.number]
        from pg_catalog.generate_subscripts(p.proargnames, 1) as a (number)
        where p.proargmodes is null or p.proargmodes[a.number] operator(pg_catalog.=) any (array['i', 'b', 'v']::pg_catalog.\"char\"[])
        order by a.number
      )
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
    let texts = platform_texts().chain(SHIPPED.iter().map(|extension| extension.script));
    let definitions = Definitions::of_texts(texts);
    let mut changed = Vec::new();
    for row in client.query(FUNCTIONS, &[]).await? {
        let (signature, schema, name): (String, &str, &str) = (row.get(0), row.get(1), row.get(2));
        let settings: Option<Vec<&str>> = row.get(6);
        let installed = Definition {
            arguments: row.get(7),
            language: row.get(4),
            is_definer: row.get(5),
            settings: settings
                .unwrap_or_default()
                .into_iter()
                .map(bare_setting)
                .collect(),
            body: row.get(3),
        };
        if let Some(difference) = definitions.find_difference(&format!("{schema}.{name}"), &installed) {
            changed.push(format!("{signature} {difference}"));
        }
    }
    Ok(changed)
}

/// What a text says of a function, or the catalog.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Definition {
    /// Names of the arguments that callers give.
    arguments: Vec<String>,
    language: String,
    is_definer: bool,
    /// `name=value`, without quotes and spaces.
    settings: BTreeSet<String>,
    /// Empty where the function is bound to what it calls: a rule of `privileges.sql` says what that may be.
    body: String,
}

/// The functions that are there after all texts have run, by their names with the schema: a later definition replaces an earlier one.
#[derive(Debug, Default)]
struct Definitions(BTreeMap<String, Vec<Definition>>);

fn pattern(text: &str) -> Regex {
    Regex::new(text).expect("the pattern is written here")
}

static STATEMENT: LazyLock<Regex> = LazyLock::new(|| {
    pattern(
        r"(?m)^\s*(create(?: or replace)?|alter|drop) function (?:if exists )?([a-z_]+)\.([a-z0-9_]+)\s*\(",
    )
});
static BODY: LazyLock<Regex> =
    LazyLock::new(|| pattern(r"\bas\s+(\$[a-z_]*\$)|\bbegin\s+atomic\b|\breturn\s|;"));
static COMMENT: LazyLock<Regex> = LazyLock::new(|| pattern(r"--[^\n]*"));
static LANGUAGE: LazyLock<Regex> = LazyLock::new(|| pattern(r"\blanguage\s+(\w+)"));
static SETTING: LazyLock<Regex> = LazyLock::new(|| {
    pattern(r"\bset\s+([a-z_.]+)\s*(?:=|to\b)\s*((?:'[^']*'|[\w$]+)(?:\s*,\s*(?:'[^']*'|[\w$]+))*)")
});
static NEW_NAME: LazyLock<Regex> = LazyLock::new(|| pattern(r"\brename\s+to\s+([a-z0-9_]+)"));

impl Definitions {
    /// Reads texts in the order in which they run.
    fn of_texts<'a>(texts: impl Iterator<Item = &'a str>) -> Self {
        let mut definitions = Self::default();
        for text in texts {
            for found in STATEMENT.captures_iter(text) {
                let (Some(whole), [verb, schema, name]) = (found.get(0), found.extract().1) else {
                    continue;
                };
                let Some(rest) = text.get(whole.end()..) else {
                    continue;
                };
                definitions.apply(verb, schema, name, rest);
            }
        }
        definitions
    }

    /// Applies a statement whose text goes on with the arguments.
    fn apply(&mut self, verb: &str, schema: &str, name: &str, rest: &str) {
        let (arguments, rest) = split_arguments(rest);
        let name = format!("{schema}.{name}");
        let known = self.0.entry(name.clone()).or_default();
        match verb {
            // These two name the types of the arguments.
            "drop" => known.retain(|definition| definition.arguments.len() != arguments.len()),
            "alter" => {
                let options = rest.split(';').next().unwrap_or_default();
                if let Some(found) = NEW_NAME.captures(options) {
                    let renamed = self.0.remove(&name).unwrap_or_default();
                    self.0.insert(format!("{schema}.{}", &found[1]), renamed);
                    return;
                }
                for definition in known {
                    if definition.arguments.len() == arguments.len() {
                        definition.settings.extend(settings_in(options));
                    }
                }
            }
            _ => {
                let definition = read_definition(arguments, rest);
                known.retain(|earlier| earlier.arguments != definition.arguments);
                known.push(definition);
            }
        }
    }

    /// How a function differs from what the texts define.
    fn find_difference(&self, name: &str, installed: &Definition) -> Option<&'static str> {
        let known = self.0.get(name).map(Vec::as_slice).unwrap_or_default();
        let mut same = known
            .iter()
            .filter(|definition| definition.arguments == installed.arguments);
        let Some(shipped) = same.next() else {
            return Some("is none of them");
        };
        if shipped.body != installed.body {
            return Some("has another text");
        }
        (shipped != installed).then_some("has another language, other settings or other rights")
    }
}

/// Reads what stands behind the arguments of `create function`.
fn read_definition(arguments: Vec<String>, rest: &str) -> Definition {
    let (mut options, mut body) = (rest.to_owned(), String::new());
    if let Some(found) = BODY.captures(rest) {
        let start = found.get(0).map_or(0, |begin| begin.start());
        let end = found.get(0).map_or(0, |begin| begin.end());
        options = rest.get(..start).unwrap_or_default().to_owned();
        if let Some(tag) = found.get(1)
            && let Some((text, behind)) = rest.get(end..).and_then(|text| text.split_once(tag.as_str()))
        {
            text.clone_into(&mut body);
            // Options may also stand behind the body.
            options += " ";
            options += behind.split(';').next().unwrap_or_default();
        }
    }
    let options = COMMENT.replace_all(&options, "");
    Definition {
        arguments,
        language: LANGUAGE
            .captures(&options)
            .map_or_else(|| "sql".to_owned(), |found| found[1].to_owned()),
        is_definer: options.contains("security definer"),
        settings: settings_in(&options).collect(),
        body,
    }
}

fn settings_in(options: &str) -> impl Iterator<Item = String> {
    SETTING
        .captures_iter(options)
        .map(|found| bare_setting(&format!("{}={}", &found[1], &found[2])))
}

/// PostgreSQL stores some values in quotes. A file gives functions with an empty path that of all others, by a list of their names; which of the
/// two a superuser's function may have is a rule of `privileges.sql`.
fn bare_setting(setting: &str) -> String {
    let bare: String = setting
        .chars()
        .filter(|letter| !letter.is_whitespace() && !matches!(letter, '\'' | '"'))
        .collect();
    match bare.as_str() {
        "search_path=" => "search_path=pg_catalog,pg_temp".to_owned(),
        _ => bare,
    }
}

/// The names of the arguments that callers give, and the text behind the parenthesis that closes them.
fn split_arguments(text: &str) -> (Vec<String>, &str) {
    let (mut depth, mut is_quoted, mut end) = (0_usize, false, text.len());
    let mut starts = vec![0];
    for (place, letter) in text.char_indices() {
        match letter {
            '\'' => is_quoted = !is_quoted,
            _ if is_quoted => {}
            '(' | '[' => depth += 1,
            ')' if depth == 0 => {
                end = place;
                break;
            }
            ')' | ']' => depth = depth.saturating_sub(1),
            ',' if depth == 0 => starts.push(place + 1),
            _ => {}
        }
    }
    let ends = starts.iter().skip(1).map(|start| start - 1).chain([end]);
    let arguments = starts
        .iter()
        .zip(ends)
        .filter_map(|(start, end)| name_argument(text.get(*start..end)?))
        .collect();
    (arguments, text.get(end + 1..).unwrap_or_default())
}

/// The name of an argument; none of one that callers do not give, or where there is none.
fn name_argument(argument: &str) -> Option<String> {
    let argument = COMMENT.replace_all(argument, "");
    let mut words = argument.split_whitespace();
    let first = words.next()?;
    match first {
        "out" => None,
        "in" | "inout" | "variadic" => words.next().map(str::to_owned),
        _ => Some(first.to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const FIRST: &str = "create function vault.f(a int, out b text) returns int language plpgsql
          set search_path = pg_catalog, pg_temp
        as $$\nbegin\n  return 1;\nend\n$$;
        create function _selvedge.g() returns int language sql begin atomic select 1; end;
        create function _selvedge.old(x text default '(,') returns int as $$ select 1 $$ language sql;";

    fn installed(arguments: &[&str], language: &str, settings: &[&str], body: &str) -> Definition {
        let owned = |texts: &[&str]| texts.iter().map(|text| (*text).to_owned()).collect::<Vec<_>>();
        Definition {
            arguments: owned(arguments),
            language: language.to_owned(),
            is_definer: false,
            settings: owned(settings).into_iter().collect(),
            body: body.to_owned(),
        }
    }

    #[test]
    fn a_function_is_one_that_was_shipped_if_text_language_settings_and_rights_are_the_same() {
        let definitions = Definitions::of_texts([FIRST].into_iter());
        let find = |name: &str, definition: Definition| definitions.find_difference(name, &definition);
        let path = "search_path=pg_catalog,pg_temp";
        let body = "\nbegin\n  return 1;\nend\n";
        let shipped = installed(&["a"], "plpgsql", &[path], body);

        assert_eq!(find("vault.f", shipped.clone()), None);
        assert_eq!(find("_selvedge.g", installed(&[], "sql", &[], "")), None);
        assert_eq!(
            find("_selvedge.old", installed(&["x"], "sql", &[], " select 1 ")),
            None
        );
        let other = installed(&["a"], "plpgsql", &[path], "\nbegin\n  return 2;\nend\n");
        assert_eq!(find("vault.f", other), Some("has another text"));
        let with_rights = Definition {
            is_definer: true,
            ..shipped.clone()
        };
        let differs = Some("has another language, other settings or other rights");
        assert_eq!(find("vault.f", with_rights), differs);
        assert_eq!(find("vault.f", installed(&["a"], "plpgsql", &[], body)), differs);
        assert_eq!(find("vault.f", installed(&["a"], "sql", &[path], body)), differs);
        let overload = installed(&["a", "c"], "plpgsql", &[path], body);
        assert_eq!(find("vault.f", overload), Some("is none of them"));
        assert_eq!(find("vault.h", shipped), Some("is none of them"));
    }

    #[test]
    fn the_last_text_of_a_function_counts() {
        let second = "create or replace function vault.f(a int) returns int language plpgsql as $body$ begin return 2; end $body$;
            alter function _selvedge.g() rename to h;
            alter function _selvedge.h() set lc_messages = 'C';
            drop function _selvedge.old(text);";
        let definitions = Definitions::of_texts([FIRST, second].into_iter());
        let find = |name: &str, definition: Definition| definitions.find_difference(name, &definition);

        let earlier = installed(
            &["a"],
            "plpgsql",
            &["search_path=pg_catalog,pg_temp"],
            "\nbegin\n  return 1;\nend\n",
        );
        assert_eq!(find("vault.f", earlier), Some("has another text"));
        assert_eq!(
            find(
                "vault.f",
                installed(&["a"], "plpgsql", &[], " begin return 2; end ")
            ),
            None
        );
        let bound = |settings: &[&str]| installed(&[], "sql", settings, "");
        assert_eq!(find("_selvedge.h", bound(&["lc_messages=C"])), None);
        assert_eq!(find("_selvedge.g", bound(&[])), Some("is none of them"));
        let dropped = installed(&["x"], "sql", &[], " select 1 ");
        assert_eq!(find("_selvedge.old", dropped), Some("is none of them"));
    }
}
