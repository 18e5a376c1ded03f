//! Settings whose defaults, and those of the Supabase CLI's config.toml, are for a laptop. `doctor` names them.

use selvedge_config::Config;
use serde_json::Value;

/// A setting with a value that is for a laptop.
#[derive(Debug, PartialEq, Eq)]
pub struct LaptopValue {
    /// The dotted key.
    pub key: &'static str,
    /// What it is now.
    pub value: String,
    /// What a server has instead; `None` where only its people know.
    pub better: Option<String>,
}

impl LaptopValue {
    /// The variable that overrides the key.
    pub fn variable(&self) -> String {
        format!("SUPABASE_{}", self.key.replace('.', "_").to_ascii_uppercase())
    }
}

type IsLaptopValue = fn(&Value) -> bool;

fn is_local(value: &Value) -> bool {
    let address = value.as_str().unwrap_or_default();
    let local = ["http://127.0.0.1", "http://localhost"];
    local.iter().any(|local| address.starts_with(local))
}

/// Also where a variable says it, whose value is text.
fn is_number(value: &Value, number: i64) -> bool {
    let of_text = || value.as_str()?.parse().ok();
    value.as_i64().or_else(of_text) == Some(number)
}

fn is_false(value: &Value) -> bool {
    value == &Value::Bool(false) || value.as_str() == Some("false")
}

/// Lists settings that still have values for a laptop, and what a server has in their place. `url` is the public address of the server,
/// `None` where it is not known; `sends_mail` says whether a mail server is configured.
pub fn list_laptop_values(config: &Config, url: Option<&str>, sends_mail: bool) -> Vec<LaptopValue> {
    let find = |key: &str| {
        let mut settings = config.settings.iter();
        settings
            .find(|setting| setting.key == key)
            .map(|setting| &setting.value)
    };
    let rules: [(&'static str, IsLaptopValue, Option<&str>, bool); 4] = [
        ("auth.site_url", is_local, url, true),
        (
            "auth.rate_limit.email_sent",
            |value| is_number(value, 2),
            Some("100"),
            sends_mail,
        ),
        (
            "auth.minimum_password_length",
            |value| is_number(value, 6),
            Some("8"),
            true,
        ),
        (
            "auth.email.enable_confirmations",
            is_false,
            Some("true"),
            sends_mail,
        ),
    ];
    let mut found = Vec::new();
    for (key, is_of_laptop, better, counts) in rules {
        if let Some(value) = find(key).filter(|value| counts && is_of_laptop(value)) {
            found.push(LaptopValue {
                key,
                value: value.as_str().map_or_else(|| value.to_string(), str::to_owned),
                better: better.map(str::to_owned),
            });
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use selvedge_config::{Environment, Flags, Project};

    use super::*;

    #[test]
    fn prod_016_values_of_a_laptop_are_found_and_what_somebody_chose_is_not() {
        let folder = tempfile::tempdir().unwrap();
        let list = |text: &str, url, sends_mail| {
            std::fs::write(folder.path().join("config.toml"), text).unwrap();
            let project = Project::find(Some(folder.path()), folder.path()).unwrap();
            let loaded = Config::load_project(project, Environment::default(), &Flags::default()).unwrap();
            let found = list_laptop_values(&loaded.config, url, sends_mail);
            let pair = |found: &LaptopValue| (found.variable(), found.better.clone().unwrap_or_default());
            found.iter().map(pair).collect::<Vec<_>>()
        };

        let bare = list("", Some("https://a.example"), true);
        let own = "[auth]\nsite_url = \"https://b.example\"\nminimum_password_length = 12\n\
                   [auth.rate_limit]\nemail_sent = 30\n[auth.email]\nenable_confirmations = true\n";
        let chosen = list(own, Some("https://a.example"), true);
        let mute = list("", None, false);

        let expected = [
            ("SUPABASE_AUTH_SITE_URL", "https://a.example"),
            ("SUPABASE_AUTH_RATE_LIMIT_EMAIL_SENT", "100"),
            ("SUPABASE_AUTH_MINIMUM_PASSWORD_LENGTH", "8"),
            ("SUPABASE_AUTH_EMAIL_ENABLE_CONFIRMATIONS", "true"),
        ];
        assert_eq!(
            bare,
            expected.map(|(name, value)| (name.to_owned(), value.to_owned()))
        );
        assert!(chosen.is_empty(), "{chosen:?}");
        let names: Vec<&str> = mute.iter().map(|(name, _)| name.as_str()).collect();
        assert_eq!(
            names,
            ["SUPABASE_AUTH_SITE_URL", "SUPABASE_AUTH_MINIMUM_PASSWORD_LENGTH"]
        );
        assert_eq!(mute[0].1, "");
    }
}
