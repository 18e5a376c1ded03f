//! The protocol version of a socket, chosen by the query parameter `vsn`.

/// The version of the Phoenix serializer that the socket uses.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum Version {
    /// Protocol version 1.0.x: frames are JSON objects.
    V1,
    /// 2.0.x: JSON arrays, and binary frames for broadcasts.
    V2,
}

impl Version {
    /// Reads `vsn`; absent means 1.0.0. `None` unless it matches `~> 1.0.0` or `~> 2.0.0`, that is, 1.0.x or 2.0.x.
    pub(crate) fn from_vsn(vsn: Option<&str>) -> Option<Self> {
        let mut parts = vsn.unwrap_or("1.0.0").split('.');
        let (major, minor, patch) = (parts.next()?, parts.next()?, parts.next()?);
        let is_number = !patch.is_empty() && patch.bytes().all(|byte| byte.is_ascii_digit());
        match (major, minor) {
            ("1", "0") if is_number && parts.next().is_none() => Some(Self::V1),
            ("2", "0") if is_number && parts.next().is_none() => Some(Self::V2),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn realtime_054_vsn_accepts_patch_versions_of_1_0_and_2_0_only() {
        let cases = [
            (None, Some(Version::V1)),
            (Some("1.0.0"), Some(Version::V1)),
            (Some("1.0.7"), Some(Version::V1)),
            (Some("2.0.9"), Some(Version::V2)),
            (Some("2.1.0"), None),
            (Some("1.1.0"), None),
            (Some("3.0.0"), None),
            (Some("2.0"), None),
            (Some("2.0.0.0"), None),
            (Some("abc"), None),
            (Some(""), None),
        ];
        for (vsn, expected) in cases {
            assert_eq!(Version::from_vsn(vsn), expected, "{vsn:?}");
        }
    }
}
