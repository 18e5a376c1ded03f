//! Arrays: `{1,NULL,"a \"b\""}` → `[1,null,"a \"b\""]`, of any number of dimensions.

/// Appends an array. `write_element` appends an element that is not null, given its text without quotes and escapes.
pub(super) fn write_array(out: &mut Vec<u8>, text: &[u8], write_element: impl Fn(&mut Vec<u8>, &[u8])) {
    // An array whose lower bound is not 1 is written `[0:1]={…}`; json_agg drops the bounds.
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
                rest = unquote_element(rest, &mut unescaped);
                write_element(out, &unescaped);
            }
            _ => {
                let whole = 1 + rest
                    .iter()
                    .position(|byte| matches!(byte, b',' | b'}'))
                    .unwrap_or(rest.len());
                let begun = text.len() - rest.len() - 1;
                let value = text.get(begun..begun + whole).unwrap_or_default();
                // Only the unquoted word is null; PostgreSQL puts the string "NULL" in quotes.
                if value == b"NULL" {
                    out.extend_from_slice(b"null");
                } else {
                    write_element(out, value);
                }
                rest = text.get(begun + whole..).unwrap_or_default();
            }
        }
    }
}

/// Appends the text up to the closing quote, without its backslashes, and returns what follows the quote.
fn unquote_element<'t>(mut text: &'t [u8], out: &mut Vec<u8>) -> &'t [u8] {
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
