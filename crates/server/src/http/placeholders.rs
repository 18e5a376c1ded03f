//! Responses for services that this version lacks, in the shapes that their clients parse.

use actix_web::{HttpResponse, web};
use serde_json::json;

/// `/graphql/v1`: the response of a Supabase project without the extension pg_graphql. Source: gateway contract §10.
pub fn configure_graphql(config: &mut web::ServiceConfig) {
    config.default_service(web::to(async || {
        let message = "pg_graphql extension is not enabled.";
        HttpResponse::Ok().json(json!({ "errors": [{ "message": message }] }))
    }));
}

#[cfg(test)]
mod tests {
    use actix_web::{App, body::to_bytes, test};
    use serde_json::Value;

    use super::*;

    async fn post(path: &str) -> (u16, Value) {
        let app =
            test::init_service(App::new().service(web::scope("/graphql/v1").configure(configure_graphql)))
                .await;
        let response = test::call_service(&app, test::TestRequest::post().uri(path).to_request()).await;
        let status = response.status().as_u16();
        (
            status,
            serde_json::from_slice(&to_bytes(response.into_body()).await.unwrap()).unwrap(),
        )
    }

    #[actix_web::test]
    async fn gw_001_graphql_answers_as_a_project_without_the_extension() {
        let (status, graphql) = post("/graphql/v1").await;
        assert_eq!(status, 200);
        assert_eq!(
            graphql["errors"][0]["message"],
            "pg_graphql extension is not enabled."
        );
    }
}
