//! Compression of REST responses: JSON rows shrink to about a fifth, which is most of what a page loads after its scripts.
//!
//! Only REST is compressed. Auth's responses carry tokens beside text that a third party may choose, and the length of such a
//! response, once compressed, tells how much of the text occurs in the token (BREACH). Storage must keep lengths and
//! ranges of objects, and the site's files are compressed when they are built.

use std::collections::VecDeque;
use std::convert::Infallible;
use std::future::poll_fn;
use std::io::{self, Write};
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::task::{Context, Poll};

use actix_web::body::{BodySize, BoxBody, EitherBody, MessageBody};
use actix_web::dev::ServiceResponse;
use actix_web::error::ErrorInternalServerError;
use actix_web::http::header::{CONTENT_ENCODING, CONTENT_TYPE, HeaderMap, HeaderValue, VARY};
use actix_web::web;
use bytes::Bytes;

use super::accept_encoding::accepts_coding;
use super::compression_room::Room;
use crate::Service;

/// Shorter bodies fit into one network packet as they are.
const MIN_BYTES: u64 = 1_400;
/// Longer bodies are sent as they are: compressing them would occupy a core for more than a tenth of a second, and hold them
/// in memory twice.
const MAX_BYTES: u64 = 8 * 1024 * 1024;
/// Fast levels: responses are made for one reader.
const BROTLI_QUALITY: i32 = 4;
const GZIP_LEVEL: u32 = 3;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Coding {
    Brotli,
    Gzip,
}

impl Coding {
    fn choose(headers: &HeaderMap) -> Option<Self> {
        [Self::Brotli, Self::Gzip]
            .into_iter()
            .find(|coding| accepts_coding(headers, coding.name()))
    }

    fn name(self) -> &'static str {
        match self {
            Self::Brotli => "br",
            Self::Gzip => "gzip",
        }
    }

    /// The coded form of a body of this length, which is given in chunks.
    fn encode(self, chunks: &[Bytes], length: usize) -> io::Result<Vec<u8>> {
        let mut encoded = Vec::with_capacity(length / 4);
        match self {
            Self::Brotli => {
                let window = length.next_power_of_two().ilog2().clamp(10, 20);
                let parameters = brotli::enc::BrotliEncoderParams {
                    quality: BROTLI_QUALITY,
                    // The window is not larger than the body, because its tables are cleared for each response.
                    lgwin: i32::try_from(window).unwrap_or(20),
                    size_hint: length,
                    ..Default::default()
                };
                // Dropping the encoder writes the end of the stream.
                let mut encoder = brotli::CompressorWriter::with_params(&mut encoded, 4096, &parameters);
                chunks.iter().try_for_each(|chunk| encoder.write_all(chunk))?;
            }
            Self::Gzip => {
                let level = flate2::Compression::new(GZIP_LEVEL);
                let mut encoder = flate2::write::GzEncoder::new(&mut encoded, level);
                chunks.iter().try_for_each(|chunk| encoder.write_all(chunk))?;
                encoder.finish()?;
            }
        }
        Ok(encoded)
    }
}

/// Compresses the response of a service if its client accepts that and it is worth it. The work is done on the blocking pool.
pub(super) async fn compress<B: MessageBody + 'static>(
    service: Service,
    mut response: ServiceResponse<EitherBody<B>>,
) -> ServiceResponse<EitherBody<B>> {
    if service != Service::Rest || !is_compressible(&response) {
        return response;
    }
    // Also on responses that stay as they are, so that a cache does not give them to clients that would get others.
    response
        .headers_mut()
        .append(VARY, HeaderValue::from_static("Accept-Encoding"));
    let Some(coding) = Coding::choose(response.request().headers()) else {
        return response;
    };
    let length = usize::try_from(body_length(&response).unwrap_or(0)).unwrap_or(usize::MAX);
    let Some(room) = Room::take(response.request(), length) else {
        return response;
    };
    let (request, response) = response.into_parts();
    let (mut response, body) = response.into_parts();
    let chunks = match collect_chunks(body).await {
        Ok(chunks) => Arc::new(chunks),
        Err(error) => {
            let error: Box<dyn std::error::Error> = error.into();
            let failure = ErrorInternalServerError(error).error_response();
            return ServiceResponse::new(request, failure.map_into_right_body());
        }
    };
    let length: usize = chunks.iter().map(Bytes::len).sum();
    let for_encoder = Arc::clone(&chunks);
    // The room goes along, because the encoder works on when the client has left.
    let encode = move || {
        coding
            .encode(&for_encoder, length)
            .map(|encoded| room.hold(encoded.into()))
    };
    let body = match web::block(encode).await {
        Ok(Ok(encoded)) if encoded.len() < length => {
            response
                .headers_mut()
                .insert(CONTENT_ENCODING, HeaderValue::from_static(coding.name()));
            BoxBody::new(encoded)
        }
        // An encoder that fails or panics costs the compression, not the response.
        _ => BoxBody::new(Chunks::new(&chunks)),
    };
    ServiceResponse::new(request, response.set_body(EitherBody::right(body)))
}

/// A body of known length in chunks.
struct Chunks {
    length: u64,
    chunks: VecDeque<Bytes>,
}

impl Chunks {
    fn new(chunks: &[Bytes]) -> Self {
        Self {
            length: chunks.iter().map(|chunk| chunk.len() as u64).sum(),
            chunks: chunks.iter().cloned().collect(),
        }
    }
}

impl MessageBody for Chunks {
    type Error = Infallible;

    fn size(&self) -> BodySize {
        BodySize::Sized(self.length)
    }

    fn poll_next(mut self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<Option<Result<Bytes, Infallible>>> {
        Poll::Ready(self.chunks.pop_front().map(Ok))
    }
}

/// Reads a body to its end, which is in memory already: no service that is compressed streams.
async fn collect_chunks<B: MessageBody>(body: B) -> Result<Vec<Bytes>, B::Error> {
    let mut body = pin!(body);
    let mut chunks = Vec::new();
    while let Some(chunk) = poll_fn(|cx| body.as_mut().poll_next(cx)).await {
        chunks.push(chunk?);
    }
    Ok(chunks)
}

fn body_length<B: MessageBody>(response: &ServiceResponse<B>) -> Option<u64> {
    match response.response().body().size() {
        BodySize::Sized(length) => Some(length),
        _ => None,
    }
}

fn is_compressible<B: MessageBody>(response: &ServiceResponse<B>) -> bool {
    let Some(size) = body_length(response) else {
        return false;
    };
    let headers = response.headers();
    let is_text = headers
        .get(CONTENT_TYPE)
        .and_then(|kind| kind.to_str().ok())
        .is_some_and(|kind| kind.starts_with("text/") || kind.contains("json") || kind.contains("xml"));
    (MIN_BYTES..=MAX_BYTES).contains(&size) && is_text && !headers.contains_key(CONTENT_ENCODING)
}

#[cfg(test)]
mod tests {
    use std::io::Read;

    use actix_web::HttpResponse;
    use actix_web::body::SizedStream;
    use actix_web::http::header::ACCEPT_ENCODING;
    use actix_web::test::TestRequest;
    use futures_util::stream;

    use super::*;

    /// Sends a response of REST with this body to a client with this `Accept-Encoding`; returns coding and body.
    async fn send(service: Service, accepted: &'static str, body: &str) -> (Option<String>, Bytes, bool) {
        let request = TestRequest::get()
            .insert_header((ACCEPT_ENCODING, accepted))
            .to_http_request();
        // In chunks, as REST sends its rows.
        let chunks: Vec<_> = body
            .as_bytes()
            .chunks(1000)
            .map(|chunk| Ok::<_, actix_web::Error>(Bytes::copy_from_slice(chunk)))
            .collect();
        let body = SizedStream::new(body.len() as u64, stream::iter(chunks));
        let response = HttpResponse::Ok()
            .content_type("application/json; charset=utf-8")
            .body(body);
        let response: ServiceResponse<EitherBody<BoxBody>> =
            ServiceResponse::new(request, response.map_into_left_body());

        let response = compress(service, response).await;

        let coding = response
            .headers()
            .get(CONTENT_ENCODING)
            .map(|coding| coding.to_str().expect("text").to_owned());
        let varies = response.headers().contains_key(VARY);
        let body = actix_web::body::to_bytes(response.into_body())
            .await
            .expect("a body in memory");
        (coding, body, varies)
    }

    fn rows() -> String {
        let row = r#"{"id":1,"name":"Camel hour","status":"approved"},"#;
        format!("[{}{{}}]", row.repeat(100))
    }

    #[actix_web::test]
    async fn the_best_coding_that_the_client_accepts_is_used() {
        let plain = rows();

        let (coding, body, _) = send(Service::Rest, "gzip, deflate, br", &plain).await;
        assert_eq!(coding.as_deref(), Some("br"));
        let mut decoded = Vec::new();
        brotli::BrotliDecompress(&mut &body[..], &mut decoded).expect("brotli");
        assert_eq!(decoded, plain.as_bytes());

        let (coding, body, _) = send(Service::Rest, "gzip", &plain).await;
        assert_eq!(coding.as_deref(), Some("gzip"));
        let mut decoded = String::new();
        flate2::read::GzDecoder::new(&body[..])
            .read_to_string(&mut decoded)
            .expect("gzip");
        assert_eq!(decoded, plain);
    }

    #[actix_web::test]
    async fn other_responses_stay_as_they_are() {
        let plain = rows();
        let cases = [
            (Service::Rest, "identity", plain.as_str(), true),
            (Service::Rest, "br", "[]", false),
            (Service::Auth, "br", plain.as_str(), false),
            (Service::Storage, "gzip", plain.as_str(), false),
        ];
        for (service, accepted, sent, varies) in cases {
            let (coding, body, vary) = send(service, accepted, sent).await;
            assert_eq!(coding, None, "{service:?} {accepted}");
            assert_eq!(body, sent, "{service:?} {accepted}");
            assert_eq!(vary, varies, "{service:?} {accepted}");
        }
    }
}
