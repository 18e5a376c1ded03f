//! Tracks those settings of a session whose changes the server reports (`ParameterStatus`).
//!
//! A function of the project may change settings of the session permanently (`set_config(…, false)`, `SET`), and the session
//! then serves other requests: their dates would be written in another style, or their writes refused.

use super::server_message::split_text;

/// The reported settings that a session keeps. Not `is_superuser` and `in_hot_standby`, which the server changes.
const REPORTED: [&str; 9] = [
    "application_name",
    "client_encoding",
    "DateStyle",
    "default_transaction_read_only",
    "IntervalStyle",
    "search_path",
    "session_authorization",
    "standard_conforming_strings",
    "TimeZone",
];

/// The values at login, or those that every session is given then, and which of them are different now.
#[derive(Debug)]
pub(crate) struct SessionSettings {
    at_login: [Option<String>; REPORTED.len()],
    differs: [bool; REPORTED.len()],
}

impl SessionSettings {
    /// Takes the values that the server reported at login.
    pub(super) fn at_login<'s>(find: impl Fn(&str) -> Option<&'s str>) -> Self {
        Self {
            at_login: REPORTED.map(|name| find(name).map(str::to_owned)),
            differs: [false; REPORTED.len()],
        }
    }

    /// Takes a value that the session is given right after its login, whatever the login has.
    pub(crate) fn expect(&mut self, name: &str, value: &str) {
        let mut found = REPORTED.iter().zip(&mut self.at_login).zip(&mut self.differs);
        if let Some(((_, expected), differs)) = found.find(|((known, _), _)| **known == name)
            && let Some(at_login) = expected
        {
            // Until the session has it.
            *differs = at_login != value;
            value.clone_into(at_login);
        }
    }

    /// Names and values at login of the settings that affect the text format of dates, intervals and times.
    pub(crate) fn format_settings(&self) -> Vec<(String, String)> {
        REPORTED
            .iter()
            .zip(&self.at_login)
            .filter(|(name, _)| ["DateStyle", "IntervalStyle", "TimeZone"].contains(name))
            .filter_map(|(name, value)| Some(((*name).to_owned(), value.clone()?)))
            .collect()
    }

    /// Takes the body of a `ParameterStatus`: a name and a value.
    pub(super) fn note_report(&mut self, body: &[u8]) {
        let Some((name, rest)) = split_text(body) else {
            return;
        };
        let Some((value, _)) = split_text(rest) else {
            return;
        };
        let Some(index) = REPORTED.iter().position(|known| *known == name) else {
            return;
        };
        // A setting that this server does not report at login has no value to compare with.
        if let Some(at_login) = &self.at_login[index] {
            self.differs[index] = *at_login != value;
        }
    }

    /// Whether a setting has another value than at login.
    pub(super) fn have_changed(&self) -> bool {
        self.differs.contains(&true)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn settings() -> SessionSettings {
        SessionSettings::at_login(|name| (name == "DateStyle").then_some("ISO, MDY"))
    }

    #[test]
    fn a_reported_setting_counts_as_changed_until_it_is_restored() {
        let mut settings = settings();
        assert!(!settings.have_changed());

        settings.note_report(b"DateStyle\0German, DMY\0");
        assert!(settings.have_changed());
        settings.note_report(b"DateStyle\0ISO, MDY\0");

        assert!(!settings.have_changed());
    }

    #[test]
    fn a_setting_that_every_session_is_given_counts_as_changed_where_it_has_another_value() {
        let login = |name: &str| {
            ["DateStyle", "default_transaction_read_only"]
                .contains(&name)
                .then_some("on")
        };
        let mut settings = SessionSettings::at_login(login);

        settings.expect("default_transaction_read_only", "off");
        settings.expect("TimeZone", "UTC");
        assert!(settings.have_changed());
        settings.note_report(b"default_transaction_read_only\0off\0");

        assert!(!settings.have_changed());
        settings.note_report(b"default_transaction_read_only\0on\0");
        assert!(settings.have_changed());
    }

    #[test]
    fn other_reports_change_nothing() {
        let mut settings = settings();

        for body in [
            &b"is_superuser\0on\0"[..],
            b"TimeZone\0UTC\0",
            b"DateStyle",
            b"DateStyle\0x",
            b"",
        ] {
            settings.note_report(body);
        }

        assert!(!settings.have_changed());
    }
}
