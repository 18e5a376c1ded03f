//! Media types of `Accept` and `Content-Type`.

use std::borrow::Cow;

/// Format of an `EXPLAIN`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum PlanFormat {
    Text,
    Json,
}

/// `options=` of the plan media type: options of `EXPLAIN`, in the order in which they are written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub struct PlanOptions {
    pub analyze: bool,
    pub verbose: bool,
    pub settings: bool,
    pub buffers: bool,
    pub wal: bool,
}

impl PlanOptions {
    /// The names of the chosen options.
    pub fn names(self) -> impl Iterator<Item = &'static str> {
        [
            (self.analyze, "analyze"),
            (self.verbose, "verbose"),
            (self.settings, "settings"),
            (self.buffers, "buffers"),
            (self.wal, "wal"),
        ]
        .into_iter()
        .filter_map(|(chosen, name)| chosen.then_some(name))
    }
}

/// A media type, as far as this service gives it a meaning.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum MediaType {
    /// `*/*`.
    Any,
    Json,
    /// `application/vnd.pgrst.array+json;nulls=stripped`.
    ArrayStripped,
    /// `application/vnd.pgrst.object+json`: exactly one object.
    Object {
        /// Whether null keys are left out.
        stripped: bool,
    },
    GeoJson,
    Csv,
    Text,
    Xml,
    OpenApi,
    /// `application/x-www-form-urlencoded`.
    Form,
    /// `application/octet-stream`.
    Bytes,
    /// `application/vnd.pgrst.plan`: the `EXPLAIN` of the statement for `target`.
    Plan {
        format: PlanFormat,
        options: PlanOptions,
        target: Box<MediaType>,
    },
    /// Any other: custom handlers may render it.
    Other(String),
}

impl MediaType {
    /// Parses one media type. It never fails: what is unknown or malformed is [`MediaType::Other`].
    pub fn parse(text: &str) -> Self {
        let Some(parts) = Parts::parse(text) else {
            return Self::Other(text.to_owned());
        };
        let stripped = parts.parameter("nulls") == Some("stripped");
        match (
            parts.main.to_ascii_lowercase().as_str(),
            parts.sub.to_ascii_lowercase().as_str(),
        ) {
            ("application", "json") => Self::Json,
            ("application", "geo+json") => Self::GeoJson,
            ("text", "csv") => Self::Csv,
            ("text", "plain") => Self::Text,
            ("text", "xml") => Self::Xml,
            ("application", "openapi+json") => Self::OpenApi,
            ("application", "x-www-form-urlencoded") => Self::Form,
            ("application", "octet-stream") => Self::Bytes,
            ("application", "vnd.pgrst.plan" | "vnd.pgrst.plan+text") => parts.plan(PlanFormat::Text),
            ("application", "vnd.pgrst.plan+json") => parts.plan(PlanFormat::Json),
            ("application", "vnd.pgrst.object" | "vnd.pgrst.object+json") => Self::Object { stripped },
            ("application", "vnd.pgrst.array" | "vnd.pgrst.array+json") => {
                if stripped {
                    Self::ArrayStripped
                } else {
                    Self::Json
                }
            }
            ("*", "*") => Self::Any,
            _ => Self::Other(text.to_owned()),
        }
    }

    /// The type as text, without charset.
    pub fn mime(&self) -> String {
        match self {
            Self::Any => "*/*".to_owned(),
            Self::Json => "application/json".to_owned(),
            Self::ArrayStripped => "application/vnd.pgrst.array+json;nulls=stripped".to_owned(),
            Self::Object { stripped: true } => "application/vnd.pgrst.object+json;nulls=stripped".to_owned(),
            Self::Object { stripped: false } => "application/vnd.pgrst.object+json".to_owned(),
            Self::GeoJson => "application/geo+json".to_owned(),
            Self::Csv => "text/csv".to_owned(),
            Self::Text => "text/plain".to_owned(),
            Self::Xml => "text/xml".to_owned(),
            Self::OpenApi => "application/openapi+json".to_owned(),
            Self::Form => "application/x-www-form-urlencoded".to_owned(),
            Self::Bytes => "application/octet-stream".to_owned(),
            Self::Other(text) => text.clone(),
            Self::Plan {
                format,
                options,
                target,
            } => {
                let format = if *format == PlanFormat::Json {
                    "json"
                } else {
                    "text"
                };
                let names: Vec<_> = options.names().collect();
                let options = if names.is_empty() {
                    String::new()
                } else {
                    format!("; options={}", names.join("|"))
                };
                format!(
                    "application/vnd.pgrst.plan+{format}; for=\"{}\"{options}",
                    target.mime()
                )
            }
        }
    }

    /// The `Content-Type` header for a body of this type.
    pub fn content_type(&self) -> Cow<'static, str> {
        match self {
            Self::Json => Cow::Borrowed("application/json; charset=utf-8"),
            Self::Bytes | Self::Other(_) => Cow::Owned(self.mime()),
            _ => Cow::Owned(self.mime() + "; charset=utf-8"),
        }
    }

    /// Whether the response has to be exactly one object.
    pub fn is_singular(&self) -> bool {
        matches!(self, Self::Object { .. })
    }
}

/// A media type before it is looked up: `main/sub; parameters`.
struct Parts<'a> {
    main: &'a str,
    sub: &'a str,
    parameters: Vec<(String, &'a str)>,
}

impl<'a> Parts<'a> {
    fn parse(text: &'a str) -> Option<Self> {
        let (main, rest) = text.split_once('/')?;
        let is_main = |c: char| c.is_alphanumeric() || c == '.' || c == '*';
        if main.is_empty() || !main.chars().all(is_main) {
            return None;
        }
        let end = rest
            .find(|c: char| !(is_main(c) || c == '+' || c == '-'))
            .unwrap_or(rest.len());
        if end == 0 {
            return None;
        }
        Some(Self {
            main,
            sub: &rest[..end],
            parameters: parse_parameters(&rest[end..]),
        })
    }

    fn parameter(&self, name: &str) -> Option<&'a str> {
        // Compat: if a parameter is repeated, the last value is used.
        self.parameters
            .iter()
            .rev()
            .find(|(key, _)| key == name)
            .map(|(_, value)| *value)
    }

    /// The plan media type with its options and target.
    fn plan(&self, format: PlanFormat) -> MediaType {
        let mut options = PlanOptions::default();
        for option in self.parameter("options").unwrap_or_default().split('|') {
            match option {
                "analyze" => options.analyze = true,
                "verbose" => options.verbose = true,
                "settings" => options.settings = true,
                "buffers" => options.buffers = true,
                "wal" => options.wal = true,
                _ => {}
            }
        }
        let target = MediaType::parse(self.parameter("for").unwrap_or("application/json"));
        MediaType::Plan {
            format,
            options,
            target: Box::new(target),
        }
    }
}

/// `{ ";" key "=" (value | '"' value '"') }`. Compat: the first that does not fit ends the list without an error.
fn parse_parameters(mut rest: &str) -> Vec<(String, &str)> {
    let mut found = Vec::new();
    while let Some(after) = rest.trim_start().strip_prefix(';') {
        let after = after.trim_start();
        let Some((key, value)) = after.split_once('=') else {
            break;
        };
        let key = key.trim_end();
        if key.is_empty() || !key.chars().all(|c| c.is_alphanumeric() || c == '-') {
            break;
        }
        let value = value.trim_start();
        let (value, next) = if let Some(quoted) = value.strip_prefix('"') {
            match quoted.split_once('"') {
                Some(parts) => parts,
                None => break,
            }
        } else {
            let end = value
                .find(|c: char| !(c.is_alphanumeric() || c == '|' || c == '-'))
                .unwrap_or(value.len());
            value.split_at(end)
        };
        if value.is_empty() && !next.is_empty() {
            break;
        }
        found.push((key.to_ascii_lowercase(), value));
        rest = next;
    }
    found
}

/// The media types of an `Accept` header, most wanted first: by quality, then by how specific they are (RFC 9110 §12.5.1).
pub fn parse_accept(header: Option<&str>) -> Vec<MediaType> {
    match header {
        // The two headers that nearly all clients send are recognised without parsing.
        None | Some("*/*") => vec![MediaType::Any],
        Some("application/json") => vec![MediaType::Json],
        Some(header) => {
            let mut ranked: Vec<(f64, i64, String)> = split_outside_quotes(header)
                .map(|item| {
                    // Compat: blanks have no meaning anywhere in the header, as in PostgREST.
                    let item: String = item.chars().filter(|c| *c != ' ').collect();
                    let (kept, quality) = match item.find(";q=") {
                        // Compat: a quality that is not a number is treated as 1.
                        Some(at) => {
                            let quality = item[at + 3..].split(';').next().unwrap_or_default();
                            (item[..at].to_owned(), quality.parse().unwrap_or(1.0))
                        }
                        None => (item, 1.0),
                    };
                    let specificity = kept.matches(';').count() as i64 - kept.matches('*').count() as i64;
                    (quality, specificity, kept)
                })
                .collect();
            // The sort is stable: types of the same rank stay in the client's order.
            ranked.sort_by(|a, b| b.0.total_cmp(&a.0).then(b.1.cmp(&a.1)));
            ranked
                .into_iter()
                .map(|(_, _, text)| MediaType::parse(&text))
                .collect()
        }
    }
}

/// Splits at commas, except inside of quotes: a plan type quotes its target.
fn split_outside_quotes(header: &str) -> impl Iterator<Item = &str> {
    let mut quoted = false;
    header.split(move |c| {
        if c == '"' {
            quoted = !quoted;
        }
        c == ',' && !quoted
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rest_082_accept_is_ordered_by_quality_then_specificity() {
        let accepted = parse_accept(Some("application/json;q=0.1, text/csv;q=0.9, */*;q=0.1"));

        assert_eq!(accepted, [MediaType::Csv, MediaType::Json, MediaType::Any]);
    }

    #[test]
    fn rest_119_plan_types_repeat_their_options_in_order() {
        let plan =
            MediaType::parse("application/vnd.pgrst.plan+json; for=\"text/csv\"; options=wal|analyze;");

        assert_eq!(
            plan.mime(),
            "application/vnd.pgrst.plan+json; for=\"text/csv\"; options=analyze|wal"
        );
    }

    #[test]
    fn rest_054_vendor_media_types_are_case_insensitive() {
        assert_eq!(
            MediaType::parse("ApplicatIon/vnd.PgRsT.object+json;nulls=stripped"),
            MediaType::Object { stripped: true }
        );
    }
}
