//! The part of Go's `html/template` that mail templates of Supabase projects use.
//!
//! [`Template::parse`] turns the text into a tree; rendering walks the tree with a JSON object as `.`.
//! Supported are `{{ .A.b }}`, `{{ if }} … {{ else if }} … {{ else }} … {{ end }}`, `{{ with }}`, comments,
//! trim markers, string and number literals, parentheses, pipelines, and the functions of
//! `eval::call_function`. Missing values render as nothing.

use serde_json::Value;

mod context;
mod escape;
mod eval;
mod parse;

/// How values are escaped for the place where they are written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Escape {
    /// HTML: by the place where a value stands, as text, attribute, address, style or script.
    Html,
    /// Plain text: nothing is escaped.
    None,
}

/// Why a template could not be parsed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("template line {line}: {reason}")]
pub struct TemplateError {
    /// Line of the action, counted from 1.
    pub line: usize,
    /// What is wrong with the template.
    pub reason: String,
}

/// A parsed template.
#[derive(Debug, Clone, PartialEq)]
pub struct Template {
    nodes: Vec<Node>,
}

#[derive(Debug, Clone, PartialEq)]
enum Node {
    Text(String),
    Output(Pipeline),
    If {
        condition: Pipeline,
        then: Vec<Node>,
        otherwise: Vec<Node>,
    },
    With {
        value: Pipeline,
        then: Vec<Node>,
        otherwise: Vec<Node>,
    },
}

/// Commands from left to right; each result is the last argument of the next.
type Pipeline = Vec<Command>;

#[derive(Debug, Clone, PartialEq)]
struct Command {
    terms: Vec<Term>,
}

#[derive(Debug, Clone, PartialEq)]
enum Term {
    /// `.A.b`, resolved from the current `.`.
    Field(Vec<String>),
    /// `$.A.b`, resolved from the whole data.
    Root(Vec<String>),
    Literal(Value),
    Function(String),
    Group(Pipeline),
}

impl Template {
    /// Parses the text of a template.
    ///
    /// # Errors
    /// [`TemplateError`] with the line of the first action that is malformed or not supported.
    pub fn parse(text: &str) -> Result<Self, TemplateError> {
        parse::parse_template(text)
    }

    /// Renders the template with `data`.
    #[must_use]
    pub fn render(&self, data: &Value, escape: Escape) -> String {
        let mut out = eval::Output::new(escape);
        eval::render_nodes(&self.nodes, data, data, &mut out);
        out.finish()
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn html(text: &str, data: &Value) -> String {
        Template::parse(text)
            .expect("template parses")
            .render(data, Escape::Html)
    }

    #[test]
    fn auth_093_html_bodies_escape_field_values() {
        let data = json!({"ConfirmationURL": "https://x/verify?a=1&b=2", "Data": {"username": "<b>ana</b>"}});

        let out = html(
            r#"<a href="{{ .ConfirmationURL }}">{{.Data.username}}</a>"#,
            &data,
        );

        assert_eq!(
            out,
            r#"<a href="https://x/verify?a=1&amp;b=2">&lt;b&gt;ana&lt;/b&gt;</a>"#
        );
    }

    #[test]
    fn auth_093_subjects_are_not_escaped() {
        let subject = Template::parse("{{ .Data.name }} & you").expect("template parses");

        assert_eq!(
            subject.render(&json!({"Data": {"name": "O'Hara"}}), Escape::None),
            "O'Hara & you"
        );
    }

    #[test]
    fn conditions_functions_and_pipelines_work() {
        let data = json!({"Data": {"lang": "de", "n": 2}, "Email": "a@b.c"});
        let cases = [
            (
                r#"{{ if eq .Data.lang "de" }}hallo{{ else }}hello{{ end }}"#,
                "hallo",
            ),
            (r#"{{ if eq .Data.lang "fr" "de" }}1{{ end }}"#, "1"),
            (
                r#"{{if ne .Data.lang "de"}}a{{else if .Email}}b{{else}}c{{end}}"#,
                "b",
            ),
            (r#"{{ if and .Email (not .Data.missing) }}yes{{ end }}"#, "yes"),
            (r#"{{ .Data.lang | printf "%s-%s" "x" }}"#, "x-de"),
            (r#"{{ with .Data }}{{ .lang }}{{ $.Email }}{{ end }}"#, "dea@b.c"),
            (r#"{{ index .Data "lang" }}"#, "de"),
            (r#"{{ or .Data.nickname .Email }}"#, "a@b.c"),
            (r"a  {{- /* gone */ -}}  b", "ab"),
            (r"{{ .Nothing.at.all }}|{{ .Data.n }}", "|2"),
            (r#"{{ if gt .Data.n 1 }}many{{ end }}"#, "many"),
            ("{{ urlquery .Email }}", "a%40b.c"),
        ];
        for (template, expected) in cases {
            assert_eq!(html(template, &data), expected, "{template}");
        }
    }

    #[test]
    fn malformed_templates_report_the_line_of_the_error() {
        for (text, line) in [
            ("a\n{{ if .X }}", 2),
            ("{{ end }}", 1),
            ("\n\n{{ .X", 3),
            ("{{ nonsense .X }}", 1),
            ("{{ \"x }}", 1),
        ] {
            assert_eq!(Template::parse(text).expect_err(text).line, line, "{text}");
        }
    }
}
