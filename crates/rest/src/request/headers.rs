//! The JSON texts of `request.headers` and `request.cookies`, which SQL reads. Every request writes both, so they are
//! written without an intermediate map.

use std::borrow::Cow;
use std::collections::HashMap;

use actix_web::http::header::{COOKIE, HeaderMap};

/// `{"name":"value",…}` of all headers but cookies: names in lower case, of a repeated name the last value.
pub fn headers_json(headers: &HeaderMap) -> String {
    // Long enough for the headers of supabase-js, so that it is rarely reallocated.
    let mut out = String::with_capacity(512);
    out.push('{');
    let mut pairs = headers.iter().peekable();
    while let Some((name, value)) = pairs.next() {
        // The iterator yields the values of a repeated name one after the other, so the last has another name behind it.
        if name == COOKIE || pairs.peek().is_some_and(|(next, _)| *next == name) {
            continue;
        }
        if out.len() > 1 {
            out.push(',');
        }
        write_string(&mut out, name.as_str().as_bytes());
        out.push(':');
        write_string(&mut out, value.as_bytes());
    }
    out.push('}');
    out
}

/// `{"cookie":"value",…}` of the `Cookie` header; of a repeated name the last value.
pub fn cookies_json(headers: &HeaderMap) -> String {
    let Some(header) = headers.get(COOKIE) else {
        return "{}".to_owned();
    };
    let mut out = String::from("{");
    let pairs: Vec<(&[u8], &[u8])> = header
        .as_bytes()
        .split(|byte| *byte == b';')
        .map(<[u8]>::trim_ascii)
        .filter(|pair| !pair.is_empty())
        .map(|pair| match pair.iter().position(|byte| *byte == b'=') {
            Some(at) => (&pair[..at], &pair[at + 1..]),
            None => (pair, &pair[..0]),
        })
        .collect();
    // A later value of the same name replaces an earlier one: keys of a JSON object should be unique. Comparing each cookie
    // with each would keep a worker busy for a second with the longest header.
    let mut last: HashMap<&[u8], usize> = HashMap::with_capacity(pairs.len());
    last.extend(pairs.iter().enumerate().map(|(index, (name, _))| (*name, index)));
    for (index, (name, value)) in pairs.iter().enumerate() {
        if last[name] != index {
            continue;
        }
        if out.len() > 1 {
            out.push(',');
        }
        write_string(&mut out, name);
        out.push(':');
        write_string(&mut out, value);
    }
    out.push('}');
    out
}

/// Writes a JSON string; bytes that are not UTF-8 are replaced.
pub fn write_string(out: &mut String, bytes: &[u8]) {
    // `from_utf8` is much faster than `from_utf8_lossy`, and nearly every header is valid.
    let text = str::from_utf8(bytes).map_or_else(|_| String::from_utf8_lossy(bytes), Cow::Borrowed);
    out.push('"');
    // Nearly always nothing needs an escape. Unlike `any`, the fold has no early exit, so the compiler vectorises it.
    if text.bytes().fold(false, |found, byte| found | needs_escape(byte)) {
        write_escaped(out, &text);
    } else {
        out.push_str(&text);
    }
    out.push('"');
}

/// Whether JSON, or a careful reader of logs, needs the byte escaped.
fn needs_escape(byte: u8) -> bool {
    byte < 0x20 || byte == b'"' || byte == b'\\' || byte == 0x7f
}

/// The text with escapes; what needs none is copied in one piece.
fn write_escaped(out: &mut String, text: &str) {
    let mut start = 0;
    for (at, byte) in text.bytes().enumerate().filter(|(_, byte)| needs_escape(*byte)) {
        out.push_str(&text[start..at]);
        match byte {
            b'"' => out.push_str("\\\""),
            b'\\' => out.push_str("\\\\"),
            b'\n' => out.push_str("\\n"),
            b'\r' => out.push_str("\\r"),
            b'\t' => out.push_str("\\t"),
            _ => out.push_str(&format!("\\u{byte:04x}")),
        }
        start = at + 1;
    }
    out.push_str(&text[start..]);
}

#[cfg(test)]
mod tests {
    use super::*;
    use actix_web::http::header::{HeaderName, HeaderValue};

    #[test]
    fn rest_003_cookies_are_left_out_of_the_headers_json() {
        let mut headers = HeaderMap::new();
        headers.insert(
            HeaderName::from_static("x-a"),
            HeaderValue::from_static("say \"hi\"\\"),
        );
        headers.insert(COOKIE, HeaderValue::from_static("a=1; b=two=2"));

        assert_eq!(headers_json(&headers), r#"{"x-a":"say \"hi\"\\"}"#);
        assert_eq!(cookies_json(&headers), r#"{"a":"1","b":"two=2"}"#);
    }

    #[test]
    fn rest_003_the_last_value_of_a_repeated_cookie_counts_in_linear_time() {
        let mut headers = HeaderMap::new();
        headers.insert(COOKIE, HeaderValue::from_static("a=1; b=2; a=3"));
        assert_eq!(cookies_json(&headers), r#"{"b":"2","a":"3"}"#);

        let time = |count: usize| {
            let mut headers = HeaderMap::new();
            let cookies: Vec<String> = (0..count).map(|n| format!("{n:x}=")).collect();
            headers.insert(
                COOKIE,
                HeaderValue::from_str(&cookies.join(";")).expect("a header's value"),
            );
            let begun = std::time::Instant::now();
            assert!(cookies_json(&headers).len() > count);
            begun.elapsed()
        };
        // Comparing each with each takes 64 times as long for eight times as many. The shortest of several runs counts,
        // and on a machine that interrupts each of the first ones there are more.
        let (mut few, mut many) = (time(4_000), time(32_000));
        for round in 1..100 {
            (few, many) = (few.min(time(4_000)), many.min(time(32_000)));
            if round >= 4 && many < few * 24 {
                return;
            }
        }
        panic!("{few:?} for 4 000 cookies, {many:?} for 32 000");
    }

    #[test]
    fn rest_003_the_last_value_of_a_repeated_header_counts() {
        let mut headers = HeaderMap::new();
        for (name, value) in [("x-a", &b"1"[..]), ("x-b", b"\xff\t"), ("x-a", b"2")] {
            headers.append(
                HeaderName::from_static(name),
                HeaderValue::from_bytes(value).expect("a header's value"),
            );
        }

        let json: serde_json::Value = serde_json::from_str(&headers_json(&headers)).expect("JSON");

        assert_eq!(json, serde_json::json!({"x-a": "2", "x-b": "\u{fffd}\t"}));
    }
}
