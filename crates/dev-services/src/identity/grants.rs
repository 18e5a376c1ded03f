//! The state of sign-ins: the authorization request while the page is open, then code, access token and refresh token. All
//! of it is in bounded memory, and lost when the process ends.

use std::collections::{HashMap, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::outcome::Outcome;
use super::person::Person;
use super::provider::{Provider, RequestParams};
use super::subject::make_secret;

/// The largest number of entries of each kind. Older ones are dropped, because everybody who can load the page may start
/// sign-ins.
const CAPACITY: usize = 2000;

/// How long a code may be exchanged; providers allow between one and ten minutes.
pub(super) const CODE_LIFETIME_S: i64 = 600;

/// A request that has been checked: the client and the callback URL are the registered ones.
#[derive(Debug)]
pub(super) struct AuthorizationRequest {
    pub(super) provider: &'static Provider,
    pub(super) client_id: String,
    pub(super) redirect_uri: String,
    pub(super) params: RequestParams,
    /// The request token of OAuth 1.0a, with its secret.
    pub(super) request_token: Option<(String, String)>,
}

impl AuthorizationRequest {
    /// A parameter of the query; empty when it is missing.
    pub(super) fn param(&self, name: &str) -> &str {
        self.params.get(name)
    }

    /// Whether a scope was asked for.
    pub(super) fn has_scope(&self, scope: &str) -> bool {
        self.params.has_scope(scope)
    }
}

/// A person's consent to one request.
#[derive(Debug)]
pub(super) struct Grant {
    pub(super) request: Arc<AuthorizationRequest>,
    /// The person as the provider describes them in this sign-in.
    pub(super) person: Person,
    /// The person's id at the provider.
    pub(super) subject: String,
    /// Whether the person has not signed in with this provider before.
    pub(super) is_first: bool,
    pub(super) outcome: Outcome,
    /// When it was issued, in Unix seconds.
    pub(super) issued_at: i64,
}

/// An access token with the end of its life, in unix seconds.
#[derive(Debug, Clone)]
pub(super) struct AccessToken {
    pub(super) grant: Arc<Grant>,
    pub(super) expires_at: i64,
    /// Signs the calls of OAuth 1.0a; empty otherwise.
    pub(super) secret: String,
}

/// A map that drops its oldest entry when it is full.
#[derive(Debug)]
struct BoundedMap<V> {
    values: HashMap<String, V>,
    order: VecDeque<String>,
}

impl<V> Default for BoundedMap<V> {
    fn default() -> Self {
        Self {
            values: HashMap::new(),
            order: VecDeque::new(),
        }
    }
}

impl<V: Clone> BoundedMap<V> {
    fn insert(&mut self, key: String, value: V) {
        self.order.push_back(key.clone());
        self.values.insert(key, value);
        // Keys of removed values stay in the order until they are the oldest, which costs only their text.
        while self.order.len() > CAPACITY {
            if let Some(oldest) = self.order.pop_front() {
                self.values.remove(&oldest);
            }
        }
    }

    fn get(&self, key: &str) -> Option<V> {
        self.values.get(key).cloned()
    }

    fn remove(&mut self, key: &str) -> Option<V> {
        self.values.remove(key)
    }
}

/// Everything that is remembered.
#[derive(Debug, Default)]
pub(super) struct Grants {
    tables: Mutex<Tables>,
}

#[derive(Debug, Default)]
struct Tables {
    requests: BoundedMap<Arc<AuthorizationRequest>>,
    codes: BoundedMap<Arc<Grant>>,
    access_tokens: BoundedMap<AccessToken>,
    refresh_tokens: BoundedMap<Arc<Grant>>,
    /// Request tokens of OAuth 1.0a, with secret and callback URL.
    request_tokens: BoundedMap<(String, String)>,
}

impl Grants {
    /// Keeps a request while its page is open; returns the name by which the page's forms find it.
    pub(super) fn add_request(&self, request: Arc<AuthorizationRequest>) -> String {
        let id = make_secret();
        self.lock().requests.insert(id.clone(), request);
        id
    }

    pub(super) fn find_request(&self, id: &str) -> Option<Arc<AuthorizationRequest>> {
        self.lock().requests.get(id)
    }

    /// Makes a code. One that "was used before" is not stored, so its exchange fails as the second one of a real code.
    pub(super) fn add_code(&self, grant: Arc<Grant>) -> String {
        let code = make_secret();
        if grant.outcome != Outcome::CodeUsedTwice {
            self.lock().codes.insert(code.clone(), grant);
        }
        code
    }

    /// Takes a code out, so that it works once.
    pub(super) fn take_code(&self, code: &str) -> Option<Arc<Grant>> {
        self.lock().codes.remove(code)
    }

    pub(super) fn add_access_token(&self, token: String, access: AccessToken) {
        self.lock().access_tokens.insert(token, access);
    }

    pub(super) fn find_access_token(&self, token: &str) -> Option<AccessToken> {
        self.lock().access_tokens.get(token)
    }

    pub(super) fn add_refresh_token(&self, token: String, grant: Arc<Grant>) {
        self.lock().refresh_tokens.insert(token, grant);
    }

    pub(super) fn find_refresh_token(&self, token: &str) -> Option<Arc<Grant>> {
        self.lock().refresh_tokens.get(token)
    }

    /// Keeps a request token of OAuth 1.0a with its secret and the callback URL.
    pub(super) fn add_request_token(&self, token: String, secret: String, callback: String) {
        self.lock().request_tokens.insert(token, (secret, callback));
    }

    /// Secret and callback URL of a request token. The page may be reloaded, so it stays.
    pub(super) fn find_request_token(&self, token: &str) -> Option<(String, String)> {
        self.lock().request_tokens.get(token)
    }

    fn lock(&self) -> MutexGuard<'_, Tables> {
        // Each change is a single call, so the tables are consistent even if a thread has panicked with the lock.
        self.tables.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn full_map_drops_its_oldest_entry() {
        let mut map = BoundedMap::default();
        for number in 0..=CAPACITY {
            map.insert(number.to_string(), number);
        }

        assert_eq!((map.get("0"), map.get("1")), (None, Some(1)));
        assert_eq!(map.values.len(), CAPACITY);
    }
}
