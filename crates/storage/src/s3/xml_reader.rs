//! Parses the XML of S3 request bodies into a tree of elements.

use quick_xml::Reader;
use quick_xml::events::{BytesStart, Event};

use super::error::S3Error;

/// Most elements of a request: a list of 1000 keys, or of 10 000 parts with number, tag and checksums. Each takes many times the bytes of
/// the shortest one.
const MAX_ELEMENTS: usize = 60_000;
/// Deepest nesting of elements in a request.
const MAX_DEPTH: usize = 8;

/// An element of a request body: its name without namespace prefix, its text, its children.
#[derive(Debug, Default)]
pub(crate) struct Element {
    pub(crate) name: String,
    pub(crate) text: String,
    pub(crate) children: Vec<Element>,
}

impl Element {
    /// Parses a document. Predefined entities are resolved; a document type is refused, so that none can be declared.
    ///
    /// # Errors
    /// `MalformedXml`.
    pub(crate) fn parse(bytes: &[u8]) -> Result<Self, S3Error> {
        let text = std::str::from_utf8(bytes).map_err(|error| malformed_xml(&error))?;
        let mut reader = Reader::from_str(text);
        let mut open: Vec<Self> = vec![Self::default()];
        let mut elements = 0;
        loop {
            let event = reader.read_event().map_err(|error| malformed_xml(&error))?;
            match &event {
                Event::Eof => break,
                Event::Start(_) | Event::Empty(_) => elements += 1,
                _ => {}
            }
            if elements > MAX_ELEMENTS {
                return Err(S3Error::MalformedXml("too many elements".to_owned()));
            }
            Self::apply_event(event, &mut open)?;
        }
        let mut document = open.pop().filter(|_| open.is_empty());
        document
            .as_mut()
            .and_then(|document| document.children.pop())
            .ok_or_else(|| S3Error::MalformedXml("no root element, or one that does not end".to_owned()))
    }

    /// Applies one event to the stack of open elements, the first of which represents the document.
    fn apply_event(event: Event<'_>, open: &mut Vec<Self>) -> Result<(), S3Error> {
        let too_deep = open.len() > MAX_DEPTH;
        let Some(current) = open.last_mut() else {
            return Err(S3Error::MalformedXml("unexpected end tag".to_owned()));
        };
        match event {
            Event::Start(_) if too_deep => {
                return Err(S3Error::MalformedXml("nested too deeply".to_owned()));
            }
            Event::Start(start) => open.push(Self::named(&start)),
            Event::Empty(start) => current.children.push(Self::named(&start)),
            Event::End(_) => {
                let element = open.pop().unwrap_or_default();
                match open.last_mut() {
                    Some(parent) => parent.children.push(element),
                    None => return Err(S3Error::MalformedXml("unexpected end tag".to_owned())),
                }
            }
            Event::Text(text) => current
                .text
                .push_str(&text.decode().map_err(|error| malformed_xml(&error))?),
            Event::GeneralRef(reference) => current.text.push(
                resolve_entity(&reference)
                    .ok_or_else(|| S3Error::MalformedXml("unknown entity".to_owned()))?,
            ),
            Event::CData(data) => current.text.push_str(&String::from_utf8_lossy(&data)),
            // Entities declared in a document type could expand to gigabytes ("billion laughs") or read local files.
            Event::DocType(_) => {
                return Err(S3Error::MalformedXml("document types are not allowed".to_owned()));
            }
            Event::Comment(_) | Event::Decl(_) | Event::PI(_) | Event::Eof => {}
        }
        Ok(())
    }

    fn named(start: &BytesStart<'_>) -> Self {
        Self {
            name: String::from_utf8_lossy(start.local_name().as_ref()).into_owned(),
            ..Self::default()
        }
    }

    /// The children with this name, in the order of the document.
    pub(crate) fn children_named<'a>(&'a self, name: &'a str) -> impl Iterator<Item = &'a Self> {
        self.children.iter().filter(move |child| child.name == name)
    }

    /// The text of the first child of this name.
    pub(crate) fn text_of<'a>(&'a self, name: &'a str) -> Option<&'a str> {
        self.children_named(name).next().map(|child| child.text.as_str())
    }
}

/// The character of `&name;` or `&#number;`; `None` for an unknown name.
fn resolve_entity(reference: &quick_xml::events::BytesRef<'_>) -> Option<char> {
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

fn malformed_xml(error: &dyn std::fmt::Display) -> S3Error {
    S3Error::MalformedXml(error.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::s3::xml_writer::Xml;

    #[test]
    fn text_survives_writing_and_parsing() {
        let hostile = "a<b>&\"'\r\n]]> é 日本";
        let document = Xml::document("Root", |xml| xml.text("Key", hostile));

        let root = Element::parse(document.as_bytes()).expect("ours");

        assert_eq!(root.name, "Root");
        assert_eq!(root.text_of("Key"), Some(hostile));
    }

    #[test]
    fn malformed_documents_are_refused() {
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

    #[test]
    fn gw_049_documents_of_many_short_elements_are_refused() {
        let document = |elements: usize| format!("<Delete>{}</Delete>", "<a/>".repeat(elements));

        assert!(Element::parse(document(MAX_ELEMENTS - 1).as_bytes()).is_ok());
        assert!(Element::parse(document(MAX_ELEMENTS).as_bytes()).is_err());
    }
}
