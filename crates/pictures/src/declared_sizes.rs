//! The sizes that the parts of a GIF or WebP declare for themselves, next to the one of the whole picture. Decoders make room for
//! a part before they compare its size with that of the picture, so a picture of one pixel can cost as much as the largest one.

use image::ImageFormat;

use crate::error::ContradictorySizes;

/// Bytes in front of the blocks of a GIF: signature, size, flags, background and aspect.
const GIF_HEAD_BYTES: usize = 13;
/// Bytes of an image descriptor of a GIF behind its first one: left, top, width, height, flags.
const GIF_DESCRIPTOR_BYTES: usize = 9;
/// Bytes in front of the chunks of a WebP: `RIFF`, a length, `WEBP`.
const WEBP_HEAD_BYTES: usize = 12;
/// Bytes in front of the frame of an animated WebP: left, top, width, height, duration, flags.
const WEBP_FRAME_HEAD_BYTES: usize = 16;

/// Pixels of the largest part of a GIF or WebP; 0 for other formats, which have one size only.
///
/// # Errors
/// For a WebP whose parts contradict each other or are cut off. Of a GIF what can be read is looked at.
pub fn find_largest_part(source: &[u8], format: ImageFormat) -> Result<u64, ContradictorySizes> {
    match format {
        ImageFormat::Gif => Ok(find_largest_gif_frame(source).1),
        ImageFormat::WebP => check_webp_sizes(source),
        _ => Ok(0),
    }
}

/// Goes through the blocks of a GIF until one is cut off; returns where it stopped, and the pixels of the largest frame.
fn find_largest_gif_frame(source: &[u8]) -> (usize, u64) {
    let mut largest = 0;
    let mut at = GIF_HEAD_BYTES + color_table_bytes(source.get(10).copied());
    loop {
        match source.get(at) {
            // An extension: its label, and then its data.
            Some(0x21) => at += 2,
            Some(0x2c) => {
                let Some(descriptor) = source.get(at + 1..at + 1 + GIF_DESCRIPTOR_BYTES) else {
                    return (at, largest);
                };
                let edge = |low: usize| descriptor.get(low..low + 2).map_or(0, read_little_endian);
                largest = largest.max(edge(4) * edge(6));
                // One byte more, the size of the codes, is in front of the data.
                at += 1 + GIF_DESCRIPTOR_BYTES + color_table_bytes(descriptor.last().copied()) + 1;
            }
            _ => return (at, largest),
        }
        // Data comes in blocks of up to 255 bytes, each behind its length; the last one is empty.
        loop {
            match source.get(at) {
                None => return (at, largest),
                Some(0) => {
                    at += 1;
                    break;
                }
                Some(length) => at += 1 + usize::from(*length),
            }
        }
    }
}

/// Bytes of the colour table that these flags announce.
fn color_table_bytes(flags: Option<u8>) -> usize {
    match flags {
        Some(flags) if flags & 0x80 != 0 => 3 << ((flags & 7) + 1),
        _ => 0,
    }
}

/// Checks that the pictures inside of a WebP have the size of the canvas, and those of an animation the size of their frame, as
/// decoders demand it; returns the pixels of the largest.
fn check_webp_sizes(source: &[u8]) -> Result<u64, ContradictorySizes> {
    let (mut canvas, mut largest) = (None, 0);
    for chunk in (RiffChunks {
        rest: source.get(WEBP_HEAD_BYTES..).unwrap_or_default(),
    }) {
        let (kind, data) = chunk?;
        let declared = match kind {
            b"VP8X" => {
                canvas = Some(read_canvas(data).ok_or(ContradictorySizes)?);
                continue;
            }
            b"ANMF" => {
                largest = largest.max(check_webp_frame(data)?);
                continue;
            }
            b"VP8 " | b"VP8L" => read_bitstream_size(kind, data).ok_or(ContradictorySizes)?,
            _ => continue,
        };
        if canvas.is_some_and(|canvas| canvas != declared) {
            return Err(ContradictorySizes);
        }
        largest = largest.max(declared.0 * declared.1);
    }
    Ok(largest)
}

/// Checks the pictures in a frame of an animation; returns the frame's pixels.
fn check_webp_frame(frame: &[u8]) -> Result<u64, ContradictorySizes> {
    let edge = |low: usize| frame.get(low..low + 3).map(|bytes| read_little_endian(bytes) + 1);
    let size = edge(6).zip(edge(9)).ok_or(ContradictorySizes)?;
    for chunk in (RiffChunks {
        rest: frame.get(WEBP_FRAME_HEAD_BYTES..).unwrap_or_default(),
    }) {
        let (kind, data) = chunk?;
        if matches!(kind, b"VP8 " | b"VP8L") && read_bitstream_size(kind, data) != Some(size) {
            return Err(ContradictorySizes);
        }
    }
    Ok(size.0 * size.1)
}

/// Width and height of the canvas of an extended WebP.
fn read_canvas(data: &[u8]) -> Option<(u64, u64)> {
    let edge = |low: usize| Some(read_little_endian(data.get(low..low + 3)?) + 1);
    Some((edge(4)?, edge(7)?))
}

/// Width and height that a lossy or lossless picture declares.
fn read_bitstream_size(kind: &[u8; 4], data: &[u8]) -> Option<(u64, u64)> {
    if kind == b"VP8 " {
        // Behind a tag and a start code of three bytes each; the two upper bits scale the picture when it is shown.
        let edge = |low: usize| Some(read_little_endian(data.get(low..low + 2)?) & 0x3fff);
        return Some((edge(6)?, edge(8)?));
    }
    // Behind a signature of one byte: 14 bits each, one less than the edge.
    let bits = read_little_endian(data.get(1..5)?);
    Some(((bits & 0x3fff) + 1, ((bits >> 14) & 0x3fff) + 1))
}

fn read_little_endian(bytes: &[u8]) -> u64 {
    bytes
        .iter()
        .rev()
        .fold(0, |value, byte| value << 8 | u64::from(*byte))
}

/// The chunks of a RIFF file: type and data. An error for one that ends behind the file.
struct RiffChunks<'a> {
    rest: &'a [u8],
}

impl<'a> Iterator for RiffChunks<'a> {
    type Item = Result<(&'a [u8; 4], &'a [u8]), ContradictorySizes>;

    fn next(&mut self) -> Option<Self::Item> {
        let (kind, behind) = self.rest.split_first_chunk::<4>()?;
        let cut_off = || Some(Err(ContradictorySizes));
        self.rest = &[];
        let Some((length, behind)) = behind.split_first_chunk::<4>() else {
            return cut_off();
        };
        let Some((data, behind)) = usize::try_from(u32::from_le_bytes(*length))
            .ok()
            .and_then(|length| behind.split_at_checked(length))
        else {
            return cut_off();
        };
        // Data of an odd length is followed by one more byte.
        self.rest = behind.get(data.len() % 2..).unwrap_or_default();
        Some(Ok((kind, data)))
    }
}

#[cfg(test)]
mod tests {
    use image::RgbImage;

    use super::*;

    fn gif(frame: (u16, u16)) -> Vec<u8> {
        let mut bytes = b"GIF89a\x01\0\x01\0\x80\0\0\0\0\0\xff\xff\xff".to_vec();
        // An extension with two blocks of data in front of the frame.
        bytes.extend_from_slice(b"\x21\xf9\x04\0\0\0\0\0\x21\xfe\x01a\x02bc\0");
        bytes.push(0x2c);
        bytes.extend([0; 4]);
        bytes.extend(frame.0.to_le_bytes());
        bytes.extend(frame.1.to_le_bytes());
        bytes.extend_from_slice(b"\0\x02\x02\x4c\x01\0;");
        bytes
    }

    fn riff(chunks: &[(&[u8; 4], Vec<u8>)]) -> Vec<u8> {
        let mut bytes = b"RIFF\0\0\0\0WEBP".to_vec();
        for (kind, data) in chunks {
            bytes.extend_from_slice(*kind);
            bytes.extend(u32::try_from(data.len()).expect("short").to_le_bytes());
            bytes.extend(data);
            bytes.extend(vec![0; data.len() % 2]);
        }
        bytes
    }

    fn lossy(width: u16, height: u16) -> Vec<u8> {
        [
            &[0, 0, 0, 0x9d, 1, 0x2a][..],
            &width.to_le_bytes(),
            &height.to_le_bytes(),
            &[0],
        ]
        .concat()
    }

    fn canvas(width: u8, height: u8) -> Vec<u8> {
        vec![0, 0, 0, 0, width - 1, 0, 0, height - 1, 0, 0]
    }

    #[test]
    fn store_103_the_largest_frame_of_a_gif_counts() {
        let largest = |bytes: &[u8]| find_largest_part(bytes, ImageFormat::Gif).expect("readable");

        assert_eq!(largest(&gif((20_000, 30_000))), 600_000_000);
        let mut two = gif((7, 9));
        two.pop();
        two.extend_from_slice(&gif((300, 200))[35..]);
        assert_eq!(largest(&two), 60_000, "also of the second frame");
        for cut in 0..gif((5, 5)).len() {
            largest(&gif((5, 5))[..cut]);
        }
    }

    #[test]
    fn store_103_a_webp_whose_picture_has_another_size_than_its_canvas_is_invalid() {
        let largest = |chunks: &[(&[u8; 4], Vec<u8>)]| find_largest_part(&riff(chunks), ImageFormat::WebP);

        assert_eq!(largest(&[(b"VP8 ", lossy(7, 9))]), Ok(63));
        assert_eq!(
            largest(&[
                (b"VP8X", canvas(7, 9)),
                (b"ICCP", vec![1]),
                (b"VP8 ", lossy(7, 9))
            ]),
            Ok(63)
        );
        assert_eq!(
            largest(&[(b"VP8X", canvas(1, 1)), (b"VP8 ", lossy(7000, 7000))]),
            Err(ContradictorySizes)
        );
        let frame = |inside: Vec<u8>| {
            let head = [vec![0; 6], vec![6, 0, 0, 8, 0, 0], vec![0; 4]].concat();
            [head, riff(&[(b"VP8 ", inside)])[12..].to_vec()].concat()
        };
        assert_eq!(
            largest(&[(b"VP8X", canvas(9, 9)), (b"ANMF", frame(lossy(7, 9)))]),
            Ok(63)
        );
        assert_eq!(
            largest(&[(b"VP8X", canvas(9, 9)), (b"ANMF", frame(lossy(7000, 9)))]),
            Err(ContradictorySizes)
        );
        let mut cut = riff(&[(b"ICCP", vec![0; 9]), (b"VP8 ", lossy(7, 9))]);
        cut[16] = 0xff;
        cut[18] = 0xff;
        assert_eq!(
            find_largest_part(&cut, ImageFormat::WebP),
            Err(ContradictorySizes)
        );
    }

    #[test]
    fn store_103_pictures_of_the_encoders_are_accepted() {
        let mut gif = Vec::new();
        let image = image::DynamicImage::from(RgbImage::new(31, 17));
        image
            .write_to(&mut std::io::Cursor::new(&mut gif), ImageFormat::Gif)
            .expect("encodes");
        assert_eq!(find_largest_part(&gif, ImageFormat::Gif), Ok(31 * 17));
        let mut lossless = Vec::new();
        image
            .write_to(&mut std::io::Cursor::new(&mut lossless), ImageFormat::WebP)
            .expect("encodes");
        let pixels = image.to_rgb8();
        let lossy = webp::Encoder::from_rgb(&pixels, 31, 17).encode(70.0);
        for bytes in [&lossless[..], &lossy] {
            assert_eq!(find_largest_part(bytes, ImageFormat::WebP), Ok(31 * 17));
        }
    }
}
