//! Identifies the caller for lookups on replicas, which must have replayed what that caller wrote.

use actix_web::HttpRequest;
use selvedge_gateway::{Bearer, Caller, wrote_elsewhere};
use selvedge_postgres::{Reader, Writer};
use serde_json::Value;

/// Returns the caller as a reader of replicas; `node` is the id of this process. Callers without a token, such as readers of public
/// buckets, share one identity.
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
