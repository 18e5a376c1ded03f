//! Text messages to phones, which the inbox shows among the mails.

/// How a text message reaches the phone.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TextChannel {
    /// An SMS.
    Sms,
    /// A message in WhatsApp.
    Whatsapp,
}

impl TextChannel {
    /// The name that the page shows, and the tag in the API.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Sms => "SMS",
            Self::Whatsapp => "WhatsApp",
        }
    }
}

/// A text message to be sent to a phone.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TextMessage {
    /// The sender as the phone would show it: a number or a name.
    pub from: String,
    /// Phone number of the recipient, with `+`.
    pub to: String,
    /// The whole text.
    pub text: String,
    /// The one-time code in it, which the page and the API offer apart from the text.
    pub code: Option<String>,
    /// Whether it is sent as SMS or WhatsApp message.
    pub channel: TextChannel,
}

/// Finds the one-time code in a text: the only number of six to ten digits, which are the lengths of codes. With several
/// such numbers there is no code.
#[must_use]
pub fn find_code(text: &str) -> Option<String> {
    let mut numbers: Vec<&str> = text
        .split(|c: char| !c.is_ascii_digit())
        .filter(|digits| (6..=10).contains(&digits.len()))
        .collect();
    numbers.dedup();
    match numbers[..] {
        [code] => Some(code.to_owned()),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_code_is_the_only_number_of_six_to_ten_digits() {
        for (text, code) in [
            ("Your code is 123456", Some("123456")),
            ("4821 is your PIN, 12345678 your code.", Some("12345678")),
            ("123456: type 123456.", Some("123456")),
            ("Either 123456 or 654321", None),
            ("Call +491701234567 now", None),
            ("No code", None),
        ] {
            assert_eq!(find_code(text).as_deref(), code, "{text}");
        }
    }
}
