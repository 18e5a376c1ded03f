//! Image transformation: sizes, formats, orientation, colours, access and caching.

use std::io::Cursor;

use image::codecs::gif::GifEncoder;
use image::codecs::jpeg::JpegEncoder;
use image::{
    Delay, DynamicImage, Frame, ImageDecoder, ImageEncoder, ImageFormat, Rgb, RgbImage, Rgba, RgbaImage,
};
use reqwest::Method;
use selvedge_storage::StorageConfig;
use serde_json::json;

use crate::support::{Response, TestApp, files_below};

/// The service with image transformation, a public bucket `pub` and a private one `own`.
pub(crate) async fn app() -> TestApp {
    let app = TestApp::start_with(|config| StorageConfig {
        image_transformation: true,
        ..config
    })
    .await;
    app.sql(
        "insert into storage.buckets (id, name, public) values ('pub', 'pub', true), ('own', 'own', false);
         create policy mine on storage.objects for select to authenticated using (owner_id = auth.uid()::text)",
    )
    .await;
    app
}

/// An image of four quarters: red and green above blue and white.
pub(crate) fn quarters(width: u32, height: u32) -> RgbImage {
    RgbImage::from_fn(width, height, |x, y| match (x * 2 < width, y * 2 < height) {
        (true, true) => Rgb([255, 0, 0]),
        (false, true) => Rgb([0, 255, 0]),
        (true, false) => Rgb([0, 0, 255]),
        (false, false) => Rgb([255, 255, 255]),
    })
}

/// The bytes of an image in a format.
pub(crate) fn encoded(image: impl Into<DynamicImage>, format: ImageFormat) -> Vec<u8> {
    let mut bytes = Vec::new();
    image
        .into()
        .write_to(&mut Cursor::new(&mut bytes), format)
        .expect("encodes");
    bytes
}

/// Stores an image as the service.
pub(crate) async fn put(app: &TestApp, path: &str, kind: &str, bytes: Vec<u8>) {
    app.service_role()
        .request(Method::PUT, &format!("/object/{path}"))
        .header("content-type", kind)
        .header("cache-control", "max-age=70")
        .body(bytes)
        .send()
        .await
        .ok();
}

/// Requests a rendered image from the public route. `path` contains bucket, key and query.
pub(crate) async fn render(app: &TestApp, path: &str) -> Response {
    app.nobody().get(&format!("/render/image/public/{path}")).await
}

/// The pixels of a rendered image.
fn decoded(response: &Response) -> RgbImage {
    assert_eq!(response.status, 200, "{}", response.text());
    image::load_from_memory(&response.body)
        .expect("a picture")
        .to_rgb8()
}

/// Whether a pixel has about this colour: lossy formats change it a little.
fn is_near(pixel: &Rgb<u8>, colour: [u8; 3]) -> bool {
    pixel.0.iter().zip(colour).all(|(a, b)| a.abs_diff(b) < 60)
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn store_093_cover_contain_and_fill_give_their_sizes() {
    let app = app().await;
    put(
        &app,
        "pub/p.png",
        "image/png",
        encoded(quarters(200, 100), ImageFormat::Png),
    )
    .await;
    for (query, size) in [
        ("width=50&height=50", (50, 50)),
        ("width=50", (50, 25)),
        ("height=20", (40, 20)),
        ("width=50&height=50&resize=contain", (50, 25)),
        ("width=30&height=50&resize=fill", (30, 50)),
        ("width=1000", (200, 100)),
        ("width=400&height=100", (200, 100)),
        ("width=400&height=400&resize=fill", (100, 100)),
        ("quality=30", (200, 100)),
        ("", (200, 100)),
    ] {
        let response = render(&app, &format!("pub/p.png?{query}")).await;

        assert_eq!(decoded(&response).dimensions(), size, "{query}");
        assert_eq!(response.header("content-type"), Some("image/png"));
        assert_eq!(response.header("cache-control"), Some("max-age=70"));
        assert_eq!(
            response.header("content-length"),
            Some(response.body.len().to_string().as_str())
        );
    }
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn store_093_cropping_keeps_the_centre_or_the_gravity() {
    let app = app().await;
    put(
        &app,
        "pub/p.png",
        "image/png",
        encoded(quarters(200, 100), ImageFormat::Png),
    )
    .await;
    for (gravity, corner, colour) in [
        ("", (0, 0), [255, 0, 0]),
        ("&gravity=we", (49, 0), [255, 0, 0]),
        ("&gravity=ea", (0, 0), [0, 255, 0]),
        ("&gravity=fp&x_offset=1&y_offset=0", (0, 49), [255, 255, 255]),
    ] {
        let response = render(&app, &format!("pub/p.png?width=50&height=50{gravity}")).await;

        let picture = decoded(&response);
        assert!(
            is_near(picture.get_pixel(corner.0, corner.1), colour),
            "{gravity}"
        );
    }
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn store_093_formats_are_negotiated_by_accept_or_named() {
    let app = app().await;
    put(
        &app,
        "pub/p.jpg",
        "image/jpeg",
        encoded(quarters(80, 60), ImageFormat::Jpeg),
    )
    .await;
    let accepting = |query: &str, accept: &str| {
        app.nobody()
            .request(Method::GET, &format!("/render/image/public/pub/p.jpg?{query}"))
            .header("accept", accept)
    };
    let browser = "image/avif,image/webp,image/apng,image/svg+xml,image/*,*/*;q=0.8";
    for (query, accept, kind, varies) in [
        ("width=40", browser, "image/webp", true),
        ("width=40", "*/*", "image/jpeg", true),
        ("width=40", "image/avif,image/*", "image/avif", true),
        ("width=40&format=origin", browser, "image/jpeg", false),
        ("width=40&format=webp", "*/*", "image/webp", false),
        ("width=40&format=avif", "*/*", "image/avif", false),
        ("width=40&format=jpeg", browser, "image/jpeg", false),
    ] {
        let response = accepting(query, accept).send().await.ok();

        assert_eq!(response.header("content-type"), Some(kind), "{query} {accept}");
        assert_eq!(
            response.header("vary").is_some_and(|v| v.contains("Accept")),
            varies
        );
        if kind == "image/avif" {
            assert_eq!(&response.body[4..12], b"ftypavif");
        } else {
            assert_eq!(decoded(&response).dimensions(), (40, 30));
        }
    }
    let webp = accepting("width=40", browser).send().await;
    let jpeg = accepting("width=40", "*/*").send().await;
    assert_ne!(webp.header("etag"), jpeg.header("etag"));
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn store_093_a_transparent_image_lies_on_white_as_jpeg() {
    let app = app().await;
    let mut clear = RgbaImage::from_pixel(40, 40, Rgba([0, 0, 0, 0]));
    for y in 0..40 {
        for x in 20..40 {
            clear.put_pixel(x, y, Rgba([0, 0, 255, 255]));
        }
    }
    put(
        &app,
        "pub/clear.png",
        "image/png",
        encoded(clear, ImageFormat::Png),
    )
    .await;

    let response = render(&app, "pub/clear.png?width=40&format=jpeg").await;

    assert_eq!(response.header("content-type"), Some("image/jpeg"));
    let image = decoded(&response);
    assert!(is_near(image.get_pixel(4, 20), [255, 255, 255]));
    assert!(is_near(image.get_pixel(36, 20), [0, 0, 255]));
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn store_093_lower_quality_gives_fewer_bytes() {
    let app = app().await;
    // Noise compresses badly, so that the quality decides the size.
    let noise = RgbImage::from_fn(300, 300, |x, y| {
        let n = (x * 7919 + y * 104_729) ^ (x * y);
        Rgb([(n >> 3) as u8, (n >> 7) as u8, n as u8])
    });
    put(&app, "pub/n.jpg", "image/jpeg", encoded(noise, ImageFormat::Jpeg)).await;

    for format in ["origin", "webp"] {
        let low = render(&app, &format!("pub/n.jpg?format={format}&quality=20"))
            .await
            .ok();
        let high = render(&app, &format!("pub/n.jpg?format={format}&quality=95"))
            .await
            .ok();
        assert!(low.body.len() * 2 < high.body.len(), "{format}");
    }
}

/// A JPEG with an EXIF orientation.
fn turned_jpeg(orientation: u8) -> Vec<u8> {
    let mut bytes = Vec::new();
    let mut encoder = JpegEncoder::new_with_quality(&mut bytes, 95);
    // A TIFF header and one entry: tag 0x0112, orientation, as a short.
    let mut exif = b"MM\0\x2a\0\0\0\x08\0\x01\x01\x12\0\x03\0\0\0\x01\0".to_vec();
    exif.push(orientation);
    exif.extend_from_slice(&[0; 6]);
    encoder.set_exif_metadata(exif).expect("EXIF");
    let image = quarters(120, 60);
    encoder
        .encode(&image, 120, 60, image::ExtendedColorType::Rgb8)
        .expect("encodes");
    bytes
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn store_093_exif_orientation_is_applied() {
    let app = app().await;
    // The position to which each orientation moves the red quarter.
    for (orientation, size, red) in [
        (1, (40, 20), (5, 5)),
        (3, (40, 20), (35, 15)),
        (6, (40, 80), (35, 5)),
        (8, (40, 80), (5, 75)),
    ] {
        let path = format!("pub/o{orientation}.jpg");
        put(&app, &path, "image/jpeg", turned_jpeg(orientation)).await;

        for query in ["width=40", "width=40&gravity=nowe"] {
            let picture = decoded(&render(&app, &format!("{path}?{query}")).await);
            assert_eq!(picture.dimensions(), size, "{orientation} {query}");
            assert!(
                is_near(picture.get_pixel(red.0, red.1), [255, 0, 0]),
                "{orientation} {query}"
            );
        }
    }
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn store_093_wide_gamut_colours_are_converted_to_srgb() {
    let app = app().await;
    let mut bytes = Vec::new();
    let mut encoder = JpegEncoder::new_with_quality(&mut bytes, 95);
    let display_p3 = moxcms::ColorProfile::new_display_p3()
        .encode()
        .expect("a profile");
    encoder.set_icc_profile(display_p3).expect("a profile");
    let image = RgbImage::from_pixel(64, 64, Rgb([200, 90, 60]));
    encoder
        .encode(&image, 64, 64, image::ExtendedColorType::Rgb8)
        .expect("encodes");
    put(&app, "pub/wide.jpg", "image/jpeg", bytes).await;

    let picture = decoded(&render(&app, "pub/wide.jpg?width=16&quality=95").await);

    // The same colour in sRGB has more red and less green and blue.
    let Rgb([red, green, blue]) = *picture.get_pixel(8, 8);
    assert!(red > 208 && green < 90 && blue < 60, "{red} {green} {blue}");
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn store_093_transparency_and_animation_are_kept() {
    let app = app().await;
    let clear = RgbaImage::from_pixel(60, 60, Rgba([200, 0, 0, 0]));
    put(
        &app,
        "pub/clear.png",
        "image/png",
        encoded(clear, ImageFormat::Png),
    )
    .await;
    let mut gif = Vec::new();
    let mut encoder = GifEncoder::new(&mut gif);
    for shade in [0, 120, 240] {
        let image = RgbaImage::from_pixel(60, 40, Rgba([shade, 10, 10, 255]));
        let frame = Frame::from_parts(image, 0, 0, Delay::from_numer_denom_ms(200, 1));
        encoder.encode_frame(frame).expect("encodes");
    }
    drop(encoder);
    put(&app, "pub/a.gif", "image/gif", gif).await;

    let clear = render(&app, "pub/clear.png?width=30&format=webp").await.ok();
    let moving = render(&app, "pub/a.gif?width=30").await.ok();
    let webp = render(&app, "pub/a.gif?width=30&format=webp").await.ok();

    let pixel = *image::load_from_memory(&clear.body)
        .expect("WebP")
        .to_rgba8()
        .get_pixel(3, 3);
    assert_eq!(pixel.0[3], 0);
    use image::AnimationDecoder;
    let frames = image::codecs::gif::GifDecoder::new(Cursor::new(&moving.body))
        .expect("a GIF")
        .into_frames();
    assert_eq!(frames.count(), 3);
    let decoder = image::codecs::webp::WebPDecoder::new(Cursor::new(&webp.body)).expect("a WebP");
    assert!(decoder.has_animation());
    assert_eq!(decoder.dimensions(), (30, 20));
    assert_eq!(decoder.into_frames().count(), 3);
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn store_093_render_routes_check_access_as_downloads_do() {
    let app = app().await;
    let bytes = encoded(quarters(40, 40), ImageFormat::Png);
    put(&app, "pub/p.png", "image/png", bytes.clone()).await;
    app.sql(
        "create policy write on storage.objects for insert to authenticated with check (bucket_id = 'own')",
    )
    .await;
    app.user("ana")
        .request(Method::POST, "/object/own/p.png")
        .header("content-type", "image/png")
        .body(bytes)
        .send()
        .await
        .ok();

    render(&app, "own/p.png?width=9")
        .await
        .is(400, "404", "NoSuchBucket");
    render(&app, "pub/none.png?width=9")
        .await
        .is(400, "404", "NoSuchKey");
    let authenticated = |client: &crate::support::Client<'_>, path: &str| {
        client.request(
            Method::GET,
            &format!("/render/image/authenticated/{path}?width=9"),
        )
    };
    authenticated(&app.user("ana"), "own/p.png").send().await.ok();
    authenticated(&app.user("bob"), "own/p.png")
        .send()
        .await
        .is(400, "404", "NoSuchKey");
    authenticated(&app.user("ana"), "pub/p.png")
        .send()
        .await
        .is(400, "404", "NoSuchKey");
    authenticated(&app.nobody(), "pub/p.png")
        .send()
        .await
        .is(400, "400", "InvalidRequest");
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn store_094_a_signed_url_renders_only_the_signed_transformation() {
    let app = app().await;
    put(
        &app,
        "own/p q.png",
        "image/png",
        encoded(quarters(80, 80), ImageFormat::Png),
    )
    .await;
    let service = app.service_role();
    let sign = |body| service.post("/object/sign/own/p%20q.png", body);

    let signed = sign(json!({"expiresIn": 60, "transform": {"width": 20, "height": "10", "resize": "fill"}}))
        .await
        .ok()
        .json();
    let plain = sign(json!({"expiresIn": 60, "transform": {}})).await.ok().json();
    let bad = sign(json!({"expiresIn": 60, "transform": {"quality": 5}})).await;
    let url = signed["signedURL"].as_str().expect("a URL");
    let response = app
        .nobody()
        .get(&format!("{}&width=3", url.replace(' ', "%20")))
        .await;

    assert!(url.starts_with("/render/image/sign/own/p q.png?token="), "{url}");
    let original = app.nobody().get(&url.replace("/render/image/", "/object/")).await;
    original.is(400, "400", "InvalidSignature");
    assert!(
        plain["signedURL"]
            .as_str()
            .is_some_and(|url| url.starts_with("/object/sign/own/"))
    );
    bad.is(400, "400", "InvalidRequest");
    assert_eq!(bad.message(), "body/transform/quality must be >= 20");
    assert_eq!(decoded(&response).dimensions(), (20, 10));
    assert!(response.header("expires").is_some() && response.header("cache-control").is_none());
    assert_eq!(
        response.header("x-transformations"),
        Some("height:10,width:20,resizing_type:force")
    );
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn store_093_rendered_images_are_cached_until_the_source_changes() {
    let app = app().await;
    put(
        &app,
        "pub/p.png",
        "image/png",
        encoded(quarters(80, 80), ImageFormat::Png),
    )
    .await;
    let renders = app.root().join("renders");

    // Eight concurrent requests for one image must leave one file.
    let together = futures_util::future::join_all((0..8).map(|_| render(&app, "pub/p.png?width=20"))).await;
    let kept = files_below(&renders);
    let red = RgbImage::from_pixel(80, 80, Rgb([250, 0, 0]));
    put(&app, "pub/p.png", "image/png", encoded(red, ImageFormat::Png)).await;
    let replaced = render(&app, "pub/p.png?width=20").await;

    assert!(together.iter().all(|response| response.body == together[0].body));
    assert_eq!(kept, 1);
    assert_ne!(replaced.header("etag"), together[0].header("etag"));
    assert!(is_near(decoded(&replaced).get_pixel(15, 15), [250, 0, 0]));
    assert_eq!(
        files_below(&renders),
        1,
        "what was made of the old picture is gone"
    );
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn store_093_a_client_over_the_rate_limit_gets_429() {
    let app = TestApp::start_with(|config| StorageConfig {
        image_transformation: true,
        render_rate_limit: Some(1),
        ..config
    })
    .await;
    app.sql("insert into storage.buckets (id, name, public) values ('pub', 'pub', true)")
        .await;
    for name in ["pub/p.png", "pub/q.png"] {
        put(&app, name, "image/png", encoded(quarters(8, 8), ImageFormat::Png)).await;
    }

    let mut responses = Vec::new();
    // The limit counts paths without their query, so all widths share one count.
    for width in 1..9 {
        responses.push(render(&app, &format!("pub/p.png?width={width}")).await);
    }

    // On a slow machine one new window may begin in between.
    let refused: Vec<_> = responses
        .iter()
        .filter(|response| response.status == 429)
        .collect();
    assert!(!refused.is_empty());
    refused[0].is(429, "429", "SlowDown");
    assert_eq!(refused[0].json()["error"], "Too Many Requests");
    render(&app, "pub/q.png?width=4").await.ok();
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn store_093_render_routes_do_not_exist_when_transformation_is_off() {
    let app = TestApp::start().await;
    app.sql("insert into storage.buckets (id, name, public) values ('pub', 'pub', true)")
        .await;
    put(
        &app,
        "pub/p.png",
        "image/png",
        encoded(quarters(40, 40), ImageFormat::Png),
    )
    .await;

    render(&app, "pub/p.png?width=9")
        .await
        .is(404, "404", "InvalidRequest");
    let signed = app
        .service_role()
        .post(
            "/object/sign/pub/p.png",
            json!({"expiresIn": 9, "transform": {"width": 9}}),
        )
        .await
        .ok()
        .json();
    assert!(
        signed["signedURL"]
            .as_str()
            .is_some_and(|url| url.starts_with("/object/sign/"))
    );
}
