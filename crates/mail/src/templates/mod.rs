//! The mails that Auth sends: their kinds, their fields, their default texts, and the templates with which a project
//! replaces them.

use serde_json::{Map, Value};

use crate::template::{Escape, Template, TemplateError};

mod default_text;
mod fields;
mod kind;
mod plain_text;

use default_text::find_default_text;
pub use fields::MailFields;
pub use kind::MailKind;
use plain_text::convert_to_plain_text;

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

/// Subject and body that a project sets for one kind; `None` keeps the default.
#[derive(Debug, Clone, Default)]
struct Override {
    subject: Option<Template>,
    content: Option<Template>,
}

/// The mails of a project: the default texts, and the project's own templates.
#[derive(Debug, Clone)]
pub struct MailTemplates {
    layout_html: Template,
    layout_text: Template,
    overrides: [Override; MailKind::COUNT],
}

impl Default for MailTemplates {
    fn default() -> Self {
        let parse = |text: &str| Template::parse(text).expect("a test parses the built-in layouts");
        Self {
            layout_html: parse(include_str!("../../templates/layout.html")),
            layout_text: parse(include_str!("../../templates/layout.txt")),
            overrides: Default::default(),
        }
    }
}

impl MailTemplates {
    /// Replaces the subject of one kind.
    ///
    /// # Errors
    /// [`TemplateError`] when the text is not a valid template.
    pub fn set_subject(&mut self, kind: MailKind, subject: &str) -> Result<(), TemplateError> {
        self.overrides[kind as usize].subject = Some(Template::parse(subject)?);
        Ok(())
    }

    /// Replaces the HTML body of one kind; the plain text part is then derived from it.
    ///
    /// # Errors
    /// [`TemplateError`] when the text is not a valid template.
    pub fn set_content(&mut self, kind: MailKind, html: &str) -> Result<(), TemplateError> {
        self.overrides[kind as usize].content = Some(Template::parse(html)?);
        Ok(())
    }

    /// Renders subject, HTML and plain text.
    #[must_use]
    pub fn render(&self, kind: MailKind, fields: &MailFields) -> RenderedMail {
        let data = serde_json::to_value(fields).unwrap_or_default();
        let custom = &self.overrides[kind as usize];
        let subject = match &custom.subject {
            Some(template) => template.render(&data, Escape::None),
            None => render_inline(find_default_text(kind).subject, &data),
        };
        let (html, text) = match &custom.content {
            Some(template) => {
                // A project writes HTML only. Mails without a plain text part are more often filed as spam, so it is derived.
                let html = template.render(&data, Escape::Html);
                let text = convert_to_plain_text(&html);
                (html, text)
            }
            None => self.render_default(kind, data),
        };
        RenderedMail {
            subject: join_lines(&subject),
            html,
            text,
        }
    }

    fn render_default(&self, kind: MailKind, mut data: Value) -> (String, String) {
        let texts = find_default_text(kind);
        // Default texts are templates, too: they are rendered first and then placed into the layout as values, so that the
        // layout escapes user data in them once.
        let mut rendered_texts = Map::new();
        for (name, template) in [
            ("Heading", texts.heading),
            ("Lead", texts.lead),
            ("Button", texts.button),
            ("Note", texts.note),
        ] {
            rendered_texts.insert(name.to_owned(), Value::String(render_inline(template, &data)));
        }
        data["Text"] = Value::Object(rendered_texts);
        (
            self.layout_html.render(&data, Escape::Html),
            self.layout_text.render(&data, Escape::None),
        )
    }
}

/// Renders a built-in text without escaping: the caller escapes it where it is written.
fn render_inline(template: &'static str, data: &Value) -> String {
    Template::parse(template)
        .map(|parsed| parsed.render(data, Escape::None))
        // Built-in texts always parse, which a test checks for each kind.
        .unwrap_or_default()
}

/// Joins the lines of a subject. A line break in a user's data could otherwise start a further header.
fn join_lines(subject: &str) -> String {
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
        MailKind::CredentialsForgotten,
        MailKind::PasskeyAdded,
        MailKind::PasskeyRemoved,
        MailKind::RecoveryCodeUsed,
        MailKind::RecoveryCodesReplaced,
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
    fn every_security_notice_has_a_name_in_the_configuration() {
        for kind in &KINDS[NOTICES_FROM..] {
            let named = MailKind::NOTIFICATIONS.iter().filter(|(_, known)| known == kind);
            assert_eq!(named.count(), 1, "{kind:?}");
        }
        assert_eq!(MailKind::NOTIFICATIONS.len(), KINDS.len() - NOTICES_FROM);
    }

    #[test]
    fn security_notices_contain_no_link_and_no_code() {
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
    fn auth_093_project_templates_replace_subject_and_body() {
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
