//! XML as S3 speaks it: elements with text, nothing else. Writing is ours; reading is left to a parser.

use actix_web::HttpResponse;
use quick_xml::Reader;
use quick_xml::events::Event;

use super::error::S3Error;

/// Type of all XML answers.
pub(crate) const MEDIA_TYPE: &str = "application/xml; charset=utf-8";
/// Namespace of all results.
const NAMESPACE: &str = "http://s3.amazonaws.com/doc/2006-03-01/";
/// Elements may be nested this deep in a request.
const MAX_DEPTH: usize = 8;

/// An XML document that is being written.
pub(crate) struct Xml(String);

impl Xml {
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

    /// Text as it stands in an element.
    pub(crate) fn escaped(text: &str) -> String {
        let mut escaped = String::with_capacity(text.len());
        for c in text.chars() {
            match c {
                '&' => escaped.push_str("&amp;"),
                '<' => escaped.push_str("&lt;"),
                '>' => escaped.push_str("&gt;"),
                '"' => escaped.push_str("&quot;"),
                '\'' => escaped.push_str("&apos;"),
                '\t' | '\n' | '\r' => escaped.push_str(&format!("&#{};", u32::from(c))),
                // XML 1.0 has no way to say these.
                c if c.is_control() || matches!(c, '\u{fffe}' | '\u{ffff}') => escaped.push('\u{fffd}'),
                c => escaped.push(c),
            }
        }
        escaped
    }

    /// Opens an element.
    pub(crate) fn open_plain(&mut self, name: &str) {
        self.0.push('<');
        self.0.push_str(name);
        self.0.push('>');
    }

    /// Closes an element.
    pub(crate) fn close(&mut self, name: &str) {
        self.0.push_str("</");
        self.0.push_str(name);
        self.0.push('>');
    }

    /// An element with elements.
    pub(crate) fn element(&mut self, name: &str, content: impl FnOnce(&mut Self)) {
        self.open_plain(name);
        content(self);
        self.close(name);
    }

    /// An element with a text.
    pub(crate) fn text(&mut self, name: &str, text: &str) {
        self.open_plain(name);
        self.0.push_str(&Self::escaped(text));
        self.close(name);
    }

    /// An element with a text, left out when there is none.
    pub(crate) fn optional(&mut self, name: &str, text: Option<&str>) {
        if let Some(text) = text {
            self.text(name, text);
        }
    }

    /// The whole text.
    pub(crate) fn finish(self) -> String {
        self.0
    }
}

/// 200 with an XML document.
pub(crate) fn answer(document: String) -> HttpResponse {
    HttpResponse::Ok().content_type(MEDIA_TYPE).body(document)
}

/// An element of a request: its name without prefix, its text, its children.
#[derive(Debug, Default)]
pub(crate) struct Element {
    pub(crate) name: String,
    pub(crate) text: String,
    pub(crate) children: Vec<Element>,
}

impl Element {
    /// Reads a document; entities are resolved, but none can be declared.
    ///
    /// # Errors
    /// `MalformedXml`.
    pub(crate) fn parse(bytes: &[u8]) -> Result<Self, S3Error> {
        let malformed = |error: &dyn std::fmt::Display| S3Error::MalformedXml(error.to_string());
        let text = std::str::from_utf8(bytes).map_err(|error| malformed(&error))?;
        let mut reader = Reader::from_str(text);
        let mut open: Vec<Self> = vec![Self::default()];
        loop {
            match reader.read_event().map_err(|error| malformed(&error))? {
                Event::Start(start) => {
                    if open.len() > MAX_DEPTH {
                        return Err(S3Error::MalformedXml("nested too deeply".to_owned()));
                    }
                    let name = String::from_utf8_lossy(start.local_name().as_ref()).into_owned();
                    open.push(Self {
                        name,
                        ..Self::default()
                    });
                }
                Event::Empty(start) => {
                    let name = String::from_utf8_lossy(start.local_name().as_ref()).into_owned();
                    if let Some(parent) = open.last_mut() {
                        parent.children.push(Self {
                            name,
                            ..Self::default()
                        });
                    }
                }
                Event::End(_) => {
                    let element = open.pop().unwrap_or_default();
                    match open.last_mut() {
                        Some(parent) => parent.children.push(element),
                        None => return Err(S3Error::MalformedXml("unexpected end tag".to_owned())),
                    }
                }
                Event::Text(text) => {
                    let text = text.decode().map_err(|error| malformed(&error))?;
                    if let Some(element) = open.last_mut() {
                        element.text.push_str(&text);
                    }
                }
                Event::GeneralRef(reference) => {
                    let resolved = resolve(&reference)
                        .ok_or_else(|| S3Error::MalformedXml("unknown entity".to_owned()))?;
                    if let Some(element) = open.last_mut() {
                        element.text.push(resolved);
                    }
                }
                Event::CData(data) => {
                    if let Some(element) = open.last_mut() {
                        element.text.push_str(&String::from_utf8_lossy(&data));
                    }
                }
                Event::DocType(_) => {
                    return Err(S3Error::MalformedXml("document types are not allowed".to_owned()));
                }
                Event::Eof => break,
                Event::Comment(_) | Event::Decl(_) | Event::PI(_) => {}
            }
        }
        let mut document = open.pop().filter(|_| open.is_empty());
        document
            .as_mut()
            .and_then(|document| document.children.pop())
            .ok_or_else(|| S3Error::MalformedXml("no root element, or one that does not end".to_owned()))
    }

    /// Children of this name.
    pub(crate) fn all<'a>(&'a self, name: &'a str) -> impl Iterator<Item = &'a Self> {
        self.children.iter().filter(move |child| child.name == name)
    }

    /// The text of the first child of this name.
    pub(crate) fn text_of<'a>(&'a self, name: &'a str) -> Option<&'a str> {
        self.all(name).next().map(|child| child.text.as_str())
    }
}

/// The character of `&name;` or `&#number;`.
fn resolve(reference: &quick_xml::events::BytesRef<'_>) -> Option<char> {
    if let Ok(Some(c)) = reference.resolve_char_ref() {
        return Some(c);
    }
    match reference.decode().ok()?.as_ref() {
        "amp" => Some('&'),
        "lt" => Some('<'),
        "gt" => Some('>'),
        "quot" => Some('"'),
        "apos" => Some('\''),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_survive_the_round_trip() {
        let hostile = "a<b>&\"'\r\n]]> é 日本";
        let document = Xml::document("Root", |xml| xml.text("Key", hostile));

        let root = Element::parse(document.as_bytes()).expect("ours");

        assert_eq!(root.name, "Root");
        assert_eq!(root.text_of("Key"), Some(hostile));
    }

    #[test]
    fn documents_that_are_none_are_refused() {
        for bad in [
            "",
            "text",
            "<a>",
            "<a></b>",
            "<a>&unknown;</a>",
            "<!DOCTYPE a [<!ENTITY x \"y\">]><a>&x;</a>",
            "<a><b><c><d><e><f><g><h><i></i></h></g></f></e></d></c></b></a>",
        ] {
            assert!(Element::parse(bad.as_bytes()).is_err(), "{bad}");
        }
        assert!(Element::parse(b"\xff\xfe").is_err());
    }
}
