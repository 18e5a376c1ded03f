//! Metadata: what an identity provider says about itself, and what this service provider says about itself.

mod identity_provider;
mod service_addresses;
mod service_provider;

pub use identity_provider::{IdentityProvider, MetadataError, parse_identity_provider};
pub use service_addresses::{ServiceAddresses, parse_service_addresses};
pub use service_provider::{ServiceProvider, ServiceProviderOptions, generate_request_id};
