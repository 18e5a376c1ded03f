//! Reads method and raw path of a request into a [`Route`], the closed set of operations of the service.
//!
//! The path is taken as the client sent it: `//` stays, `..` is plain text, `%2F` in a key becomes `/`, and decoding
//! happens exactly once. A web framework's matcher decodes and normalises paths first, which would change keys.

use actix_web::http::Method;

use crate::error::StorageError;
use crate::purge_cache::PurgeScope;
use crate::request::object_path::{ObjectPath, decode_path};
use crate::tus::ResumableRoute;

/// An operation and the bucket or object that it names.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Route {
    ListBuckets,
    CreateBucket,
    GetBucket(String),
    UpdateBucket(String),
    DeleteBucket(String),
    EmptyBucket(String),
    GetLifecycle(String),
    SetLifecycle(String),
    DeleteLifecycle(String),
    UploadObject(ObjectPath),
    UpdateObject(ObjectPath),
    SignUpload(ObjectPath),
    UploadSigned(ObjectPath),
    GetObject(ObjectPath),
    GetAuthenticated(ObjectPath),
    GetPublic(ObjectPath),
    GetSigned(ObjectPath),
    GetInfo(ObjectPath),
    GetInfoAuthenticated(ObjectPath),
    GetInfoPublic(ObjectPath),
    ListObjects(String),
    ListObjectsV2(String),
    DeleteObject(ObjectPath),
    DeleteObjects(String),
    MoveObject,
    CopyObject,
    SignObject(ObjectPath),
    SignObjects(String),
    PurgeCache(PurgeScope),
    Status,
    Version,
    Health,
    /// `/upload/resumable…`, the TUS protocol.
    Resumable(ResumableRoute),
    RenderPublic(ObjectPath),
    RenderAuthenticated(ObjectPath),
    RenderSigned(ObjectPath),
    /// `/s3…`, the S3 protocol, which reads the rest of the path itself.
    S3,
}

impl Route {
    /// Reads a method and a raw path, which starts with `/` after the mount path.
    ///
    /// # Errors
    /// `RouteNotFound`, or `MalformedUrl` for a broken percent escape.
    pub(crate) fn parse(method: &Method, raw: &str) -> Result<Self, StorageError> {
        let path = raw.strip_prefix('/').unwrap_or(raw);
        let (service, rest) = split_path(path);
        let route = match service {
            "bucket" => bucket_route(method, rest)?,
            "object" => object_route(method, rest)?,
            "cdn" => purge_route(method, rest),
            // Like the original, every GET route also answers HEAD.
            "status" if rest.is_none() && is_read(method) => Some(Self::Status),
            "version" if rest.is_none() && is_read(method) => Some(Self::Version),
            "health" if rest.is_none() && is_read(method) => Some(Self::Health),
            "upload" => rest
                .and_then(|rest| rest.strip_prefix("resumable"))
                .and_then(|rest| resumable_route(method, rest)),
            "render" if is_read(method) => render_route(
                rest.and_then(|rest| rest.strip_prefix("image/"))
                    .unwrap_or_default(),
            )?,
            "s3" => Some(Self::S3),
            _ => None,
        };
        route.ok_or_else(|| StorageError::RouteNotFound {
            method: method.to_string(),
            path: raw.to_owned(),
        })
    }

    /// Whether it is served only where image transformation is switched on.
    pub(crate) fn is_render(&self) -> bool {
        matches!(
            self,
            Self::RenderPublic(_) | Self::RenderAuthenticated(_) | Self::RenderSigned(_)
        )
    }

    /// The value of `storage.operation()` in policies during this request. The TUS and S3 protocols have their own.
    pub(crate) fn operation(&self, method: &Method) -> &'static str {
        let is_head = method == Method::HEAD;
        match self {
            Self::ListBuckets => "storage.bucket.list",
            Self::CreateBucket => "storage.bucket.create",
            Self::GetBucket(_) => "storage.bucket.get",
            Self::UpdateBucket(_) => "storage.bucket.update",
            Self::DeleteBucket(_) => "storage.bucket.delete",
            Self::EmptyBucket(_) => "storage.bucket.empty",
            Self::GetLifecycle(_) => "storage.bucket.lifecycle.get",
            Self::SetLifecycle(_) => "storage.bucket.lifecycle.update",
            Self::DeleteLifecycle(_) => "storage.bucket.lifecycle.delete",
            Self::UploadObject(_) => "storage.object.upload",
            Self::UpdateObject(_) => "storage.object.upload_update",
            Self::SignUpload(_) => "storage.object.sign_upload_url",
            Self::UploadSigned(_) => "storage.object.upload_signed",
            Self::GetPublic(_) => "storage.object.get_public",
            Self::GetSigned(_) => "storage.object.get_signed",
            // Compat: HEAD and info of these routes keep the original's older operation names, without the prefix.
            Self::GetAuthenticated(_) | Self::GetObject(_) if is_head => "object.head_authenticated_info",
            Self::GetAuthenticated(_) | Self::GetObject(_) => "storage.object.get_authenticated",
            Self::GetInfo(_) | Self::GetInfoAuthenticated(_) => "object.get_authenticated_info",
            Self::GetInfoPublic(_) => "storage.object.info_public",
            Self::ListObjects(_) => "storage.object.list",
            Self::ListObjectsV2(_) => "storage.object.list_v2",
            Self::DeleteObject(_) => "storage.object.delete",
            Self::DeleteObjects(_) => "storage.object.delete_many",
            Self::MoveObject => "storage.object.move",
            Self::CopyObject => "storage.object.copy",
            Self::SignObject(_) => "storage.object.sign",
            Self::SignObjects(_) => "storage.object.sign_many",
            Self::RenderPublic(_) => "storage.render.image_public",
            Self::RenderAuthenticated(_) => "storage.render.image_authenticated",
            Self::RenderSigned(_) => "storage.render.image_sign",
            Self::PurgeCache(_) => "storage.cdn.purge_object_cache",
            Self::Health => "storage.health",
            Self::Status | Self::Version | Self::Resumable(_) | Self::S3 => "",
        }
    }
}

fn bucket_route(method: &Method, rest: Option<&str>) -> Result<Option<Route>, StorageError> {
    let Some(rest) = rest.filter(|rest| !rest.is_empty()) else {
        return Ok(match *method {
            Method::GET | Method::HEAD => Some(Route::ListBuckets),
            Method::POST => Some(Route::CreateBucket),
            _ => None,
        });
    };
    let (bucket, action) = split_path(rest);
    let bucket = decode_bucket(bucket)?;
    Ok(match (method, action) {
        (&Method::GET | &Method::HEAD, None) => Some(Route::GetBucket(bucket)),
        (&Method::PUT, None) => Some(Route::UpdateBucket(bucket)),
        (&Method::DELETE, None) => Some(Route::DeleteBucket(bucket)),
        (&Method::POST, Some("empty")) => Some(Route::EmptyBucket(bucket)),
        (&Method::GET | &Method::HEAD, Some("lifecycle")) => Some(Route::GetLifecycle(bucket)),
        (&Method::PUT, Some("lifecycle")) => Some(Route::SetLifecycle(bucket)),
        (&Method::DELETE, Some("lifecycle")) => Some(Route::DeleteLifecycle(bucket)),
        _ => None,
    })
}

/// Fixed words win over bucket names: only what no fixed route matches is an object of a bucket with that name.
fn object_route(method: &Method, rest: Option<&str>) -> Result<Option<Route>, StorageError> {
    let Some(rest) = rest.filter(|rest| !rest.is_empty()) else {
        return Ok(None);
    };
    let (first, tail) = split_path(rest);
    if let Some(bucket) = tail.filter(|tail| !tail.is_empty() && !tail.contains('/'))
        && let Some(route) = batch_route(method, first, bucket)?
    {
        return Ok(Some(route));
    }
    if let Some(route) = fixed_object_route(method, first, tail)? {
        return Ok(Some(route));
    }
    // Without a slash after the bucket there is no key; only deletion by a list of keys has such a path.
    let Some(key) = tail else {
        return Ok(if method == Method::DELETE {
            Some(Route::DeleteObjects(decode_bucket(first)?))
        } else {
            None
        });
    };
    let object = parse_object_path((first, key))?;
    Ok(match *method {
        Method::GET | Method::HEAD => Some(Route::GetObject(object)),
        Method::POST => Some(Route::UploadObject(object)),
        Method::PUT => Some(Route::UpdateObject(object)),
        Method::DELETE => Some(Route::DeleteObject(object)),
        _ => None,
    })
}

/// `POST /object/{word}/{bucket}`: operations on many objects of one bucket.
fn batch_route(method: &Method, word: &str, bucket: &str) -> Result<Option<Route>, StorageError> {
    if method != Method::POST {
        return Ok(None);
    }
    Ok(match word {
        "list" => Some(Route::ListObjects(decode_bucket(bucket)?)),
        "list-v2" => Some(Route::ListObjectsV2(decode_bucket(bucket)?)),
        "sign" => Some(Route::SignObjects(decode_bucket(bucket)?)),
        _ => None,
    })
}

/// `/object/{word}/…`, where the word is one of the API's own.
fn fixed_object_route(
    method: &Method,
    word: &str,
    tail: Option<&str>,
) -> Result<Option<Route>, StorageError> {
    let read = is_read(method);
    let target = |tail: Option<&str>| {
        tail.and_then(|tail| tail.split_once('/'))
            .map(parse_object_path)
            .transpose()
    };
    let below = |word: &str| {
        tail.and_then(|tail| tail.strip_prefix(word))
            .and_then(|tail| tail.strip_prefix('/'))
    };
    Ok(match word {
        "public" if read => target(tail)?.map(Route::GetPublic),
        "authenticated" if read => target(tail)?.map(Route::GetAuthenticated),
        "sign" if read => target(tail)?.map(|object| Route::GetSigned(object.undo_second_encoding())),
        "sign" if method == Method::POST => target(tail)?.map(Route::SignObject),
        "upload" if method == Method::POST => target(below("sign"))?.map(Route::SignUpload),
        "upload" if method == Method::PUT => {
            target(below("sign"))?.map(|object| Route::UploadSigned(object.undo_second_encoding()))
        }
        "info" if read => match (target(below("public"))?, target(below("authenticated"))?) {
            (Some(object), _) => Some(Route::GetInfoPublic(object)),
            (None, Some(object)) => Some(Route::GetInfoAuthenticated(object)),
            (None, None) => target(tail)?.map(Route::GetInfo),
        },
        "move" if method == Method::POST && tail.is_none() => Some(Route::MoveObject),
        "copy" if method == Method::POST && tail.is_none() => Some(Route::CopyObject),
        _ => None,
    })
}

/// `/render/image/{public|authenticated|sign}/{bucket}/{key}`.
fn render_route(rest: &str) -> Result<Option<Route>, StorageError> {
    let (access, Some(object)) = split_path(rest) else {
        return Ok(None);
    };
    let Some(object) = object.split_once('/').map(parse_object_path).transpose()? else {
        return Ok(None);
    };
    Ok(match access {
        "public" => Some(Route::RenderPublic(object)),
        "authenticated" => Some(Route::RenderAuthenticated(object)),
        "sign" => Some(Route::RenderSigned(object.undo_second_encoding())),
        _ => None,
    })
}

/// `/upload/resumable[/sign][/{id}]`. Creation (POST) and OPTIONS take no id, all other methods need one.
fn resumable_route(method: &Method, rest: &str) -> Option<Route> {
    let rest = match rest {
        "" => "",
        rest => rest.strip_prefix('/')?,
    };
    let (signed, id) = match rest.strip_prefix("sign") {
        Some("") => (true, ""),
        Some(id) if id.starts_with('/') => (true, &id[1..]),
        _ => (false, rest),
    };
    let upload = (!id.is_empty() && !id.contains('/')).then(|| id.to_owned());
    let served = match *method {
        Method::OPTIONS | Method::POST => true,
        Method::HEAD | Method::PATCH | Method::DELETE => upload.is_some(),
        _ => false,
    };
    served.then_some(Route::Resumable(ResumableRoute { signed, upload }))
}

/// `DELETE /cdn[/{bucket}[/{key}]]`.
fn purge_route(method: &Method, rest: Option<&str>) -> Option<Route> {
    if method != Method::DELETE {
        return None;
    }
    let scope = match rest {
        None | Some("") => PurgeScope::Everything,
        Some(rest) if rest.contains('/') => PurgeScope::Object,
        Some(_) => PurgeScope::Bucket,
    };
    Some(Route::PurgeCache(scope))
}

fn is_read(method: &Method) -> bool {
    method == Method::GET || method == Method::HEAD
}

/// Splits off the first segment; the rest after its slash is `None` when there is no slash.
fn split_path(path: &str) -> (&str, Option<&str>) {
    path.split_once('/')
        .map_or((path, None), |(first, rest)| (first, Some(rest)))
}

fn parse_object_path((bucket, key): (&str, &str)) -> Result<ObjectPath, StorageError> {
    Ok(ObjectPath {
        bucket: decode_bucket(bucket)?,
        key: decode_path(key)?,
    })
}

/// Decodes the bucket segment. Compat: the original's router answers 414 for longer segments.
fn decode_bucket(raw: &str) -> Result<String, StorageError> {
    const MAX_BYTES: usize = 2500;
    let bucket = decode_path(raw)?;
    if bucket.len() > MAX_BYTES {
        return Err(StorageError::BucketTooLong);
    }
    Ok(bucket)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(method: Method, path: &str) -> Route {
        Route::parse(&method, path).expect(path)
    }

    fn object(bucket: &str, key: &str) -> ObjectPath {
        ObjectPath {
            bucket: bucket.to_owned(),
            key: key.to_owned(),
        }
    }

    #[test]
    fn store_100_fixed_words_win_over_bucket_names() {
        let cases = [
            (Method::POST, "/object/move", Route::MoveObject),
            (Method::POST, "/object/copy", Route::CopyObject),
            (Method::POST, "/object/list/b", Route::ListObjects("b".into())),
            (Method::POST, "/object/sign/b", Route::SignObjects("b".into())),
            (
                Method::POST,
                "/object/sign/b/k/l",
                Route::SignObject(object("b", "k/l")),
            ),
            (
                Method::GET,
                "/object/sign/b/k",
                Route::GetSigned(object("b", "k")),
            ),
            (
                Method::POST,
                "/object/upload/sign/b/k",
                Route::SignUpload(object("b", "k")),
            ),
            (
                Method::PUT,
                "/object/upload/sign/b/k",
                Route::UploadSigned(object("b", "k")),
            ),
            (
                Method::GET,
                "/object/upload/sign/b/k",
                Route::GetObject(object("upload", "sign/b/k")),
            ),
            (
                Method::GET,
                "/object/info/public/b/k",
                Route::GetInfoPublic(object("b", "k")),
            ),
            (Method::GET, "/object/info/b/k", Route::GetInfo(object("b", "k"))),
            (
                Method::GET,
                "/object/info/b",
                Route::GetObject(object("info", "b")),
            ),
            (
                Method::GET,
                "/object/public/b",
                Route::GetObject(object("public", "b")),
            ),
            (
                Method::POST,
                "/object/info/b/x",
                Route::UploadObject(object("info", "b/x")),
            ),
            (Method::DELETE, "/object/b", Route::DeleteObjects("b".into())),
            (Method::DELETE, "/object/b/", Route::DeleteObject(object("b", ""))),
            (Method::GET, "/bucket/", Route::ListBuckets),
        ];
        for (method, path, expected) in cases {
            assert_eq!(parse(method, path), expected, "{path}");
        }
    }

    #[test]
    fn store_063_keys_are_decoded_once_and_otherwise_unchanged() {
        let cases = [
            ("/object/b/en%2Fcoded", "en/coded"),
            ("/object/b/twice%252F", "twice%2F"),
            ("/object/b//lead", "/lead"),
            ("/object/b/dou//ble", "dou//ble"),
            ("/object/b/trail/", "trail/"),
            ("/object/b/a+b", "a+b"),
            ("/object/b/../x", "../x"),
        ];
        for (path, key) in cases {
            assert_eq!(
                parse(Method::GET, path),
                Route::GetObject(object("b", key)),
                "{path}"
            );
        }
    }

    #[test]
    fn store_100_unknown_routes_and_incomplete_escapes_are_errors() {
        for (method, path) in [
            (Method::GET, "/object"),
            (Method::GET, "/object/b"),
            (Method::PUT, "/object/copy"),
            (Method::PATCH, "/bucket"),
            (Method::GET, "/bucket/b/x/y"),
            (Method::GET, "/nope"),
            (Method::PATCH, "/object/b/k"),
        ] {
            assert!(
                matches!(
                    Route::parse(&method, path),
                    Err(StorageError::RouteNotFound { .. })
                ),
                "{path}"
            );
        }
        assert!(matches!(
            Route::parse(&Method::GET, "/object/b/%zz"),
            Err(StorageError::MalformedUrl(_))
        ));
    }
}
