//! PostgREST's configuration files: lines of `name = value`, with `#` comments.
//!
//! A value is a text in quotes, a number or a bare word. In a text `$(NAME)` is replaced by that environment variable, and
//! `$$` is a dollar sign.

use std::path::Path;

use super::NamedSetting;
use crate::environment::Environment;

/// Reads a file.
///
/// # Errors
/// A file that cannot be read, or a line of another form, with its number and without its content.
pub fn read_settings_file(path: &Path, environment: &Environment) -> Result<Vec<NamedSetting>, String> {
    let text = std::fs::read_to_string(path).map_err(|error| format!("{}: {error}", path.display()))?;
    parse(&text, &path.display().to_string(), environment)
}

fn parse(text: &str, label: &str, environment: &Environment) -> Result<Vec<NamedSetting>, String> {
    let mut settings = Vec::new();
    for (index, line) in text.lines().enumerate() {
        let line = line.trim();
        if line.is_empty() || line.starts_with('#') {
            continue;
        }
        // Messages name the place and never repeat the line, which may contain a password.
        let place = format!("{label}:{}", index + 1);
        let refused = |reason: &str| format!("{place}: {reason}");
        let (name, value) = line
            .split_once('=')
            .ok_or_else(|| refused("is not of the form name = value"))?;
        let name = name.trim().trim_matches('"').to_owned();
        let value = read_value(value.trim(), environment).map_err(|reason| refused(&reason))?;
        settings.push(NamedSetting {
            shown: format!("{place}: {name}"),
            name,
            value: value.into(),
        });
    }
    Ok(settings)
}

fn read_value(text: &str, environment: &Environment) -> Result<String, String> {
    let Some(quoted) = text.strip_prefix('"') else {
        // Numbers, booleans and bare words; a `#` begins a comment.
        let word = text.split('#').next().unwrap_or_default().trim();
        return if word.is_empty() {
            Err("has no value".to_owned())
        } else {
            Ok(word.to_owned())
        };
    };
    let mut value = String::new();
    let mut chars = quoted.chars();
    loop {
        match chars.next() {
            None => return Err("a quote is not closed".to_owned()),
            Some('"') => break,
            Some('\\') => match chars.next() {
                Some('n') => value.push('\n'),
                Some('t') => value.push('\t'),
                Some('r') => value.push('\r'),
                Some(escaped) => value.push(escaped),
                None => return Err("a quote is not closed".to_owned()),
            },
            // In quoted values `$$` is a dollar sign and `$(NAME)` the value of a variable.
            Some('$') if chars.as_str().starts_with('$') => {
                chars.next();
                value.push('$');
            }
            Some('$') if chars.as_str().starts_with('(') => {
                let rest = chars.as_str();
                let end = rest.find(')').ok_or("$( is not closed")?;
                let name = &rest[1..end];
                value.push_str(
                    environment
                        .get(name)
                        .ok_or_else(|| format!("the variable {name} is not set"))?,
                );
                chars = rest[end + 1..].chars();
            }
            Some(c) => value.push(c),
        }
    }
    let rest = chars.as_str().trim();
    if rest.is_empty() || rest.starts_with('#') {
        Ok(value)
    } else {
        Err("something follows the closing quote".to_owned())
    }
}

#[cfg(test)]
mod tests {
    use secrecy::ExposeSecret;

    use super::*;

    fn parsed(text: &str) -> Result<Vec<(String, String)>, String> {
        let environment: Environment = [("HOST", "db.example.com")].into_iter().collect();
        let settings = parse(text, "f", &environment)?;
        Ok(settings
            .into_iter()
            .map(|setting| (setting.name, setting.value.expose_secret().to_owned()))
            .collect())
    }

    #[test]
    fn rest_095_files_of_the_reference_are_read() {
        let found = parsed(
            "# comment\n\ndb-uri = \"postgres://u:p\\\"@$(HOST)/x\" # the database\ndb-max-rows = 1000\n\
             db-plan-enabled=true\njwt-role-claim-key = \"$$.app.role\"\napp.settings.dollars = \"$$(HOST) $\"\napp.settings.key = \"a = b # c\"\n",
        );

        let expected = [
            ("db-uri", "postgres://u:p\"@db.example.com/x"),
            ("db-max-rows", "1000"),
            ("db-plan-enabled", "true"),
            ("jwt-role-claim-key", "$.app.role"),
            ("app.settings.dollars", "$(HOST) $"),
            ("app.settings.key", "a = b # c"),
        ];
        assert_eq!(
            found.unwrap(),
            expected.map(|(name, value)| (name.to_owned(), value.to_owned()))
        );
    }

    #[test]
    fn rest_095_an_invalid_line_is_named_without_quoting_it() {
        for (text, line) in [
            ("db-schemas\n", "f:1"),
            ("\njwt-secret = \"hunter2\n", "f:2"),
            ("jwt-secret = \"hunter2\" x\n", "f:1"),
            ("db-uri = \"$(UNSET)hunter2\"\n", "f:1"),
            ("db-uri =\n", "f:1"),
        ] {
            let message = parsed(text).unwrap_err();
            assert!(
                message.contains(line) && !message.contains("hunter2"),
                "{message}"
            );
        }
    }
}
