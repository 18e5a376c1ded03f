//! What S3 has and this service has not. A request that asks for it is refused: the rest of it alone would do something else than was
//! asked for.

use crate::request::query::Query;

/// Sub-resources: without this list, `PUT ?acl` would be read as `PUT` and overwrite the object.
const SUB_RESOURCES: [&str; 32] = [
    "accelerate",
    "acl",
    "analytics",
    "attributes",
    "cors",
    "encryption",
    "intelligent-tiering",
    "inventory",
    "legal-hold",
    "lifecycle",
    "logging",
    "metadataTable",
    "metadataConfiguration",
    "metrics",
    "notification",
    "object-lock",
    "ownershipControls",
    "policy",
    "policyStatus",
    "publicAccessBlock",
    "renameObject",
    "replication",
    "requestPayment",
    "restore",
    "retention",
    "select",
    "session",
    "tagging",
    "torrent",
    "versioning",
    "website",
    "append",
];

/// Starts of names of headers, parameters and form fields: an object that is encrypted by the client's key, is kept from being deleted, or
/// grows at its end, which a plain upload would replace.
const FEATURES: [&str; 5] = [
    "x-amz-server-side-encryption-customer-",
    "x-amz-copy-source-server-side-encryption-customer-",
    "x-amz-object-lock-",
    "x-amz-bucket-object-lock-enabled",
    "x-amz-write-offset-bytes",
];

/// Whether the query names a sub-resource of this list. Some operations have one of them.
pub(super) fn names_sub_resource(query: &Query) -> bool {
    SUB_RESOURCES.iter().any(|name| query.has_key(name))
}

/// Whether a header, parameter or form field asks for such a feature. Clients also say that they do not want one.
pub(super) fn asks_for_feature(name: &str, value: &str) -> bool {
    let name = name.to_ascii_lowercase();
    let declines = ["false", "off"]
        .iter()
        .any(|word| value.trim().eq_ignore_ascii_case(word));
    !declines && FEATURES.iter().any(|feature| name.starts_with(feature))
}
