//! Responses for services that this version lacks, in the shapes that their clients parse.

use actix_web::http::StatusCode;
use actix_web::{HttpResponse, web};
use selvedge_gateway::json_error_response;
use serde_json::{Value, json};

const NO_FUNCTIONS: &str = "Edge Functions are not part of this version of Selvedge.";

/// `/functions/v1`: 501 in the error shape of Edge Functions.
pub fn configure_functions(config: &mut web::ServiceConfig) {
    config.default_service(web::to(|| {
        not_implemented(json!({ "code": "NOT_IMPLEMENTED", "message": NO_FUNCTIONS, "msg": NO_FUNCTIONS }))
    }));
}

/// `/graphql/v1`: the response of a Supabase project without the extension pg_graphql. Source: gateway contract §10.
pub fn configure_graphql(config: &mut web::ServiceConfig) {
    config.default_service(web::to(async || {
        let message = "pg_graphql extension is not enabled.";
        HttpResponse::Ok().json(json!({ "errors": [{ "message": message }] }))
    }));
}

async fn not_implemented(body: Value) -> HttpResponse {
    json_error_response(StatusCode::NOT_IMPLEMENTED, body)
}

#[cfg(test)]
mod tests {
    use actix_web::{App, body::to_bytes, test};

    use super::*;

    async fn post(path: &str) -> (u16, Value) {
        let app = test::init_service(
            App::new()
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
    async fn gw_001_missing_services_respond_501_in_their_clients_error_shape() {
        let (status, functions) = post("/functions/v1/hello").await;
        assert_eq!((status, &functions["code"]), (501, &json!("NOT_IMPLEMENTED")));
        assert_eq!(functions["message"], functions["msg"]);

        let (status, graphql) = post("/graphql/v1").await;
        assert_eq!(status, 200);
        assert_eq!(
            graphql["errors"][0]["message"],
            "pg_graphql extension is not enabled."
        );
    }
}
