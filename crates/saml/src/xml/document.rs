//! The tree of a parsed document. Elements are stored in one list and refer to each other by their index, so that an element
//! has a reference to its parent, which canonical forms need.

use std::sync::Arc;

/// Place of an element in its document.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct ElementId(pub(crate) usize);

/// One attribute that is not a namespace declaration. The value has its references replaced.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Attribute {
    pub(crate) prefix: String,
    pub(crate) local: String,
    /// Empty for an attribute without a prefix.
    pub(crate) namespace: Arc<str>,
    pub(crate) value: String,
}

/// The content between the tags of an element, in document order.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Child {
    /// An element.
    Element(ElementId),
    /// Text with its references replaced; CDATA sections are text.
    Text(String),
    /// A comment without its delimiters.
    Comment(String),
}

/// One element.
#[derive(Debug, Clone)]
pub(crate) struct Element {
    pub(crate) prefix: String,
    pub(crate) local: String,
    pub(crate) namespace: Arc<str>,
    pub(crate) attributes: Vec<Attribute>,
    /// Namespace declarations of this element: prefix (empty for the default namespace) and URI.
    pub(crate) declarations: Vec<(String, String)>,
    pub(crate) parent: Option<ElementId>,
    pub(crate) children: Vec<Child>,
}

/// A parsed document. It has one root, which is its first element.
#[derive(Debug, Clone)]
pub(crate) struct Document {
    pub(crate) elements: Vec<Element>,
}

impl Document {
    /// The outermost element.
    pub(crate) fn root(&self) -> ElementId {
        ElementId(0)
    }

    pub(crate) fn element(&self, id: ElementId) -> &Element {
        &self.elements[id.0]
    }

    /// All elements in the order of their start tags.
    pub(crate) fn ids(&self) -> impl Iterator<Item = ElementId> + use<> {
        (0..self.elements.len()).map(ElementId)
    }

    /// Whether the element has this namespace and local name.
    pub(crate) fn is(&self, id: ElementId, (namespace, local): (&str, &str)) -> bool {
        let element = self.element(id);
        element.local == local && *element.namespace == *namespace
    }

    /// The child elements, in order.
    pub(crate) fn child_elements(&self, id: ElementId) -> impl Iterator<Item = ElementId> {
        self.element(id).children.iter().filter_map(|child| match child {
            Child::Element(id) => Some(*id),
            _ => None,
        })
    }

    /// The child elements of this name, in order.
    pub(crate) fn children_named<'a>(
        &'a self,
        id: ElementId,
        name: (&'a str, &'a str),
    ) -> impl Iterator<Item = ElementId> + 'a {
        self.child_elements(id).filter(move |child| self.is(*child, name))
    }

    /// The first child element of this name.
    pub(crate) fn child<'a>(&'a self, id: ElementId, name: (&'a str, &'a str)) -> Option<ElementId> {
        self.children_named(id, name).next()
    }

    /// Returns the only child element of this name; `None` when there is none or more than one, because with two it would be
    /// undefined which one is meant.
    pub(crate) fn only_child<'a>(&'a self, id: ElementId, name: (&'a str, &'a str)) -> Option<ElementId> {
        let mut found = self.children_named(id, name);
        found.next().filter(|_| found.next().is_none())
    }

    /// The value of the attribute without a prefix that has this name.
    pub(crate) fn attribute(&self, id: ElementId, name: &str) -> Option<&str> {
        let attributes = &self.element(id).attributes;
        let found = attributes
            .iter()
            .find(|attribute| attribute.namespace.is_empty() && attribute.local == name);
        found.map(|attribute| attribute.value.as_str())
    }

    /// The text directly inside the element. Comments do not end it, so that a comment in the middle of a name cannot
    /// cut the name short; text of inner elements is left out.
    pub(crate) fn text(&self, id: ElementId) -> String {
        let children = &self.element(id).children;
        children
            .iter()
            .filter_map(|child| match child {
                Child::Text(text) => Some(text.as_str()),
                _ => None,
            })
            .collect()
    }
}
