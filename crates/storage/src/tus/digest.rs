//! The MD5 of an upload, kept across requests: its internal state is stored with the row, so that nothing is read again
//! to compute the entity tag.

use md5::Md5;
use md5::digest::common::hazmat::SerializableState;

/// The digest's state in hex, for the row.
pub(super) fn serialize_md5(digest: &Md5) -> String {
    hex::encode(digest.serialize())
}

/// The digest that continues from a stored state. A new upload has an empty state, which gives a fresh digest.
pub(super) fn restore_md5(state: &str) -> Md5 {
    let bytes = hex::decode(state).unwrap_or_default();
    bytes
        .as_slice()
        .try_into()
        .ok()
        .and_then(|state| Md5::deserialize(state).ok())
        .unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use md5::Digest;

    use super::*;

    #[test]
    fn a_restored_digest_continues_where_it_was_stored() {
        let mut digest = restore_md5("");
        digest.update(b"hello ");

        let mut resumed = restore_md5(&serialize_md5(&digest));
        resumed.update(b"world");

        assert_eq!(
            hex::encode(resumed.finalize()),
            "5eb63bbbe01eeed093cb22bb8f5acdc3"
        );
    }
}
