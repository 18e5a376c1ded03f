//! The query string: split into parameters, decoded, and parsed by what each key means.

use std::borrow::Cow;

use percent_encoding::percent_decode;

use super::ast::{EmbedPath, Field, Filter, LogicTree, OrderTerm, SelectItem};
use super::grammar;
use super::range::RowRange;
use crate::config::RestConfig;
use crate::error::RequestError;

/// The parsed query string.
#[derive(Debug, Clone, Default)]
pub struct QueryParams {
    /// The select list; `*` by default.
    pub select: Vec<SelectItem>,
    /// Filters with the embed that they apply to, in order; all of them have to hold.
    pub filters: Vec<(EmbedPath, Filter)>,
    /// `and=` and `or=`.
    pub logic: Vec<(EmbedPath, LogicTree)>,
    /// Sort keys of each embed.
    pub orders: Vec<(EmbedPath, Vec<OrderTerm>)>,
    /// `limit` and `offset` of embeds.
    pub ranges: Vec<(EmbedPath, RowRange)>,
    /// `limit` and `offset` of the root.
    pub root_range: RowRange,
    /// Keys of the payload that are written, without duplicates.
    pub columns: Option<Vec<String>>,
    /// Conflict target of an upsert.
    pub on_conflict: Option<Vec<String>>,
    /// Keys of all filter parameters: a PUT has to name the whole primary key.
    pub filter_keys: Vec<String>,
    /// Arguments of a call by GET, in order.
    pub arguments: Vec<(String, String)>,
    /// All parameters, sorted and encoded again, for `Content-Location`.
    pub canonical: String,
}

/// A decoded `key=value`; `None` for a key without `=`.
type Pair<'a> = (Cow<'a, str>, Option<Cow<'a, str>>);

impl QueryParams {
    /// Parses a raw query string. With `arguments`, values without an operator are arguments of a call.
    ///
    /// # Errors
    /// PGRST100 for what does not parse or exceeds a limit.
    pub fn parse(raw: &str, arguments: bool, config: &RestConfig) -> Result<Self, RequestError> {
        // Checked before anything is decoded: the work must stay small for text that is refused anyway.
        if raw.len() > config.query_limit_bytes {
            return Err(limit_exceeded("query string", config.query_limit_bytes, "bytes"));
        }
        let pairs = decode_pairs(raw)?;
        if pairs.len() > config.parameter_limit {
            return Err(limit_exceeded(
                "query string",
                config.parameter_limit,
                "parameters",
            ));
        }
        let mut parsed = Self {
            canonical: canonical_query(&pairs),
            ..Self::default()
        };
        // Compat: of several parameters that do not parse, PostgREST reports them in this order of kinds.
        parsed.read_orders(&pairs)?;
        parsed.read_logic(&pairs)?;
        parsed.read_columns(&pairs)?;
        parsed.read_select(&pairs)?;
        parsed.read_filters(&pairs, arguments)?;
        parsed.read_conflict(&pairs)?;
        parsed.read_ranges(&pairs)?;
        Ok(parsed)
    }

    /// `select`, with limits on its size.
    fn read_select(&mut self, pairs: &[Pair<'_>]) -> Result<(), RequestError> {
        let text = first_value(pairs, "select").unwrap_or("*");
        self.select = grammar::parse("select parameter", text, text, grammar::select_list)?;
        // PostgreSQL would refuse it too, but only after planning a statement of that size.
        if longest_list(&self.select) > MAX_SELECTED {
            return Err(limit_exceeded(
                "select parameter",
                MAX_SELECTED,
                "items in one list",
            ));
        }
        if count_embeds(&self.select) > MAX_EMBEDS {
            return Err(limit_exceeded(
                "select parameter",
                MAX_EMBEDS,
                "embedded resources",
            ));
        }
        Ok(())
    }

    /// `columns`.
    fn read_columns(&mut self, pairs: &[Pair<'_>]) -> Result<(), RequestError> {
        if let Some(text) = first_value(pairs, "columns") {
            let mut columns = grammar::parse("columns parameter", text, text, grammar::column_list)?;
            let mut seen = std::collections::HashSet::new();
            // A duplicate would name the same column twice in INSERT, which PostgreSQL refuses.
            columns.retain(|column| seen.insert(column.clone()));
            self.columns = Some(columns);
        }
        Ok(())
    }

    /// `on_conflict`.
    fn read_conflict(&mut self, pairs: &[Pair<'_>]) -> Result<(), RequestError> {
        if let Some(text) = first_value(pairs, "on_conflict") {
            self.on_conflict = Some(grammar::parse(
                "on_conflict parameter",
                text,
                text,
                grammar::column_list,
            )?);
        }
        Ok(())
    }

    /// `order` of the root and of embeds.
    fn read_orders(&mut self, pairs: &[Pair<'_>]) -> Result<(), RequestError> {
        for (key, text) in find_with_suffix(pairs, &["order"]) {
            let (path, _) = parse_filter_key(key)?;
            let terms = grammar::parse("order", text, text, grammar::order_terms)?;
            // Compat: the first order of an embed is used.
            if !self.orders.iter().any(|(known, _)| *known == path) {
                self.orders.push((path, terms));
            }
        }
        Ok(())
    }

    /// `and` and `or` of the root and of embeds.
    fn read_logic(&mut self, pairs: &[Pair<'_>]) -> Result<(), RequestError> {
        for (key, text) in find_with_suffix(pairs, &["and", "or"]) {
            let (path, operator) = grammar::parse("logic path", key, key, grammar::logic_path)?;
            // The operator is the parameter's key; together with the value it is an expression of the grammar.
            let tree = grammar::parse(
                "logic tree",
                text,
                &format!("{operator}{text}"),
                grammar::logic_tree,
            )?;
            self.logic.push((path, tree));
        }
        Ok(())
    }

    /// Every parameter that has no other meaning: a filter, or an argument of a call.
    fn read_filters(&mut self, pairs: &[Pair<'_>], arguments: bool) -> Result<(), RequestError> {
        for (key, value) in pairs {
            // Compat: a key without `=` is ignored unless it is reserved.
            let Some(text) = value else { continue };
            if is_reserved(key) {
                continue;
            }
            self.filter_keys.push(key.to_string());
            // In a GET call, arguments and filters of the result are both plain parameters; an operator in the value
            // distinguishes filters.
            if arguments && !looks_like_operation(text) {
                let (_, field) = parse_filter_key(key)?;
                self.arguments.push((field.name, text.to_string()));
                continue;
            }
            let (path, field) = parse_filter_key(key)?;
            let (negated, operation) = grammar::parse("filter", text, text, grammar::filter_value)?;
            self.filters.push((
                path,
                Filter {
                    field,
                    negated,
                    operation,
                },
            ));
        }
        Ok(())
    }

    /// Reads `limit` and `offset` of the root and of embeds; if one is repeated, the last value is used.
    fn read_ranges(&mut self, pairs: &[Pair<'_>]) -> Result<(), RequestError> {
        let mut texts: Vec<(&str, Option<&str>, Option<&str>)> = Vec::new();
        for (key, text) in find_with_suffix(pairs, &["limit", "offset"]) {
            let (prefix, kind) = key.rsplit_once('.').unwrap_or(("", key));
            let index = texts
                .iter()
                .position(|(known, _, _)| *known == prefix)
                .unwrap_or_else(|| {
                    texts.push((prefix, None, None));
                    texts.len() - 1
                });
            let slot = if kind == "limit" {
                &mut texts[index].1
            } else {
                &mut texts[index].2
            };
            *slot = Some(text);
        }
        for (prefix, limit, offset) in texts {
            if let Some(offset) = offset.filter(|offset| RowRange::is_beyond_bigint(offset)) {
                return Err(RequestError::OffsetTooLarge(offset.to_owned()));
            }
            let range = RowRange::from_parameters(limit, offset);
            if prefix.is_empty() {
                self.root_range = range;
            } else {
                let (mut path, field) = parse_filter_key(prefix)?;
                path.push(field.name);
                self.ranges.push((path, range));
            }
        }
        Ok(())
    }
}

/// Most items in one select list. PostgreSQL's limit is 1664 columns of a result; joins and keys need some of them.
const MAX_SELECTED: usize = 1_600;

/// Most embeds in a request. Each is a join: PostgreSQL plans a hundred within a second, but three hundred take many.
const MAX_EMBEDS: usize = 100;

/// The number of embeds in a select tree.
fn count_embeds(items: &[SelectItem]) -> usize {
    let each = items.iter().map(|item| match item {
        SelectItem::Embed(embed) => 1 + count_embeds(&embed.items),
        SelectItem::Field(_) => 0,
    });
    each.sum()
}

/// The number of items in the longest list of a select tree.
fn longest_list(items: &[SelectItem]) -> usize {
    let below = items.iter().map(|item| match item {
        SelectItem::Embed(embed) => longest_list(&embed.items),
        SelectItem::Field(_) => 0,
    });
    below.max().unwrap_or(0).max(items.len())
}

/// PGRST100 for a query string that exceeds a limit.
fn limit_exceeded(what: &str, most: usize, unit: &str) -> RequestError {
    RequestError::Query {
        message: format!("failed to parse {what}"),
        details: format!("the {what} has more than {most} {unit}"),
    }
}

/// The key of a filter: the path of an embed, and the field.
fn parse_filter_key(key: &str) -> Result<(EmbedPath, Field), RequestError> {
    grammar::parse("tree path", key, key, grammar::tree_path)
}

/// Whether a value of a GET call is a filter rather than an argument. Compat: one that begins with `not.`, `in.` or `is.`
/// always is, so that it is an error if it does not parse.
fn looks_like_operation(text: &str) -> bool {
    let rest = text.strip_prefix("not.").unwrap_or(text);
    // Arguments hardly ever begin with these prefixes, so a typing error in such a value is reported as an error of
    // the filter.
    if rest.len() != text.len() || rest.starts_with("in.") || rest.starts_with("is.") {
        return true;
    }
    grammar::parse("filter", "", text, grammar::filter_value).is_ok()
}

/// Whether a key is reserved, so that it is not a filter.
fn is_reserved(key: &str) -> bool {
    matches!(key, "select" | "columns" | "on_conflict")
        || matches!(last_part(key), "order" | "limit" | "offset" | "and" | "or")
}

/// Returns the part after the last dot of a key.
fn last_part(key: &str) -> &str {
    key.rsplit('.').next().unwrap_or(key)
}

/// The value of the first parameter of this name; `None` also if it has no value.
fn first_value<'p>(pairs: &'p [Pair<'_>], key: &str) -> Option<&'p str> {
    pairs
        .iter()
        .find(|(known, _)| known == key)
        .and_then(|(_, value)| value.as_deref())
}

/// The parameters whose last part is one of `suffixes`: `comments.limit`.
fn find_with_suffix<'p>(
    pairs: &'p [Pair<'_>],
    suffixes: &'p [&str],
) -> impl Iterator<Item = (&'p str, &'p str)> + 'p {
    pairs.iter().filter_map(move |(key, value)| {
        let value = value.as_deref()?;
        suffixes
            .contains(&last_part(key))
            .then_some((key.as_ref(), value))
    })
}

/// Splits at `&` and `;`, and percent-decodes.
fn decode_pairs(raw: &str) -> Result<Vec<Pair<'_>>, RequestError> {
    let mut pairs = Vec::new();
    // Compat: one separator at the end is ignored.
    let parts = raw.strip_suffix(['&', ';']).unwrap_or(raw);
    if parts.is_empty() {
        return Ok(pairs);
    }
    for part in parts.split(['&', ';']) {
        let (key, value) = match part.split_once('=') {
            Some((key, value)) => (key, Some(value)),
            None => (part, None),
        };
        let (key, value) = (decode_part(key)?, value.map(decode_part).transpose()?);
        // PostgreSQL's text cannot hold a NUL; its error is given here, before a connection is used.
        if key.contains('\0') || value.as_ref().is_some_and(|value| value.contains('\0')) {
            return Err(RequestError::Nul);
        }
        pairs.push((key, value));
    }
    Ok(pairs)
}

/// Percent-decodes, with `+` as a blank.
pub(crate) fn decode_part(part: &str) -> Result<Cow<'_, str>, RequestError> {
    if !part.bytes().any(|byte| byte == b'+' || byte == b'%') {
        return Ok(Cow::Borrowed(part));
    }
    let spaced = part.replace('+', " ");
    let decoded = percent_decode(spaced.as_bytes())
        .decode_utf8()
        .map_err(|_| RequestError::Query {
            message: "failed to parse query string".to_owned(),
            details: format!("{part:?} is not UTF-8 after decoding"),
        })?;
    Ok(Cow::Owned(decoded.into_owned()))
}

/// All parameters sorted by key and encoded again. Compat: values of a repeated key are joined by `,`.
fn canonical_query(pairs: &[Pair<'_>]) -> String {
    let mut sorted: Vec<&Pair<'_>> = pairs.iter().collect();
    sorted.sort_by(|a, b| a.0.as_bytes().cmp(b.0.as_bytes()));
    let mut out = String::new();
    let mut previous: Option<&str> = None;
    for (key, value) in sorted {
        if previous == Some(key.as_ref()) {
            out.push(',');
        } else {
            if !out.is_empty() {
                out.push('&');
            }
            encode_bytes_into(&mut out, key);
            out.push('=');
        }
        encode_bytes_into(&mut out, value.as_deref().unwrap_or_default());
        previous = Some(key);
    }
    out
}

/// Percent-encodes a decoded text. Compat: PostgREST treats each byte of UTF-8 as a character and encodes that.
fn encode_bytes_into(out: &mut String, text: &str) {
    if text.is_ascii() {
        encode_into(out, text);
    } else {
        let misread: String = text.bytes().map(char::from).collect();
        encode_into(out, &misread);
    }
}

/// Percent-encodes everything but ASCII letters, digits and `-_.~`.
pub(crate) fn encode_into(out: &mut String, text: &str) {
    const HEX: &[u8; 16] = b"0123456789ABCDEF";
    for byte in text.bytes() {
        if byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'.' | b'~') {
            out.push(byte as char);
        } else {
            out.push('%');
            out.push(HEX[usize::from(byte >> 4)] as char);
            out.push(HEX[usize::from(byte & 15)] as char);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::request::ast::Operation;

    fn parse(raw: &str) -> QueryParams {
        QueryParams::parse(raw, false, &RestConfig::default()).unwrap()
    }

    #[test]
    fn rest_018_keys_and_values_are_percent_decoded_before_parsing() {
        let query = parse("data-%3E%3Ek=eq.a+b%2Cc&name=like.*%C3%9C*");

        assert_eq!(query.filters[0].1.field.path.len(), 1);
        assert!(
            matches!(&query.filters[0].1.operation, Operation::Quant(_, None, value) if value == "a b,c")
        );
    }

    #[test]
    fn rest_016_repeated_filters_are_all_kept() {
        let query = parse("a=gte.1&a=lte.9&comments.body=eq.x&select");

        assert_eq!(query.filters.len(), 3);
        assert_eq!(query.filters[2].0, ["comments"]);
    }

    #[test]
    fn rest_020_the_last_of_repeated_limits_counts() {
        let query = parse("limit=3&limit=2&offset=1&rel.limit=5");

        assert_eq!(
            query.root_range,
            RowRange {
                lower: 1,
                upper: Some(2)
            }
        );
        assert_eq!(
            query.ranges,
            [(
                vec!["rel".to_owned()],
                RowRange {
                    lower: 0,
                    upper: Some(4)
                }
            )]
        );
    }

    #[test]
    fn rest_064_values_without_an_operator_are_call_arguments() {
        let config = RestConfig::default();

        let query = QueryParams::parse("id=5&x=gt.2&t=1.5&select=a", true, &config).unwrap();

        assert_eq!(
            query.arguments,
            [
                ("id".to_owned(), "5".to_owned()),
                ("t".to_owned(), "1.5".to_owned())
            ]
        );
        assert_eq!(query.filters.len(), 1);
        assert!(QueryParams::parse("x=is.green", true, &config).is_err());
    }

    #[test]
    fn rest_009_content_location_has_sorted_and_joined_parameters() {
        let query = parse("select=id,name&limit=3&limit=2&id=eq.1");

        assert_eq!(query.canonical, "id=eq.1&limit=3,2&select=id%2Cname");
    }

    #[test]
    fn rest_078_too_long_or_nested_query_strings_are_refused() {
        let config = RestConfig {
            parameter_limit: 3,
            query_limit_bytes: 100,
            ..RestConfig::default()
        };

        assert!(QueryParams::parse("a=eq.1&b=eq.1&c=eq.1&d=eq.1", false, &config).is_err());
        assert!(QueryParams::parse(&"x".repeat(101), false, &config).is_err());
        assert!(QueryParams::parse("select=a(b(c", false, &RestConfig::default()).is_err());
    }
}
