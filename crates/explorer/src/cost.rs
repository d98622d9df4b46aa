//! The limits of a route: what its requests may cost, and how long a response may be reused.

use std::time::Duration;

/// The limits on the cost of a request.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Cost {
    /// The price to the rate limit, in simple requests.
    pub tokens: f32,
    /// The longest time until the response begins, besides the wait for a thread.
    pub time: Duration,
}

/// When a response may be reused.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Caching {
    /// While the tables stay the same: the response depends on the request and the tables only.
    Tables,
    /// As `Tables`, once the background work has added its tables.
    AllTables,
    /// Never, or as the handler says.
    Own,
}

/// The properties of a route that the middleware needs.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// The path, as a label; `None` for the page's files and unknown paths.
    pub path: Option<&'static str>,
    pub cost: Cost,
    pub caching: Caching,
    /// Whether the route is for monitors, which may connect without the proxy and have no rate limit.
    pub monitoring: bool,
}
