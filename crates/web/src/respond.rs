//! Requests and responses without HTTP.

use crate::here::Here;
use crate::send;
use answers::analysis::Analysis;
use answers::context::Context;
use answers::operations::{
    Operation, Request, method_not_allowed, not_found, operations, query, too_large, uri_too_long,
};
use answers::params::{MAX_BODY, MAX_URI};
use answers::{ApiError, handlers};
use std::pin::pin;
use std::sync::OnceLock;
use std::sync::atomic::AtomicBool;
use std::task::{Poll, Waker};

/// The response to a request: the status and the content.
pub(crate) fn respond(here: Here, request: &[u8]) -> (u16, Vec<u8>) {
    match answer(here, request) {
        Ok(content) => (200, content),
        Err(error) => (error.code().status(), error.json()),
    }
}

fn answer(here: Here, request: &[u8]) -> Result<Vec<u8>, ApiError> {
    static OPERATIONS: OnceLock<Vec<Operation<Here>>> = OnceLock::new();
    let line = request.split(|&byte| byte == b'\n').next().unwrap_or_default();
    let body = request.get(line.len() + 1..).unwrap_or_default();
    let line = String::from_utf8_lossy(line);
    let (method, address) = line.split_once(' ').unwrap_or_default();
    if address.len() > MAX_URI {
        return Err(uri_too_long());
    }
    if body.len() > MAX_BODY {
        return Err(too_large());
    }
    let (path, keys) = address.split_once('?').unwrap_or((address, ""));
    let operations = OPERATIONS.get_or_init(operations);
    let mut found = operations.iter().filter_map(|operation| Some((operation, segment(operation.path, path)?)));
    let (operation, segment) = found.next().ok_or_else(not_found)?;
    if !operation.method.eq_ignore_ascii_case(method) {
        return Err(method_not_allowed());
    }
    let request = Request { segment: segment.to_owned(), query: keys.to_owned(), body: body.to_vec() };
    match &operation.answer {
        Some(answer) => Ok(now(answer(here, request))?.json),
        None => own(&here, operation.path, &request),
    }
}

/// The answers that are not one JSON value.
fn own(here: &Here, path: &str, request: &Request) -> Result<Vec<u8>, ApiError> {
    match path {
        "/api/v1/analyze" => match now(handlers::analyze(here, query(&request.query)?))? {
            Analysis::Events(events) => events.into_iter().for_each(send),
            Analysis::Search(search) => search.run(here.state(), &AtomicBool::new(false), &mut send),
        },
        "/api/v1/board.svg" => return handlers::board(&query(&request.query)?).map(String::into_bytes),
        "/api/v1/openapi.json" => return Ok(answers::OPENAPI.into()),
        _ => return Err(not_found()),
    }
    Ok(Vec::new())
}

/// The value in a path, empty if the path has none; `None` if the path is another.
fn segment<'a>(template: &str, path: &'a str) -> Option<&'a str> {
    match template.split_once('{') {
        None => (template == path).then_some(""),
        Some((start, _)) => path.strip_prefix(start).filter(|rest| !rest.is_empty() && !rest.contains('/')),
    }
}

/// The result of a future that never waits, as no work here runs elsewhere.
fn now<T>(future: impl Future<Output = Result<T, ApiError>>) -> Result<T, ApiError> {
    match pin!(future).as_mut().poll(&mut std::task::Context::from_waker(Waker::noop())) {
        Poll::Ready(result) => result,
        Poll::Pending => Err(ApiError::busy()),
    }
}
