//! Services that this version does not have, answered in the shapes that their clients understand.

use actix_web::http::StatusCode;
use actix_web::{HttpResponse, web};
use selvedge_gateway::json_error;
use serde_json::{Value, json};

const NO_REALTIME: &str = "Realtime is not part of this version of Selvedge.";
const NO_FUNCTIONS: &str = "Edge Functions are not part of this version of Selvedge.";

/// `/realtime/v1`: 501 to sockets and to the HTTP API alike. The body answers both of the contract's shapes
/// (`error` on upgrades, `message` on `/api`).
pub fn configure_realtime(config: &mut web::ServiceConfig) {
    config.default_service(web::to(|| {
        not_implemented(json!({ "error": NO_REALTIME, "message": NO_REALTIME }))
    }));
}

/// `/functions/v1`: 501 in the shape of functions' own errors.
pub fn configure_functions(config: &mut web::ServiceConfig) {
    config.default_service(web::to(|| {
        not_implemented(json!({ "code": "NOT_IMPLEMENTED", "message": NO_FUNCTIONS, "msg": NO_FUNCTIONS }))
    }));
}

/// `/graphql/v1`: what the platform answers without the extension. Source: gateway contract §10.
pub fn configure_graphql(config: &mut web::ServiceConfig) {
    config.default_service(web::to(async || {
        let message = "pg_graphql extension is not enabled.";
        HttpResponse::Ok().json(json!({ "errors": [{ "message": message }] }))
    }));
}

async fn not_implemented(body: Value) -> HttpResponse {
    json_error(StatusCode::NOT_IMPLEMENTED, body)
}

#[cfg(test)]
mod tests {
    use actix_web::{App, body::to_bytes, test};

    use super::*;

    async fn post(path: &str) -> (u16, Value) {
        let app = test::init_service(
            App::new()
                .service(web::scope("/realtime/v1").configure(configure_realtime))
                .service(web::scope("/functions/v1").configure(configure_functions))
                .service(web::scope("/graphql/v1").configure(configure_graphql)),
        )
        .await;
        let response = test::call_service(&app, test::TestRequest::post().uri(path).to_request()).await;
        let status = response.status().as_u16();
        (
            status,
            serde_json::from_slice(&to_bytes(response.into_body()).await.unwrap()).unwrap(),
        )
    }

    #[actix_web::test]
    async fn gw_001_absent_services_say_so_in_their_clients_words() {
        let (status, functions) = post("/functions/v1/hello").await;
        assert_eq!((status, &functions["code"]), (501, &json!("NOT_IMPLEMENTED")));
        assert_eq!(functions["message"], functions["msg"]);

        let (status, realtime) = post("/realtime/v1/api/broadcast").await;
        assert_eq!(status, 501);
        assert_eq!(realtime["message"], realtime["error"]);

        let (status, graphql) = post("/graphql/v1").await;
        assert_eq!(status, 200);
        assert_eq!(
            graphql["errors"][0]["message"],
            "pg_graphql extension is not enabled."
        );
    }
}
