//! Changes user and password of the text by which a database is named, a URL or libpq's `key=value` form, and leaves the rest as it is.
//! A URL may name several hosts, which is no URL to others.

use std::fmt::Write as _;

/// The text with another user and password.
pub fn with_login(text: &str, user: &str, password: &str) -> String {
    match split_url(text) {
        Some(parts) => {
            let query: Vec<&str> = parts.query.split('&').filter(|pair| !is_login(pair)).collect();
            let query = query.join("&");
            let mark = if query.is_empty() { "" } else { "?" };
            format!(
                "{}://{}:{}@{}{}{mark}{query}",
                parts.scheme,
                encode(user),
                encode(password),
                parts.hosts,
                parts.path
            )
        }
        None => {
            let kept = split_pairs(text).into_iter().filter(|pair| !is_login(pair));
            let login = [
                format!("user={}", quote(user)),
                format!("password={}", quote(password)),
            ];
            kept.map(str::to_owned).chain(login).collect::<Vec<_>>().join(" ")
        }
    }
}

/// The text with `mask` in the place of its password; `None` when it is neither form or has none.
pub(crate) fn hide_password(text: &str, mask: &str) -> Option<String> {
    if let Some(parts) = split_url(text) {
        let user = parts.login.and_then(|login| Some(login.split_once(':')?.0));
        if user.is_none() && !parts.query.split('&').any(is_password) {
            return None;
        }
        let login = match (user, parts.login) {
            (Some(user), _) => format!("{user}:{mask}@"),
            (None, Some(login)) => format!("{login}@"),
            (None, None) => String::new(),
        };
        let query: Vec<String> = parts.query.split('&').map(|pair| mask_pair(pair, mask)).collect();
        let query = query.join("&");
        let mark = if query.is_empty() { "" } else { "?" };
        return Some(format!(
            "{}://{login}{}{}{mark}{query}",
            parts.scheme, parts.hosts, parts.path
        ));
    }
    let pairs = split_pairs(text);
    let is_form = !pairs.is_empty() && pairs.iter().all(|pair| pair.contains('='));
    (is_form && pairs.iter().any(|pair| is_password(pair))).then(|| {
        let masked: Vec<String> = pairs.iter().map(|pair| mask_pair(pair, mask)).collect();
        masked.join(" ")
    })
}

/// The parts of `postgresql://login@hosts/path?query`.
struct UrlParts<'a> {
    scheme: &'a str,
    login: Option<&'a str>,
    hosts: &'a str,
    /// With its slash; empty without one.
    path: &'a str,
    query: &'a str,
}

fn split_url(text: &str) -> Option<UrlParts<'_>> {
    let (scheme, rest) = text.split_once("://")?;
    if !matches!(scheme, "postgres" | "postgresql") {
        return None;
    }
    // As the driver reads it: what is before the first `@` is the login, which may have a slash.
    let (login, rest) = match rest.split_once('@') {
        Some((login, rest)) => (Some(login), rest),
        None => (None, rest),
    };
    let (address, query) = rest.split_once('?').unwrap_or((rest, ""));
    let path = address.find('/').unwrap_or(address.len());
    Some(UrlParts {
        scheme,
        login,
        hosts: &address[..path],
        path: &address[path..],
        query,
    })
}

/// Splits `host=a password='b c'` into its pairs, each as it is written.
fn split_pairs(text: &str) -> Vec<&str> {
    let mut pairs = Vec::new();
    let (mut start, mut is_quoted, mut is_escaped) = (None, false, false);
    for (index, char) in text.char_indices() {
        if char.is_whitespace() && !is_quoted && !is_escaped {
            pairs.extend(start.take().map(|start| &text[start..index]));
            continue;
        }
        start.get_or_insert(index);
        if char == '\'' && !is_escaped {
            is_quoted = !is_quoted;
        }
        is_escaped = char == '\\' && !is_escaped;
    }
    pairs.extend(start.map(|start| &text[start..]));
    pairs
}

/// Percent-encodes everything but letters, digits and `-._~`.
fn encode(text: &str) -> String {
    text.bytes().fold(String::new(), |mut encoded, byte| {
        if byte.is_ascii_alphanumeric() || b"-._~".contains(&byte) {
            encoded.push(char::from(byte));
        } else {
            write!(encoded, "%{byte:02X}").expect("a string takes any text");
        }
        encoded
    })
}

/// Quotes a value of the `key=value` form.
fn quote(text: &str) -> String {
    format!("'{}'", text.replace('\\', "\\\\").replace('\'', "\\'"))
}

fn is_login(pair: &&str) -> bool {
    is_password(pair) || pair.starts_with("user=")
}

fn is_password(pair: &str) -> bool {
    pair.starts_with("password=")
}

fn mask_pair(pair: &str, mask: &str) -> String {
    match is_password(pair) {
        true => format!("password={mask}"),
        false => pair.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn passwords_with_any_character_arrive() {
        for password in ["a'b\\ c", "a@b:c/d?e&f=g#h", "ü%20"] {
            for text in ["postgresql://root:x@db/app", "host=db user=root"] {
                let changed: tokio_postgres::Config = with_login(text, "web", password).parse().unwrap();
                assert_eq!(changed.get_password(), Some(password.as_bytes()));
                assert_eq!(changed.get_user(), Some("web"));
            }
        }
    }

    #[test]
    fn login_and_password_are_replaced_in_urls_with_several_hosts_and_in_pairs() {
        for (text, expected) in [
            (
                "postgresql://root:a%40b@db1:5432,db2:6432/app?sslmode=disable",
                "postgresql://web:new@db1:5432,db2:6432/app?sslmode=disable",
            ),
            ("postgres://db/app", "postgres://web:new@db/app"),
            (
                "postgresql://root:a/b@[::1]:5432",
                "postgresql://web:new@[::1]:5432",
            ),
            (
                "postgresql://db/app?user=root&password=x&sslmode=disable",
                "postgresql://web:new@db/app?sslmode=disable",
            ),
            (
                "host=db1,db2 user=root password='a \\' b' dbname='my app'",
                "host=db1,db2 dbname='my app' user='web' password='new'",
            ),
        ] {
            let changed = with_login(text, "web", "new");
            assert_eq!(changed, expected);
            changed.parse::<tokio_postgres::Config>().unwrap();
        }
    }

    #[test]
    fn passwords_are_hidden_in_every_form() {
        for (text, expected) in [
            (
                "postgresql://root:secret@db1:5432,db2:6432/app",
                Some("postgresql://root:•@db1:5432,db2:6432/app"),
            ),
            (
                "postgresql://root@db/app?password=secret",
                Some("postgresql://root@db/app?password=•"),
            ),
            (
                "host=db password='a secret' user=root",
                Some("host=db password=• user=root"),
            ),
            (
                "postgresql://db/app?password=secret",
                Some("postgresql://db/app?password=•"),
            ),
            ("postgresql://root@db/app", None),
            ("a text with password=", None),
            ("https://user:secret@host", None),
        ] {
            assert_eq!(hide_password(text, "•").as_deref(), expected, "{text}");
        }
    }
}
