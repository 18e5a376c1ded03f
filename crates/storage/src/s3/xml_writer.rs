//! Writes the XML of S3 responses: elements that contain elements or text, without attributes.

use actix_web::HttpResponse;

/// Content type of all XML responses.
pub(crate) const MEDIA_TYPE: &str = "application/xml; charset=utf-8";
/// Namespace of all results.
const NAMESPACE: &str = "http://s3.amazonaws.com/doc/2006-03-01/";

/// An XML document that is being written.
pub(crate) struct Xml(String);

impl Xml {
    /// A document without a root element yet.
    pub(crate) fn new() -> Self {
        Self("<?xml version=\"1.0\" encoding=\"UTF-8\"?>".to_owned())
    }

    /// A document with a root element in S3's namespace; `content` fills it.
    pub(crate) fn document(root: &str, content: impl FnOnce(&mut Self)) -> String {
        let mut xml = Self::new();
        xml.0.push_str(&format!("<{root} xmlns=\"{NAMESPACE}\">"));
        content(&mut xml);
        xml.close(root);
        xml.finish()
    }

    /// Escapes text for the content of an element.
    fn escape(text: &str) -> String {
        let mut escaped = String::with_capacity(text.len());
        for c in text.chars() {
            match c {
                '&' => escaped.push_str("&amp;"),
                '<' => escaped.push_str("&lt;"),
                '>' => escaped.push_str("&gt;"),
                '"' => escaped.push_str("&quot;"),
                '\'' => escaped.push_str("&apos;"),
                // XML parsers normalise raw line breaks to a single newline, which would change a key.
                '\t' | '\n' | '\r' => escaped.push_str(&format!("&#{};", u32::from(c))),
                // XML 1.0 cannot represent these characters, not even escaped.
                c if c.is_control() || matches!(c, '\u{fffe}' | '\u{ffff}') => escaped.push('\u{fffd}'),
                c => escaped.push(c),
            }
        }
        escaped
    }

    /// Writes text in the open element.
    pub(crate) fn content(&mut self, text: &str) {
        self.0.push_str(&Self::escape(text));
    }

    /// Opens an element.
    fn open(&mut self, name: &str) {
        self.0.push('<');
        self.0.push_str(name);
        self.0.push('>');
    }

    /// Closes an element.
    fn close(&mut self, name: &str) {
        self.0.push_str("</");
        self.0.push_str(name);
        self.0.push('>');
    }

    /// Writes an element whose content is written by `content`.
    pub(crate) fn element(&mut self, name: &str, content: impl FnOnce(&mut Self)) {
        self.open(name);
        content(self);
        self.close(name);
    }

    /// Writes an element with text.
    pub(crate) fn text(&mut self, name: &str, text: &str) {
        self.open(name);
        self.0.push_str(&Self::escape(text));
        self.close(name);
    }

    /// Writes an element with text; nothing for `None`.
    pub(crate) fn optional(&mut self, name: &str, text: Option<&str>) {
        if let Some(text) = text {
            self.text(name, text);
        }
    }

    /// The finished document.
    pub(crate) fn finish(self) -> String {
        self.0
    }
}

/// 200 with an XML document.
pub(crate) fn xml_response(document: String) -> HttpResponse {
    HttpResponse::Ok().content_type(MEDIA_TYPE).body(document)
}
