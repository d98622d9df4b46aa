//! Checks every request before its handler, and adds security headers to every response.

use super::assets::matches;
use super::errors::{ApiError, Code};
use super::limits::{MAX_BODY, MAX_URI, TIMEOUT, too_large};
use super::state::App;
use axum::body::Body;
use axum::extract::{MatchedPath, Request, State};
use axum::http::{HeaderMap, HeaderName, HeaderValue, Method, StatusCode, Uri, header};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use std::net::{IpAddr, Ipv6Addr};
use std::sync::Arc;
use std::time::{Duration, Instant};
use xxhash_rust::xxh3::xxh3_64_with_seed;

/// The page loads its own files only; inline scripts and styles do not run.
const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data: blob:; \
                      connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'";

/// The remote address of a connection.
#[derive(Clone, Copy, Debug)]
pub struct Peer(pub IpAddr);

/// The outermost middleware: rejects requests, answers `If-None-Match` and preflights, limits the time, sets headers and
/// counts.
pub async fn guard(State(app): State<Arc<App>>, request: Request, next: Next) -> Response {
    let start = Instant::now();
    let path = request.extensions().get::<MatchedPath>().cloned();
    let path = path.as_ref().map(MatchedPath::as_str);
    let tag = etag(&app, path, &request);
    let origin = request.headers().get(header::ORIGIN).cloned();
    let mut response = match check(&app, path, &request) {
        Err(error) => {
            drain(request).await;
            error.into_response()
        }
        Ok(()) if tag.as_ref().is_some_and(|tag| matches(request.headers(), tag)) => {
            StatusCode::NOT_MODIFIED.into_response()
        }
        Ok(()) if request.method() == Method::OPTIONS && origin.is_some() => preflight(),
        Ok(()) => match tokio::time::timeout(TIMEOUT, next.run(request)).await {
            Ok(response) => response,
            Err(_) => ApiError::new(Code::Timeout, "the request took too long").into_response(),
        },
    };
    let ok = response.status() == StatusCode::OK || response.status() == StatusCode::NOT_MODIFIED;
    if let Some(tag) = tag.filter(|_| ok) {
        response.headers_mut().insert(header::ETAG, tag);
    }
    set_headers(&app, &mut response, origin);
    if let Some(code) = response.extensions().get::<Code>() {
        app.metrics.error(code.as_str());
    }
    app.metrics.response(path, response.status(), start.elapsed());
    response
}

fn check(app: &App, path: Option<&str>, request: &Request) -> Result<(), ApiError> {
    let headers = request.headers();
    check_host(app, headers, request.uri())?;
    check_origin(app, headers)?;
    if request.uri().to_string().len() > MAX_URI {
        return Err(ApiError::new(Code::TooLarge, format!("a URI has at most {MAX_URI} characters")));
    }
    let length = headers.get(header::CONTENT_LENGTH).and_then(|v| v.to_str().ok()).and_then(|v| v.parse::<u64>().ok());
    if length.is_some_and(|length| length > MAX_BODY as u64) {
        return Err(too_large());
    }
    let peer = request.extensions().get::<Peer>().map_or(IpAddr::V6(Ipv6Addr::UNSPECIFIED), |peer| peer.0);
    match client(app, headers, peer) {
        Some(client) if !app.rates.take(client, cost(path), Instant::now()) => {
            Err(ApiError::new(Code::RateLimited, "too many requests from this address; try again in a second"))
        }
        _ => Ok(()),
    }
}

/// Reads the rest of a rejected request, up to a limit. Closing a connection with unread data resets it, which can discard
/// the response.
async fn drain(request: Request) {
    const MOST: usize = 1 << 20;
    let rest = axum::body::to_bytes(request.into_body(), MOST);
    let _ = tokio::time::timeout(Duration::from_secs(2), rest).await;
}

/// The host of an authority, without its port.
fn host_of(authority: &str) -> &str {
    match authority.strip_prefix('[').and_then(|rest| rest.split_once(']')) {
        Some((host, _)) => host,
        None => authority.split(':').next().unwrap_or(authority),
    }
}

/// Rejects unknown `Host` values, because another site can let its name resolve to this server (DNS rebinding). It cannot do
/// that with an IP address or with `localhost`.
fn check_host(app: &App, headers: &HeaderMap, uri: &Uri) -> Result<(), ApiError> {
    let forbidden = || ApiError::new(Code::ForbiddenHost, "this server does not serve that host name; see --host");
    let mut given = headers.get_all(header::HOST).iter();
    let host = match (given.next(), given.next(), uri.authority()) {
        (_, Some(_), _) => return Err(forbidden()),
        (_, None, Some(authority)) => authority.as_str(),
        (Some(host), None, None) => host.to_str().map_err(|_| forbidden())?,
        (None, None, None) => return Err(forbidden()),
    };
    let host = host_of(host);
    let known = host.parse::<IpAddr>().is_ok()
        || host.eq_ignore_ascii_case("localhost")
        || app.config.hosts.iter().any(|name| name.eq_ignore_ascii_case(host));
    if known { Ok(()) } else { Err(forbidden()) }
}

/// Rejects requests of pages of other origins, except the allowed ones.
fn check_origin(app: &App, headers: &HeaderMap) -> Result<(), ApiError> {
    let forbidden =
        || ApiError::new(Code::ForbiddenOrigin, "pages of other origins get no answers; see --allow-origin");
    let text = |name: HeaderName| headers.get(name).map(|value| value.to_str().unwrap_or("?"));
    if let Some(origin) = text(header::ORIGIN) {
        let own = origin.split_once("://").map(|(_, authority)| authority);
        let is_own = own.is_some() && own == text(header::HOST);
        return if is_own || is_allowed(app, origin) { Ok(()) } else { Err(forbidden()) };
    }
    // Embedded resources, such as pictures, come without an origin. Links are allowed.
    let embedded = text(HeaderName::from_static("sec-fetch-site")) == Some("cross-site")
        && text(HeaderName::from_static("sec-fetch-mode")) != Some("navigate");
    if embedded { Err(forbidden()) } else { Ok(()) }
}

fn is_allowed(app: &App, origin: &str) -> bool {
    app.config.allow_origins.iter().any(|allowed| allowed == origin)
}

/// The address whose requests are counted together; `None` for this machine, which has no limit.
fn client(app: &App, headers: &HeaderMap, peer: IpAddr) -> Option<IpAddr> {
    let forwarded = || {
        let last = headers.get_all("x-forwarded-for").iter().next_back()?.to_str().ok()?;
        last.rsplit(',').next()?.trim().parse().ok()
    };
    let peer = if app.config.behind_proxy { forwarded().unwrap_or(peer) } else { peer };
    (!peer.to_canonical().is_loopback()).then(|| match peer.to_canonical() {
        // An IPv6 client controls a network of 2^64 addresses.
        IpAddr::V6(ip) => IpAddr::V6((u128::from(ip) & !u128::from(u64::MAX)).into()),
        ip => ip,
    })
}

/// The cost of a request to the rate limit, by its path.
fn cost(path: Option<&str>) -> f32 {
    match path.and_then(|path| path.strip_prefix("/api/v1/")) {
        Some("review" | "analyze" | "fortress" | "tree" | "matrix") => 10.0,
        Some("bestmove" | "batch" | "rulesets" | "longest") => 5.0,
        Some("whatif" | "mainline" | "random") => 2.0,
        _ => 1.0,
    }
}

/// The entity tag of a response that depends on the request and the tables only; `None` for other responses.
fn etag(app: &App, path: Option<&str>, request: &Request) -> Option<HeaderValue> {
    const CACHEABLE: [&str; 11] = [
        "probe",
        "mainline",
        "whatif",
        "race",
        "rulesets",
        "fortress",
        "tree",
        "stats/{material}",
        "matrix",
        "longest",
        "rules",
    ];
    let cacheable = path?.strip_prefix("/api/v1/").is_some_and(|name| CACHEABLE.contains(&name));
    if !cacheable || request.method() != Method::GET {
        return None;
    }
    let query = request.uri().path_and_query()?.as_str();
    let hash = xxh3_64_with_seed(query.as_bytes(), app.registry.generation());
    HeaderValue::from_str(&format!("W/\"{hash:016x}\"")).ok()
}

/// The response to a CORS preflight request.
fn preflight() -> Response {
    let methods = (header::ACCESS_CONTROL_ALLOW_METHODS, "GET, POST");
    let headers = (header::ACCESS_CONTROL_ALLOW_HEADERS, "content-type");
    (StatusCode::NO_CONTENT, [methods, headers]).into_response()
}

/// Sets the security headers of a response.
fn set_headers(app: &App, response: &mut Response<Body>, origin: Option<HeaderValue>) {
    let headers = response.headers_mut();
    let mut set = |name: HeaderName, value: &'static str| headers.insert(name, HeaderValue::from_static(value));
    set(header::CONTENT_SECURITY_POLICY, POLICY);
    set(header::X_CONTENT_TYPE_OPTIONS, "nosniff");
    set(header::REFERRER_POLICY, "no-referrer");
    set(header::X_FRAME_OPTIONS, "DENY");
    set(HeaderName::from_static("cross-origin-opener-policy"), "same-origin");
    set(HeaderName::from_static("cross-origin-resource-policy"), "same-origin");
    headers.entry(header::CACHE_CONTROL).or_insert(HeaderValue::from_static("no-cache"));
    if let Some(origin) = origin.filter(|origin| origin.to_str().is_ok_and(|origin| is_allowed(app, origin))) {
        headers.insert(header::ACCESS_CONTROL_ALLOW_ORIGIN, origin);
        headers.append(header::VARY, HeaderValue::from_static("origin"));
        headers.insert("cross-origin-resource-policy", HeaderValue::from_static("cross-origin"));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hosts_without_their_ports() {
        for (authority, host) in
            [("localhost:80", "localhost"), ("[::1]:80", "::1"), ("[::1]", "::1"), ("a.b", "a.b"), ("", "")]
        {
            assert_eq!(host_of(authority), host);
        }
    }
}
