//! A Kubernetes API on loopback: Secrets and Leases with real `resourceVersion` checking.
//!
//! It knows just what the state and its lock need, and does that as an API server does: optimistic
//! concurrency, label selectors, dry runs, preconditions of deletion, size and name rules. Faults can be
//! planted per verb and resource. Usable by any test binary through `#[path]`.

#![allow(dead_code, unreachable_pub)]

// Paths, so that this file can be taken into any test binary by its own path.
#[path = "double_api.rs"]
mod api;
#[path = "double_http.rs"]
pub mod http;

use std::{
    io::{BufRead as _, BufReader, Read, Write},
    net::TcpListener,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    thread,
    time::Duration,
};

use serde_json::Value;

use self::{
    api::{Planted, Target, World, failure, key, planted},
    http::Request,
};

/// What a client that wants TLS begins with.
const TLS_HANDSHAKE: u8 = 0x16;

/// What happens instead of, or around, the normal answer.
#[derive(Clone, Debug)]
pub enum Fault {
    /// This status instead, nothing is done.
    Status(u16),
    /// This status and a body that no API server sends, nothing is done.
    Foreign(u16),
    /// It is done, and the answer is what no API server sends.
    Garbled,
    /// The connection ends before anything is done.
    Drop,
    /// It is done, but the connection ends without an answer.
    LoseAnswer,
    /// The answer takes that long.
    Slow(Duration),
    /// A webhook with side effects: a dry run is refused, all else is done.
    NoDryRun,
    /// The connection ends without an answer, and it is done later: see [`Double::land`].
    Late,
    /// The same, and the connection stays open without an answer.
    Silent,
    /// Before it is done, somebody else changes what the object says.
    Overtaken,
    /// Before it is done, somebody else writes an annotation on the object.
    Annotated,
    /// Before it is done, somebody else takes the lock away from its holder.
    Freed,
    /// It is done without an answer, and so many looks at the object afterwards fail with a 503.
    LoseAnswerAndBreak(usize),
    /// 429, with the request to come back after so many seconds; nothing is done.
    Busy(u32),
    /// Before it is done, somebody else does this.
    Hand(fn(&Double)),
}

/// One request, as the double understood it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Seen {
    /// In RBAC's spelling: get, list, create, update, delete.
    pub verb: String,
    /// `secrets`, `leases` or the path of anything else.
    pub resource: String,
    /// Empty for a list.
    pub name: String,
    /// The header, as it came.
    pub authorization: String,
    /// Whether it was a dry run.
    pub dry_run: bool,
}

/// The API. Ends with the process.
#[derive(Clone)]
pub struct Double {
    /// `http://127.0.0.1:PORT`.
    pub address: String,
    world: Arc<Mutex<World>>,
}

/// What is sent back; `None` closes the connection.
type Answer = Option<(u16, Value)>;

impl Double {
    /// Listens on a port of its own.
    pub fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = format!("http://{}", listener.local_addr().unwrap());
        let double = Self { address, world: Arc::default() };
        let serving = double.clone();
        thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let double = serving.clone();
                thread::spawn(move || double.serve(stream));
            }
        });
        double
    }

    /// From now on only this bearer token is accepted.
    pub fn require_token(&self, token: &str) {
        self.world().token = Some(token.to_owned());
    }

    /// Every such request fails.
    pub fn fail(&self, verb: &'static str, resource: &'static str, fault: Fault) {
        self.world().planted.push(Planted { verb, resource, fault, left: None });
    }

    /// The next `times` such requests fail.
    pub fn fail_times(&self, verb: &'static str, resource: &'static str, times: usize, fault: Fault) {
        self.world().planted.push(Planted { verb, resource, fault, left: Some(times) });
    }

    /// The request of this number fails, whatever it is; the next one is number 0.
    pub fn fail_call(&self, number: usize, fault: Fault) {
        let mut world = self.world();
        world.asked = 0;
        world.numbered = Some((number..number + 1, fault));
    }

    /// The request of this number and all after it fail; the next one is number 0.
    pub fn fail_from(&self, number: usize, fault: Fault) {
        self.fail_call(number, fault);
        if let Some((numbers, _)) = &mut self.world().numbered {
            numbers.end = usize::MAX;
        }
    }

    /// Takes all faults back.
    pub fn heal(&self) {
        let mut world = self.world();
        world.planted.clear();
        world.numbered = None;
    }

    /// From now on it holds what another one holds.
    pub fn become_as(&self, other: &Self) {
        let (objects, version) = {
            let world = other.world();
            (world.objects.clone(), world.version)
        };
        let mut world = self.world();
        (world.objects, world.version) = (objects, version);
    }

    /// What was on its way all the time comes now. How many there were.
    pub fn land(&self) -> usize {
        let mut world = self.world();
        let late = std::mem::take(&mut world.late);
        for (target, request) in &late {
            world.perform(target, request, false);
        }
        late.len()
    }

    /// The requests so far, forgotten afterwards.
    pub fn seen(&self) -> Vec<Seen> {
        std::mem::take(&mut self.world().seen)
    }

    /// The verbs and resources of the requests so far: `get leases`; forgotten afterwards.
    pub fn calls(&self) -> Vec<String> {
        self.seen().iter().map(|seen| format!("{} {}", seen.verb, seen.resource)).collect()
    }

    /// An object as it is stored.
    pub fn object(&self, resource: &str, namespace: &str, name: &str) -> Option<Value> {
        self.world().objects.get(&key(resource, namespace, name)).cloned()
    }

    /// The names of all objects of a resource in a namespace.
    pub fn names(&self, resource: &str, namespace: &str) -> Vec<String> {
        let world = self.world();
        let ours = world.objects.keys().filter(|(r, n, _)| r == resource && n == namespace);
        ours.map(|(_, _, name)| name.clone()).collect()
    }

    /// Stores an object as somebody else would, whatever was there.
    pub fn put(&self, resource: &str, namespace: &str, name: &str, mut object: Value) {
        object["metadata"]["name"] = name.into();
        object["metadata"]["namespace"] = namespace.into();
        self.world().store(key(resource, namespace, name), object);
    }

    /// Changes an object as somebody else would.
    pub fn edit(&self, resource: &str, namespace: &str, name: &str, change: impl FnOnce(&mut Value)) {
        let mut world = self.world();
        let key = key(resource, namespace, name);
        let mut object = world.objects[&key].clone();
        change(&mut object);
        world.store(key, object);
    }

    /// Removes an object as somebody else would.
    pub fn remove(&self, resource: &str, namespace: &str, name: &str) {
        self.world().objects.remove(&key(resource, namespace, name));
    }

    fn world(&self) -> MutexGuard<'_, World> {
        self.world.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Answers what comes over one connection, until it ends; over TLS, for one.
    pub fn serve(&self, stream: impl Read + Write) {
        let mut stream = BufReader::new(stream);
        if stream.fill_buf().is_ok_and(|bytes| bytes.first() == Some(&TLS_HANDSHAKE)) {
            let _ = stream.get_mut().write_all(b"HTTP/1.0 400 Bad Request\r\n\r\nThis is no TLS port.\n");
            return;
        }
        while let Some(request) = Request::read(&mut stream) {
            let Some((status, body)) = self.answer(&request) else { break };
            let (kind, body) = match body {
                Value::String(text) => ("text/html", text),
                body => ("application/json", body.to_string()),
            };
            let answer = format!(
                "HTTP/1.1 {status} X\r\nContent-Type: {kind}\r\nContent-Length: {}\r\n\r\n{body}",
                body.len()
            );
            let out = stream.get_mut();
            if out.write_all(answer.as_bytes()).and_then(|()| out.flush()).is_err() {
                break;
            }
        }
    }

    fn answer(&self, request: &Request) -> Answer {
        let target = Target::of(request);
        let (verb, resource, name) = match &target {
            Some(target) => (target.verb, target.resource.to_owned(), target.name.clone()),
            None => ("other", request.path.clone(), String::new()),
        };
        let dry_run = request.query.get("dryRun").is_some_and(|value| value == "All");
        let authorization = request.authorization.clone();
        let seen = Seen { verb: verb.to_owned(), resource, name, authorization, dry_run };
        let fault = {
            let mut world = self.world();
            world.seen.push(seen);
            world.asked += 1;
            if world.token.as_ref().is_some_and(|token| request.authorization != format!("Bearer {token}")) {
                return Some(failure(401, "Unauthorized", "Unauthorized", None));
            }
            target.as_ref().and_then(|target| world.fault(target))
        };
        let Some(target) = target else {
            let words = "the server could not find the requested resource";
            return Some(failure(404, "NotFound", words, None));
        };
        match fault {
            Some(Fault::Status(status)) => Some(planted(status, &target)),
            Some(Fault::Foreign(status)) => {
                Some((status, Value::String("<html>a proxy says no</html>".to_owned())))
            }
            Some(Fault::NoDryRun) if dry_run => {
                let words = "admission webhook \"audit.example.com\" does not support dry run";
                Some(failure(400, "BadRequest", words, None))
            }
            Some(Fault::Garbled) => {
                self.world().perform(&target, request, dry_run);
                Some((200, Value::String("<html>a proxy says yes</html>".to_owned())))
            }
            Some(Fault::Busy(seconds)) => {
                let (status, mut body) = planted(429, &target);
                body["details"]["retryAfterSeconds"] = seconds.into();
                Some((status, body))
            }
            Some(Fault::Drop) => None,
            Some(Fault::LoseAnswer) => {
                self.world().perform(&target, request, dry_run);
                None
            }
            Some(Fault::Slow(pause)) => {
                thread::sleep(pause);
                Some(self.world().perform(&target, request, dry_run))
            }
            Some(Fault::Late) => {
                self.world().late.push((target, request.clone()));
                None
            }
            Some(Fault::Silent) => {
                self.world().late.push((target, request.clone()));
                thread::sleep(Duration::from_mins(2));
                None
            }
            Some(Fault::Overtaken) => {
                let mut world = self.world();
                world.overtake(&target, request);
                Some(world.perform(&target, request, dry_run))
            }
            Some(Fault::Annotated) => {
                let mut world = self.world();
                world.annotate(&target);
                Some(world.perform(&target, request, dry_run))
            }
            Some(Fault::Freed) => {
                let mut world = self.world();
                world.free(&target);
                Some(world.perform(&target, request, dry_run))
            }
            Some(Fault::Hand(hand)) => {
                hand(self);
                Some(self.world().perform(&target, request, dry_run))
            }
            Some(Fault::LoseAnswerAndBreak(times)) => {
                self.world().perform(&target, request, dry_run);
                self.fail_times("get", target.resource, times, Fault::Status(503));
                None
            }
            Some(Fault::NoDryRun) | None => Some(self.world().perform(&target, request, dry_run)),
        }
    }
}
