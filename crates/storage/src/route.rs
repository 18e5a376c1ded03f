//! The raw request path, read into the closed set of things the service can do.
//!
//! The path is taken as the client sent it: `//` stays, `..` is just text, `%2F` in a key becomes `/`, and decoding
//! happens exactly once. A web framework's own matching would not promise that.

use actix_web::http::Method;
use percent_encoding::percent_decode_str;

use crate::error::StorageError;

/// An object's address.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct ObjectPath {
    /// Bucket id, decoded.
    pub(crate) bucket: String,
    /// Key inside the bucket, decoded.
    pub(crate) key: String,
}

impl ObjectPath {
    /// `bucket/key`, as responses and URL tokens spell it.
    pub(crate) fn full(&self) -> String {
        format!("{}/{}", self.bucket, self.key)
    }
}

/// What is asked for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Route {
    ListBuckets,
    CreateBucket,
    GetBucket(String),
    UpdateBucket(String),
    DeleteBucket(String),
    EmptyBucket(String),
    Upload(ObjectPath),
    UploadUpdate(ObjectPath),
    SignUpload(ObjectPath),
    UploadSigned(ObjectPath),
    GetObject(ObjectPath),
    GetAuthenticated(ObjectPath),
    GetPublic(ObjectPath),
    GetSigned(ObjectPath),
    Info(ObjectPath),
    InfoAuthenticated(ObjectPath),
    InfoPublic(ObjectPath),
    List(String),
    ListV2(String),
    DeleteObject(ObjectPath),
    DeleteObjects(String),
    MoveObject,
    CopyObject,
    Sign(ObjectPath),
    SignMany(String),
    PurgeCache(PurgeScope),
    Status,
    Version,
    Health,
    /// `/upload/resumable…`
    Resumable(ResumableRoute),
    RenderPublic(ObjectPath),
    RenderAuthenticated(ObjectPath),
    RenderSigned(ObjectPath),
    /// `/s3…`: another protocol, which reads its paths itself.
    S3,
}

/// An address of the resumable protocol.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct ResumableRoute {
    /// Whether an upload token stands in for the caller's.
    pub(crate) signed: bool,
    /// The upload's id, as it was sent.
    pub(crate) upload: Option<String>,
}

/// What a cache purge is about; we keep no cache of stored bytes, so only the form matters.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum PurgeScope {
    Everything,
    Bucket,
    Object,
}

impl Route {
    /// Reads method and raw path (behind the mount path, starting with `/`).
    ///
    /// # Errors
    /// `RouteNotFound`, or `MalformedUrl` for a broken percent escape.
    pub(crate) fn parse(method: &Method, raw: &str) -> Result<Self, StorageError> {
        let path = raw.strip_prefix('/').unwrap_or(raw);
        let (service, rest) = split(path);
        let route = match service {
            "bucket" => bucket_route(method, rest)?,
            "object" => object_route(method, rest)?,
            "cdn" => purge_route(method, rest),
            "status" if rest.is_none() && method == Method::GET => Some(Self::Status),
            "version" if rest.is_none() && method == Method::GET => Some(Self::Version),
            "health" if rest.is_none() && method == Method::GET => Some(Self::Health),
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
}

fn bucket_route(method: &Method, rest: Option<&str>) -> Result<Option<Route>, StorageError> {
    let Some(rest) = rest.filter(|rest| !rest.is_empty()) else {
        return Ok(match *method {
            Method::GET => Some(Route::ListBuckets),
            Method::POST => Some(Route::CreateBucket),
            _ => None,
        });
    };
    let (bucket, action) = split(rest);
    let bucket = decode_bucket(bucket)?;
    Ok(match (method, action) {
        (&Method::GET, None) => Some(Route::GetBucket(bucket)),
        (&Method::PUT, None) => Some(Route::UpdateBucket(bucket)),
        (&Method::DELETE, None) => Some(Route::DeleteBucket(bucket)),
        (&Method::POST, Some("empty")) => Some(Route::EmptyBucket(bucket)),
        _ => None,
    })
}

/// Static segments win over bucket names; what fits no static route is a bucket of that name.
fn object_route(method: &Method, rest: Option<&str>) -> Result<Option<Route>, StorageError> {
    let Some(rest) = rest.filter(|rest| !rest.is_empty()) else {
        return Ok(None);
    };
    let (first, tail) = split(rest);
    let read = is_read(method);

    let one_segment = tail.filter(|tail| !tail.is_empty() && !tail.contains('/'));
    match (first, one_segment) {
        ("list", Some(bucket)) if method == Method::POST => {
            return Ok(Some(Route::List(decode_bucket(bucket)?)));
        }
        ("list-v2", Some(bucket)) if method == Method::POST => {
            return Ok(Some(Route::ListV2(decode_bucket(bucket)?)));
        }
        ("sign", Some(bucket)) if method == Method::POST => {
            return Ok(Some(Route::SignMany(decode_bucket(bucket)?)));
        }
        _ => {}
    }

    let target = |tail: Option<&str>| {
        tail.and_then(|tail| tail.split_once('/'))
            .map(object_path)
            .transpose()
    };
    let below = |word: &str| {
        tail.and_then(|tail| tail.strip_prefix(word))
            .and_then(|tail| tail.strip_prefix('/'))
    };
    let fixed = match first {
        "public" if read => target(tail)?.map(Route::GetPublic),
        "authenticated" if read => target(tail)?.map(Route::GetAuthenticated),
        "sign" if read => target(tail)?.map(Route::GetSigned),
        "sign" if method == Method::POST => target(tail)?.map(Route::Sign),
        "upload" if method == Method::POST => target(below("sign"))?.map(Route::SignUpload),
        "upload" if method == Method::PUT => target(below("sign"))?.map(Route::UploadSigned),
        "info" if read => match (target(below("public"))?, target(below("authenticated"))?) {
            (Some(object), _) => Some(Route::InfoPublic(object)),
            (None, Some(object)) => Some(Route::InfoAuthenticated(object)),
            (None, None) => target(tail)?.map(Route::Info),
        },
        "move" if method == Method::POST && tail.is_none() => Some(Route::MoveObject),
        "copy" if method == Method::POST && tail.is_none() => Some(Route::CopyObject),
        _ => None,
    };
    if fixed.is_some() {
        return Ok(fixed);
    }

    let Some(key) = tail else {
        return Ok(if method == Method::DELETE {
            Some(Route::DeleteObjects(decode_bucket(first)?))
        } else {
            None
        });
    };
    let object = object_path((first, key))?;
    Ok(match *method {
        Method::GET | Method::HEAD => Some(Route::GetObject(object)),
        Method::POST => Some(Route::Upload(object)),
        Method::PUT => Some(Route::UploadUpdate(object)),
        Method::DELETE => Some(Route::DeleteObject(object)),
        _ => None,
    })
}

fn render_route(rest: &str) -> Result<Option<Route>, StorageError> {
    let (road, Some(object)) = split(rest) else {
        return Ok(None);
    };
    let Some(object) = object.split_once('/').map(object_path).transpose()? else {
        return Ok(None);
    };
    Ok(match road {
        "public" => Some(Route::RenderPublic(object)),
        "authenticated" => Some(Route::RenderAuthenticated(object)),
        "sign" => Some(Route::RenderSigned(object)),
        _ => None,
    })
}

/// Creation and capabilities have no id, everything else has one.
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

/// The first segment, and what follows its slash if there is one.
fn split(path: &str) -> (&str, Option<&str>) {
    path.split_once('/')
        .map_or((path, None), |(first, rest)| (first, Some(rest)))
}

fn object_path((bucket, key): (&str, &str)) -> Result<ObjectPath, StorageError> {
    Ok(ObjectPath {
        bucket: decode_bucket(bucket)?,
        key: decode(key)?,
    })
}

/// The bucket of a path. Compat: the original's router takes no longer ones.
fn decode_bucket(raw: &str) -> Result<String, StorageError> {
    const LONGEST: usize = 2500;
    let bucket = decode(raw)?;
    if bucket.len() > LONGEST {
        return Err(StorageError::BucketTooLong);
    }
    Ok(bucket)
}

/// Percent-decodes once; `+` stays a plus.
///
/// # Errors
/// `MalformedUrl`.
pub(crate) fn decode(raw: &str) -> Result<String, StorageError> {
    let malformed = || StorageError::MalformedUrl(raw.to_owned());
    let bytes = raw.as_bytes();
    let escapes_are_whole = bytes
        .iter()
        .enumerate()
        .filter(|(_, b)| **b == b'%')
        .all(|(at, _)| {
            bytes.get(at + 1).is_some_and(u8::is_ascii_hexdigit)
                && bytes.get(at + 2).is_some_and(u8::is_ascii_hexdigit)
        });
    if !escapes_are_whole {
        return Err(malformed());
    }
    percent_decode_str(raw)
        .decode_utf8()
        .map(|text| text.into_owned())
        .map_err(|_| malformed())
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
    fn static_routes_win_over_bucket_names() {
        let cases = [
            (Method::POST, "/object/move", Route::MoveObject),
            (Method::POST, "/object/copy", Route::CopyObject),
            (Method::POST, "/object/list/b", Route::List("b".into())),
            (Method::POST, "/object/sign/b", Route::SignMany("b".into())),
            (
                Method::POST,
                "/object/sign/b/k/l",
                Route::Sign(object("b", "k/l")),
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
                Route::InfoPublic(object("b", "k")),
            ),
            (Method::GET, "/object/info/b/k", Route::Info(object("b", "k"))),
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
                Route::Upload(object("info", "b/x")),
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
    fn store_063_keys_are_decoded_once_and_kept_as_they_are() {
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
    fn store_100_unknown_routes_and_broken_escapes_are_errors() {
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
