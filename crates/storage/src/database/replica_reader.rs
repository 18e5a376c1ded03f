//! Who reads, for lookups that may run on a replica.

use actix_web::HttpRequest;
use selvedge_gateway::{Bearer, Caller, wrote_elsewhere};
use selvedge_postgres::{Reader, Writer};
use serde_json::Value;

/// The caller as a reader of replicas; `node` names this process. Without a token the caller is nobody in particular, like every
/// reader of a public bucket.
pub(crate) fn find_reader(request: &HttpRequest, node: &str) -> Reader {
    let caller = Caller::extract(request);
    let (writer, token_issued_s) = match caller.bearer() {
        Bearer::Valid(claims) => (
            Writer::from_claims(claims.subject(), claims.role()),
            claims.get("iat").and_then(Value::as_f64),
        ),
        Bearer::None | Bearer::Invalid(_) => (Writer::from_claims(None, None), None),
    };
    Reader::new(writer, token_issued_s, wrote_elsewhere(request.headers(), node))
}
