//! Where in an HTML document a value is written, and how it is escaped there, as Go's `html/template` does.
//!
//! A value of a user (a name, a nickname) must neither end its element or attribute nor become a link with a script. [`Writer`]
//! follows the text of the template character by character, as a browser's tokenizer would, and escapes each value by the
//! place that it has reached: as text, as an attribute, as an address or a part of one, or as a part of a style or a script.

use super::escape::{
    Kind, UNSAFE, encode_address, escape_html, escape_script, escape_unquoted, filter_name, filter_style,
    has_safe_scheme, kind_of,
};

/// Elements whose content is not parsed as markup.
const RAW_ELEMENTS: [&str; 4] = ["script", "style", "textarea", "title"];

/// A place in the document.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Place {
    Text,
    /// Behind `<`.
    TagStart,
    /// Behind `<!`, with the characters since.
    Declaration(String),
    /// Between `<!--` and `-->`. Holds the characters read last, by which the end is found.
    Comment(String),
    TagName,
    /// In a tag, outside of attributes.
    Tag,
    AttributeName(String),
    AfterAttributeName(String),
    /// Behind the equals sign of an attribute.
    BeforeValue(String),
    Value(AttributeValue),
    /// Within one of [`RAW_ELEMENTS`], whose text is no markup. Holds the characters read last, by which its end tag is found.
    Raw(String),
}

#[derive(Debug, Clone, PartialEq, Eq)]
struct AttributeValue {
    kind: Kind,
    /// `None` for a value without quotes.
    quote: Option<char>,
    part: AddressPart,
}

/// The part of an address that has been reached.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum AddressPart {
    /// Nothing is written yet, so that a value may name a scheme.
    Start,
    Path,
    /// Behind `?` or `#`.
    Query,
}

/// Writes the text and the values of a template.
#[derive(Debug)]
pub(super) struct Writer {
    out: String,
    place: Place,
    /// The element of the tag that is or was read last, and whether that tag ends it.
    element: String,
    is_closing: bool,
}

impl Writer {
    pub(super) fn new() -> Self {
        Self {
            out: String::new(),
            place: Place::Text,
            element: String::new(),
            is_closing: false,
        }
    }

    pub(super) fn finish(self) -> String {
        self.out
    }

    /// Writes a part of the template.
    pub(super) fn write_text(&mut self, text: &str) {
        self.out.push_str(text);
        for character in text.chars() {
            self.read(character);
        }
    }

    /// Writes a value. `is_encoded` says that the template has encoded it for a query already (`urlquery`).
    pub(super) fn write_value(&mut self, value: &str, is_encoded: bool) {
        if let Place::BeforeValue(name) = &self.place {
            self.place = Place::Value(AttributeValue {
                kind: kind_of(name),
                quote: None,
                part: AddressPart::Start,
            });
        }
        match &mut self.place {
            Place::Text | Place::Declaration(_) => escape_html(value, &mut self.out),
            Place::Comment(last) => {
                // Mail programs read some comments as markup, which may have attributes.
                let is_attribute = last.ends_with("=\"") || last.ends_with("='");
                let safe = !is_attribute || has_safe_scheme(value);
                escape_html(if safe { value } else { UNSAFE }, &mut self.out);
                last.clear();
            }
            Place::Raw(last) => {
                last.clear();
                match self.element.as_str() {
                    "script" => escape_script(value, &mut self.out),
                    "style" => self.out.push_str(filter_style(value)),
                    _ => escape_html(value, &mut self.out),
                }
            }
            Place::Value(place) => write_attribute(value, is_encoded, place, &mut self.out),
            Place::TagStart
            | Place::TagName
            | Place::Tag
            | Place::AttributeName(_)
            | Place::AfterAttributeName(_)
            | Place::BeforeValue(_) => {
                let name = filter_name(value);
                self.out.push_str(name);
                for character in name.chars() {
                    self.read(character);
                }
            }
        }
    }

    /// Moves on by one character of the template.
    fn read(&mut self, character: char) {
        let is_space = character.is_ascii_whitespace();
        let place = std::mem::replace(&mut self.place, Place::Text);
        self.place = match place {
            Place::Text if character == '<' => Place::TagStart,
            Place::Text => Place::Text,
            Place::TagStart => self.read_tag_start(character),
            Place::Declaration(begin) => read_declaration(begin, character),
            Place::Comment(last) => match keep_last(last, character, 2) {
                ended if ended == "-->" => Place::Text,
                last => Place::Comment(last),
            },
            Place::TagName if is_space || character == '/' => Place::Tag,
            Place::TagName if character != '>' => {
                self.element.push(character.to_ascii_lowercase());
                Place::TagName
            }
            Place::Value(value) => self.read_value(value, character),
            Place::Raw(last) => self.read_raw(last, character),
            Place::BeforeValue(name) if is_space => Place::BeforeValue(name),
            Place::BeforeValue(name) if character != '>' => {
                let is_quote = character == '"' || character == '\'';
                let value = AttributeValue {
                    kind: kind_of(&name),
                    quote: is_quote.then_some(character),
                    part: AddressPart::Start,
                };
                match is_quote {
                    true => Place::Value(value),
                    false => self.read_value(value, character),
                }
            }
            // What is left is in a tag, outside of values.
            _ if character == '>' => self.end_tag(),
            Place::AttributeName(name) | Place::AfterAttributeName(name) if character == '=' => {
                Place::BeforeValue(name)
            }
            _ if character == '/' => Place::Tag,
            Place::AttributeName(name) | Place::AfterAttributeName(name) if is_space => {
                Place::AfterAttributeName(name)
            }
            Place::AttributeName(mut name) => {
                name.push(character.to_ascii_lowercase());
                Place::AttributeName(name)
            }
            _ if is_space => Place::Tag,
            _ => Place::AttributeName(character.to_ascii_lowercase().to_string()),
        };
    }

    fn read_tag_start(&mut self, character: char) -> Place {
        match character {
            '!' => Place::Declaration(String::new()),
            '/' => {
                self.element.clear();
                self.is_closing = true;
                Place::TagName
            }
            '<' => Place::TagStart,
            letter if letter.is_ascii_alphabetic() => {
                self.element = letter.to_ascii_lowercase().to_string();
                self.is_closing = false;
                Place::TagName
            }
            _ => Place::Text,
        }
    }

    fn read_value(&mut self, mut value: AttributeValue, character: char) -> Place {
        match value.quote {
            Some(quote) if character == quote => return Place::Tag,
            None if character.is_ascii_whitespace() => return Place::Tag,
            None if character == '>' => return self.end_tag(),
            _ => {}
        }
        value.part = match (value.part, character) {
            (_, '?' | '#') | (AddressPart::Query, _) => AddressPart::Query,
            (AddressPart::Start, space) if space.is_ascii_whitespace() => AddressPart::Start,
            _ => AddressPart::Path,
        };
        Place::Value(value)
    }

    fn read_raw(&mut self, last: String, character: char) -> Place {
        let last = keep_last(last, character.to_ascii_lowercase(), self.element.len() + 1);
        if last.strip_prefix("</") == Some(self.element.as_str()) {
            self.is_closing = true;
            return Place::TagName;
        }
        Place::Raw(last)
    }

    fn end_tag(&self) -> Place {
        match !self.is_closing && RAW_ELEMENTS.contains(&self.element.as_str()) {
            true => Place::Raw(String::new()),
            false => Place::Text,
        }
    }
}

fn read_declaration(mut begin: String, character: char) -> Place {
    if character == '>' {
        return Place::Text;
    }
    if begin.len() < 2 {
        begin.push(character);
    }
    match begin.as_str() {
        // `<!-->` is a whole comment.
        "--" => Place::Comment("--".to_owned()),
        _ => Place::Declaration(begin),
    }
}

/// Appends a character, and keeps at most `count` of those before it.
fn keep_last(mut last: String, character: char, count: usize) -> String {
    while last.chars().count() > count {
        last.remove(0);
    }
    last.push(character);
    last
}

fn write_attribute(value: &str, is_encoded: bool, place: &mut AttributeValue, out: &mut String) {
    let mut written = String::new();
    match (place.kind, place.part) {
        (Kind::Plain, _) => written.push_str(value),
        (Kind::Style, _) => written.push_str(filter_style(value)),
        (Kind::Script, _) => escape_script(value, &mut written),
        (Kind::Address, AddressPart::Start) if !has_safe_scheme(value) => {
            written.push('#');
            written.push_str(UNSAFE);
        }
        (Kind::Address, AddressPart::Query) if is_encoded => written.push_str(value),
        (Kind::Address, part) => encode_address(value, part != AddressPart::Query, &mut written),
    }
    if place.part == AddressPart::Start && !value.is_empty() {
        place.part = AddressPart::Path;
    }
    match place.quote {
        Some(_) => escape_html(&written, out),
        None => escape_unquoted(&written, out),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn write(before: &str, value: &str, after: &str) -> String {
        let mut writer = Writer::new();
        writer.write_text(before);
        writer.write_value(value, false);
        writer.write_text(after);
        writer.finish()
    }

    #[test]
    fn auth_093_values_are_escaped_by_the_place_where_they_stand() {
        let script = "javascript:alert(1)";
        for (before, value, after, expected) in [
            ("<p>", "a<b>&\"'", "</p>", "<p>a&lt;b&gt;&amp;&#34;&#39;</p>"),
            ("<a href=\"", script, "\">", "<a href=\"#ZgotmplZ\">"),
            ("<a href = '", " javascript:x", "'>", "<a href = '#ZgotmplZ'>"),
            ("<A HREF=\"", "JAVA\tSCRIPT:x", "\">", "<A HREF=\"#ZgotmplZ\">"),
            ("<a title='>' href=", script, ">", "<a title='>' href=#ZgotmplZ>"),
            (
                "<v:rect xlink:href=\"",
                "data:text/html,x",
                "\">",
                "<v:rect xlink:href=\"#ZgotmplZ\">",
            ),
            (
                "<img data-src=\"",
                "vbscript:x",
                "\">",
                "<img data-src=\"#ZgotmplZ\">",
            ),
            (
                "<a href=\"",
                "https://x/a b?c=1&d=\"2\"",
                "\">",
                "<a href=\"https://x/a%20b?c=1&amp;d=%222%22\">",
            ),
            ("<a href=\"", "mailto:a@b.c", "\">", "<a href=\"mailto:a@b.c\">"),
            (
                "<a href=\"/people/",
                script,
                "\">",
                "<a href=\"/people/javascript:alert%281%29\">",
            ),
            (
                "<a href=\"https://x/?q=",
                "a&b=c d/é",
                "\">",
                "<a href=\"https://x/?q=a%26b%3dc%20d%2f%c3%a9\">",
            ),
            (
                "<p title=\"",
                "\" onclick=\"x",
                "\">",
                "<p title=\"&#34; onclick=&#34;x\">",
            ),
            ("<p title=", "a onclick=x", ">", "<p title=a&#32;onclick&#61;x>"),
            ("<p title=", "", " class=c>", "<p title=ZgotmplZ class=c>"),
            ("<p ", "onclick=x", ">", "<p ZgotmplZ>"),
            ("<p ", "onclick", "=\"x\">", "<p ZgotmplZ=\"x\">"),
            ("<", "script", ">x</script>", "<script>x</script>"),
            (
                "<p onclick=\"f('",
                "');g('",
                "')\">",
                "<p onclick=\"f('\\u0027\\u0029\\u003bg\\u0028\\u0027')\">",
            ),
            ("<p style=\"color: ", "red", "\">", "<p style=\"color: red\">"),
            (
                "<p style=\"color: ",
                "url(x)",
                "\">",
                "<p style=\"color: ZgotmplZ\">",
            ),
            (
                "<style>p { color: ",
                "red}",
                "</style>",
                "<style>p { color: ZgotmplZ</style>",
            ),
            (
                "<script>f(\"",
                "</script>",
                "\")</script>",
                "<script>f(\"\\u003c\\u002fscript\\u003e\")</script>",
            ),
            (
                "<title>",
                "</title><b>",
                "</title>",
                "<title>&lt;/title&gt;&lt;b&gt;</title>",
            ),
            (
                "<script></script><p>",
                script,
                "</p>",
                "<script></script><p>javascript:alert(1)</p>",
            ),
            (
                "<!-- <a href=\"x\"> ",
                "--><b>",
                " --><p>",
                "<!-- <a href=\"x\"> --&gt;&lt;b&gt; --><p>",
            ),
            (
                "<!--[if mso]><v:rect href=\"",
                script,
                "\"><![endif]-->",
                "<!--[if mso]><v:rect href=\"ZgotmplZ\"><![endif]-->",
            ),
            (
                "<!doctype html><a href=\"",
                script,
                "\">",
                "<!doctype html><a href=\"#ZgotmplZ\">",
            ),
            ("1 < 2 <a href=\"", script, "\">", "1 < 2 <a href=\"#ZgotmplZ\">"),
        ] {
            assert_eq!(
                write(before, value, after),
                expected,
                "{before}{{{{ . }}}}{after}"
            );
        }
    }

    #[test]
    fn auth_093_values_after_the_first_one_of_an_address_continue_it() {
        let mut writer = Writer::new();
        writer.write_text("<a href=\"");
        writer.write_value("https://x.example", false);
        writer.write_text("/confirm?token=");
        writer.write_value("a+b", false);
        writer.write_text("&next=");
        writer.write_value("https%3A%2F%2Fy", true);
        writer.write_text("\">");
        writer.write_value("<b>", false);

        assert_eq!(
            writer.finish(),
            "<a href=\"https://x.example/confirm?token=a%2bb&next=https%3A%2F%2Fy\">&lt;b&gt;"
        );
    }
}
