//! Arrays: `{1,NULL,"a \"b\""}` → `[1,null,"a \"b\""]`, of any number of dimensions.

use super::kind::Kind;
use super::value::write_value;

/// Appends an array.
pub(super) fn write_array(out: &mut Vec<u8>, element: &Kind, text: &[u8]) {
    // Bounds other than from one on stand before the elements: `[0:1]={…}`. JSON does not have them.
    let start = text.iter().position(|byte| *byte == b'{').unwrap_or(text.len());
    let mut rest = text.get(start..).unwrap_or_default();
    let mut unescaped = Vec::new();
    while let Some((byte, after)) = rest.split_first() {
        rest = after;
        match byte {
            b'{' => out.push(b'['),
            b'}' => out.push(b']'),
            b',' => out.push(b','),
            b'"' => {
                unescaped.clear();
                rest = unquote(rest, &mut unescaped);
                write_value(out, element, &unescaped);
            }
            _ => {
                let whole = 1 + rest
                    .iter()
                    .position(|byte| matches!(byte, b',' | b'}'))
                    .unwrap_or(rest.len());
                let begun = text.len() - rest.len() - 1;
                let value = text.get(begun..begun + whole).unwrap_or_default();
                if value == b"NULL" {
                    out.extend_from_slice(b"null");
                } else {
                    write_value(out, element, value);
                }
                rest = text.get(begun + whole..).unwrap_or_default();
            }
        }
    }
}

/// Reads up to the closing quote, and returns what follows it.
fn unquote<'t>(mut text: &'t [u8], out: &mut Vec<u8>) -> &'t [u8] {
    while let Some((byte, after)) = text.split_first() {
        text = after;
        match byte {
            b'"' => break,
            b'\\' => {
                if let Some((escaped, after)) = text.split_first() {
                    out.push(*escaped);
                    text = after;
                }
            }
            other => out.push(*other),
        }
    }
    text
}
