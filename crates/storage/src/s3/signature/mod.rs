//! AWS signature V4: the signer of a request, and what the signature covers of its body.
//!
//! The signature is in the Authorization header or in the query of a presigned URL ([`presented`], [`verify`]); forms
//! contain it in their fields ([`form_policy`]). Proxies may change the host and remove a path prefix, so what the client may
//! have signed is tried as it was sent and under the configured address ([`canonical`]).

mod canonical;
mod credentials;
mod form_policy;
#[cfg(fuzzing)]
pub(crate) mod fuzzing;
mod key;
mod payload;
mod presented;
mod verify;

pub(super) use form_policy::{FormFields, verify_form};
pub(super) use payload::{ChunkSignatureChain, EMPTY_SHA256, SignedPayload};
pub(super) use verify::verify_request;
