//! Services of other companies that an application needs, answered on the developer's machine by `selvedge start`.
//!
//! [`identity`] stands in for identity providers (Google, GitHub, …): it shows their sign-in page with invented people
//! and speaks OAuth and OpenID Connect to the auth service as the real ones do. [`messages`] stands in for the services
//! that send text messages (Twilio, Vonage, …) and puts the messages into the inbox. In: the credentials and callback
//! URLs of the configured providers. Out: routes for the listener of the mail inbox. The auth service does not know this
//! crate: it is given another address for a provider and calls it as it would call the provider.
//!
//! Nothing here belongs in production: whoever opens the pages may sign in as anybody and reads everybody's codes.
//! `selvedge serve` never mounts it.

pub mod identity;
pub mod messages;
