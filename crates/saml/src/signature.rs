//! Enveloped XML signatures. In: an element, and the keys of its expected signer. Out: the signed bytes in canonical form.
//! Callers read only these bytes, so that nothing unsigned is used. Source: XML Signature 1.0, narrowed by SAML 2.0 Core
//! §5.4.

use ring::digest;

use crate::base64_text::decode_base64;
use crate::crypto::{PublicKey, SignatureMethod};
use crate::names::{EXCLUSIVE_C14N, SIGNATURE, SIGNATURE_NS};
use crate::xml::{Algorithm, CanonicalError, Canonicalizer, Document, ElementId, parse_document};

/// Why a signature is not accepted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum SignatureError {
    /// Parts are missing, repeated or unknown.
    #[error("the signature does not have the one shape that is accepted")]
    Shape,
    /// An algorithm that is unknown or too weak.
    #[error("the signature uses an algorithm that is not accepted")]
    Algorithm,
    /// The reference does not name the element that contains the signature.
    #[error("the signature refers to another element")]
    Reference,
    /// The digest differs, because the element was changed after signing.
    #[error("the digest of the signed element differs")]
    Digest,
    /// The signature was made with none of the keys.
    #[error("none of the provider's keys made the signature")]
    Key,
    /// The canonical form is not supported.
    #[error(transparent)]
    Canonical(#[from] CanonicalError),
}

/// Which algorithms are accepted.
#[derive(Debug, Clone, Copy, Default)]
pub struct SignaturePolicy {
    /// Whether SHA-1 is accepted. Documents with the same SHA-1 can be made at will, so only a provider that offers
    /// nothing better is a reason.
    pub allow_sha1: bool,
}

/// Prefixes of one `PrefixList`. Real ones have two or three.
const MAX_PREFIXES: usize = 32;

const fn dsig(local: &'static str) -> (&'static str, &'static str) {
    (SIGNATURE_NS, local)
}

/// The parts of a signature that verification uses.
struct SignatureParts<'a> {
    signature: ElementId,
    signed_info: ElementId,
    info_form: Canonicalizer<'a>,
    method: SignatureMethod,
    value: Vec<u8>,
    reference_form: Canonicalizer<'a>,
    digest: &'static digest::Algorithm,
    digest_value: Vec<u8>,
}

/// Verifies the signature that is a child of the element, and returns the element's canonical form without the signature.
///
/// # Errors
/// [`SignatureError`], also when there is no signature or more than one.
pub(crate) fn verify_signature(
    document: &Document,
    element: ElementId,
    keys: &[PublicKey],
    policy: SignaturePolicy,
) -> Result<String, SignatureError> {
    let parts = read_signature(document, element, policy)?;
    let signed_info = parts.info_form.write(document, parts.signed_info)?;
    // `KeyInfo` is not read, because an attacker would put their own key there. Only keys of the metadata are tried.
    let is_signed = keys
        .iter()
        .any(|key| key.is_signature_of(parts.method, signed_info.as_bytes(), &parts.value));
    if !is_signed {
        return Err(SignatureError::Key);
    }
    // The enveloped transform: the signature cannot be part of what it signs.
    let form = Canonicalizer {
        without: Some(parts.signature),
        ..parts.reference_form
    };
    let canonical = form.write(document, element)?;
    if digest::digest(parts.digest, canonical.as_bytes()).as_ref() != parts.digest_value {
        return Err(SignatureError::Digest);
    }
    Ok(canonical)
}

/// Reads the signature. Each part must be there once and nothing else may, because what is not looked at could be what
/// another reader looks at.
fn read_signature<'a>(
    document: &'a Document,
    element: ElementId,
    policy: SignaturePolicy,
) -> Result<SignatureParts<'a>, SignatureError> {
    let signature = document
        .only_child(element, SIGNATURE)
        .ok_or(SignatureError::Shape)?;
    let (required, optional) = ([dsig("SignedInfo"), dsig("SignatureValue")], [dsig("KeyInfo")]);
    let [signed_info, value] = exact_children(document, signature, required, &optional)?;
    let info_parts = [
        dsig("CanonicalizationMethod"),
        dsig("SignatureMethod"),
        dsig("Reference"),
    ];
    let [form, method, reference] = exact_children(document, signed_info, info_parts, &[])?;
    check_reference(document, element, reference)?;
    let reference_parts = [dsig("Transforms"), dsig("DigestMethod"), dsig("DigestValue")];
    let [transforms, digest_method, digest_value] =
        exact_children(document, reference, reference_parts, &[])?;
    let without_children = |id| document.child_elements(id).next().is_none();
    if !without_children(method) || !without_children(digest_method) {
        return Err(SignatureError::Shape); // `HMACOutputLength` could cut the value short.
    }
    let decode = |id| decode_base64(&document.text(id)).ok_or(SignatureError::Shape);
    Ok(SignatureParts {
        signature,
        signed_info,
        info_form: read_canonicalizer(document, form)?,
        method: read_signature_method(document, method, policy)?,
        value: decode(value)?,
        reference_form: read_transforms(document, transforms)?,
        digest: read_digest_method(document, digest_method, policy)?,
        digest_value: decode(digest_value)?,
    })
}

/// The children of these names in this order; each must be there exactly once, and of others only `optional` ones.
fn exact_children<const N: usize>(
    document: &Document,
    parent: ElementId,
    names: [(&'static str, &'static str); N],
    optional: &[(&'static str, &'static str)],
) -> Result<[ElementId; N], SignatureError> {
    let mut children = document.child_elements(parent);
    let mut found = [parent; N];
    for (place, name) in found.iter_mut().zip(names) {
        let child = children.next().filter(|child| document.is(*child, name));
        *place = child.ok_or(SignatureError::Shape)?;
    }
    let mut others = children.filter(|child| !optional.iter().any(|name| document.is(*child, *name)));
    if others.next().is_some() {
        return Err(SignatureError::Shape);
    }
    Ok(found)
}

/// The reference must name the element that contains the signature, by its attribute `ID`. That no other attribute has
/// this value is known since the document was parsed.
fn check_reference(
    document: &Document,
    element: ElementId,
    reference: ElementId,
) -> Result<(), SignatureError> {
    let uri = document.attribute(reference, "URI").unwrap_or_default();
    // An empty id would fit the reference to the whole document.
    let id = document.attribute(element, "ID").filter(|id| !id.is_empty());
    if id.is_none() || uri.strip_prefix('#') != id {
        return Err(SignatureError::Reference);
    }
    Ok(())
}

fn read_algorithm(document: &Document, id: ElementId) -> &str {
    document.attribute(id, "Algorithm").unwrap_or_default()
}

/// The canonical form of the first element with this local name, for comparison with other implementations.
///
/// # Errors
/// [`SignatureError`] when the document is refused, has no such element, or the form is unknown.
pub fn canonical_form(
    xml: &[u8],
    local: &str,
    uri: &str,
    prefix_list: &str,
) -> Result<String, SignatureError> {
    let document = parse_document(xml).map_err(|_| SignatureError::Shape)?;
    let mut ids = document.ids();
    let apex = ids
        .find(|id| document.element(*id).local == local)
        .ok_or(SignatureError::Shape)?;
    let (algorithm, with_comments) = read_form(uri)?;
    let form = Canonicalizer {
        algorithm,
        with_comments,
        prefix_list: split_prefixes(prefix_list),
        without: None,
    };
    Ok(form.write(&document, apex)?)
}

/// The canonical form of an algorithm URI, and whether it keeps comments.
fn read_form(uri: &str) -> Result<(Algorithm, bool), SignatureError> {
    if uri == "http://www.w3.org/2001/10/xml-exc-c14n#WithComments" {
        return Ok((Algorithm::Exclusive, true));
    }
    let base = uri.strip_suffix("#WithComments");
    let algorithm = match base.unwrap_or(uri) {
        EXCLUSIVE_C14N => Algorithm::Exclusive,
        "http://www.w3.org/TR/2001/REC-xml-c14n-20010315" => Algorithm::Inclusive10,
        "http://www.w3.org/2006/12/xml-c14n11" => Algorithm::Inclusive11,
        _ => return Err(SignatureError::Algorithm),
    };
    Ok((algorithm, base.is_some()))
}

/// The canonical form that `CanonicalizationMethod` or `Transform` names.
fn read_canonicalizer(document: &Document, id: ElementId) -> Result<Canonicalizer<'_>, SignatureError> {
    let (algorithm, with_comments) = read_form(read_algorithm(document, id))?;
    Ok(Canonicalizer {
        algorithm,
        with_comments,
        prefix_list: read_prefix_list(document, id, algorithm)?,
        without: None,
    })
}

/// `InclusiveNamespaces PrefixList` of the exclusive form; nothing else may stand inside.
fn read_prefix_list(
    document: &Document,
    id: ElementId,
    algorithm: Algorithm,
) -> Result<Vec<&str>, SignatureError> {
    let mut children = document.child_elements(id);
    let Some(list) = children.next() else {
        return Ok(Vec::new());
    };
    let is_list = document.is(list, (EXCLUSIVE_C14N, "InclusiveNamespaces"))
        && document.child_elements(list).next().is_none();
    if !is_list || algorithm != Algorithm::Exclusive || children.next().is_some() {
        return Err(SignatureError::Shape);
    }
    let prefixes = split_prefixes(document.attribute(list, "PrefixList").unwrap_or_default());
    // Each is looked up for each element, so a long list would cost seconds.
    if prefixes.len() > MAX_PREFIXES {
        return Err(SignatureError::Shape);
    }
    Ok(prefixes)
}

fn split_prefixes(list: &str) -> Vec<&str> {
    let prefixes = list.split_ascii_whitespace();
    prefixes
        .map(|prefix| if prefix == "#default" { "" } else { prefix })
        .collect()
}

/// The transforms: first the one that leaves the signature out, then at most one canonical form. All others, such as
/// XPath, could select something else than the element.
fn read_transforms(document: &Document, transforms: ElementId) -> Result<Canonicalizer<'_>, SignatureError> {
    const ENVELOPED: &str = "http://www.w3.org/2000/09/xmldsig#enveloped-signature";
    let all: Vec<ElementId> = document.child_elements(transforms).collect();
    if all.iter().any(|id| !document.is(*id, dsig("Transform"))) {
        return Err(SignatureError::Shape);
    }
    // Without the enveloped transform the digest would have to contain itself, so it must be there.
    let (first, form) = match all.as_slice() {
        [first] => (*first, None),
        [first, form] => (*first, Some(*form)),
        _ => return Err(SignatureError::Shape),
    };
    if read_algorithm(document, first) != ENVELOPED || document.child_elements(first).next().is_some() {
        return Err(SignatureError::Algorithm);
    }
    let default = Canonicalizer {
        algorithm: Algorithm::Inclusive10,
        with_comments: false,
        prefix_list: Vec::new(),
        without: None,
    };
    let form = form.map_or(Ok(default), |form| read_canonicalizer(document, form))?;
    // A reference `#id` means the element without its comments (XML Signature §4.4.3.3), whatever the form keeps.
    Ok(Canonicalizer {
        with_comments: false,
        ..form
    })
}

fn read_signature_method(
    document: &Document,
    id: ElementId,
    policy: SignaturePolicy,
) -> Result<SignatureMethod, SignatureError> {
    Ok(match read_algorithm(document, id) {
        "http://www.w3.org/2001/04/xmldsig-more#rsa-sha256" => SignatureMethod::RsaSha256,
        "http://www.w3.org/2001/04/xmldsig-more#rsa-sha384" => SignatureMethod::RsaSha384,
        "http://www.w3.org/2001/04/xmldsig-more#rsa-sha512" => SignatureMethod::RsaSha512,
        "http://www.w3.org/2001/04/xmldsig-more#ecdsa-sha256" => SignatureMethod::EcdsaSha256,
        "http://www.w3.org/2001/04/xmldsig-more#ecdsa-sha384" => SignatureMethod::EcdsaSha384,
        "http://www.w3.org/2000/09/xmldsig#rsa-sha1" if policy.allow_sha1 => SignatureMethod::RsaSha1,
        _ => return Err(SignatureError::Algorithm),
    })
}

fn read_digest_method(
    document: &Document,
    id: ElementId,
    policy: SignaturePolicy,
) -> Result<&'static digest::Algorithm, SignatureError> {
    Ok(match read_algorithm(document, id) {
        "http://www.w3.org/2001/04/xmlenc#sha256" => &digest::SHA256,
        "http://www.w3.org/2001/04/xmldsig-more#sha384" => &digest::SHA384,
        "http://www.w3.org/2001/04/xmlenc#sha512" => &digest::SHA512,
        "http://www.w3.org/2000/09/xmldsig#sha1" if policy.allow_sha1 => &digest::SHA1_FOR_LEGACY_USE_ONLY,
        _ => return Err(SignatureError::Algorithm),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn saml_010_a_prefix_list_is_short_and_has_no_content() {
        let read = |attributes: &str, content: &str| {
            let xml = format!(
                "<a><e:InclusiveNamespaces xmlns:e='{EXCLUSIVE_C14N}' {attributes}>{content}</e:InclusiveNamespaces></a>"
            );
            let document = parse_document(xml.as_bytes()).unwrap();
            let prefixes = read_prefix_list(&document, document.root(), Algorithm::Exclusive);
            prefixes.map(|prefixes| prefixes.len())
        };
        assert_eq!(read("PrefixList='#default xs'", ""), Ok(2));
        let long = format!("PrefixList='{}'", "p ".repeat(MAX_PREFIXES + 1));
        assert_eq!(read(&long, ""), Err(SignatureError::Shape));
        assert_eq!(read("PrefixList='xs'", "<b/>"), Err(SignatureError::Shape));
    }
}
