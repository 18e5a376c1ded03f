//! How many uploads a user, or an address without a user, may have begun and not finished, and how many bytes they may hold.
//!
//! The numbers are compared in the statement that records an upload or its bytes. Requests at the same time do not see each
//! other there, so a share can be exceeded by as many uploads or pieces as there are connections to the database.

use std::net::IpAddr;

use selvedge_limits::network_of;

use crate::config::StorageConfig;
use crate::identity::Identity;
use crate::url_token::UploadGrant;

/// Condition: another upload fits into a holder's share. Arguments: the parameters with the holder, which may be null, the most
/// uploads and the most bytes, null for no limit.
macro_rules! within_share {
    ($holder:literal, $uploads:literal, $bytes:literal) => {
        concat!(
            "(",
            $holder,
            "::text is null or (select coalesce(count(*) < ",
            $uploads,
            "::bigint, true) and coalesce(coalesce(sum(held.bytes), 0) < ",
            $bytes,
            "::bigint, true) from storage.unfinished_uploads as held where held.holder = ",
            $holder,
            "::text))"
        )
    };
}
pub(crate) use within_share;

/// The bytes that a holder's unfinished uploads take. Parameter: the holder.
pub(crate) const HELD_BYTES: &str = "select coalesce(sum(held.bytes), 0)::bigint as bytes \
     from storage.unfinished_uploads as held where held.holder = $1";

/// In whose share an upload counts, as the column `holder` has it; `None` for the service, which has no share.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Holder(pub(crate) Option<String>);

impl Holder {
    /// The holder of what this caller begins from this address. Anybody becomes an anonymous user any number of times, so they
    /// count by their address like callers without a user.
    pub(crate) fn of_caller(identity: &Identity, client: IpAddr) -> Self {
        if identity.is_service() {
            return Self(None);
        }
        match identity.subject() {
            Some(subject) if !identity.is_anonymous_user() => Self::user(subject),
            _ => Self::address(client),
        }
    }

    /// The holder of what the bearer of an upload token begins: the user who made the token, if one did. Tokens of an anonymous
    /// user count by the bearer's address, so that they are no way around the share of that address.
    pub(crate) fn of_token(grant: &UploadGrant, client: IpAddr) -> Self {
        match &grant.owner {
            Some(id) if !grant.is_anonymous => Self::user(id),
            _ => Self::address(client),
        }
    }

    fn user(id: &str) -> Self {
        Self(Some(format!("user {id}")))
    }

    fn address(client: IpAddr) -> Self {
        Self(Some(format!("address {}", network_of(client))))
    }
}

/// What one holder may have.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Share {
    /// Most unfinished uploads; `None` for no limit.
    pub(crate) uploads: Option<u64>,
    /// Most bytes of all of them; `None` for no limit.
    pub(crate) bytes: Option<u64>,
}

impl Share {
    /// The share that the settings give.
    pub(crate) fn from_config(config: &StorageConfig) -> Self {
        Self {
            uploads: config.unfinished_uploads,
            bytes: config.unfinished_upload_bytes,
        }
    }

    /// Whether uploads that hold this many bytes are within the share.
    pub(crate) fn has_room_for(self, held_bytes: u64) -> bool {
        self.bytes.is_none_or(|most| held_bytes <= most)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn store_101_an_ipv6_client_has_one_share_for_its_network() {
        let grant = UploadGrant {
            owner: None,
            is_anonymous: false,
            upsert: false,
        };
        let holder = |text: &str| Holder::of_token(&grant, text.parse().expect("an address"));

        assert_eq!(holder("2001:db8::1"), holder("2001:db8::ffff:2"));
        assert_ne!(holder("2001:db8::1"), holder("2001:db8:0:1::1"));
        assert_eq!(holder("::ffff:192.0.2.1"), holder("192.0.2.1"));
        assert_eq!(holder("192.0.2.1"), Holder(Some("address 192.0.2.1".to_owned())));
    }
}
