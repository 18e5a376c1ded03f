//! Canonical XML: a unique serialization of an element, so that both sides of a signature hash the same bytes. Sources:
//! Canonical XML 1.0 and 1.1, Exclusive XML Canonicalization 1.0.

use super::document::{Attribute, Child, Document, Element, ElementId};
use super::parse::MAX_BYTES;

/// Which canonical form.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Algorithm {
    /// Namespaces that the element itself uses.
    Exclusive,
    /// All namespaces in scope, and `xml:` attributes of the ancestors.
    Inclusive10,
    /// As 1.0, but without `xml:id` of the ancestors.
    Inclusive11,
}

/// Why an element has no canonical form here.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum CanonicalError {
    /// Canonical XML 1.1 joins `xml:base` of all ancestors, which SAML documents never have.
    #[error("canonical XML 1.1 below an element with xml:base is not supported")]
    InheritedBase,
    /// Longer than any document that is read: declarations that many elements show may grow without bound.
    #[error("the canonical form is too large")]
    TooLarge,
}

/// Writes canonical forms.
#[derive(Debug, Clone)]
pub(crate) struct Canonicalizer<'a> {
    /// The canonical form to write.
    pub(crate) algorithm: Algorithm,
    /// Whether comments are kept.
    pub(crate) with_comments: bool,
    /// Prefixes that exclusive canonicalization treats as the inclusive one does; an empty string means the default
    /// namespace.
    pub(crate) prefix_list: Vec<&'a str>,
    /// An element that is left out with its content: the signature within the element that it signs.
    pub(crate) without: Option<ElementId>,
}

impl<'a> Canonicalizer<'a> {
    /// Returns the canonical form of the element.
    ///
    /// # Errors
    /// [`CanonicalError`] where the form is not supported.
    pub(crate) fn write(&self, document: &'a Document, apex: ElementId) -> Result<String, CanonicalError> {
        let mut ancestors = Vec::new();
        let mut next = document.element(apex).parent;
        while let Some(id) = next {
            ancestors.push(document.element(id));
            next = document.element(id).parent;
        }
        let mut writer = Writer {
            options: self,
            document,
            in_scope: Vec::new(),
            rendered: Vec::new(),
            out: String::new(),
        };
        // From the outermost ancestor inwards, because the innermost declaration of a prefix applies.
        for ancestor in ancestors.iter().rev() {
            writer.enter_scope(ancestor);
        }
        let inherited = self.inherited_attributes(document.element(apex), &ancestors)?;
        writer.write_element(apex, inherited)?;
        Ok(writer.out)
    }

    /// The `xml:` attributes of ancestors that the apex takes over in an inclusive form.
    fn inherited_attributes(
        &self,
        apex: &Element,
        ancestors: &[&'a Element],
    ) -> Result<Vec<&'a Attribute>, CanonicalError> {
        let mut inherited: Vec<&Attribute> = Vec::new();
        if self.algorithm == Algorithm::Exclusive {
            return Ok(inherited);
        }
        let is_11 = self.algorithm == Algorithm::Inclusive11;
        let of_ancestors = ancestors.iter().flat_map(|element| &element.attributes);
        for attribute in of_ancestors.filter(|attribute| attribute.prefix == "xml") {
            if is_11 && attribute.local == "base" {
                return Err(CanonicalError::InheritedBase);
            }
            if is_11 && attribute.local == "id" {
                continue;
            }
            // Ancestors come nearest first, so the value of the nearest one is kept.
            let is_same = |known: &Attribute| known.prefix == "xml" && known.local == attribute.local;
            let is_known =
                apex.attributes.iter().any(is_same) || inherited.iter().any(|known| is_same(known));
            if !is_known {
                inherited.push(attribute);
            }
        }
        Ok(inherited)
    }
}

/// The state of writing one canonical form.
struct Writer<'a> {
    options: &'a Canonicalizer<'a>,
    document: &'a Document,
    /// Namespace declarations of the document in scope, inner ones last.
    in_scope: Vec<(&'a str, &'a str)>,
    /// Namespace declarations written so far that are in scope, inner ones last.
    rendered: Vec<(&'a str, &'a str)>,
    out: String,
}

/// Returns the URI of a prefix; for an undeclared default namespace it is empty.
fn look_up<'a>(scope: &[(&'a str, &'a str)], prefix: &str) -> Option<&'a str> {
    let found = scope.iter().rev().find(|(known, _)| *known == prefix);
    match found {
        Some((_, uri)) => Some(uri),
        None => prefix.is_empty().then_some(""),
    }
}

impl<'a> Writer<'a> {
    fn enter_scope(&mut self, element: &'a Element) {
        let declarations = element.declarations.iter();
        self.in_scope
            .extend(declarations.map(|(prefix, uri)| (prefix.as_str(), uri.as_str())));
    }

    /// The prefixes whose declarations this element must show, unless they are shown already.
    fn needed_prefixes(&self, element: &'a Element) -> Vec<&'a str> {
        let mut prefixes: Vec<&str> = match self.options.algorithm {
            Algorithm::Exclusive => {
                let of_attributes = element
                    .attributes
                    .iter()
                    .map(|attribute| attribute.prefix.as_str());
                let mut used: Vec<&str> = of_attributes.filter(|prefix| !prefix.is_empty()).collect();
                used.push(&element.prefix);
                used.extend(self.options.prefix_list.iter().copied());
                used
            }
            _ => {
                let mut all: Vec<&str> = self.in_scope.iter().map(|(prefix, _)| *prefix).collect();
                all.push("");
                all
            }
        };
        prefixes.retain(|prefix| *prefix != "xml");
        prefixes.sort_unstable();
        prefixes.dedup();
        prefixes
    }

    fn write_element(&mut self, id: ElementId, inherited: Vec<&'a Attribute>) -> Result<(), CanonicalError> {
        let element = self.document.element(id);
        let (scope_before, rendered_before) = (self.in_scope.len(), self.rendered.len());
        self.enter_scope(element);
        self.write_start_tag(element, inherited);
        if self.out.len() > MAX_BYTES {
            return Err(CanonicalError::TooLarge);
        }
        for child in &element.children {
            match child {
                Child::Element(child) if self.options.without == Some(*child) => {}
                Child::Element(child) => self.write_element(*child, Vec::new())?,
                Child::Text(text) => self.write_text(text),
                Child::Comment(text) if self.options.with_comments => {
                    self.out.push_str("<!--");
                    self.out.push_str(text);
                    self.out.push_str("-->");
                }
                Child::Comment(_) => {}
            }
        }
        self.out.push_str("</");
        self.write_name(&element.prefix, &element.local);
        self.out.push('>');
        // Declarations count only inside of the element that has them.
        self.in_scope.truncate(scope_before);
        self.rendered.truncate(rendered_before);
        Ok(())
    }

    fn write_start_tag(&mut self, element: &'a Element, inherited: Vec<&'a Attribute>) {
        self.out.push('<');
        self.write_name(&element.prefix, &element.local);
        for prefix in self.needed_prefixes(element) {
            let Some(uri) = look_up(&self.in_scope, prefix) else {
                continue; // A prefix of the list that the document does not declare here.
            };
            // This writes `xmlns=""` too, where an ancestor in the output has a default namespace that must end here.
            if look_up(&self.rendered, prefix) != Some(uri) {
                self.write_declaration(prefix, uri);
                self.rendered.push((prefix, uri));
            }
        }
        // By namespace first, so that attributes without one come first.
        let mut attributes: Vec<&Attribute> = element.attributes.iter().chain(inherited).collect();
        attributes.sort_by_key(|attribute| (&*attribute.namespace, attribute.local.as_str()));
        for attribute in attributes {
            self.out.push(' ');
            self.write_name(&attribute.prefix, &attribute.local);
            self.out.push_str("=\"");
            self.write_attribute_value(&attribute.value);
            self.out.push('"');
        }
        self.out.push('>');
    }

    fn write_name(&mut self, prefix: &str, local: &str) {
        if !prefix.is_empty() {
            self.out.push_str(prefix);
            self.out.push(':');
        }
        self.out.push_str(local);
    }

    fn write_declaration(&mut self, prefix: &str, uri: &str) {
        self.out.push_str(" xmlns");
        if !prefix.is_empty() {
            self.out.push(':');
            self.out.push_str(prefix);
        }
        self.out.push_str("=\"");
        self.write_attribute_value(uri);
        self.out.push('"');
    }

    fn write_text(&mut self, text: &str) {
        for c in text.chars() {
            // A carriage return is written as a reference, because parsers would read it back as a line feed.
            match c {
                '&' => self.out.push_str("&amp;"),
                '<' => self.out.push_str("&lt;"),
                '>' => self.out.push_str("&gt;"),
                '\r' => self.out.push_str("&#xD;"),
                _ => self.out.push(c),
            }
        }
    }

    fn write_attribute_value(&mut self, value: &str) {
        for c in value.chars() {
            // Tabs and line breaks are written as references, because parsers would read them back as spaces.
            match c {
                '&' => self.out.push_str("&amp;"),
                '<' => self.out.push_str("&lt;"),
                '"' => self.out.push_str("&quot;"),
                '\t' => self.out.push_str("&#x9;"),
                '\n' => self.out.push_str("&#xA;"),
                '\r' => self.out.push_str("&#xD;"),
                _ => self.out.push(c),
            }
        }
    }
}
