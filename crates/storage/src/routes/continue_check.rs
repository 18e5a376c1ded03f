//! Checks the credentials of a request before its client is asked for the body.

use actix_web::dev::RequestHead;
use actix_web::{HttpResponse, ResponseError};
use selvedge_gateway::{BodyCheck, Credentials, sent_path};

use super::route::Route;
use crate::error::StorageError;
use crate::identity::Identity;
use crate::request::query::Query;
use crate::state::Storage;
use crate::tus::ResumableRoute;
use crate::{s3, url_token};

impl BodyCheck for Storage {
    fn refuse_body(&self, head: &RequestHead, credentials: &Credentials) -> Option<HttpResponse> {
        let raw_path = sent_path(&head.uri);
        let path = raw_path
            .strip_prefix(self.config().mount_path.as_str())
            .unwrap_or(raw_path);
        let check = match Route::parse(&head.method, path) {
            Ok(Route::S3) => return s3::refuse_body(self, head, path),
            Ok(route) => self.check_credentials(&route, head, credentials),
            Err(error) => Err(error),
        };
        check.err().map(|error| error.error_response())
    }
}

impl Storage {
    fn check_credentials(
        &self,
        route: &Route,
        head: &RequestHead,
        credentials: &Credentials,
    ) -> Result<(), StorageError> {
        match route {
            Route::UploadSigned(target) => {
                let query = Query::parse(head.uri.query().unwrap_or_default());
                url_token::verify_upload_token(self, query.required("token")?, target).map(drop)
            }
            // The object is only named in its token, by the upload's row or the metadata.
            Route::Resumable(ResumableRoute { signed: true, .. }) => Ok(()),
            _ => Identity::from_credentials(credentials, head, self.keys())
                .map(drop)
                .map_err(|error| self.map_missing_token(error)),
        }
    }
}
