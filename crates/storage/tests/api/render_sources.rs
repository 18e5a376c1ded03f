//! Sources that violate their format slightly, and that browsers and other renderers show nevertheless.

use image::ImageFormat;

use crate::renders::{app, encoded, put, quarters, render};

/// The file with the checksum behind each chunk of this type changed.
fn with_wrong_checksums(png: &[u8], kinds: &[&[u8; 4]]) -> Vec<u8> {
    let mut bytes = png.to_vec();
    let mut at = 8;
    while at < bytes.len() {
        let length = u32::from_be_bytes(bytes[at..at + 4].try_into().expect("four bytes")) as usize;
        let checksum = at + 8 + length;
        if kinds.iter().any(|kind| kind[..] == bytes[at + 4..at + 8]) {
            bytes[checksum] ^= 0xff;
        }
        at = checksum + 4;
    }
    bytes
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn store_093_a_png_with_wrong_checksums_is_rendered() {
    let app = app().await;
    let png = encoded(quarters(40, 20), ImageFormat::Png);
    put(&app, "pub/right.png", "image/png", png.clone()).await;
    let right = render(&app, "pub/right.png?width=10&format=origin")
        .await
        .ok()
        .body
        .to_vec();

    for kinds in [
        &[b"IHDR"][..],
        &[b"IDAT"],
        &[b"IEND"],
        &[b"IHDR", b"IDAT", b"IEND"],
    ] {
        let wrong = with_wrong_checksums(&png, kinds);
        assert_ne!(wrong, png);
        app.service_role().remove("pub", &["wrong.png"]).await;
        put(&app, "pub/wrong.png", "image/png", wrong).await;

        let rendered = render(&app, "pub/wrong.png?width=10&format=origin").await.ok();

        assert!(rendered.body[..] == right[..], "{kinds:?}");
    }
}
