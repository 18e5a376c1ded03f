//! Chooses the output format of a rendered image.

use super::transform::{Format, Transform};

/// Output formats.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Output {
    /// The format of the source where we can write it, else PNG.
    Origin,
    Avif,
    Webp,
    /// Also for sources with transparency, which becomes white.
    Jpeg,
}

/// The format that the transformation names, or else one that the client accepts. WebP comes first, because encoding
/// AVIF takes many times longer.
pub(super) fn choose_output(transform: &Transform, accept: Option<&str>) -> Output {
    match transform.format {
        Some(Format::Origin) => Output::Origin,
        Some(Format::Avif) => Output::Avif,
        Some(Format::Webp) => Output::Webp,
        Some(Format::Jpeg) => Output::Jpeg,
        None if accepts_type(accept, "image/webp") => Output::Webp,
        None if accepts_type(accept, "image/avif") => Output::Avif,
        None => Output::Origin,
    }
}

/// Whether `Accept` names a type with a quality above zero. Wildcards do not count: clients send `*/*` without
/// supporting WebP or AVIF.
fn accepts_type(accept: Option<&str>, wanted: &str) -> bool {
    accept.unwrap_or_default().split(',').any(|entry| {
        let mut parts = entry.split(';').map(str::trim);
        let named = parts.next().is_some_and(|kind| kind.eq_ignore_ascii_case(wanted));
        named
            && !parts.any(|part| {
                part.strip_prefix("q=")
                    .is_some_and(|q| q.parse::<f32>().is_ok_and(|q| q <= 0.0))
            })
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn store_093_webp_is_preferred_among_accepted_formats() {
        let negotiated = |accept: &str| choose_output(&Transform::default(), Some(accept));
        for (accept, expected) in [
            ("image/avif,image/webp,image/apng,*/*;q=0.8", Output::Webp),
            ("image/webp", Output::Webp),
            ("image/avif, image/webp;q=0", Output::Avif),
            ("*/*", Output::Origin),
            ("image/*", Output::Origin),
            ("", Output::Origin),
        ] {
            assert_eq!(negotiated(accept), expected, "{accept}");
        }
    }
}
