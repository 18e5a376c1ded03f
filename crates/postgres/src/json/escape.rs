//! JSON strings, as PostgreSQL's `escape_json` writes them.

/// For each byte: 0 if it is written unchanged, else the letter after the backslash, or 1 for `\u00XX`.
const ESCAPES: [u8; 256] = {
    let mut table = [0; 256];
    let mut byte = 0;
    while byte < 0x20 {
        table[byte] = 1;
        byte += 1;
    }
    table[0x08] = b'b';
    table[0x0c] = b'f';
    table[b'\n' as usize] = b'n';
    table[b'\r' as usize] = b'r';
    table[b'\t' as usize] = b't';
    table[b'"' as usize] = b'"';
    table[b'\\' as usize] = b'\\';
    table
};

/// Appends `text`, which is UTF-8, as a JSON string with its quotes.
pub(super) fn write_string(out: &mut Vec<u8>, text: &[u8]) {
    out.reserve(text.len() + 2);
    out.push(b'"');
    let mut rest = text;
    while let Some(at) = rest.iter().position(|byte| ESCAPES[usize::from(*byte)] != 0) {
        let (plain, special) = rest.split_at(at);
        out.extend_from_slice(plain);
        let Some((byte, after)) = special.split_first() else {
            break;
        };
        match ESCAPES[usize::from(*byte)] {
            1 => {
                const HEX: &[u8; 16] = b"0123456789abcdef";
                out.extend_from_slice(b"\\u00");
                out.push(HEX[usize::from(byte >> 4)]);
                out.push(HEX[usize::from(byte & 15)]);
            }
            letter => out.extend_from_slice(&[b'\\', letter]),
        }
        rest = after;
    }
    out.extend_from_slice(rest);
    out.push(b'"');
}
