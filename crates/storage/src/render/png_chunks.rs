//! Prepares a PNG for its decoder. Checksums are corrected, so that pictures whose checksums alone are wrong can be rendered, as
//! browsers and other renderers show them. Texts and large colour profiles are removed, because the decoder would unpack them
//! whole, and a profile of 200 KB can become 200 MB.

use std::io::Read as _;

use flate2::read::ZlibDecoder;

/// The first bytes of every PNG.
const SIGNATURE: &[u8] = b"\x89PNG\r\n\x1a\n";
/// Bytes of a chunk's length and of its type, before its data.
const HEAD_BYTES: usize = 8;
/// Bytes of the checksum behind the data.
const CHECKSUM_BYTES: usize = 4;
/// Most bytes of an unpacked colour profile; real ones have up to about 2 MiB.
const MAX_PROFILE_BYTES: u64 = 4 << 20;

/// Writes the right checksum behind every chunk of a PNG, and removes chunks that hold texts or a large colour profile. Other
/// files, and what follows a chunk that ends behind the file, stay as they are. The decoder would refuse the whole picture for
/// one wrong checksum and has no setting against it.
pub(super) fn prepare_png(source: &mut Vec<u8>) {
    if !source.starts_with(SIGNATURE) {
        return;
    }
    // What was read up to `from` and is kept ends at `to`.
    let (mut from, mut to) = (SIGNATURE.len(), SIGNATURE.len());
    while let Some(end) = find_chunk_end(source, from) {
        let Some(chunk) = source.get_mut(from..end) else {
            break;
        };
        let (data, checksum) = chunk.split_at_mut(chunk.len() - CHECKSUM_BYTES);
        // The checksum covers type and data, but not the length.
        checksum.copy_from_slice(&crc32fast::hash(&data[4..]).to_be_bytes());
        if is_needed(&data[4..HEAD_BYTES], &data[HEAD_BYTES..]) {
            source.copy_within(from..end, to);
            to += end - from;
        }
        from = end;
    }
    source.copy_within(from.., to);
    source.truncate(source.len() - (from - to));
}

/// Where the chunk ends that begins at `start`; `None` if it is not in the file as a whole.
fn find_chunk_end(source: &[u8], start: usize) -> Option<usize> {
    let length = source.get(start..)?.first_chunk::<4>()?;
    let length = usize::try_from(u32::from_be_bytes(*length)).ok()?;
    let end = length
        .checked_add(HEAD_BYTES + CHECKSUM_BYTES)?
        .checked_add(start)?;
    (end <= source.len()).then_some(end)
}

/// Whether the picture needs a chunk of this type.
fn is_needed(kind: &[u8], data: &[u8]) -> bool {
    match kind {
        b"tEXt" | b"zTXt" | b"iTXt" => false,
        b"iCCP" => is_small_profile(data),
        _ => true,
    }
}

/// Whether a colour profile is small enough to be unpacked. The name in front of it ends with a zero, and the number of the
/// compression follows.
fn is_small_profile(data: &[u8]) -> bool {
    let Some(packed) = data
        .iter()
        .position(|byte| *byte == 0)
        .and_then(|end| data.get(end + 2..))
    else {
        return false;
    };
    let unpacked = ZlibDecoder::new(packed).take(MAX_PROFILE_BYTES + 1);
    let size = std::io::copy(&mut { unpacked }, &mut std::io::sink());
    size.is_ok_and(|size| size <= MAX_PROFILE_BYTES)
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

        prepare_png(&mut wrong);

        assert_eq!(wrong, right);
    }

    #[test]
    fn store_103_texts_and_large_profiles_are_removed() {
        let profile = |bytes: usize| {
            let mut packed =
                flate2::write::ZlibEncoder::new(b"icc\0\0".to_vec(), flate2::Compression::best());
            std::io::copy(&mut std::io::repeat(0).take(bytes as u64), &mut packed).expect("memory takes it");
            chunk(b"iCCP", &packed.finish().expect("packed"), 0)
        };
        let prepared = |chunks: &[Vec<u8>]| {
            let mut bytes = [SIGNATURE, &chunks.concat()].concat();
            prepare_png(&mut bytes);
            bytes
        };
        let (text, end) = (chunk(b"iTXt", b"note", 0), chunk(b"IEND", b"", 0));
        let bare = prepared(std::slice::from_ref(&end));

        for removed in [
            text.clone(),
            profile((4 << 20) + 1),
            chunk(b"iCCP", b"no end", 0),
            chunk(b"iCCP", b"n\0\0no deflate", 0),
        ] {
            assert_eq!(prepared(&[removed, text.clone(), end.clone()]), bare);
        }
        let kept = prepared(&[text, profile(3 << 20), end.clone()]);
        assert_eq!(kept, prepared(&[profile(3 << 20), end]));
        assert!(kept.len() > bare.len());
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
            prepare_png(&mut bytes);
            assert_eq!(bytes, original);
        }
    }
}
