//! The services of one worker thread, and the paths under which they are mounted.

use std::rc::Rc;
use std::sync::Arc;

use actix_web::dev::{ServiceFactory, ServiceRequest, ServiceResponse};
use actix_web::middleware::from_fn;
use actix_web::{Scope, web};
use selvedge_auth::AuthState;
use selvedge_functions::FunctionsWorker;
use selvedge_gateway::Gateway;
use selvedge_generator::Generator;
use selvedge_mail_queue::Unsubscribe;
use selvedge_meta::Meta;
use selvedge_postgres::{ReplicaPools, Replicas, RequestPool};
use selvedge_realtime::RealtimeWorker;
use selvedge_rest::{RestWorker, SchemaCache, graphql_scope};
use selvedge_storage::StorageWorker;

use super::write_tracking::{MayWrite, track_writes};
use crate::http::{self, Health, MetricsAudience};

/// The services of one worker thread. A service that is switched off is `None`.
pub(crate) struct WorkerServices {
    pub(crate) gateway: Gateway,
    pub(super) requests: RequestPool,
    pub(super) replicas: Option<Rc<ReplicaPools>>,
    pub(super) rest: Option<Arc<SchemaCache>>,
    pub(super) auth: Option<web::Data<AuthState>>,
    pub(super) storage: Option<StorageWorker>,
    pub(super) generator: Option<Arc<Generator>>,
    pub(super) unsubscribe: Option<Arc<Unsubscribe>>,
    pub(super) realtime: Option<RealtimeWorker>,
    pub(super) functions: Option<FunctionsWorker>,
    pub(super) meta: Option<Arc<Meta>>,
    pub(super) health: web::Data<Health>,
    pub(super) metrics: Option<MetricsAudience>,
}

impl WorkerServices {
    /// The database connections of this thread, on which requests run under their callers' roles.
    pub(crate) fn requests(&self) -> RequestPool {
        self.requests.clone()
    }

    /// Mounts every service under its prefix. A service that is switched off gets no route.
    pub(crate) fn configure(self) -> impl FnOnce(&mut web::ServiceConfig) {
        move |app| {
            let tracked = self.replicas.as_ref().map(|pools| Arc::clone(pools.shared()));
            if let Some(cache) = self.rest {
                let rest = RestWorker::new(cache, self.requests, self.replicas);
                let graphql = graphql_scope("/graphql/v1", rest.clone());
                mount(app, graphql, tracked.as_ref(), MayWrite::Remembered);
                let rest = web::scope("/rest/v1").configure(rest.configure());
                mount(app, rest, tracked.as_ref(), MayWrite::Remembered);
            }
            if let Some(state) = self.auth {
                let auth = web::scope("/auth/v1").configure(selvedge_auth::configure(state));
                mount(app, auth, tracked.as_ref(), MayWrite::ByMethod);
            }
            if let Some(worker) = self.storage {
                let storage = web::scope("/storage/v1").configure(selvedge_storage::configure(worker));
                mount(app, storage, tracked.as_ref(), MayWrite::ByMethod);
            }
            if let Some(worker) = self.realtime {
                app.service(web::scope("/realtime/v1").configure(worker.configure()));
            }
            if let Some(worker) = self.functions {
                let functions = web::scope("/functions/v1").configure(worker.configure());
                mount(app, functions, tracked.as_ref(), MayWrite::Always);
            }
            if let Some(meta) = self.meta {
                let meta = web::scope("/pg").configure(selvedge_meta::configure(meta));
                mount(app, meta, tracked.as_ref(), MayWrite::Always);
            }
            if let Some(generator) = self.generator {
                app.service(web::scope("/generator/v1").configure(selvedge_generator::configure(generator)));
            }
            if let Some(unsubscribe) = self.unsubscribe {
                app.service(web::scope("/mails/v1").configure(selvedge_mail_queue::configure(unsubscribe)));
            }
            app.configure(http::configure_health(self.health));
            if let Some(audience) = self.metrics {
                app.configure(http::configure_metrics(audience));
            }
        }
    }
}

/// Mounts a service, with replicas behind the middleware that remembers who wrote.
fn mount<T>(
    app: &mut web::ServiceConfig,
    service: Scope<T>,
    replicas: Option<&Arc<Replicas>>,
    may_write: MayWrite,
) where
    T: ServiceFactory<
            ServiceRequest,
            Config = (),
            Response = ServiceResponse,
            Error = actix_web::Error,
            InitError = (),
        > + 'static,
{
    match replicas.cloned() {
        Some(replicas) => app.service(service.wrap(from_fn(move |request, next| {
            track_writes(Arc::clone(&replicas), may_write, request, next)
        }))),
        None => app.service(service),
    };
}
