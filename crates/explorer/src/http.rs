//! Extractors for queries and bodies, JSON responses, and errors as responses.

use super::state::App;
use answers::operations::{self, bad_body, too_large};
use answers::params::MAX_BODY;
use answers::{ApiError, Code};
use axum::body::Bytes;
use axum::extract::rejection::{BytesRejection, FailedToBufferBody};
use axum::extract::{DefaultBodyLimit, FromRequest, FromRequestParts, Path, Request};
use axum::http::header::{CONNECTION, CONTENT_TYPE, RETRY_AFTER};
use axum::http::request::Parts;
use axum::http::{HeaderValue, Method, StatusCode};
use axum::response::{IntoResponse, Response};
use serde::de::DeserializeOwned;
use std::sync::Arc;
use std::time::Duration;

/// The query of a request. Unknown and repeated keys are errors that name the key.
#[derive(Debug)]
pub struct Query<T>(pub T);

impl<S: Sync, T: DeserializeOwned> FromRequestParts<S> for Query<T> {
    type Rejection = Failure;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Query<T>, Failure> {
        Ok(Query(operations::query(parts.uri.query().unwrap_or_default())?))
    }
}

/// What an operation gets of a request: the value in the path, the query, and the body of a POST.
pub struct Parameters(pub operations::Request);

impl FromRequest<Arc<App>> for Parameters {
    type Rejection = Failure;

    async fn from_request(request: Request, app: &Arc<App>) -> Result<Parameters, Failure> {
        let query = request.uri().query().unwrap_or_default().to_owned();
        let (mut parts, body) = request.into_parts();
        let bad = |_| ApiError::new(Code::BadMaterial, "the material is not UTF-8").at("material", 0);
        let segment = Path::<Vec<String>>::from_request_parts(&mut parts, app).await.map_err(bad)?.0.pop();
        let body = match parts.method {
            Method::POST => read_body(Request::from_parts(parts, body), app.config.timeouts.body).await?,
            _ => Bytes::new(),
        };
        Ok(Parameters(operations::Request { segment: segment.unwrap_or_default(), query, body: body.into() }))
    }
}

/// Reads a body of at most [`MAX_BODY`] bytes that arrives within the time limit.
async fn read_body(mut request: Request, limit: Duration) -> Result<Bytes, ApiError> {
    DefaultBodyLimit::max(MAX_BODY).apply(&mut request);
    let body = tokio::time::timeout(limit, Bytes::from_request(request, &())).await;
    let late = |_| ApiError::new(Code::RequestTimeout, "the body of the request did not arrive in time");
    body.map_err(late)?.map_err(|error| unread(&error))
}

/// The error of a body that is too long or broken, such as a chunk without a length.
fn unread(error: &BytesRejection) -> ApiError {
    match error {
        BytesRejection::FailedToBufferBody(FailedToBufferBody::LengthLimitError(_)) => too_large(),
        error => bad_body(error),
    }
}

/// Marks a response that depends on more than the request and the tables.
#[derive(Clone, Copy, Debug)]
pub struct Unrepeatable;

/// The response with JSON.
#[must_use]
pub fn json(text: Vec<u8>) -> Response {
    ([(CONTENT_TYPE, HeaderValue::from_static("application/json"))], text).into_response()
}

/// The status of the response to an error.
#[must_use]
pub fn status_of(error: &ApiError) -> StatusCode {
    StatusCode::from_u16(error.code().status()).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR)
}

/// An error as a response.
#[derive(Debug)]
pub struct Failure(pub ApiError);

impl From<ApiError> for Failure {
    fn from(error: ApiError) -> Failure {
        Failure(error)
    }
}

impl IntoResponse for Failure {
    fn into_response(self) -> Response {
        let (code, status) = (self.0.code(), status_of(&self.0));
        let mut response = (status, json(self.0.json())).into_response();
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
            let read = runtime.block_on(read_body(Request::new(content), Duration::from_secs(60)));
            read.map(|body| body.len()).map_err(|error| error.code())
        };
        let list = |length: usize| Content::from(format!("[1{}]", " ".repeat(length - 3)));
        assert_eq!(code(list(MAX_BODY)), Ok(MAX_BODY));
        assert_eq!(code(list(MAX_BODY + 1)), Err(Code::TooLarge));
        let cut = [Ok("[1"), Err(io::Error::from(io::ErrorKind::InvalidData))];
        assert_eq!(code(Content::from_stream(tokio_stream::iter(cut))), Err(Code::BadRequest));
    }
}
