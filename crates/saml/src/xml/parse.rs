//! Reads XML into a tree, and refuses what a SAML document has no use for, before anything looks at its content: document
//! type declarations and with them entities, processing instructions, deep nesting, large documents, two attributes that
//! say the same id.

use std::collections::HashSet;
use std::sync::Arc;

use xmlparser::{ElementEnd, StrSpan, Token, Tokenizer};

use super::document::{Attribute, Child, Document, Element, ElementId};

/// The largest document that is read.
pub(crate) const MAX_BYTES: usize = 1024 * 1024;
/// Elements inside each other. Canonical forms are written by recursion, which this bounds.
const MAX_DEPTH: usize = 100;
/// Largest number of elements in one document.
const MAX_ELEMENTS: usize = 20_000;
/// Attributes of one element, because each is compared with the others.
const MAX_ATTRIBUTES: usize = 128;
/// Namespace declarations that are in scope at one place, because each name is looked up among them.
const MAX_SCOPE: usize = 128;

const XML_NAMESPACE: &str = "http://www.w3.org/XML/1998/namespace";

/// Why a document is refused. The texts are constant, so that nothing of the document gets into a log.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum ParseError {
    /// The document has more bytes than [`MAX_BYTES`].
    #[error("the document is too large")]
    TooLarge,
    /// Too many levels, elements, attributes or namespaces.
    #[error("the document is nested too deeply or has too many parts")]
    TooComplex,
    /// Bytes that are not UTF-8, or a declaration of another encoding.
    #[error("the document is not UTF-8")]
    Encoding,
    /// The document has a document type declaration.
    #[error("the document has a document type declaration")]
    DocumentType,
    /// A processing instruction inside the root element.
    #[error("the document has a processing instruction")]
    ProcessingInstruction,
    /// The document is not well-formed XML.
    #[error("the document is not well-formed XML")]
    Syntax,
    /// A prefix without a declaration, or a declaration that XML forbids.
    #[error("the document has an undeclared namespace prefix")]
    Namespace,
    /// Two attributes of kind ID have the same value.
    #[error("the document has the same id twice")]
    DuplicateId,
}

/// Parses a document.
///
/// # Errors
/// [`ParseError`] for everything that is not a plain, small, well-formed document in UTF-8.
pub(crate) fn parse_document(bytes: &[u8]) -> Result<Document, ParseError> {
    if bytes.len() > MAX_BYTES {
        return Err(ParseError::TooLarge);
    }
    let text = std::str::from_utf8(bytes).map_err(|_| ParseError::Encoding)?;
    // Checked before tokenizing, because the tokenizer accepts some control characters in places that are not read.
    if !text.chars().all(is_xml_char) {
        return Err(ParseError::Syntax);
    }
    let mut builder = Builder::default();
    for token in Tokenizer::from(text) {
        builder.add(token.map_err(|_| ParseError::Syntax)?)?;
    }
    let document = builder.finish()?;
    check_ids(&document)?;
    Ok(document)
}

/// The production `Char` of XML 1.0.
fn is_xml_char(c: char) -> bool {
    matches!(c, '\t' | '\n' | '\r' | ' '..='\u{d7ff}' | '\u{e000}'..='\u{fffd}' | '\u{10000}'..)
}

/// Refuses a value that two attributes called `ID`, `Id`, `id` or `xml:id` share, because a reference to it could then
/// be resolved to either element.
fn check_ids(document: &Document) -> Result<(), ParseError> {
    let mut seen = HashSet::new();
    let attributes = document.elements.iter().flat_map(|element| &element.attributes);
    for attribute in attributes {
        if attribute.local.eq_ignore_ascii_case("id") && !seen.insert(attribute.value.as_str()) {
            return Err(ParseError::DuplicateId);
        }
    }
    Ok(())
}

/// A start tag whose attributes are still being read: names are resolved when the tag ends, because a declaration may
/// follow the names that use it.
struct OpenTag {
    prefix: String,
    local: String,
    attributes: Vec<(String, String, String)>,
    declarations: Vec<(String, String)>,
}

/// The tree so far.
#[derive(Default)]
struct Builder {
    elements: Vec<Element>,
    /// The elements whose end tag has not come yet.
    open: Vec<ElementId>,
    /// All namespace declarations in scope, inner ones last.
    scope: Vec<(String, Arc<str>)>,
    /// The URIs of all namespaces. Elements share them: a copy for each of many elements could fill the memory.
    namespaces: HashSet<Arc<str>>,
    tag: Option<OpenTag>,
}

impl Builder {
    fn add(&mut self, token: Token<'_>) -> Result<(), ParseError> {
        match token {
            Token::Declaration {
                version, encoding, ..
            } => check_declaration(version, encoding),
            Token::DtdStart { .. }
            | Token::EmptyDtd { .. }
            | Token::EntityDeclaration { .. }
            | Token::DtdEnd { .. } => Err(ParseError::DocumentType),
            // Outside of the root element it has no effect on the content.
            Token::ProcessingInstruction { .. } if self.open.is_empty() => Ok(()),
            Token::ProcessingInstruction { .. } => Err(ParseError::ProcessingInstruction),
            Token::Comment { text, .. } => self.add_comment(text.as_str()),
            Token::ElementStart { prefix, local, span } => {
                check_name(span)?;
                self.start_tag(prefix, local)
            }
            Token::Attribute {
                prefix,
                local,
                value,
                span,
            } => {
                check_name(span)?;
                self.add_attribute(prefix, local, value)
            }
            Token::ElementEnd { end, span } => match end {
                ElementEnd::Open => self.finish_tag(),
                ElementEnd::Empty => self.finish_tag().and_then(|()| self.close(None)),
                ElementEnd::Close(prefix, local) => {
                    check_name(span)?;
                    self.close(Some((prefix.as_str(), local.as_str())))
                }
            },
            Token::Text { text } => self.add_text(&replace_references(text.as_str(), false)?),
            Token::Cdata { text, .. } => self.add_text(&normalize_line_ends(text.as_str())),
        }
    }

    fn start_tag(&mut self, prefix: StrSpan<'_>, local: StrSpan<'_>) -> Result<(), ParseError> {
        if self.open.is_empty() && !self.elements.is_empty() {
            return Err(ParseError::Syntax);
        }
        if self.open.len() >= MAX_DEPTH || self.elements.len() >= MAX_ELEMENTS {
            return Err(ParseError::TooComplex);
        }
        self.tag = Some(OpenTag {
            prefix: prefix.as_str().to_owned(),
            local: local.as_str().to_owned(),
            attributes: Vec::new(),
            declarations: Vec::new(),
        });
        Ok(())
    }

    fn add_attribute(
        &mut self,
        prefix: StrSpan<'_>,
        local: StrSpan<'_>,
        value: StrSpan<'_>,
    ) -> Result<(), ParseError> {
        let tag = self.tag.as_mut().ok_or(ParseError::Syntax)?;
        if tag.attributes.len() + tag.declarations.len() >= MAX_ATTRIBUTES || self.scope.len() >= MAX_SCOPE {
            return Err(ParseError::TooComplex);
        }
        let value = replace_references(value.as_str(), true)?;
        let declared = match (prefix.as_str(), local.as_str()) {
            ("", "xmlns") => "",
            ("xmlns", declared) => declared,
            (prefix, local) => {
                tag.attributes.push((prefix.to_owned(), local.to_owned(), value));
                return Ok(());
            }
        };
        // Namespaces in XML 1.0 §3: the prefixes `xml` and `xmlns` keep their meaning, and no prefix can be undeclared.
        let is_forbidden = matches!(declared, "xml" | "xmlns")
            || value == XML_NAMESPACE
            || value == "http://www.w3.org/2000/xmlns/"
            || (value.is_empty() && !declared.is_empty());
        if is_forbidden || tag.declarations.iter().any(|(known, _)| known == declared) {
            return Err(ParseError::Namespace);
        }
        tag.declarations.push((declared.to_owned(), value));
        Ok(())
    }

    /// Resolves the names of the start tag and adds its element to the tree.
    fn finish_tag(&mut self) -> Result<(), ParseError> {
        let tag = self.tag.take().ok_or(ParseError::Syntax)?;
        for (prefix, uri) in &tag.declarations {
            let uri = self.share_namespace(uri);
            self.scope.push((prefix.clone(), uri));
        }
        if self.scope.len() > MAX_SCOPE {
            return Err(ParseError::TooComplex);
        }
        let namespace = self.resolve(&tag.prefix)?;
        let mut attributes: Vec<Attribute> = Vec::with_capacity(tag.attributes.len());
        for (prefix, local, value) in tag.attributes {
            // A default namespace does not apply to attributes.
            let namespace = if prefix.is_empty() {
                self.share_namespace("")
            } else {
                self.resolve(&prefix)?
            };
            // Compared by namespace, because two prefixes may stand for the same one. Equal namespaces are the same value in
            // memory, so that long URIs need not be compared for each pair of attributes.
            if attributes
                .iter()
                .any(|known| known.local == local && Arc::ptr_eq(&known.namespace, &namespace))
            {
                return Err(ParseError::Syntax);
            }
            attributes.push(Attribute {
                prefix,
                local,
                namespace,
                value,
            });
        }
        let id = ElementId(self.elements.len());
        let parent = self.open.last().copied();
        if let Some(parent) = parent {
            self.elements[parent.0].children.push(Child::Element(id));
        }
        self.elements.push(Element {
            prefix: tag.prefix,
            local: tag.local,
            namespace,
            attributes,
            declarations: tag.declarations,
            parent,
            children: Vec::new(),
        });
        self.open.push(id);
        Ok(())
    }

    fn resolve(&mut self, prefix: &str) -> Result<Arc<str>, ParseError> {
        if prefix == "xml" {
            return Ok(self.share_namespace(XML_NAMESPACE));
        }
        let found = self.scope.iter().rev().find(|(known, _)| known == prefix);
        match found {
            Some((_, uri)) => Ok(Arc::clone(uri)),
            None if prefix.is_empty() => Ok(self.share_namespace("")),
            None => Err(ParseError::Namespace),
        }
    }

    /// The one value in memory for a namespace.
    fn share_namespace(&mut self, uri: &str) -> Arc<str> {
        if let Some(known) = self.namespaces.get(uri) {
            return Arc::clone(known);
        }
        let shared: Arc<str> = Arc::from(uri);
        self.namespaces.insert(Arc::clone(&shared));
        shared
    }

    /// Ends the innermost element. An empty-element tag has no end tag whose name could differ.
    fn close(&mut self, name: Option<(&str, &str)>) -> Result<(), ParseError> {
        let id = self.open.pop().ok_or(ParseError::Syntax)?;
        let element = &self.elements[id.0];
        if name.is_some_and(|name| name != (element.prefix.as_str(), element.local.as_str())) {
            return Err(ParseError::Syntax);
        }
        self.scope.truncate(self.scope.len() - element.declarations.len());
        Ok(())
    }

    fn add_text(&mut self, text: &str) -> Result<(), ParseError> {
        let Some(parent) = self.open.last() else {
            let is_space = text.chars().all(|c| matches!(c, ' ' | '\t' | '\n' | '\r'));
            return if is_space { Ok(()) } else { Err(ParseError::Syntax) };
        };
        self.elements[parent.0]
            .children
            .push(Child::Text(text.to_owned()));
        Ok(())
    }

    fn add_comment(&mut self, text: &str) -> Result<(), ParseError> {
        if text.contains("--") || text.ends_with('-') {
            return Err(ParseError::Syntax);
        }
        if let Some(parent) = self.open.last() {
            let comment = Child::Comment(normalize_line_ends(text));
            self.elements[parent.0].children.push(comment);
        }
        Ok(())
    }

    fn finish(self) -> Result<Document, ParseError> {
        if !self.open.is_empty() || self.tag.is_some() || self.elements.is_empty() {
            return Err(ParseError::Syntax);
        }
        Ok(Document {
            elements: self.elements,
        })
    }
}

fn check_declaration(version: StrSpan<'_>, encoding: Option<StrSpan<'_>>) -> Result<(), ParseError> {
    if version.as_str() != "1.0" {
        return Err(ParseError::Syntax);
    }
    let is_utf8 = encoding.is_none_or(|name| {
        let name = name.as_str();
        name.eq_ignore_ascii_case("utf-8") || name.eq_ignore_ascii_case("us-ascii")
    });
    if is_utf8 {
        Ok(())
    } else {
        Err(ParseError::Encoding)
    }
}

/// Refuses a name that begins with a colon; the tokenizer checks everything else. `tag` is the text of the name with the
/// text before it.
fn check_name(tag: StrSpan<'_>) -> Result<(), ParseError> {
    let name = tag.as_str().trim_start_matches(['<', '/']);
    if name.starts_with(':') {
        Err(ParseError::Syntax)
    } else {
        Ok(())
    }
}

/// XML 1.0 §2.11: a carriage return, alone or before a line feed, is a line feed.
fn normalize_line_ends(text: &str) -> String {
    if text.contains('\r') {
        text.replace("\r\n", "\n").replace('\r', "\n")
    } else {
        text.to_owned()
    }
}

/// Replaces character references and the five predefined entities. In attributes, white space becomes spaces, but not
/// that written as references.
fn replace_references(raw: &str, is_attribute: bool) -> Result<String, ParseError> {
    let forbidden = if is_attribute { "<" } else { "]]>" };
    if raw.contains(forbidden) {
        return Err(ParseError::Syntax);
    }
    let mut text = normalize_line_ends(raw);
    if is_attribute && text.contains(['\t', '\n']) {
        text = text.replace(['\t', '\n'], " ");
    }
    if !text.contains('&') {
        return Ok(text);
    }
    let mut replaced = String::with_capacity(text.len());
    let mut rest = text.as_str();
    while let Some(at) = rest.find('&') {
        replaced.push_str(&rest[..at]);
        let (name, after) = rest[at + 1..].split_once(';').ok_or(ParseError::Syntax)?;
        replaced.push(resolve_reference(name)?);
        rest = after;
    }
    replaced.push_str(rest);
    Ok(replaced)
}

fn resolve_reference(name: &str) -> Result<char, ParseError> {
    let number = match name {
        "lt" => return Ok('<'),
        "gt" => return Ok('>'),
        "amp" => return Ok('&'),
        "apos" => return Ok('\''),
        "quot" => return Ok('"'),
        _ => name.strip_prefix('#').ok_or(ParseError::Syntax)?,
    };
    let (digits, radix) = match number.strip_prefix('x') {
        Some(digits) => (digits, 16),
        None => (number, 10),
    };
    // `from_str_radix` would also accept a sign.
    if !digits.chars().all(|c| c.is_digit(radix)) {
        return Err(ParseError::Syntax);
    }
    let code = u32::from_str_radix(digits, radix).map_err(|_| ParseError::Syntax)?;
    char::from_u32(code)
        .filter(|c| is_xml_char(*c))
        .ok_or(ParseError::Syntax)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(text: &str) -> Result<Document, ParseError> {
        parse_document(text.as_bytes())
    }

    #[test]
    fn references_comments_and_cdata_make_one_text() {
        let document =
            parse("<a b='x&#10;&lt;\ty'>1<!-- 2 -->&#x33;<![CDATA[<4>]]>\r\n5<c>no</c></a>").unwrap();
        assert_eq!(document.text(document.root()), "13<4>\n5");
        assert_eq!(document.attribute(document.root(), "b"), Some("x\n< y"));
    }

    #[test]
    fn namespaces_are_resolved_by_the_nearest_declaration() {
        let document =
            parse("<a xmlns='u:1' xmlns:p='u:2'><p:b p:c='1' d='2' xmlns:p='u:3'/><e xmlns=''/></a>")
                .unwrap();
        assert!(document.is(document.root(), ("u:1", "a")));
        let children: Vec<_> = document.child_elements(document.root()).collect();
        assert!(document.is(children[0], ("u:3", "b")) && document.is(children[1], ("", "e")));
        assert_eq!(document.attribute(children[0], "c"), None);
    }

    #[test]
    fn documents_that_saml_has_no_use_for_are_refused() {
        let deep = format!("{}{}", "<a>".repeat(101), "</a>".repeat(101));
        let wide = format!(
            "<a {}/>",
            (0..200).map(|i| format!("a{i}='' ")).collect::<String>()
        );
        for (text, error) in [
            (
                "<!DOCTYPE a [<!ENTITY e 'x'>]><a>&e;</a>",
                ParseError::DocumentType,
            ),
            (
                "<!DOCTYPE a SYSTEM 'file:///etc/passwd'><a/>",
                ParseError::DocumentType,
            ),
            (
                "<?xml version='1.0' encoding='UTF-16'?><a/>",
                ParseError::Encoding,
            ),
            ("<?xml version='1.1'?><a/>", ParseError::Syntax),
            ("<a><?x y?></a>", ParseError::ProcessingInstruction),
            ("<a ID='1'><b Id='1'/></a>", ParseError::DuplicateId),
            ("<a ID='1'><b xml:id='1'/></a>", ParseError::DuplicateId),
            ("<p:a/>", ParseError::Namespace),
            ("<a p:b=''/>", ParseError::Namespace),
            ("<a xmlns:p=''/>", ParseError::Namespace),
            (
                "<a xmlns:xml='http://www.w3.org/XML/1998/namespace'/>",
                ParseError::Namespace,
            ),
            (&deep, ParseError::TooComplex),
            (&wide, ParseError::TooComplex),
        ] {
            assert_eq!(parse(text).unwrap_err(), error, "{text}");
        }
    }

    #[test]
    fn elements_share_the_uri_of_their_namespace() {
        // With a copy for each element this document of 1 MB would need 17 GB.
        let uri = "u".repeat(900_000);
        let elements = "<p:b p:c=''/>".repeat(8_000);
        let document = parse(&format!("<a xmlns:p='{uri}'>{elements}</a>")).unwrap();
        let children: Vec<_> = document.child_elements(document.root()).collect();
        let (first, last) = (document.element(children[0]), document.element(children[7_999]));
        assert!(Arc::ptr_eq(&first.namespace, &last.namespace));
        assert!(Arc::ptr_eq(&first.namespace, &last.attributes[0].namespace));
    }

    #[test]
    fn malformed_documents_are_refused() {
        for text in [
            "",
            " ",
            "x",
            "<a>",
            "</a>",
            "<a></b>",
            "<a/><b/>",
            "<a/>x",
            "<a><b></a></b>",
            "<a b='1' b='2'/>",
            "<a xmlns:p='u' xmlns:q='u' p:b='1' q:b='2'/>",
            "<a>&e;</a>",
            "<a>&#0;</a>",
            "<a>&#xD800;</a>",
            "<a>&#+65;</a>",
            "<a>&amp</a>",
            "<a b='<'/>",
            "<a>]]></a>",
            "<a><!-- -- --></a>",
            "<a><!-- ---></a>",
            "<:a/>",
            "<a:b:c/>",
            "<a:/>",
            "<1a/>",
            "<a b/>",
            "<a b=c/>",
            "<a>\u{1}</a>",
            "<a>\u{ffff}</a>",
            "<a",
            "<a ",
            "<a b='",
            "<!-- x",
            "<a><![CDATA[x</a>",
            "\u{feff}\u{feff}<a/>",
        ] {
            assert!(parse(text).is_err(), "{text}");
        }
        assert_eq!(parse_document(b"<a>\xff</a>").unwrap_err(), ParseError::Encoding);
        assert_eq!(
            parse_document(&vec![b' '; MAX_BYTES + 1]).unwrap_err(),
            ParseError::TooLarge
        );
    }
}
