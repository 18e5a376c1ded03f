//! The API without a socket: the same gateway and routes as on the listeners, for the console's `/api/proxy`.

use std::rc::Rc;
use std::sync::Arc;

use actix_service::IntoServiceFactory as _;
use actix_web::body::MessageBody as _;
use actix_web::dev::{AppConfig, Service as _, ServiceFactory as _};
use actix_web::middleware::{Condition, from_fn};
use actix_web::{App, web};
use selvedge_console::{ApiService, MakeApiService};

use super::shared::Services;
use crate::http;

/// Makes the API for the thread on which it is called.
pub(crate) fn make_api_service(services: Arc<Services>) -> MakeApiService {
    Arc::new(move || {
        let (worker, tracing) = (services.worker(), services.statement_tracing());
        Box::pin(async move {
            let app = App::new()
                .wrap(Condition::new(
                    tracing.is_on(),
                    from_fn(move |request, next| tracing.clone().call(request, next)),
                ))
                .wrap(worker.gateway.clone())
                .app_data(web::Data::new(worker.requests()))
                .configure(worker.configure())
                .default_service(web::to(http::respond_no_route));
            // actix makes the routes once here, as it does for each worker of a listener.
            let factory = app.into_factory();
            let service = Rc::new(factory.new_service(AppConfig::default()).await.ok()?);
            let answer: ApiService = Rc::new(move |request| {
                let service = Rc::clone(&service);
                Box::pin(async move {
                    let response = service.call(request).await?;
                    let (_, response) = response.into_parts();
                    Ok(response.map_body(|_, body| body.boxed()))
                })
            });
            Some(answer)
        })
    })
}
