//! The parts of a page's HTML that say something about its product. A tokenizer is enough for that: it never fails, also
//! on broken HTML, and keeps no tree of the page in memory.

use std::collections::BTreeMap;

use html5gum::{DefaultEmitter, HtmlString, Token, Tokenizer};

/// Meta tags and scripts of a page.
#[derive(Debug, Default)]
pub(super) struct PageText {
    /// `property` or `name` of a meta tag in lower case, with its content. The first of several wins.
    pub(super) meta: BTreeMap<String, String>,
    /// Scripts of type `application/ld+json`.
    pub(super) json_ld: Vec<String>,
    /// All other scripts that stand in the page.
    pub(super) scripts: Vec<String>,
}

type Attributes = BTreeMap<HtmlString, html5gum::Spanned<HtmlString, ()>>;

/// The kind of script that is being read.
#[derive(Clone, Copy, PartialEq)]
enum Script {
    JsonLd,
    Other,
}

impl PageText {
    pub(super) fn read(page: &[u8]) -> Self {
        let mut found = Self::default();
        let mut script = None;
        let mut content = String::new();
        for Ok(token) in tokenize(page) {
            match token {
                Token::StartTag(tag) if *tag.name == b"meta" => found.add_meta(&tag.attributes),
                Token::StartTag(tag) if *tag.name == b"script" => {
                    script = Some(script_kind(&tag.attributes));
                    content.clear();
                }
                Token::String(text) if script.is_some() => content.push_str(&String::from_utf8_lossy(&text)),
                Token::EndTag(tag) if *tag.name == b"script" => {
                    found.add_script(script.take(), std::mem::take(&mut content));
                }
                _ => {}
            }
        }
        // A page that was cut off may end within a script.
        found.add_script(script, content);
        found
    }

    pub(super) fn meta_content(&self, name: &str) -> Option<&String> {
        self.meta.get(name)
    }

    fn add_meta(&mut self, attributes: &Attributes) {
        let name = attribute(attributes, "property").or_else(|| attribute(attributes, "name"));
        if let (Some(name), Some(content)) = (name, attribute(attributes, "content")) {
            self.meta.entry(name.to_lowercase()).or_insert(content);
        }
    }

    fn add_script(&mut self, kind: Option<Script>, content: String) {
        match kind {
            Some(Script::JsonLd) => self.json_ld.push(content),
            Some(Script::Other) if !content.trim().is_empty() => self.scripts.push(content),
            _ => {}
        }
    }
}

/// Tokens of HTML, in which the content of scripts is text.
fn tokenize(html: &[u8]) -> Tokenizer<html5gum::StringReader<'_>> {
    let mut emitter = DefaultEmitter::<()>::default();
    emitter.naively_switch_states(true);
    Tokenizer::new_with_emitter(html, emitter)
}

fn attribute(attributes: &Attributes, name: &str) -> Option<String> {
    let value = attributes.get(name.as_bytes())?;
    Some(String::from_utf8_lossy(value).into_owned())
}

fn script_kind(attributes: &Attributes) -> Script {
    match attribute(attributes, "type") {
        Some(kind) if kind.trim().eq_ignore_ascii_case("application/ld+json") => Script::JsonLd,
        _ => Script::Other,
    }
}

/// The text between the tags of a piece of HTML, as descriptions have them; entities become characters.
pub(super) fn strip_tags(html: &str) -> String {
    let mut text = String::new();
    for Ok(token) in tokenize(html.as_bytes()) {
        match token {
            Token::String(part) => text.push_str(&String::from_utf8_lossy(&part)),
            // Words of two paragraphs must not become one.
            Token::StartTag(_) | Token::EndTag(_) => text.push(' '),
            _ => {}
        }
    }
    text
}
