//! Corrects the checksums of a PNG's chunks, so that pictures whose checksums alone are wrong can be rendered, as
//! browsers and other renderers show them.

/// The first bytes of every PNG.
const SIGNATURE: &[u8] = b"\x89PNG\r\n\x1a\n";
/// Bytes of a chunk's length and of its type, before its data.
const HEAD_BYTES: usize = 8;
/// Bytes of the checksum behind the data.
const CHECKSUM_BYTES: usize = 4;

/// Writes the right checksum behind every chunk of a PNG. Other files, and what follows a chunk that ends behind the
/// file, stay as they are. The decoder would refuse the whole picture for one wrong checksum and has no setting against
/// it.
pub(super) fn correct_png_checksums(source: &mut [u8]) {
    if !source.starts_with(SIGNATURE) {
        return;
    }
    let mut rest = &mut source[SIGNATURE.len()..];
    while let Some(length) = rest.first_chunk::<4>() {
        let end = usize::try_from(u32::from_be_bytes(*length))
            .ok()
            .and_then(|length| length.checked_add(HEAD_BYTES))
            .filter(|end| rest.len().saturating_sub(CHECKSUM_BYTES) >= *end);
        let Some(end) = end else { return };
        let (chunk, behind) = rest.split_at_mut(end);
        let (checksum, next) = behind.split_at_mut(CHECKSUM_BYTES);
        // The checksum covers type and data, but not the length.
        checksum.copy_from_slice(&crc32fast::hash(&chunk[4..]).to_be_bytes());
        rest = next;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn chunk(kind: &[u8; 4], data: &[u8], checksum: u32) -> Vec<u8> {
        let length = u32::try_from(data.len()).expect("short").to_be_bytes();
        [&length, kind.as_slice(), data, &checksum.to_be_bytes()].concat()
    }

    #[test]
    fn store_093_wrong_checksums_become_right_ones() {
        // CRC-32 of the bytes "IEND", as the specification of PNG gives it.
        let right = [SIGNATURE, &chunk(b"IEND", b"", 0xae42_6082)].concat();
        let mut wrong = [SIGNATURE, &chunk(b"IEND", b"", 1)].concat();

        correct_png_checksums(&mut wrong);

        assert_eq!(wrong, right);
    }

    #[test]
    fn store_093_cut_and_foreign_files_stay_as_they_are() {
        let cut = [SIGNATURE, b"\x00\x00\x00\x09IDATdata\0\0\0\0"].concat();
        let huge = [SIGNATURE, b"\xff\xff\xff\xffIDATdata\0\0\0\0"].concat();
        for original in [
            cut,
            huge,
            SIGNATURE.to_vec(),
            b"GIF89a\0\0\0\0IEND\0\0\0\0".to_vec(),
            Vec::new(),
        ] {
            let mut bytes = original.clone();
            correct_png_checksums(&mut bytes);
            assert_eq!(bytes, original);
        }
    }
}
