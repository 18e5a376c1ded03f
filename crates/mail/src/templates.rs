//! The mails that Auth sends: their kinds, their fields, their default texts, and what a project puts in place of them.

use serde::Serialize;
use serde_json::{Map, Value};

use crate::template::{Escape, Template, TemplateError};

mod default_texts;
mod plain_text;

use default_texts::default_text;
use plain_text::plain_text;

/// Which mail.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum MailKind {
    /// A new address is to be confirmed.
    Confirmation,
    /// Somebody was invited.
    Invite,
    /// A forgotten password.
    Recovery,
    /// Sign in without a password.
    MagicLink,
    /// The address of an account is to change.
    EmailChange,
    /// A code before a sensitive change.
    Reauthentication,
    /// The password has changed.
    PasswordChanged,
    /// The address has changed; goes to the old one.
    EmailChanged,
    /// The phone number has changed.
    PhoneChanged,
    /// Another way to sign in was added.
    IdentityLinked,
    /// A way to sign in was removed.
    IdentityUnlinked,
    /// A second factor was added.
    MfaFactorEnrolled,
    /// A second factor was removed.
    MfaFactorUnenrolled,
}

impl MailKind {
    const COUNT: usize = 13;

    /// The name of the mail in `[auth.email.template.<name>]`.
    #[must_use]
    pub fn from_config_name(name: &str) -> Option<Self> {
        Some(match name {
            "confirmation" => Self::Confirmation,
            "invite" => Self::Invite,
            "recovery" => Self::Recovery,
            "magic_link" => Self::MagicLink,
            "email_change" => Self::EmailChange,
            "reauthentication" => Self::Reauthentication,
            _ => return None,
        })
    }

    /// What `$messageType` stands for in a header that the project adds to its mails. Source: Auth contract §7.
    #[must_use]
    pub fn message_type(self) -> &'static str {
        match self {
            Self::Confirmation => "confirmation",
            Self::Invite => "invite",
            Self::Recovery => "recovery",
            Self::MagicLink => "magic_link",
            Self::EmailChange => "email_change",
            // Compat: the one kind that is not called as its template is.
            Self::Reauthentication => "reauthenticate",
            Self::PasswordChanged => "password_changed_notification",
            Self::EmailChanged => "email_changed_notification",
            Self::PhoneChanged => "phone_changed_notification",
            Self::IdentityLinked => "identity_linked_notification",
            Self::IdentityUnlinked => "identity_unlinked_notification",
            Self::MfaFactorEnrolled => "mfa_factor_enrolled_notification",
            Self::MfaFactorUnenrolled => "mfa_factor_unenrolled_notification",
        }
    }

    /// The name of the mail in `[auth.email.notification.<name>]`.
    #[must_use]
    pub fn from_notification_name(name: &str) -> Option<Self> {
        Some(match name {
            "password_changed" => Self::PasswordChanged,
            "email_changed" => Self::EmailChanged,
            "phone_changed" => Self::PhoneChanged,
            "identity_linked" => Self::IdentityLinked,
            "identity_unlinked" => Self::IdentityUnlinked,
            "mfa_factor_enrolled" => Self::MfaFactorEnrolled,
            "mfa_factor_unenrolled" => Self::MfaFactorUnenrolled,
            _ => return None,
        })
    }
}

/// What a template may refer to; the names on the wire are Go's.
#[derive(Debug, Clone, Default, Serialize)]
#[serde(rename_all = "PascalCase")]
pub struct MailFields {
    /// `SITE_URL` of the project.
    #[serde(rename = "SiteURL")]
    pub site_url: String,
    /// The link that does what the mail is about.
    #[serde(rename = "ConfirmationURL")]
    pub confirmation_url: String,
    /// Address of the account.
    pub email: String,
    /// The address that an account is to change to.
    pub new_email: String,
    /// The address that this mail goes to.
    pub sending_to: String,
    /// The code that does the same as the link.
    pub token: String,
    /// The token inside the link.
    pub token_hash: String,
    /// Where the link leads in the end.
    pub redirect_to: String,
    /// The address before a change.
    pub old_email: String,
    /// The phone number.
    pub phone: String,
    /// The phone number before a change.
    pub old_phone: String,
    /// The identity provider that was linked or unlinked.
    pub provider: String,
    /// The kind of second factor that was added or removed.
    pub factor_type: String,
    /// The user's metadata.
    pub data: Value,
}

/// A mail without its recipient.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RenderedMail {
    /// Subject on one line.
    pub subject: String,
    /// HTML part.
    pub html: String,
    /// Plain text part.
    pub text: String,
}

/// Subject and body of one kind; `None` means the default.
#[derive(Debug, Clone, Default)]
struct Override {
    subject: Option<Template>,
    content: Option<Template>,
}

/// All mails of a project: the defaults, and what the project replaced.
#[derive(Debug, Clone)]
pub struct MailTemplates {
    layout_html: Template,
    layout_text: Template,
    overrides: [Override; MailKind::COUNT],
}

impl Default for MailTemplates {
    fn default() -> Self {
        let parse = |text: &str| Template::parse(text).expect("the built-in layouts are proven by a test");
        Self {
            layout_html: parse(include_str!("../templates/layout.html")),
            layout_text: parse(include_str!("../templates/layout.txt")),
            overrides: Default::default(),
        }
    }
}

impl MailTemplates {
    /// Replaces the subject of one kind.
    ///
    /// # Errors
    /// [`TemplateError`] when the text is not a template we understand.
    pub fn set_subject(&mut self, kind: MailKind, subject: &str) -> Result<(), TemplateError> {
        self.overrides[kind as usize].subject = Some(Template::parse(subject)?);
        Ok(())
    }

    /// Replaces the HTML body of one kind; the text part is then derived from it.
    ///
    /// # Errors
    /// [`TemplateError`] when the text is not a template we understand.
    pub fn set_content(&mut self, kind: MailKind, html: &str) -> Result<(), TemplateError> {
        self.overrides[kind as usize].content = Some(Template::parse(html)?);
        Ok(())
    }

    /// Fills subject and both bodies.
    #[must_use]
    pub fn render(&self, kind: MailKind, fields: &MailFields) -> RenderedMail {
        let data = serde_json::to_value(fields).unwrap_or_default();
        let custom = &self.overrides[kind as usize];
        let subject = match &custom.subject {
            Some(template) => template.render(&data, Escape::None),
            None => render_inline(default_text(kind).subject, &data),
        };
        let (html, text) = match &custom.content {
            Some(template) => {
                let html = template.render(&data, Escape::Html);
                let text = plain_text(&html);
                (html, text)
            }
            None => self.render_default(kind, data),
        };
        RenderedMail {
            subject: one_line(&subject),
            html,
            text,
        }
    }

    fn render_default(&self, kind: MailKind, mut data: Value) -> (String, String) {
        let texts = default_text(kind);
        let mut shown = Map::new();
        for (name, template) in [
            ("Heading", texts.heading),
            ("Lead", texts.lead),
            ("Button", texts.button),
            ("Note", texts.note),
        ] {
            shown.insert(name.to_owned(), Value::String(render_inline(template, &data)));
        }
        data["Text"] = Value::Object(shown);
        (
            self.layout_html.render(&data, Escape::Html),
            self.layout_text.render(&data, Escape::None),
        )
    }
}

fn render_inline(template: &'static str, data: &Value) -> String {
    Template::parse(template)
        .map(|parsed| parsed.render(data, Escape::None))
        .unwrap_or_default()
}

/// A subject is a header: line breaks in user data must not start another one.
fn one_line(subject: &str) -> String {
    subject
        .split(char::is_control)
        .filter(|part| !part.is_empty())
        .collect::<Vec<_>>()
        .join(" ")
        .trim()
        .to_owned()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    const KINDS: [MailKind; MailKind::COUNT] = [
        MailKind::Confirmation,
        MailKind::Invite,
        MailKind::Recovery,
        MailKind::MagicLink,
        MailKind::EmailChange,
        MailKind::Reauthentication,
        MailKind::PasswordChanged,
        MailKind::EmailChanged,
        MailKind::PhoneChanged,
        MailKind::IdentityLinked,
        MailKind::IdentityUnlinked,
        MailKind::MfaFactorEnrolled,
        MailKind::MfaFactorUnenrolled,
    ];
    const NOTICES_FROM: usize = MailKind::PasswordChanged as usize;

    fn fields() -> MailFields {
        MailFields {
            site_url: "https://site.example".to_owned(),
            confirmation_url: "https://api.example/verify?token=abc&type=signup".to_owned(),
            email: "ana@example.com".to_owned(),
            new_email: "bea@example.com".to_owned(),
            token: "123456".to_owned(),
            data: json!({"username": "<i>ana</i>"}),
            ..MailFields::default()
        }
    }

    #[test]
    fn every_default_mail_has_subject_link_and_code() {
        for kind in &KINDS[..NOTICES_FROM] {
            let kind = *kind;
            let mail = MailTemplates::default().render(kind, &fields());

            assert!(
                !mail.subject.is_empty() && !mail.subject.contains("{{"),
                "{kind:?} {}",
                mail.subject
            );
            assert!(
                mail.html.contains("123456") && mail.text.contains("123456"),
                "{kind:?}"
            );
            let has_link = kind != MailKind::Reauthentication;
            assert_eq!(
                mail.html.contains("verify?token=abc&amp;type=signup"),
                has_link,
                "{kind:?}"
            );
            assert_eq!(
                mail.text.contains("verify?token=abc&type=signup"),
                has_link,
                "{kind:?}"
            );
        }
    }

    #[test]
    fn notices_tell_and_offer_nothing() {
        let known = MailFields {
            token: String::new(),
            confirmation_url: String::new(),
            provider: "github".to_owned(),
            ..fields()
        };
        for kind in &KINDS[NOTICES_FROM..] {
            let mail = MailTemplates::default().render(*kind, &known);

            assert!(mail.text.contains("ana@example.com"), "{kind:?} {}", mail.text);
            let offers = ["Your code", "verify?", "{{"];
            assert!(
                offers
                    .iter()
                    .all(|offer| !mail.text.contains(offer) && !mail.html.contains(offer)),
                "{kind:?} {}",
                mail.text
            );
        }
    }

    #[test]
    fn auth_093_a_project_replaces_subject_and_body() {
        let mut templates = MailTemplates::default();
        templates
            .set_subject(MailKind::Confirmation, "Hello {{ .Data.username }}")
            .expect("subject parses");
        templates
            .set_content(
                MailKind::Confirmation,
                "<h1>Hi {{ .Data.username }}</h1>\n<p>Go <a href=\"{{ .ConfirmationURL }}\">here</a> or type {{ .Token }}</p>",
            )
            .expect("content parses");

        let mail = templates.render(MailKind::Confirmation, &fields());

        assert_eq!(mail.subject, "Hello <i>ana</i>");
        assert!(mail.html.contains("Hi &lt;i&gt;ana&lt;/i&gt;"), "{}", mail.html);
        assert_eq!(
            mail.text,
            "Hi <i>ana</i>\n\nGo here ( https://api.example/verify?token=abc&type=signup ) or type 123456"
        );
    }

    #[test]
    fn line_breaks_in_user_data_do_not_reach_the_subject() {
        let mut templates = MailTemplates::default();
        templates
            .set_subject(MailKind::Recovery, "For {{ .Data.username }}")
            .expect("subject parses");
        let hostile = MailFields {
            data: json!({"username": "x\r\nBcc: victim@example.com"}),
            ..fields()
        };

        assert_eq!(
            templates.render(MailKind::Recovery, &hostile).subject,
            "For x Bcc: victim@example.com"
        );
    }
}
