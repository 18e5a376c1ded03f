//! Which requests may be answered by a replica, and for whom.

use actix_web::HttpRequest;
use actix_web::http::header::HeaderMap;
use actix_web::http::{Method, header};
use selvedge_gateway::{Bearer, set_last_writer, wrote_elsewhere};
use selvedge_postgres::{
    JsonRead, JsonReadResult, Reader, ReplicaPools, RequestError, RequestTransaction, TransactionResult,
    Writer,
};

use crate::catalog::Volatility;
use crate::plan::QueryPlan;

/// The replicas, for one request that may read from them.
pub(crate) struct ReplicaReads<'a> {
    pools: &'a ReplicaPools,
    reader: Reader,
}

impl<'a> ReplicaReads<'a> {
    /// Returns `None` for a request that must run on the primary: one that is not GET or HEAD, or that says how its
    /// transaction ends.
    pub(crate) fn for_request(pools: &'a ReplicaPools, http: &HttpRequest, bearer: &Bearer) -> Option<Self> {
        if !is_read_method(http.method()) || names_transaction_end(http.headers()) {
            return None;
        }
        let token_issued_s = match bearer {
            Bearer::Valid(claims) => claims.get("iat").and_then(serde_json::Value::as_f64),
            Bearer::None | Bearer::Invalid(_) => None,
        };
        let wrote_elsewhere = wrote_elsewhere(http.headers(), pools.shared().node());
        let reader = Reader::new(writer(bearer), token_issued_s, wrote_elsewhere);
        Some(Self { pools, reader })
    }

    /// Runs a read whose rows become JSON on this side; `None` means that the primary has to run it.
    pub(crate) async fn read_json(
        &self,
        plan: &QueryPlan,
        transaction: &RequestTransaction<'_>,
        read: &JsonRead<'_>,
    ) -> Option<Result<JsonReadResult, RequestError>> {
        if !may_run_on_replica(plan) {
            return None;
        }
        // Boxed, so that requests without replicas do not carry the larger future.
        Box::pin(self.pools.read_json(&self.reader, transaction, read)).await
    }

    /// Runs a read whose one row holds the response; `None` means that the primary has to run it.
    pub(crate) async fn run(
        &self,
        plan: &QueryPlan,
        transaction: RequestTransaction<'_>,
    ) -> Option<Result<TransactionResult, RequestError>> {
        if !may_run_on_replica(plan) {
            return None;
        }
        Box::pin(self.pools.run(&self.reader, transaction)).await
    }
}

/// Records that the caller may have written, before the response is sent, and sets a cookie about it for browsers.
pub(crate) fn record_write(pools: &ReplicaPools, bearer: &Bearer, response_headers: &mut HeaderMap) {
    let replicas = pools.shared();
    replicas.record_write(writer(bearer));
    set_last_writer(
        response_headers,
        replicas.node(),
        replicas.timeline(),
        replicas.max_lag(),
    );
}

/// Whether requests with this method only read.
pub(crate) fn is_read_method(method: &Method) -> bool {
    matches!(*method, Method::GET | Method::HEAD | Method::OPTIONS)
}

fn writer(bearer: &Bearer) -> Writer {
    match bearer {
        Bearer::Valid(claims) => Writer::from_claims(claims.subject(), claims.role()),
        Bearer::None | Bearer::Invalid(_) => Writer::from_claims(None, None),
    }
}

/// A volatile function stays on the primary although a GET runs it read-only: it may lock, notify or read sequences.
fn may_run_on_replica(plan: &QueryPlan) -> bool {
    let is_volatile = |function: &crate::catalog::Function| function.volatility == Volatility::Volatile;
    plan.read_only && !plan.function().is_some_and(is_volatile)
}

/// Whether a preference names the transaction's end (`Prefer: tx=commit`). A client can send it with a read to use the
/// primary.
fn names_transaction_end(headers: &HeaderMap) -> bool {
    headers
        .get_all("prefer")
        .filter_map(|value: &header::HeaderValue| value.to_str().ok())
        .flat_map(|value| value.split(','))
        .any(|preference| preference.trim_start().starts_with("tx="))
}
