//! Metadata: reads that of an identity provider, and writes that of this service provider.

mod identity_provider;
mod service_addresses;
mod service_provider;

pub use identity_provider::{IdentityProvider, MetadataError, parse_identity_provider};
pub use service_addresses::{ServiceAddresses, parse_service_addresses};
pub use service_provider::{ServiceProvider, ServiceProviderOptions, generate_request_id};
