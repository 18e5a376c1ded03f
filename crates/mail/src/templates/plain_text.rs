//! Derives a mail's plain text from the project's HTML.
//!
//! This is not an HTML parser: it handles the tags that mails use and drops all others. People read the result and no
//! program interprets it, so a misread tag only makes it less readable.

/// Converts the HTML of a mail to readable text: tags are dropped, and the URL of a link follows its text.
pub(super) fn convert_to_plain_text(html: &str) -> String {
    let mut out = String::new();
    let mut rest = html;
    let mut link = None;
    while let Some(start) = rest.find('<') {
        push_text(&rest[..start], &mut out);
        let tag_and_rest = &rest[start..];
        let Some(end) = tag_and_rest.find('>') else { break };
        let tag = &tag_and_rest[1..end];
        let name = tag
            .trim_start_matches('/')
            .split(|c: char| !c.is_ascii_alphanumeric())
            .next()
            .unwrap_or("")
            .to_ascii_lowercase();
        rest = &tag_and_rest[end + 1..];
        match name.as_str() {
            // The content of these elements is not shown in HTML either, so it is skipped up to the closing tag.
            "style" | "script" | "head" | "title" if !tag.starts_with('/') => {
                let close = format!("</{name}");
                rest = rest
                    // Lowercasing ASCII keeps byte positions, so the position found is valid in the original.
                    .to_ascii_lowercase()
                    .find(&close)
                    .map_or("", |at| &rest[at..]);
            }
            "a" if tag.starts_with('/') => {
                // The spaces keep the parentheses out of the URL when a mail program turns it into a link.
                if let Some(url) = link.take() {
                    out.push_str(&format!(" ( {url} )"));
                }
            }
            "a" => link = read_attribute(tag, "href"),
            "p" | "div" | "h1" | "h2" | "h3" | "tr" | "li" | "table" if tag.starts_with('/') => {
                out.push_str("\n\n")
            }
            "br" => out.push('\n'),
            _ => {}
        }
    }
    push_text(rest, &mut out);
    let lines: Vec<&str> = out.lines().map(str::trim).collect();
    let mut text = lines.join("\n");
    // Nested blocks each add an empty line; more than one in a row is reduced to one.
    while text.contains("\n\n\n") {
        text = text.replace("\n\n\n", "\n\n");
    }
    text.trim().to_owned()
}

/// Appends the text between two tags. Runs of whitespace become one space, as in a browser.
fn push_text(text: &str, out: &mut String) {
    let decoded = unescape(text);
    let words = decoded.split_whitespace().collect::<Vec<_>>().join(" ");
    let needs_space =
        decoded.starts_with(char::is_whitespace) && !out.is_empty() && !out.ends_with(char::is_whitespace);
    if words.is_empty() {
        return if needs_space {
            out.push(' ')
        };
    }
    if needs_space {
        out.push(' ');
    }
    out.push_str(&words);
    if decoded.ends_with(char::is_whitespace) {
        out.push(' ');
    }
}

/// Decodes the entities that templates and mail editors write. `&amp;` comes last: decoded first, `&amp;lt;`
/// would become `<`.
fn unescape(text: &str) -> String {
    [
        ("&nbsp;", " "),
        ("&lt;", "<"),
        ("&gt;", ">"),
        ("&quot;", "\""),
        ("&#34;", "\""),
        ("&#39;", "'"),
        ("&amp;", "&"),
    ]
    .iter()
    .fold(text.to_owned(), |text, (entity, plain)| {
        text.replace(entity, plain)
    })
}

/// Reads a quoted attribute of a tag; `None` when it is missing or not quoted.
fn read_attribute(tag: &str, name: &str) -> Option<String> {
    let at = tag.to_ascii_lowercase().find(&format!("{name}="))? + name.len() + 1;
    let value = &tag[at..];
    let quote = value.chars().next().filter(|c| *c == '"' || *c == '\'')?;
    value[1..].split(quote).next().map(unescape)
}
