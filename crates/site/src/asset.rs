//! One file of the site, with its compressed forms and its caching headers.

use std::io::{self, Write};
use std::path::Path;
use std::sync::OnceLock;

use actix_web::http::{StatusCode, header};
use actix_web::{HttpRequest, HttpResponse};
use bytes::Bytes;
use selvedge_gateway::accepts_coding;
use selvedge_project_files::read_file;
use sha2::{Digest, Sha256};

/// Smaller files are not compressed: they fit into one network packet in either form.
const MIN_COMPRESSED_BYTES: usize = 1024;
/// Quality 6 of 11: from 7 on the encoder allocates tens of megabytes, however small the file. A build may bring files
/// compressed at 11 (`tools/compress.mjs`).
const BROTLI_QUALITY: i32 = 6;
/// Range of the binary logarithm of brotli's window. The encoder allocates in proportion to the window, so it is
/// chosen no larger than the file needs.
const BROTLI_WINDOW_BITS: std::ops::RangeInclusive<u32> = 10..=22;

/// A file of the site with its compressed forms.
pub(super) struct Asset {
    content_type: header::HeaderValue,
    cache_control: header::HeaderValue,
    /// A weak tag, because the compressed forms share it although their bytes differ (RFC 9110 §8.8.3).
    etag: header::HeaderValue,
    is_page: bool,
    plain: Bytes,
    brotli: OnceLock<Bytes>,
    gzip: OnceLock<Bytes>,
}

impl Asset {
    /// Adds the `.br` and `.gz` forms that the build may have made beside the file, of at most `most_bytes` each.
    pub(super) fn with_compressed_forms_of(self, path: &Path, most_bytes: u64) -> Self {
        let file_name = path.file_name().unwrap_or_default().to_string_lossy();
        for (extension, form) in [("br", &self.brotli), ("gz", &self.gzip)] {
            let compressed = path.with_file_name(format!("{file_name}.{extension}"));
            if let Ok(compressed) = read_file(&compressed, most_bytes) {
                form.get_or_init(|| compressed.into());
            }
        }
        self
    }

    /// A file with this path below the site's root.
    pub(super) fn new(name: &str, content: Vec<u8>) -> Self {
        let mime = mime_guess::from_path(name).first_or_octet_stream();
        let is_text = mime.type_() == "text" || matches!(mime.subtype().as_str(), "javascript" | "json");
        let content_type = if is_text {
            format!("{mime}; charset=utf-8")
        } else {
            mime.to_string()
        };
        let hash = hex::encode(&Sha256::digest(&content)[..12]);
        // Vite puts a hash of the content into names below assets/: a changed file has a new name.
        let cache_control = if name.starts_with("assets/") {
            "public, max-age=31536000, immutable"
        } else {
            "no-cache"
        };
        Self {
            content_type: header_value(&content_type),
            cache_control: header::HeaderValue::from_static(cache_control),
            etag: header_value(&format!("W/\"{hash}\"")),
            is_page: mime.subtype() == "html",
            plain: content.into(),
            brotli: OnceLock::new(),
            gzip: OnceLock::new(),
        }
    }

    pub(super) fn text(&self) -> String {
        String::from_utf8_lossy(&self.plain).into_owned()
    }

    /// Memory of all forms that have been made.
    pub(super) fn size_bytes(&self) -> usize {
        let compressed = [self.brotli.get(), self.gzip.get()].into_iter().flatten();
        self.plain.len() + compressed.map(Bytes::len).sum::<usize>()
    }

    /// Makes the compressed forms that the build has not made.
    pub(super) fn compress(&self) {
        if !self.is_compressible() {
            return;
        }
        // Writing to memory does not fail. A form that could not be made is left out, and the uncompressed one is served.
        for (form, encode) in [
            (&self.brotli, compress_brotli as fn(&[u8]) -> io::Result<Bytes>),
            (&self.gzip, compress_gzip),
        ] {
            if let (None, Ok(compressed)) = (form.get(), encode(&self.plain)) {
                form.get_or_init(|| compressed);
            }
        }
    }

    fn is_compressible(&self) -> bool {
        let kind = self.content_type.to_str().unwrap_or_default();
        let is_text_like = kind.starts_with("text/")
            || ["javascript", "json", "svg", "xml", "wasm", "font/ttf", "manifest"]
                .iter()
                .any(|part| kind.contains(part));
        is_text_like && self.plain.len() >= MIN_COMPRESSED_BYTES
    }

    /// The response with this file, or 304 when the client's copy is current.
    pub(super) fn respond(
        &self,
        request: &HttpRequest,
        status: StatusCode,
        policy: &header::HeaderValue,
    ) -> HttpResponse {
        let mut response = HttpResponse::build(status);
        response
            .insert_header((header::CACHE_CONTROL, self.cache_control.clone()))
            .insert_header((header::ETAG, self.etag.clone()))
            .insert_header((header::VARY, "Accept-Encoding"))
            .insert_header((header::X_CONTENT_TYPE_OPTIONS, "nosniff"))
            .insert_header((header::REFERRER_POLICY, "strict-origin-when-cross-origin"));
        if self.is_page {
            response.insert_header((header::CONTENT_SECURITY_POLICY, policy.clone()));
        }
        if self.is_unchanged_for(request) {
            return response.status(StatusCode::NOT_MODIFIED).finish();
        }
        response.insert_header((header::CONTENT_TYPE, self.content_type.clone()));
        let (encoding, body) = self.form_for(request);
        if let Some(encoding) = encoding {
            response.insert_header((header::CONTENT_ENCODING, encoding));
        }
        // For HEAD, actix leaves the body out and keeps its length.
        response.body(body)
    }

    /// Whether `If-None-Match` names this content (RFC 9110 §13.1.2; tags are compared weakly).
    fn is_unchanged_for(&self, request: &HttpRequest) -> bool {
        let known = request
            .headers()
            .get(header::IF_NONE_MATCH)
            .and_then(|value| value.to_str().ok());
        let own = self.etag.to_str().unwrap_or_default();
        known.is_some_and(|known| known.split(',').any(|tag| tag.trim() == own || tag.trim() == "*"))
    }

    /// The smallest form that the client accepts and that has been made.
    fn form_for(&self, request: &HttpRequest) -> (Option<&'static str>, Bytes) {
        let accepts = |coding: &str| accepts_coding(request.headers(), coding);
        match (self.brotli.get(), self.gzip.get()) {
            (Some(form), _) if accepts("br") => (Some("br"), form.clone()),
            (_, Some(form)) if accepts("gzip") => (Some("gzip"), form.clone()),
            _ => (None, self.plain.clone()),
        }
    }
}

fn header_value(text: &str) -> header::HeaderValue {
    header::HeaderValue::from_str(text)
        .unwrap_or_else(|_| header::HeaderValue::from_static("application/octet-stream"))
}

fn compress_brotli(content: &[u8]) -> io::Result<Bytes> {
    let window = content
        .len()
        .next_power_of_two()
        .ilog2()
        .clamp(*BROTLI_WINDOW_BITS.start(), *BROTLI_WINDOW_BITS.end());
    let parameters = brotli::enc::BrotliEncoderParams {
        quality: BROTLI_QUALITY,
        lgwin: i32::try_from(window).unwrap_or(22),
        size_hint: content.len(),
        ..Default::default()
    };
    let mut compressed = Vec::new();
    brotli::BrotliCompress(&mut &*content, &mut compressed, &parameters)?;
    Ok(compressed.into())
}

fn compress_gzip(content: &[u8]) -> io::Result<Bytes> {
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::best());
    encoder.write_all(content)?;
    Ok(encoder.finish()?.into())
}
