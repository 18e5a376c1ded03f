//! What shall be done to a picture: read from a query, a signing request or a token, and written as headers and claims.

use std::fmt::Write as _;

use crate::error::StorageError;
use crate::json_body::Fields;
use crate::query::Query;

/// Edges of a box, in pixels, are brought into this range.
const EDGE: (i64, i64) = (1, 2000);
const QUALITY: (i64, i64) = (20, 100);

const GRAVITIES: [(&str, (f64, f64)); 9] = [
    ("no", (0.5, 0.0)),
    ("so", (0.5, 1.0)),
    ("ea", (1.0, 0.5)),
    ("we", (0.0, 0.5)),
    ("noea", (1.0, 0.0)),
    ("nowe", (0.0, 0.0)),
    ("soea", (1.0, 1.0)),
    ("sowe", (0.0, 1.0)),
    ("ce", (0.5, 0.5)),
];
const GRAVITY_WORDS: [&str; 11] = [
    "no", "so", "ea", "we", "noea", "nowe", "soea", "sowe", "ce", "sm", "fp",
];

/// How a picture is brought into its box.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) enum Resize {
    /// Fills the box; what projects is cut off.
    #[default]
    Cover,
    /// Fits into the box.
    Contain,
    /// Takes the box's proportions.
    Fill,
}

/// The wanted output format, where one is named.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Format {
    Origin,
    Avif,
    Webp,
}

/// Which part of a covering picture stays.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Gravity {
    /// As it was asked for.
    word: &'static str,
    offsets: Option<(f64, f64)>,
}

impl Gravity {
    /// Where the box lies: (0, 0) is the top left corner, (1, 1) the bottom right one.
    pub(crate) fn anchor(&self) -> (f64, f64) {
        match (self.word, self.offsets) {
            ("fp", Some(point)) => point,
            (word, _) => GRAVITIES
                .iter()
                .find(|(known, _)| *known == word)
                // `sm`, the smart crop, is the centre here.
                .map_or((0.5, 0.5), |(_, anchor)| *anchor),
        }
    }

    /// Offsets from the anchor in pixels; a focus point has none.
    pub(crate) fn shift(&self) -> (f64, f64) {
        match self.word {
            "fp" | "sm" => (0.0, 0.0),
            _ => self.offsets.unwrap_or_default(),
        }
    }

    /// Whether the middle stays, so that turning the picture before or after makes no difference.
    pub(crate) fn is_centre(&self) -> bool {
        self.anchor() == (0.5, 0.5) && self.shift() == (0.0, 0.0)
    }
}

/// A checked transformation. Nothing at all keeps the picture's size.
#[derive(Debug, Clone, PartialEq, Default)]
pub(crate) struct Transform {
    pub(crate) width: Option<u32>,
    pub(crate) height: Option<u32>,
    pub(crate) resize: Resize,
    /// Whether `resize` was given.
    resize_named: bool,
    pub(crate) quality: Option<u8>,
    pub(crate) format: Option<Format>,
    pub(crate) gravity: Option<Gravity>,
}

/// Where parameters come from: a query or a JSON object, each with its own wording of errors.
trait Source {
    fn integer(&self, name: &str, minimum: i64) -> Result<Option<i64>, StorageError>;
    fn word<'w>(&self, name: &str, words: &[&'w str]) -> Result<Option<&'w str>, StorageError>;
    fn number(&self, name: &str) -> Result<Option<f64>, StorageError>;
    fn refuse(&self, what: &str) -> StorageError;
}

impl Source for Query {
    fn integer(&self, name: &str, minimum: i64) -> Result<Option<i64>, StorageError> {
        Query::integer(self, name, minimum)
    }

    fn word<'w>(&self, name: &str, words: &[&'w str]) -> Result<Option<&'w str>, StorageError> {
        self.one_of(name, words)
    }

    fn number(&self, name: &str) -> Result<Option<f64>, StorageError> {
        let Some(text) = self.text(name)? else {
            return Ok(None);
        };
        let number = text.parse().ok().filter(|number: &f64| number.is_finite());
        number
            .map(Some)
            .ok_or_else(|| self.refuse(&format!("/{name} must be number")))
    }

    fn refuse(&self, what: &str) -> StorageError {
        StorageError::Schema(format!("querystring{what}"))
    }
}

impl Source for Fields {
    fn integer(&self, name: &str, minimum: i64) -> Result<Option<i64>, StorageError> {
        Fields::integer(self, name, minimum)
    }

    fn word<'w>(&self, name: &str, words: &[&'w str]) -> Result<Option<&'w str>, StorageError> {
        self.one_of(name, words)
    }

    fn number(&self, name: &str) -> Result<Option<f64>, StorageError> {
        match self.value(name) {
            None => Ok(None),
            Some(value) => value
                .as_f64()
                .map(Some)
                .ok_or_else(|| self.refuse(&format!("/{name} must be number"))),
        }
    }

    fn refuse(&self, what: &str) -> StorageError {
        StorageError::Schema(format!("{}{what}", self.path()))
    }
}

impl Transform {
    /// Of a query.
    ///
    /// # Errors
    /// `Schema` that names the parameter.
    pub(crate) fn of_query(query: &Query) -> Result<Self, StorageError> {
        Self::read(query)
    }

    /// Of the `transform` of a signing request.
    ///
    /// # Errors
    /// `Schema` that names the field.
    pub(crate) fn of_body(body: &Fields) -> Result<Self, StorageError> {
        Self::read(body)
    }

    fn read(source: &impl Source) -> Result<Self, StorageError> {
        let edge = |name| -> Result<Option<u32>, StorageError> {
            let edge = source.integer(name, 0)?.filter(|edge| *edge > 0);
            Ok(edge.and_then(|edge| edge.clamp(EDGE.0, EDGE.1).try_into().ok()))
        };
        let (width, height) = (edge("width")?, edge("height")?);
        let resize = match source.word("resize", &["cover", "contain", "fill"])? {
            Some("contain") => Some(Resize::Contain),
            Some("fill") => Some(Resize::Fill),
            Some(_) => Some(Resize::Cover),
            None => None,
        };
        let quality = source.integer("quality", QUALITY.0)?;
        if quality.is_some_and(|quality| quality > QUALITY.1) {
            return Err(source.refuse(&format!("/quality must be <= {}", QUALITY.1)));
        }
        let format = match source.word("format", &["origin", "avif", "webp"])? {
            Some("origin") => Some(Format::Origin),
            Some("avif") => Some(Format::Avif),
            Some(_) => Some(Format::Webp),
            None => None,
        };
        Ok(Self {
            width,
            height,
            resize: resize.unwrap_or_default(),
            resize_named: resize.is_some(),
            quality: quality.and_then(|quality| quality.try_into().ok()),
            format,
            gravity: Self::gravity(source)?,
        })
    }

    fn gravity(source: &impl Source) -> Result<Option<Gravity>, StorageError> {
        let word = source.word("gravity", &GRAVITY_WORDS)?;
        let (x, y) = (source.number("x_offset")?, source.number("y_offset")?);
        let Some(word) = word else { return Ok(None) };
        let offsets = match (x, y) {
            (None, None) => None,
            (x, y) => Some((x.unwrap_or_default(), y.unwrap_or_default())),
        };
        if word == "fp" {
            for (name, offset) in [("x_offset", x), ("y_offset", y)] {
                let Some(offset) = offset else {
                    return Err(source.refuse(&format!(" must have required property '{name}'")));
                };
                if !(0.0..=1.0).contains(&offset) {
                    let limit = if offset < 0.0 { ">= 0" } else { "<= 1" };
                    return Err(source.refuse(&format!("/{name} must be {limit}")));
                }
            }
        }
        Ok(Some(Gravity { word, offsets }))
    }

    /// Whether nothing was asked for.
    pub(crate) fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    /// Whether the picture gets a box.
    pub(crate) fn has_box(&self) -> bool {
        self.width.is_some() || self.height.is_some()
    }

    /// `X-Transformations`; none when there is nothing to say. Compat: the words of the original's renderer.
    pub(crate) fn header(&self) -> Option<String> {
        let resizing = match self.resize {
            Resize::Cover => "fill",
            Resize::Contain => "fit",
            Resize::Fill => "force",
        };
        let text = self.text(self.has_box().then_some(("resizing_type", resizing)));
        (!text.is_empty()).then_some(text)
    }

    /// The claim `transformations` of a URL token.
    pub(crate) fn claim(&self) -> String {
        let resize = match self.resize {
            Resize::Cover => "cover",
            Resize::Contain => "contain",
            Resize::Fill => "fill",
        };
        self.text(self.resize_named.then_some(("resize", resize)))
    }

    fn text(&self, resize: Option<(&str, &str)>) -> String {
        let mut text = String::new();
        let mut say = |name: &str, value: &dyn std::fmt::Display| {
            let comma = if text.is_empty() { "" } else { "," };
            // Writing to a string cannot fail.
            let _ = write!(text, "{comma}{name}:{value}");
        };
        if let Some(height) = self.height {
            say("height", &height);
        }
        if let Some(width) = self.width {
            say("width", &width);
        }
        if let Some((name, word)) = resize {
            say(name, &word);
        }
        if let Some(quality) = self.quality {
            say("quality", &quality);
        }
        match self.format {
            Some(Format::Avif) => say("format", &"avif"),
            Some(Format::Webp) => say("format", &"webp"),
            Some(Format::Origin) | None => {}
        }
        if let Some(gravity) = &self.gravity {
            match gravity.offsets {
                Some((x, y)) => say("gravity", &format!("{}:{x}:{y}", gravity.word)),
                None => say("gravity", &gravity.word),
            }
        }
        text
    }

    /// Of a URL token: the claims `transformations` and `format`. What does not read is ignored: we have signed it.
    pub(crate) fn of_claims(transformations: &str, format: Option<&str>) -> Self {
        let mut pairs: Vec<(&str, String)> = Vec::new();
        for part in transformations.split(',') {
            let Some((name, value)) = part.split_once(':') else {
                continue;
            };
            match name {
                "gravity" => {
                    let mut parts = value.split(':');
                    let names = ["gravity", "x_offset", "y_offset"];
                    pairs.extend(names.into_iter().filter_map(|name| {
                        parts
                            .next()
                            .filter(|part| !part.is_empty())
                            .map(|part| (name, part.to_owned()))
                    }));
                }
                "height" | "width" | "resize" | "quality" | "format" => {
                    pairs.push((name, value.to_owned()));
                }
                _ => {}
            }
        }
        if let Some(format) = format.filter(|_| !pairs.iter().any(|(name, _)| *name == "format")) {
            pairs.push(("format", format.to_owned()));
        }
        let query = serde_urlencoded::to_string(&pairs).unwrap_or_default();
        Self::read(&Query::parse(&query)).unwrap_or_default()
    }

    /// The claim `format` of a URL token.
    pub(crate) fn format_claim(&self) -> Option<&'static str> {
        self.format.map(|format| match format {
            Format::Origin => "origin",
            Format::Avif => "avif",
            Format::Webp => "webp",
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn query(text: &str) -> Result<Transform, StorageError> {
        Transform::of_query(&Query::parse(text))
    }

    #[test]
    fn store_093_headers_name_what_is_done() {
        for (text, header) in [
            (
                "width=20&height=10",
                Some("height:10,width:20,resizing_type:fill"),
            ),
            ("width=20&resize=contain", Some("width:20,resizing_type:fit")),
            ("width=5000", Some("width:2000,resizing_type:fill")),
            (
                "height=5&resize=fill&quality=60",
                Some("height:5,resizing_type:force,quality:60"),
            ),
            ("width=0&quality=50", Some("quality:50")),
            ("resize=contain", None),
            ("format=origin", None),
            ("format=avif", Some("format:avif")),
            (
                "width=9&gravity=fp&x_offset=0.25&y_offset=1",
                Some("width:9,resizing_type:fill,gravity:fp:0.25:1"),
            ),
            ("", None),
        ] {
            assert_eq!(query(text).expect(text).header().as_deref(), header, "{text}");
        }
    }

    #[test]
    fn store_093_bad_parameters_are_named() {
        for (text, message) in [
            ("width=-1", "querystring/width must be >= 0"),
            ("width=a", "querystring/width must be integer"),
            ("width=1%0A2", "querystring/width must be integer"),
            ("height=1.5", "querystring/height must be integer"),
            ("quality=19", "querystring/quality must be >= 20"),
            ("quality=101", "querystring/quality must be <= 100"),
            (
                "resize=stretch",
                "querystring/resize must be equal to one of the allowed values",
            ),
            (
                "format=gif",
                "querystring/format must be equal to one of the allowed values",
            ),
            ("gravity=fp", "querystring must have required property 'x_offset'"),
            (
                "gravity=fp&x_offset=2&y_offset=0",
                "querystring/x_offset must be <= 1",
            ),
            (
                "gravity=up",
                "querystring/gravity must be equal to one of the allowed values",
            ),
            ("width=1&width=2", "querystring/width must be string"),
        ] {
            assert_eq!(query(text).expect_err(text).to_string(), message, "{text}");
        }
    }

    #[test]
    fn store_094_claims_come_back_as_they_went_in() {
        for text in [
            "",
            "width=16&height=9&resize=fill&quality=70",
            "height=9&resize=cover",
            "format=origin",
            "format=avif&gravity=sowe",
            "width=3&gravity=fp&x_offset=0.1&y_offset=0.9",
        ] {
            let transform = query(text).expect(text);
            let read = Transform::of_claims(&transform.claim(), transform.format_claim());
            assert_eq!(read, transform, "{text}");
        }
        assert!(Transform::of_claims("nonsense,width:x", Some("gif")).is_empty());
    }
}
