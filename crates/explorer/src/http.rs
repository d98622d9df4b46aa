//! Extractors for queries and bodies, JSON responses, and errors as responses.

use super::errors::{ApiError, Code, ErrorAnswer};
use super::limits::{MAX_BODY, too_large};
use super::params;
use super::state::App;
use axum::body::Bytes;
use axum::extract::rejection::{BytesRejection, FailedToBufferBody};
use axum::extract::{DefaultBodyLimit, FromRequest, FromRequestParts, Path, Request};
use axum::http::header::{CONNECTION, CONTENT_TYPE, RETRY_AFTER};
use axum::http::request::Parts;
use axum::http::{HeaderValue, StatusCode};
use axum::response::{IntoResponse, Response};
use doushouqi::tablebase::Material;
use serde::Serialize;
use serde::de::DeserializeOwned;
use std::error::Error;
use std::fmt::Display;
use std::sync::Arc;
use std::time::Duration;

/// The query of a request. Unknown and repeated keys are errors that name the key.
#[derive(Debug)]
pub struct Query<T>(pub T);

impl<S: Sync, T: DeserializeOwned> FromRequestParts<S> for Query<T> {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Query<T>, ApiError> {
        match axum::extract::Query::<T>::try_from_uri(&parts.uri) {
            Ok(axum::extract::Query(query)) => Ok(Query(query)),
            Err(error) => {
                let reason = error.source().map_or_else(|| error.to_string(), ToString::to_string);
                Err(ApiError::new(Code::BadRequest, format!("the query cannot be read: {reason}")).reason("bad_query"))
            }
        }
    }
}

/// The material in a path.
pub struct OfMaterial(pub Material);

impl<S: Send + Sync> FromRequestParts<S> for OfMaterial {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<OfMaterial, ApiError> {
        let bad = |_| ApiError::new(Code::BadMaterial, "the material is not UTF-8").at("material", 0);
        let Path(text) = Path::<String>::from_request_parts(parts, state).await.map_err(bad)?;
        params::material(&text).map(OfMaterial)
    }
}

/// A JSON body of at most [`MAX_BODY`] bytes.
pub struct Body<T>(pub T);

impl<T: DeserializeOwned> FromRequest<Arc<App>> for Body<T> {
    type Rejection = ApiError;

    async fn from_request(request: Request, app: &Arc<App>) -> Result<Body<T>, ApiError> {
        read_body(request, app.config.timeouts.body).await.map(Body)
    }
}

/// Reads a JSON body that arrives within the time limit.
async fn read_body<T: DeserializeOwned>(mut request: Request, limit: Duration) -> Result<T, ApiError> {
    DefaultBodyLimit::max(MAX_BODY).apply(&mut request);
    let body = tokio::time::timeout(limit, Bytes::from_request(request, &())).await;
    let late = |_| ApiError::new(Code::RequestTimeout, "the body of the request did not arrive in time");
    let bytes = body.map_err(late)?.map_err(|error| unread(&error))?;
    serde_json::from_slice(&bytes).map_err(bad_body)
}

/// The error of a body that is too long or broken, such as a chunk without a length.
fn unread(error: &BytesRejection) -> ApiError {
    match error {
        BytesRejection::FailedToBufferBody(FailedToBufferBody::LengthLimitError(_)) => too_large(),
        error => bad_body(error),
    }
}

fn bad_body(error: impl Display) -> ApiError {
    ApiError::new(Code::BadRequest, format!("the body cannot be read: {error}")).reason("bad_body")
}

/// A JSON response. It serialises into a vector; axum's `Json` writes through `BytesMut`, which took a quarter of the
/// time of a probe.
pub struct Json<T>(pub T);

/// Marks a response that depends on more than the request and the tables.
#[derive(Clone, Copy, Debug)]
pub struct Unrepeatable;

/// The initial capacity: most responses are smaller.
const CAPACITY: usize = 4 << 10;

impl<T: Serialize> IntoResponse for Json<T> {
    fn into_response(self) -> Response {
        let mut text = Vec::with_capacity(CAPACITY);
        match serde_json::to_writer(&mut text, &self.0) {
            Ok(()) => ([(CONTENT_TYPE, HeaderValue::from_static("application/json"))], text).into_response(),
            // Only maps with keys other than strings fail to serialise; no response contains one.
            Err(_) => StatusCode::INTERNAL_SERVER_ERROR.into_response(),
        }
    }
}

/// The status of the response to an error.
#[must_use]
pub fn status_of(error: &ApiError) -> StatusCode {
    StatusCode::from_u16(error.code().status()).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR)
}

impl IntoResponse for ApiError {
    fn into_response(self) -> Response {
        let (code, status) = (self.code(), status_of(&self));
        let mut response = (status, Json(ErrorAnswer { error: self.body() })).into_response();
        if status == StatusCode::TOO_MANY_REQUESTS || status == StatusCode::SERVICE_UNAVAILABLE {
            let seconds = HeaderValue::from_static("1");
            response.headers_mut().insert(RETRY_AFTER, seconds);
        }
        if status == StatusCode::REQUEST_TIMEOUT {
            // The client may still send the rest of the body.
            response.headers_mut().insert(CONNECTION, HeaderValue::from_static("close"));
        }
        response.extensions_mut().insert(code);
        response
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use axum::body::Body as Content;
    use std::io;

    #[test]
    fn long_and_broken_bodies_are_told_apart() {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap();
        let code = |content: Content| {
            let read = runtime.block_on(read_body::<Vec<u8>>(Request::new(content), Duration::from_secs(60)));
            read.map_err(|error| error.code())
        };
        let list = |length: usize| Content::from(format!("[1{}]", " ".repeat(length - 3)));
        assert_eq!(code(list(MAX_BODY)), Ok(vec![1]));
        assert_eq!(code(list(MAX_BODY + 1)), Err(Code::TooLarge));
        assert_eq!(code(Content::from("[1")), Err(Code::BadRequest));
        let cut = [Ok("[1"), Err(io::Error::from(io::ErrorKind::InvalidData))];
        assert_eq!(code(Content::from_stream(tokio_stream::iter(cut))), Err(Code::BadRequest));
    }
}
