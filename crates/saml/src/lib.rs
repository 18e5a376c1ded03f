//! SAML 2.0 as a service provider: reading what identity providers write, and writing what they read.
//!
//! In: documents as bytes, keys, the time. Out: what an identity provider says about a user ([`Claims`]), what its
//! metadata says about it ([`IdentityProvider`]), and the service's own metadata and requests ([`ServiceProvider`]). Left
//! to others: HTTP, the database, which assertions were used already, and what an attribute means for an account.
//!
//! The documents come from strangers. A response goes through these steps, of which each has its own type:
//!
//! ```text
//! xml          bytes → a document without DTD, processing instructions, repeated ids; small and shallow
//! response     → one assertion, signatures only where they belong
//! signature    → the canonical bytes that one of the provider's keys has signed
//! response     → those bytes parsed again; issuer, time, audience, request; claims
//! ```
//!
//! Only the supported part of XML signatures is read at all: one reference, by id, to the element around the signature,
//! with the enveloped transform and one canonical form.

mod base64_text;
mod crypto;
mod encryption;
mod metadata;
mod names;
mod response;
mod signature;
mod time;
mod xml;

pub use crypto::{PrivateKey, PrivateKeyError, PublicKey};
pub use metadata::{
    IdentityProvider, MetadataError, ServiceAddresses, ServiceProvider, ServiceProviderOptions,
    generate_request_id, parse_identity_provider, parse_service_addresses,
};
pub use names::name_id_format;
pub use response::{AttributeValues, Claims, MessageError, NameId, ResponseError, UnverifiedResponse};
pub use signature::{SignatureError, SignaturePolicy, canonical_form};
pub use xml::{CanonicalError, ParseError};
