//! Reads the `entityID` of a SAML metadata document, for the administration of SSO providers. Sign-in by SAML is not
//! supported.

use quick_xml::Reader;
use quick_xml::events::Event;

/// Reads the `entityID` of a document that describes exactly one identity provider (`IDPSSODescriptor`).
///
/// # Errors
/// The message for the client. A document with a DTD is rejected, because entities can make a parser read files or use
/// up memory.
pub(crate) fn read_entity_id(xml: &str) -> Result<String, &'static str> {
    const NOT_XML: &str = "SAML Metadata is not well-formed XML";
    let mut reader = Reader::from_str(xml);
    let mut entity_id = None;
    let mut descriptors = 0;
    loop {
        match reader.read_event().map_err(|_| NOT_XML)? {
            Event::DocType(_) => return Err("SAML Metadata must not contain a DTD"),
            Event::Start(element) | Event::Empty(element) => match element.local_name().as_ref() {
                // Prefixes differ between products (`md:`, none), so only the local name is compared.
                b"EntityDescriptor" if entity_id.is_none() => {
                    let attribute = element.try_get_attribute("entityID").map_err(|_| NOT_XML)?;
                    let value = attribute.map(|attribute| attribute.value.into_owned());
                    let value = value
                        .and_then(|value| String::from_utf8(value).ok())
                        .unwrap_or_default();
                    entity_id = Some(
                        quick_xml::escape::unescape(&value)
                            .map_err(|_| NOT_XML)?
                            .into_owned(),
                    );
                }
                b"IDPSSODescriptor" => descriptors += 1,
                _ => {}
            },
            Event::Eof => break,
            _ => {}
        }
    }
    match (entity_id.filter(|id| !id.is_empty()), descriptors) {
        (None, _) => Err("SAML Metadata does not contain an EntityID"),
        (_, 0) => Err("SAML Metadata does not contain any IDPSSODescriptor"),
        (Some(id), 1) => Ok(id),
        _ => Err("SAML Metadata contains multiple IDPSSODescriptors"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn entity_id_is_read_from_documents_with_one_identity_provider() {
        let idp = "<md:IDPSSODescriptor/>";
        let document = |inner: &str| {
            format!(
                "<md:EntityDescriptor xmlns:md=\"urn:x\" entityID=\"https://idp.example/a&amp;b\">{inner}</md:EntityDescriptor>"
            )
        };
        assert_eq!(
            read_entity_id(&document(idp)).as_deref(),
            Ok("https://idp.example/a&b")
        );
        assert!(read_entity_id(&document("")).is_err());
        assert!(read_entity_id(&document(&idp.repeat(2))).is_err());
        assert!(
            read_entity_id("<x/>").is_err()
                && read_entity_id("nonsense").is_err()
                && read_entity_id("<a><b></a>").is_err()
        );
        let with_dtd = format!(
            "<!DOCTYPE x [<!ENTITY e SYSTEM \"file:///etc/passwd\">]>{}",
            document(idp)
        );
        assert!(read_entity_id(&with_dtd).is_err());
    }
}
