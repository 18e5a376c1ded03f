//! The plain text part of a mail of which the project wrote only the HTML.

/// A readable text of an HTML mail: tags dropped, links written out.
pub(super) fn plain_text(html: &str) -> String {
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
            "style" | "script" | "head" | "title" if !tag.starts_with('/') => {
                let close = format!("</{name}");
                rest = rest
                    .to_ascii_lowercase()
                    .find(&close)
                    .map_or("", |at| &rest[at..]);
            }
            "a" if tag.starts_with('/') => {
                if let Some(url) = link.take() {
                    out.push_str(&format!(" ( {url} )"));
                }
            }
            "a" => link = attribute(tag, "href"),
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
    while text.contains("\n\n\n") {
        text = text.replace("\n\n\n", "\n\n");
    }
    text.trim().to_owned()
}

fn push_text(text: &str, out: &mut String) {
    let decoded = unescape(text);
    let words = decoded.split_whitespace().collect::<Vec<_>>().join(" ");
    let glue =
        decoded.starts_with(char::is_whitespace) && !out.is_empty() && !out.ends_with(char::is_whitespace);
    if words.is_empty() {
        return if glue {
            out.push(' ')
        };
    }
    if glue {
        out.push(' ');
    }
    out.push_str(&words);
    if decoded.ends_with(char::is_whitespace) {
        out.push(' ');
    }
}

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

fn attribute(tag: &str, name: &str) -> Option<String> {
    let at = tag.to_ascii_lowercase().find(&format!("{name}="))? + name.len() + 1;
    let value = &tag[at..];
    let quote = value.chars().next().filter(|c| *c == '"' || *c == '\'')?;
    value[1..].split(quote).next().map(unescape)
}
