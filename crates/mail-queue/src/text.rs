//! The texts of queued mails: addresses that the database does not know, and HTML for mails that have none.

/// Stands in the text of a mail for the site's address.
const SITE_URL: &str = "{{ .SiteURL }}";
/// Stands in the text of a mail for the address that ends mails of its kind.
const UNSUBSCRIBE_URL: &str = "{{ .UnsubscribeURL }}";

/// A token that is longer or shorter is none. Shorter ones could be guessed.
const TOKEN_LENGTH: std::ops::RangeInclusive<usize> = 32..=256;

/// Where the links of mails lead.
#[derive(Debug, Clone, Default)]
pub struct MailLinks {
    /// Where the site is reached, without a slash at the end.
    site_url: String,
    /// Where mails are ended; `None` for a project without a function for it.
    unsubscribe_url: Option<String>,
}

impl MailLinks {
    /// Links to this site. Mails are ended below `api_url` where the project has a function for that.
    #[must_use]
    pub fn new(site_url: &str, api_url: Option<&str>) -> Self {
        let without_slash = |url: &str| url.trim_end_matches('/').to_owned();
        Self {
            site_url: without_slash(site_url),
            unsubscribe_url: api_url.map(|url| format!("{}/mails/v1/unsubscribe", without_slash(url))),
        }
    }

    /// The address that ends mails of this token's kind.
    pub(crate) fn unsubscribe(&self, token: Option<&str>) -> Option<String> {
        let token = token.filter(|token| is_token(token))?;
        let url = self.unsubscribe_url.as_ref()?;
        Some(format!("{url}?token={token}"))
    }

    /// Puts addresses in the place of what stands for them.
    pub(crate) fn fill_in(&self, text: &str, unsubscribe_url: Option<&str>) -> String {
        text.replace(SITE_URL, &self.site_url)
            .replace(UNSUBSCRIBE_URL, unsubscribe_url.unwrap_or(&self.site_url))
    }
}

/// Whether a text has the form of a token: letters that mean themselves in an address, and enough of them.
pub(crate) fn is_token(text: &str) -> bool {
    TOKEN_LENGTH.contains(&text.len())
        && text
            .bytes()
            .all(|byte| byte.is_ascii_alphanumeric() || b"-_".contains(&byte))
}

/// A subject without line ends, which would begin another header.
pub(crate) fn one_line(subject: String) -> String {
    match subject.contains(char::is_control) {
        true => subject.replace(char::is_control, " "),
        false => subject,
    }
}

/// A plain text as HTML, in which the addresses are still to be filled in. Those of the site are links. Others, which people
/// may have written, are not.
pub(crate) fn html_of(text: &str) -> String {
    let escaped = escape(text);
    let mut html = "<p style=\"white-space:pre-wrap\">".to_owned();
    let mut rest = escaped.as_str();
    while let Some((start, name)) = find_address(rest) {
        html.push_str(&rest[..start]);
        let after_name = &rest[start + name.len()..];
        let path = after_name.split(char::is_whitespace).next().unwrap_or_default();
        // Otherwise what follows would go on with the name of the host.
        if path.is_empty() || path.starts_with('/') {
            let address = format!("{name}{path}");
            html.push_str(&format!("<a href=\"{address}\">{address}</a>"));
            rest = &after_name[path.len()..];
        } else {
            html.push_str(name);
            rest = after_name;
        }
    }
    html + rest + "</p>"
}

/// The first place where something stands for an address.
fn find_address(text: &str) -> Option<(usize, &'static str)> {
    let find = |name| text.find(name).map(|start| (start, name));
    [SITE_URL, UNSUBSCRIBE_URL].into_iter().filter_map(find).min()
}

pub(crate) fn escape(text: &str) -> String {
    text.replace('&', "&amp;")
        .replace('<', "&lt;")
        .replace('>', "&gt;")
        .replace('"', "&quot;")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_of_people_stay_texts_and_addresses_of_the_site_are_links() {
        let html = |text| html_of(text).replace("<p style=\"white-space:pre-wrap\">", "");

        assert_eq!(html("<b>&"), "&lt;b&gt;&amp;</p>");
        assert_eq!(one_line("Hello\r\nBcc: all".to_owned()), "Hello  Bcc: all");
        assert_eq!(
            html("See {{ .SiteURL }}/a\nor {{ .UnsubscribeURL }}\n"),
            "See <a href=\"{{ .SiteURL }}/a\">{{ .SiteURL }}/a</a>\n\
             or <a href=\"{{ .UnsubscribeURL }}\">{{ .UnsubscribeURL }}</a>\n</p>"
        );
        for foreign in [
            "{{ .SiteURL }}.evil.example/",
            "{{ .SiteURL }}@evil.example",
            "https://evil.example",
        ] {
            assert!(!html(foreign).contains("<a "), "{foreign}");
        }
        assert!(html("{{ .SiteURL }}/\"onclick=x").contains("/&quot;onclick=x\">"));
    }

    #[test]
    fn mails_are_ended_by_tokens_that_cannot_be_guessed_or_end_a_header() {
        let links = MailLinks::new("https://site.test/", Some("https://api.test/"));
        let token = "aZ09-_".repeat(6);

        let url = links.unsubscribe(Some(&token));
        assert_eq!(
            url,
            Some(format!("https://api.test/mails/v1/unsubscribe?token={token}"))
        );
        let text = "{{ .SiteURL }}/a {{ .UnsubscribeURL }}";
        assert_eq!(
            links.fill_in(text, url.as_deref()),
            format!("https://site.test/a https://api.test/mails/v1/unsubscribe?token={token}")
        );
        let with_end = format!("{token}\r\nBcc: eve@example.com");
        for token in [
            None,
            Some("short"),
            Some(with_end.as_str()),
            Some(&*token.repeat(9)),
        ] {
            assert_eq!(links.unsubscribe(token), None, "{token:?}");
        }
        assert_eq!(MailLinks::new("x", None).unsubscribe(Some(&token)), None);
    }
}
