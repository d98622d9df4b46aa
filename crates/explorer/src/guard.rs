//! Checks every request before its handler, and adds security headers to every response.

use super::assets;
use super::context::Client;
use super::cost::{Caching, Limits};
use super::http::{Failure, Unrepeatable};
use super::state::App;
use answers::operations::{too_large, uri_too_long};
use answers::params::{MAX_BODY, MAX_URI};
use answers::{ApiError, Code};
use axum::body::Body;
use axum::extract::{Request, State};
use axum::http::{HeaderMap, HeaderName, HeaderValue, Method, StatusCode, Uri, header};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use std::net::{IpAddr, Ipv6Addr, SocketAddr};
use std::sync::Arc;
use std::time::{Duration, Instant};
use xxhash_rust::xxh3::xxh3_64_with_seed;

/// The page loads its own files only; inline scripts and styles do not run. The origins whose pages may show it in a frame
/// follow.
const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data: blob:; \
                      connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors ";

/// The price, in simple requests, from which a request must come from the page of this server if a browser sends it.
const COSTLY: f32 = 5.0;

/// The remote address of a connection.
#[derive(Clone, Copy, Debug)]
pub struct Peer(pub IpAddr);

/// The outermost middleware: rejects requests, answers `If-None-Match` and preflights, limits the time, sets headers
/// and counts.
pub async fn guard(State((app, limits)): State<(Arc<App>, Limits)>, mut request: Request, next: Next) -> Response {
    let start = Instant::now();
    let logged_request = LoggedRequest::new(&limits, &request);
    let tag = etag(&app, &limits, &request);
    // `*` needs a response that exists, which only the handler knows.
    let any = assets::names_any(request.headers());
    let origin = request.headers().get(header::ORIGIN).cloned();
    let checked = check(&app, &limits, &request).map(|client| request.extensions_mut().insert(client));
    let mut response = match checked {
        Err(error) => {
            drain(request).await;
            Failure(error).into_response()
        }
        Ok(_) if tag.as_ref().is_some_and(|tag| assets::names(request.headers(), tag)) => {
            StatusCode::NOT_MODIFIED.into_response()
        }
        Ok(_) if request.method() == Method::OPTIONS && origin.is_some() => preflight(),
        Ok(_) => match tokio::time::timeout(limits.cost.time + app.config.timeouts.permit, next.run(request)).await {
            Ok(response) => response,
            Err(_) => Failure(ApiError::new(Code::Timeout, "the request took too long")).into_response(),
        },
    };
    if let Some(tag) = tag.filter(|_| takes_tag(&response)) {
        if any {
            response = StatusCode::NOT_MODIFIED.into_response();
        }
        response.headers_mut().insert(header::ETAG, tag);
    }
    set_headers(&app, &mut response, origin);
    let code = response.extensions().get::<Code>().map(|code| code.as_str());
    if let Some(code) = code {
        app.metrics.error(code);
    }
    let (status, time) = (response.status(), start.elapsed());
    app.metrics.response(limits.path, status, time);
    log(&logged_request, status, time, code);
    response
}

/// A request as the log shows it. The query is omitted because it may be long.
struct LoggedRequest {
    peer: Option<IpAddr>,
    method: Method,
    /// The path of the route; `None` for the page's files and unknown paths.
    path: Option<&'static str>,
}

impl LoggedRequest {
    fn new(limits: &Limits, request: &Request) -> LoggedRequest {
        let peer = request.extensions().get::<Peer>().map(|peer| peer.0);
        LoggedRequest { peer, method: request.method().clone(), path: limits.path }
    }
}

/// Logs a request: errors of the server as warnings, refused requests as information, all others for debugging.
fn log(logged_request: &LoggedRequest, status: StatusCode, time: Duration, code: Option<&str>) {
    let LoggedRequest { peer, method, path } = logged_request;
    let (peer, path, code) = (peer.map(tracing::field::display), path.unwrap_or("file"), code.unwrap_or("-"));
    let (status, ms) = (status.as_u16(), time.as_millis() as u64);
    macro_rules! event {
        ($level:ident) => { tracing::$level!(peer, %method, path, status, code, ms, "request") };
    }
    match status {
        // Refusals of a busy or small server would fill its log.
        500.. if ![Code::Busy, Code::NoRoom].map(Code::as_str).contains(&code) => event!(warn),
        400.. => event!(info),
        _ => event!(debug),
    }
}

fn check(app: &App, limits: &Limits, request: &Request) -> Result<Client, ApiError> {
    let headers = request.headers();
    check_host(app, headers, request.uri())?;
    check_origin(app, headers, limits)?;
    if request.uri().to_string().len() > MAX_URI {
        return Err(uri_too_long());
    }
    let length = headers.get(header::CONTENT_LENGTH).and_then(|v| v.to_str().ok()).and_then(|v| v.parse::<u64>().ok());
    if length.is_some_and(|length| length > MAX_BODY as u64) {
        return Err(too_large());
    }
    let peer = request.extensions().get::<Peer>().map_or(IpAddr::V6(Ipv6Addr::UNSPECIFIED), |peer| peer.0);
    let client = match peer.to_canonical() {
        _ if limits.monitoring => Client { address: network(peer), limited: false },
        _ if app.config.behind_proxy => Client { address: network(forwarded_client(headers)?), limited: true },
        peer => Client { address: network(peer), limited: !peer.is_loopback() },
    };
    client.charge(app, limits.cost.tokens)?;
    Ok(client)
}

/// Reads the rest of a rejected request, up to a limit. Closing a connection with unread data resets it, which can
/// discard the response.
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

/// Rejects unknown `Host` values, because another site can let its name resolve to this server (DNS rebinding). It
/// cannot do that with an IP address or with `localhost`.
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

/// Rejects requests of pages of other origins, except the allowed ones. Any page may link to the page of this server, but
/// to no other address: opening it would start work.
fn check_origin(app: &App, headers: &HeaderMap, limits: &Limits) -> Result<(), ApiError> {
    let forbidden =
        || ApiError::new(Code::ForbiddenOrigin, "pages of other origins get no answers; see --allow-origin");
    let text = |name: HeaderName| headers.get(name).map(|value| value.to_str().unwrap_or("?"));
    if let Some(origin) = text(header::ORIGIN) {
        let own = origin.split_once("://").map(|(_, authority)| authority);
        let is_own = own.is_some() && own == text(header::HOST);
        return if is_own || is_allowed(app, origin) { Ok(()) } else { Err(forbidden()) };
    }
    // Links and embedded resources, such as pictures and frames, come without an origin.
    let fetch = |name: &'static str| text(HeaderName::from_static(name));
    let is_foreign = match fetch("sec-fetch-site") {
        Some(site) => !matches!(site, "same-origin" | "none"),
        // To a server without HTTPS browsers name only the referrer, which a foreign page can hide but not forge. Of the
        // programs that send requests, browsers alone name languages.
        None if limits.cost.tokens >= COSTLY && headers.contains_key(header::ACCEPT_LANGUAGE) => {
            let own = text(header::REFERER).and_then(|referer| referer.split('/').nth(2));
            own.is_none() || own != text(header::HOST)
        }
        None => false,
    };
    let is_page = limits.path == Some("/");
    // Of a frame only the browser knows whose page shows it, and obeys `frame-ancestors`.
    let can_frame = !app.config.allow_origins.is_empty();
    let is_window =
        fetch("sec-fetch-dest") == Some("document") || can_frame && fetch("sec-fetch-dest") == Some("iframe");
    let is_link = fetch("sec-fetch-mode") == Some("navigate") && is_window;
    if is_foreign && !(is_page && is_link) { Err(forbidden()) } else { Ok(()) }
}

fn is_allowed(app: &App, origin: &str) -> bool {
    app.config.allow_origins.iter().any(|allowed| allowed == origin)
}

/// The client's address as the proxy reports it: the last one in each of the headers `Forwarded`, `X-Forwarded-For` and
/// `X-Real-IP`. They must agree, because a proxy may set one and pass on another that the client has forged.
fn forwarded_client(headers: &HeaderMap) -> Result<IpAddr, ApiError> {
    let unusable = || {
        ApiError::new(Code::BadRequest, "the proxy reports no usable address of the client").reason("no_client_address")
    };
    let mut client = None;
    for name in ["forwarded", "x-forwarded-for", "x-real-ip"] {
        let Some(value) = headers.get_all(name).iter().next_back() else { continue };
        let last = value.to_str().ok().and_then(|text| text.rsplit(',').next()).ok_or_else(unusable)?;
        let last = if name == "forwarded" { forwarded_for(last).ok_or_else(unusable)? } else { last };
        let address = parse_address(last).ok_or_else(unusable)?;
        if client.is_some_and(|client| client != address) {
            return Err(unusable());
        }
        client = Some(address);
    }
    client.ok_or_else(unusable)
}

/// The value of `for` in an element of `Forwarded` (RFC 7239).
fn forwarded_for(element: &str) -> Option<&str> {
    let mut pairs = element.split(';').filter_map(|pair| pair.split_once('='));
    let (_, value) = pairs.find(|(name, _)| name.trim().eq_ignore_ascii_case("for"))?;
    Some(value.trim().trim_matches('"'))
}

/// An IP address with or without brackets and a port.
fn parse_address(text: &str) -> Option<IpAddr> {
    let text = text.trim();
    let bracketed = || text.strip_prefix('[')?.strip_suffix(']')?.parse().ok();
    let with_port = || text.parse::<SocketAddr>().ok().map(|address| address.ip());
    text.parse().ok().or_else(with_port).or_else(bracketed).map(|address: IpAddr| address.to_canonical())
}

/// The address that represents a client. An IPv6 client controls a network of 2^64 addresses.
pub fn network(address: IpAddr) -> IpAddr {
    match address.to_canonical() {
        IpAddr::V6(ip) => IpAddr::V6((u128::from(ip) & !u128::from(u64::MAX)).into()),
        ip => ip,
    }
}

/// The entity tag of a response that depends on the request and the tables only; `None` for other responses.
fn etag(app: &App, limits: &Limits, request: &Request) -> Option<HeaderValue> {
    let is_lasting = match limits.caching {
        Caching::Tables => true,
        Caching::AllTables => app.state.registry.main().complete() >= app.config.pieces,
        Caching::Own => false,
    };
    if !is_lasting || request.method() != Method::GET {
        return None;
    }
    let query = request.uri().path_and_query()?.as_str();
    let hash = xxh3_64_with_seed(query.as_bytes(), app.generation());
    HeaderValue::from_str(&format!("W/\"{hash:016x}\"")).ok()
}

/// Whether a response may have the entity tag of its request.
fn takes_tag(response: &Response) -> bool {
    let ok = response.status() == StatusCode::OK || response.status() == StatusCode::NOT_MODIFIED;
    ok && response.extensions().get::<Unrepeatable>().is_none()
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
    set(header::X_CONTENT_TYPE_OPTIONS, "nosniff");
    set(header::REFERRER_POLICY, "same-origin");
    set(HeaderName::from_static("cross-origin-opener-policy"), "same-origin");
    set(HeaderName::from_static("cross-origin-resource-policy"), "same-origin");
    let frames = app.config.allow_origins.join(" ");
    let policy = if frames.is_empty() { format!("{POLICY}'none'") } else { POLICY.to_owned() + &frames };
    if let Ok(policy) = HeaderValue::from_str(&policy) {
        headers.insert(header::CONTENT_SECURITY_POLICY, policy);
    }
    // It forbids all frames, whatever the policy allows.
    if frames.is_empty() {
        headers.insert(header::X_FRAME_OPTIONS, HeaderValue::from_static("DENY"));
    }
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
    use axum::Extension;

    #[test]
    fn clients_behind_a_proxy() {
        let client = |lines: &[(&'static str, &str)]| {
            let mut headers = HeaderMap::new();
            for (name, value) in lines {
                headers.append(*name, HeaderValue::from_str(value).unwrap());
            }
            forwarded_client(&headers).ok().map(|address| address.to_string())
        };
        let known = [
            ("x-forwarded-for", "9.9.9.9, 1.2.3.4", "1.2.3.4"),
            ("x-forwarded-for", "1.2.3.4:5678", "1.2.3.4"),
            ("x-forwarded-for", "2001:db8::1", "2001:db8::1"),
            ("x-forwarded-for", "[2001:db8::1]", "2001:db8::1"),
            ("x-forwarded-for", "[2001:db8::1]:5678", "2001:db8::1"),
            ("x-forwarded-for", "::ffff:1.2.3.4", "1.2.3.4"),
            ("x-real-ip", "1.2.3.4", "1.2.3.4"),
            ("forwarded", "for=9.9.9.9, proto=https; For=1.2.3.4", "1.2.3.4"),
            ("forwarded", "for=\"[2001:db8::1]:5678\";by=10.0.0.1", "2001:db8::1"),
        ];
        for (name, value, address) in known {
            assert_eq!(client(&[(name, value)]).as_deref(), Some(address), "{name}: {value}");
        }
        for value in ["", "unknown", "_hidden", "1.2.3.4, unknown", "1.2.3", "[::1"] {
            assert_eq!(client(&[("x-forwarded-for", value)]), None, "{value}");
        }
        assert_eq!(client(&[]), None);
        assert_eq!(client(&[("forwarded", "proto=https")]), None);
        assert_eq!(client(&[("x-forwarded-for", "1.2.3.4"), ("x-real-ip", "1.2.3.4")]).as_deref(), Some("1.2.3.4"));
        assert_eq!(client(&[("x-forwarded-for", "1.2.3.4"), ("forwarded", "for=9.9.9.9")]), None, "one is forged");
    }

    #[test]
    fn unrepeatable_responses_have_no_entity_tag() {
        assert!(takes_tag(&"line".into_response()));
        assert!(!takes_tag(&(Extension(Unrepeatable), "line").into_response()));
        assert!(!takes_tag(&StatusCode::NOT_FOUND.into_response()));
    }

    #[test]
    fn hosts_without_their_ports() {
        for (authority, host) in
            [("localhost:80", "localhost"), ("[::1]:80", "::1"), ("[::1]", "::1"), ("a.b", "a.b"), ("", "")]
        {
            assert_eq!(host_of(authority), host);
        }
    }
}
