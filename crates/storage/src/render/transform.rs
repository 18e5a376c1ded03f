//! The transformation of an image: read from a query, a signing request or a URL token, and written as a response
//! header and as token claims.

use std::fmt::Write as _;

use crate::error::StorageError;
use crate::request::json_body::Fields;
use crate::request::query::Query;

/// Width and height of the target box in pixels are clamped to this range.
const EDGE_RANGE: (i64, i64) = (1, MAX_EDGE as i64);
/// Largest width and height of a result in pixels, also where none is given: encoding takes time and memory for each pixel.
pub(super) const MAX_EDGE: u32 = 2000;
/// Allowed values of `quality`.
const QUALITY_RANGE: (i64, i64) = (20, 100);

/// Gravities with the point of the image that they keep; (0, 0) is the top left corner.
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

/// How an image is fitted into the target box.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) enum Resize {
    /// Fills the box; parts that extend beyond it are cut off.
    #[default]
    Cover,
    /// Fits into the box with unchanged proportions.
    Contain,
    /// Is stretched to the proportions of the box.
    Fill,
}

/// An output format that a request names.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Format {
    Origin,
    Avif,
    Webp,
    /// Compat: the original refuses it. Link previews need it: not every messenger shows WebP.
    Jpeg,
}

/// Which part of a cropped image is kept.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Gravity {
    /// The value as written in the request.
    word: &'static str,
    offsets: Option<(f64, f64)>,
}

impl Transform {
    /// Most pixels of the result for a source with this many.
    pub(super) fn most_pixels(&self, of_source: u64) -> u64 {
        let edge = |edge: Option<u32>| u64::from(edge.unwrap_or(MAX_EDGE));
        of_source.min(edge(self.width) * edge(self.height))
    }
}

impl Gravity {
    /// The point that is kept: (0, 0) is the top left corner, (1, 1) the bottom right one.
    pub(crate) fn anchor(&self) -> (f64, f64) {
        match (self.word, self.offsets) {
            ("fp", Some(point)) => point,
            (word, _) => GRAVITIES
                .iter()
                .find(|(known, _)| *known == word)
                // Compat: `sm` (smart crop) is accepted; we keep the centre.
                .map_or((0.5, 0.5), |(_, anchor)| *anchor),
        }
    }

    /// Offsets from the anchor in pixels. For a focus point (`fp`) the offsets are the anchor itself.
    pub(crate) fn shift(&self) -> (f64, f64) {
        match self.word {
            "fp" | "sm" => (0.0, 0.0),
            _ => self.offsets.unwrap_or_default(),
        }
    }

    /// Whether the centre is kept: then rotating before or after cropping gives the same image.
    pub(crate) fn is_centre(&self) -> bool {
        self.anchor() == (0.5, 0.5) && self.shift() == (0.0, 0.0)
    }
}

/// A validated transformation. Without width and height the image keeps its size, up to [`MAX_EDGE`].
#[derive(Debug, Clone, PartialEq, Default)]
pub(crate) struct Transform {
    pub(crate) width: Option<u32>,
    pub(crate) height: Option<u32>,
    pub(crate) resize: Resize,
    /// Whether `resize` was given; the token claim repeats only a given one.
    resize_named: bool,
    pub(crate) quality: Option<u8>,
    pub(crate) format: Option<Format>,
    pub(crate) gravity: Option<Gravity>,
}

/// A source of parameters: a query or a JSON object, which differ in the wording of errors.
trait ParameterSource {
    fn integer(&self, name: &str, minimum: i64) -> Result<Option<i64>, StorageError>;
    fn find_word<'w>(&self, name: &str, words: &[&'w str]) -> Result<Option<&'w str>, StorageError>;
    fn number(&self, name: &str) -> Result<Option<f64>, StorageError>;
    fn error(&self, what: &str) -> StorageError;
}

impl ParameterSource for Query {
    fn integer(&self, name: &str, minimum: i64) -> Result<Option<i64>, StorageError> {
        Query::integer(self, name, minimum)
    }

    fn find_word<'w>(&self, name: &str, words: &[&'w str]) -> Result<Option<&'w str>, StorageError> {
        self.one_of(name, words)
    }

    fn number(&self, name: &str) -> Result<Option<f64>, StorageError> {
        let Some(text) = self.text(name)? else {
            return Ok(None);
        };
        let number = text.parse().ok().filter(|number: &f64| number.is_finite());
        number
            .map(Some)
            .ok_or_else(|| self.error(&format!("/{name} must be number")))
    }

    fn error(&self, what: &str) -> StorageError {
        StorageError::Schema(format!("querystring{what}"))
    }
}

impl ParameterSource for Fields {
    fn integer(&self, name: &str, minimum: i64) -> Result<Option<i64>, StorageError> {
        Fields::integer(self, name, minimum)
    }

    fn find_word<'w>(&self, name: &str, words: &[&'w str]) -> Result<Option<&'w str>, StorageError> {
        self.one_of(name, words)
    }

    fn number(&self, name: &str) -> Result<Option<f64>, StorageError> {
        match self.value(name) {
            None => Ok(None),
            Some(value) => value
                .as_f64()
                .map(Some)
                .ok_or_else(|| self.error(&format!("/{name} must be number"))),
        }
    }

    fn error(&self, what: &str) -> StorageError {
        StorageError::Schema(format!("{}{what}", self.path()))
    }
}

impl Transform {
    /// Reads a query.
    ///
    /// # Errors
    /// `Schema`, which names the parameter.
    pub(crate) fn from_query(query: &Query) -> Result<Self, StorageError> {
        Self::read(query)
    }

    /// Reads the `transform` object of a signing request.
    ///
    /// # Errors
    /// `Schema`, which names the field.
    pub(crate) fn from_body(body: &Fields) -> Result<Self, StorageError> {
        Self::read(body)
    }

    fn read(source: &impl ParameterSource) -> Result<Self, StorageError> {
        let edge = |name| -> Result<Option<u32>, StorageError> {
            // Compat: 0 counts as absent, and larger values than the maximum are reduced to it instead of refused.
            let edge = source.integer(name, 0)?.filter(|edge| *edge > 0);
            Ok(edge.and_then(|edge| edge.clamp(EDGE_RANGE.0, EDGE_RANGE.1).try_into().ok()))
        };
        let (width, height) = (edge("width")?, edge("height")?);
        let resize = match source.find_word("resize", &["cover", "contain", "fill"])? {
            Some("contain") => Some(Resize::Contain),
            Some("fill") => Some(Resize::Fill),
            Some(_) => Some(Resize::Cover),
            None => None,
        };
        let quality = source.integer("quality", QUALITY_RANGE.0)?;
        if quality.is_some_and(|quality| quality > QUALITY_RANGE.1) {
            return Err(source.error(&format!("/quality must be <= {}", QUALITY_RANGE.1)));
        }
        let format = match source.find_word("format", &["origin", "avif", "webp", "jpeg"])? {
            Some("origin") => Some(Format::Origin),
            Some("avif") => Some(Format::Avif),
            Some("jpeg") => Some(Format::Jpeg),
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
            gravity: Self::read_gravity(source)?,
        })
    }

    fn read_gravity(source: &impl ParameterSource) -> Result<Option<Gravity>, StorageError> {
        let word = source.find_word("gravity", &GRAVITY_WORDS)?;
        let (x, y) = (source.number("x_offset")?, source.number("y_offset")?);
        let Some(word) = word else { return Ok(None) };
        let offsets = match (x, y) {
            (None, None) => None,
            (x, y) => Some((x.unwrap_or_default(), y.unwrap_or_default())),
        };
        if word == "fp" {
            for (name, offset) in [("x_offset", x), ("y_offset", y)] {
                let Some(offset) = offset else {
                    return Err(source.error(&format!(" must have required property '{name}'")));
                };
                if !(0.0..=1.0).contains(&offset) {
                    let limit = if offset < 0.0 { ">= 0" } else { "<= 1" };
                    return Err(source.error(&format!("/{name} must be {limit}")));
                }
            }
        }
        Ok(Some(Gravity { word, offsets }))
    }

    /// WebP that fits into a box of this size in pixels; with `crops` it fills the box.
    pub(super) fn in_box(width: u32, height: u32, crops: bool) -> Self {
        Self {
            width: Some(width),
            height: Some(height),
            resize: if crops { Resize::Cover } else { Resize::Contain },
            resize_named: true,
            format: Some(Format::Webp),
            ..Self::default()
        }
    }

    /// Whether the transformation requests another image than the object itself. `format: origin` alone does not.
    pub(crate) fn changes_image(&self) -> bool {
        let unchanged = Self {
            format: self.format.filter(|format| *format == Format::Origin),
            ..Self::default()
        };
        *self != unchanged
    }

    /// Whether the image is fitted into a box.
    pub(crate) fn has_box(&self) -> bool {
        self.width.is_some() || self.height.is_some()
    }

    /// `X-Transformations`; `None` without any parameter. Compat: resizing types have the names of the original's
    /// renderer.
    pub(crate) fn header(&self) -> Option<String> {
        let resizing = match self.resize {
            Resize::Cover => "fill",
            Resize::Contain => "fit",
            Resize::Fill => "force",
        };
        let text = self.format_parameters(self.has_box().then_some(("resizing_type", resizing)));
        (!text.is_empty()).then_some(text)
    }

    /// The claim `transformations` of a URL token.
    pub(crate) fn claim(&self) -> String {
        let resize = match self.resize {
            Resize::Cover => "cover",
            Resize::Contain => "contain",
            Resize::Fill => "fill",
        };
        self.format_parameters(self.resize_named.then_some(("resize", resize)))
    }

    /// `name:value` pairs joined by commas, in the original's order.
    fn format_parameters(&self, resize: Option<(&str, &str)>) -> String {
        let mut text = String::new();
        let mut push = |name: &str, value: &dyn std::fmt::Display| {
            let comma = if text.is_empty() { "" } else { "," };
            // Writing to a `String` cannot fail.
            let _ = write!(text, "{comma}{name}:{value}");
        };
        if let Some(height) = self.height {
            push("height", &height);
        }
        if let Some(width) = self.width {
            push("width", &width);
        }
        if let Some((name, word)) = resize {
            push(name, &word);
        }
        if let Some(quality) = self.quality {
            push("quality", &quality);
        }
        match self.format {
            Some(Format::Avif) => push("format", &"avif"),
            Some(Format::Webp) => push("format", &"webp"),
            Some(Format::Jpeg) => push("format", &"jpeg"),
            Some(Format::Origin) | None => {}
        }
        if let Some(gravity) = &self.gravity {
            match gravity.offsets {
                Some((x, y)) => push("gravity", &format!("{}:{x}:{y}", gravity.word)),
                None => push("gravity", &gravity.word),
            }
        }
        text
    }

    /// Reads the claims `transformations` and `format` of a URL token. Unreadable parts are ignored: the token is
    /// signed, so they come from another version of the service and not from a caller.
    pub(crate) fn from_claims(transformations: &str, format: Option<&str>) -> Self {
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
            Format::Jpeg => "jpeg",
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn query(text: &str) -> Result<Transform, StorageError> {
        Transform::from_query(&Query::parse(text))
    }

    #[test]
    fn store_093_x_transformations_lists_the_parameters() {
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
    fn store_093_errors_name_the_invalid_parameter() {
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
    fn store_094_transformation_claims_survive_a_round_trip() {
        for text in [
            "",
            "width=16&height=9&resize=fill&quality=70",
            "height=9&resize=cover",
            "format=origin",
            "format=avif&gravity=sowe",
            "width=3&gravity=fp&x_offset=0.1&y_offset=0.9",
        ] {
            let transform = query(text).expect(text);
            let read = Transform::from_claims(&transform.claim(), transform.format_claim());
            assert_eq!(read, transform, "{text}");
        }
        assert!(!Transform::from_claims("nonsense,width:x", Some("gif")).changes_image());
        assert!(!query("format=origin").expect("valid").changes_image());
    }
}
