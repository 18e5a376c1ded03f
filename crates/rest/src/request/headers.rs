//! The JSON texts behind `request.headers` and `request.cookies`, written without an intermediate map.

use actix_web::http::header::{COOKIE, HeaderMap};

/// `{"name":"value",…}`: names in lower case, the last value of a repeated name, no cookies.
pub fn headers_json(headers: &HeaderMap) -> String {
    let mut out = String::with_capacity(512);
    out.push('{');
    for name in headers.keys() {
        if name == COOKIE {
            continue;
        }
        let Some(value) = headers.get_all(name).last() else {
            continue;
        };
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

/// `{"cookie":"value",…}` of the `Cookie` header.
pub fn cookies_json(headers: &HeaderMap) -> String {
    let Some(header) = headers.get(COOKIE) else {
        return "{}".to_owned();
    };
    let mut out = String::from("{");
    let mut seen: Vec<&[u8]> = Vec::new();
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
    for (index, (name, value)) in pairs.iter().enumerate() {
        if pairs[index + 1..].iter().any(|(later, _)| later == name) {
            continue;
        }
        seen.push(name);
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

/// A JSON string; bytes that are no UTF-8 are replaced.
pub fn write_string(out: &mut String, bytes: &[u8]) {
    let text = String::from_utf8_lossy(bytes);
    out.push('"');
    let mut start = 0;
    for (at, byte) in text.bytes().enumerate() {
        let escaped: &str = match byte {
            b'"' => "\\\"",
            b'\\' => "\\\\",
            b'\n' => "\\n",
            b'\r' => "\\r",
            b'\t' => "\\t",
            0..=0x1f | 0x7f => "",
            _ => continue,
        };
        out.push_str(&text[start..at]);
        if escaped.is_empty() {
            out.push_str(&format!("\\u{byte:04x}"));
        } else {
            out.push_str(escaped);
        }
        start = at + 1;
    }
    out.push_str(&text[start..]);
    out.push('"');
}

#[cfg(test)]
mod tests {
    use super::*;
    use actix_web::http::header::{HeaderName, HeaderValue};

    #[test]
    fn rest_003_headers_become_json_without_cookies() {
        let mut headers = HeaderMap::new();
        headers.insert(
            HeaderName::from_static("x-a"),
            HeaderValue::from_static("say \"hi\"\\"),
        );
        headers.insert(COOKIE, HeaderValue::from_static("a=1; b=two=2"));

        assert_eq!(headers_json(&headers), r#"{"x-a":"say \"hi\"\\"}"#);
        assert_eq!(cookies_json(&headers), r#"{"a":"1","b":"two=2"}"#);
    }
}
