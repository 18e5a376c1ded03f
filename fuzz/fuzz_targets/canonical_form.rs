//! The canonical form of a canonical form is itself: what was signed means the same when it is parsed once more, which is how
//! claims are read.
#![no_main]

use libfuzzer_sys::fuzz_target;
use selvedge_saml::canonical_form;

const FORMS: [&str; 6] = [
    "http://www.w3.org/2001/10/xml-exc-c14n#",
    "http://www.w3.org/2001/10/xml-exc-c14n#WithComments",
    "http://www.w3.org/TR/2001/REC-xml-c14n-20010315",
    "http://www.w3.org/TR/2001/REC-xml-c14n-20010315#WithComments",
    "http://www.w3.org/2006/12/xml-c14n11",
    "http://www.w3.org/2006/12/xml-c14n11#WithComments",
];

// The input is the number of a form, then lines: the name of the element, prefixes to treat inclusively, and the document.
fuzz_target!(|input: &[u8]| {
    let Some((form, rest)) = input.split_first() else {
        return;
    };
    let Ok(text) = std::str::from_utf8(rest) else {
        return;
    };
    let mut lines = text.splitn(3, '\n');
    let (Some(local), Some(prefixes), Some(document)) = (lines.next(), lines.next(), lines.next()) else {
        return;
    };
    let uri = FORMS[usize::from(*form) % FORMS.len()];
    let Ok(written) = canonical_form(document.as_bytes(), local, uri, prefixes) else {
        return;
    };
    let again = canonical_form(written.as_bytes(), local, uri, prefixes);
    assert_eq!(again.as_deref(), Ok(written.as_str()), "{document}");
});
