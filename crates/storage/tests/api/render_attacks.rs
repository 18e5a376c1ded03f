//! Image sources that are made to exhaust memory or time.

use image::{ImageEncoder, ImageFormat};

use crate::renders::{app, encoded, put, quarters, render};
use crate::support::files_below;

/// A PNG whose header declares this size and that has no pixels.
fn hollow_png(width: u32, height: u32) -> Vec<u8> {
    let mut bytes = Vec::new();
    image::codecs::png::PngEncoder::new(&mut bytes)
        .write_image(&[0, 0, 0], 1, 1, image::ExtendedColorType::Rgb8)
        .expect("encodes");
    // IHDR begins at byte 12: type, width, height, and at byte 29 its checksum.
    bytes[16..20].copy_from_slice(&width.to_be_bytes());
    bytes[20..24].copy_from_slice(&height.to_be_bytes());
    let crc = crc32(&bytes[12..29]);
    bytes[29..33].copy_from_slice(&crc.to_be_bytes());
    bytes
}

/// The checksum of a PNG chunk.
fn crc32(bytes: &[u8]) -> u32 {
    let mut crc = u32::MAX;
    for byte in bytes {
        crc ^= u32::from(*byte);
        for _ in 0..8 {
            crc = if crc & 1 == 1 {
                (crc >> 1) ^ 0xedb8_8320
            } else {
                crc >> 1
            };
        }
    }
    !crc
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn store_093_hostile_images_are_refused_without_decoding() {
    let app = app().await;
    let jpeg = encoded(quarters(40, 40), ImageFormat::Jpeg);
    let mut scans = jpeg.clone();
    for _ in 0..500 {
        // Each of these markers starts another scan of a progressive JPEG.
        scans.extend_from_slice(&[0xff, 0xda, 0, 8]);
    }
    let mut gif = encoded(quarters(1, 1), ImageFormat::Gif);
    gif[6..10].fill(0xff);
    let huge = "The source image resolution is too large to process";
    let invalid = "The source image is invalid or unsupported for rendering";
    for (name, bytes, message) in [
        ("bomb.png", hollow_png(100_000, 100_000), huge),
        ("tall.png", hollow_png(1, 60_000_000), huge),
        ("hollow.png", hollow_png(3_000, 3_000), invalid),
        ("scans.jpg", scans, huge),
        ("bomb.gif", gif, huge),
        ("half.jpg", jpeg[..200].to_vec(), invalid),
        ("page.png", b"<html><script>alert(1)</script>".to_vec(), invalid),
        (
            "vector.png",
            b"<svg xmlns='http://www.w3.org/2000/svg'/>".to_vec(),
            invalid,
        ),
        ("empty.png", Vec::new(), invalid),
    ] {
        put(&app, &format!("pub/{name}"), "image/png", bytes).await;

        let response = render(&app, &format!("pub/{name}?width=20")).await;

        response.is(400, "400", "InvalidRequest");
        assert_eq!(response.message(), message, "{name}");
    }
    assert_eq!(files_below(&app.root().join("renders")), 0);
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn store_093_a_source_above_25_mib_is_refused() {
    let app = app().await;
    let mut bytes = encoded(quarters(40, 40), ImageFormat::Png);
    bytes.resize(25 * 1024 * 1024 + 1, 0);
    put(&app, "pub/large.png", "image/png", bytes).await;

    let response = render(&app, "pub/large.png?width=20").await;

    response.is(400, "400", "InvalidRequest");
}
