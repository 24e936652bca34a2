//! A Kubernetes API on loopback: Secrets and Leases with real `resourceVersion` checking.
//!
//! It knows just what the state and its lock need, and does that as an API server does: optimistic
//! concurrency, label selectors, dry runs, preconditions of deletion, size and name rules. Faults can be
//! planted per verb and resource. Usable by any test binary through `#[path]`.

#![allow(dead_code)]

use std::{
    collections::BTreeMap,
    io::{BufRead as _, BufReader, Read as _, Write as _},
    net::{Shutdown, TcpListener, TcpStream},
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    thread,
    time::Duration,
};

use serde_json::{Map, Value, json};

/// The most that one Secret holds.
const MAX_SECRET_BYTES: usize = 1024 * 1024;

/// What a client that wants TLS begins with.
const TLS_HANDSHAKE: u8 = 0x16;

/// What happens instead of, or around, the normal answer.
#[derive(Clone, Debug)]
pub enum Fault {
    /// This status instead, nothing is done.
    Status(u16),
    /// This status and a body that no API server sends, nothing is done.
    Foreign(u16),
    /// The connection ends before anything is done.
    Drop,
    /// It is done, but the connection ends without an answer.
    LoseAnswer,
    /// The answer takes that long.
    Slow(Duration),
    /// Before it is done, somebody else changes the object.
    Overtaken,
}

#[derive(Clone, Debug)]
struct Planted {
    verb: &'static str,
    resource: &'static str,
    fault: Fault,
    /// How many more times; `None` is for ever.
    left: Option<usize>,
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

#[derive(Default)]
struct World {
    /// By resource, namespace and name.
    objects: BTreeMap<(String, String, String), Value>,
    version: u64,
    planted: Vec<Planted>,
    seen: Vec<Seen>,
    token: Option<String>,
}

/// The API. Ends with the process.
#[derive(Clone)]
pub struct Double {
    /// `http://127.0.0.1:PORT`.
    pub address: String,
    world: Arc<Mutex<World>>,
}

struct Request {
    method: String,
    path: String,
    query: BTreeMap<String, String>,
    authorization: String,
    body: Vec<u8>,
}

/// What is sent back; `None` closes the connection.
type Answer = Option<(u16, Value)>;

/// A request that names things the double knows.
struct Target {
    verb: &'static str,
    resource: &'static str,
    namespace: String,
    name: String,
}

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

    /// Takes all faults back.
    pub fn heal(&self) {
        self.world().planted.clear();
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

    fn serve(&self, stream: TcpStream) {
        let mut reader = BufReader::new(stream.try_clone().unwrap());
        let mut stream = stream;
        if reader.fill_buf().is_ok_and(|bytes| bytes.first() == Some(&TLS_HANDSHAKE)) {
            let _ = stream.write_all(b"HTTP/1.0 400 Bad Request\r\n\r\nThis is no TLS port.\n");
            return;
        }
        while let Some(request) = Request::read(&mut reader) {
            let Some((status, body)) = self.answer(&request) else { break };
            let (kind, body) = match body {
                Value::String(text) => ("text/html", text),
                body => ("application/json", body.to_string()),
            };
            let head = format!(
                "HTTP/1.1 {status} X\r\nContent-Type: {kind}\r\nContent-Length: {}\r\n\r\n",
                body.len()
            );
            if stream.write_all(head.as_bytes()).and_then(|()| stream.write_all(body.as_bytes())).is_err() {
                break;
            }
        }
        let _ = stream.shutdown(Shutdown::Both);
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
            Some(Fault::Drop) => None,
            Some(Fault::LoseAnswer) => {
                self.world().perform(&target, request, dry_run);
                None
            }
            Some(Fault::Slow(pause)) => {
                thread::sleep(pause);
                Some(self.world().perform(&target, request, dry_run))
            }
            Some(Fault::Overtaken) => {
                let mut world = self.world();
                world.overtake(&target, request);
                Some(world.perform(&target, request, dry_run))
            }
            None => Some(self.world().perform(&target, request, dry_run)),
        }
    }
}

impl Target {
    fn of(request: &Request) -> Option<Self> {
        let core = request.path.strip_prefix("/api/v1/namespaces/");
        let coordination = request.path.strip_prefix("/apis/coordination.k8s.io/v1/namespaces/");
        let parts: Vec<&str> = core.or(coordination)?.split('/').collect();
        let (namespace, resource, name) = match parts.as_slice() {
            [namespace, resource] => (*namespace, *resource, ""),
            [namespace, resource, name] => (*namespace, *resource, *name),
            _ => return None,
        };
        let resource = match (core.is_some(), resource) {
            (true, "secrets") => "secrets",
            (false, "leases") => "leases",
            _ => return None,
        };
        let verb = match (request.method.as_str(), name.is_empty()) {
            ("GET", true) => "list",
            ("GET", false) => "get",
            ("POST", true) => "create",
            ("PUT", false) => "update",
            ("DELETE", false) => "delete",
            _ => return None,
        };
        Some(Self { verb, resource, namespace: namespace.to_owned(), name: name.to_owned() })
    }

    fn key(&self) -> (String, String, String) {
        key(self.resource, &self.namespace, &self.name)
    }

    fn missing(&self) -> (u16, Value) {
        let words = format!("{} \"{}\" not found", self.resource, self.name);
        failure(404, "NotFound", &words, Some(self))
    }

    fn conflict(&self) -> (u16, Value) {
        let words = format!(
            "Operation cannot be fulfilled on {} \"{}\": the object has been modified; please apply your changes \
             to the latest version and try again",
            self.resource, self.name
        );
        failure(409, "Conflict", &words, Some(self))
    }
}

impl World {
    fn fault(&mut self, target: &Target) -> Option<Fault> {
        let fits = |planted: &&mut Planted| {
            planted.verb == target.verb && planted.resource == target.resource && planted.left != Some(0)
        };
        let planted = self.planted.iter_mut().find(fits)?;
        planted.left = planted.left.map(|left| left - 1);
        Some(planted.fault.clone())
    }

    fn store(&mut self, key: (String, String, String), mut object: Value) -> Value {
        self.version += 1;
        let metadata = &mut object["metadata"];
        metadata["resourceVersion"] = self.version.to_string().into();
        if metadata["uid"].is_null() {
            metadata["uid"] = format!("00000000-0000-4000-8000-{:012}", self.version).into();
            metadata["creationTimestamp"] = "2026-01-02T03:04:05Z".into();
        }
        let (api, kind) = match key.0.as_str() {
            "secrets" => ("v1", "Secret"),
            _ => ("coordination.k8s.io/v1", "Lease"),
        };
        object["apiVersion"] = api.into();
        object["kind"] = kind.into();
        self.objects.insert(key, object.clone());
        object
    }

    /// Somebody else changes the object, or makes it, just before the request is looked at.
    fn overtake(&mut self, target: &Target, request: &Request) {
        let mut key = target.key();
        if target.verb == "create" {
            let object: Value = serde_json::from_slice(&request.body).unwrap();
            key.2 = object["metadata"]["name"].as_str().unwrap().to_owned();
        }
        let metadata = json!({ "name": key.2, "namespace": key.1 });
        let mut object = self.objects.get(&key).cloned().unwrap_or(json!({ "metadata": metadata }));
        if key.0 == "leases" {
            object["spec"]["holderIdentity"] = "somebody-else".into();
        } else {
            object["metadata"]["annotations"]["touched"] = "yes".into();
        }
        self.store(key, object);
    }

    fn perform(&mut self, target: &Target, request: &Request, dry_run: bool) -> (u16, Value) {
        match target.verb {
            "get" => match self.objects.get(&target.key()) {
                Some(object) => (200, object.clone()),
                None => target.missing(),
            },
            "list" => self.list(target, request.query.get("labelSelector").map_or("", |s| s)),
            "delete" => self.delete(target, &request.body),
            _ => {
                let mut object: Value = match serde_json::from_slice(&request.body) {
                    Ok(object) => object,
                    Err(error) => return failure(400, "BadRequest", &error.to_string(), None),
                };
                let checked = self.check(target, &mut object);
                checked.unwrap_or_else(|key| {
                    let status = if target.verb == "create" { 201 } else { 200 };
                    if dry_run { (status, object) } else { (status, self.store(key, object)) }
                })
            }
        }
    }

    /// `Err` is good news: where the object goes. What only the API server may set is put back.
    fn check(&self, target: &Target, object: &mut Value) -> Result<(u16, Value), (String, String, String)> {
        let name = object["metadata"]["name"].as_str().unwrap_or_default().to_owned();
        let key = key(target.resource, &target.namespace, &name);
        let given = object["metadata"]["resourceVersion"].as_str().unwrap_or_default().to_owned();
        let present = self.objects.get(&key);
        object["metadata"]["namespace"] = target.namespace.clone().into();
        if let Some(bad) = invalid(target, object, &name) {
            return Ok(failure(422, "Invalid", &bad, Some(target)));
        }
        match (target.verb, present) {
            ("create", Some(_)) => {
                let words = format!("{} \"{name}\" already exists", target.resource);
                return Ok(failure(409, "AlreadyExists", &words, Some(target)));
            }
            ("create", None) if !given.is_empty() => {
                let words = "resourceVersion should not be set on objects to be created";
                return Ok(failure(400, "BadRequest", words, None));
            }
            ("update", None) => return Ok(target.missing()),
            ("update", Some(_)) if name != target.name => {
                return Ok(failure(400, "BadRequest", "the name of the object does not match the URL", None));
            }
            ("update", Some(_)) if given.is_empty() && target.resource == "leases" => {
                let words = "metadata.resourceVersion: Invalid value: 0x0: must be specified for an update";
                return Ok(failure(422, "Invalid", words, Some(target)));
            }
            ("update", Some(present)) => {
                if !given.is_empty() && present["metadata"]["resourceVersion"] != given.as_str() {
                    return Ok(target.conflict());
                }
                for field in ["uid", "creationTimestamp"] {
                    object["metadata"][field] = present["metadata"][field].clone();
                }
            }
            _ => {
                let metadata = object["metadata"].as_object_mut().unwrap();
                metadata.remove("uid");
                metadata.remove("creationTimestamp");
            }
        }
        Err(key)
    }

    fn list(&self, target: &Target, selector: &str) -> (u16, Value) {
        let wanted: Vec<(&str, &str)> = selector
            .split(',')
            .filter_map(|term| term.split_once('='))
            .map(|(k, v)| (k, v.trim_start_matches('=')))
            .collect();
        let fits = |object: &&Value| {
            wanted.iter().all(|(key, value)| object["metadata"]["labels"][key].as_str() == Some(value))
        };
        let ours =
            self.objects.iter().filter(|((r, n, _), _)| r == target.resource && *n == target.namespace);
        let items: Vec<&Value> = ours.map(|(_, object)| object).filter(fits).collect();
        let (api, kind) = match target.resource {
            "secrets" => ("v1", "SecretList"),
            _ => ("coordination.k8s.io/v1", "LeaseList"),
        };
        let version = self.version.to_string();
        (
            200,
            json!({ "kind": kind, "apiVersion": api, "metadata": { "resourceVersion": version }, "items": items }),
        )
    }

    fn delete(&mut self, target: &Target, body: &[u8]) -> (u16, Value) {
        let Some(object) = self.objects.get(&target.key()) else { return target.missing() };
        let options: Value = serde_json::from_slice(body).unwrap_or_default();
        for field in ["uid", "resourceVersion"] {
            let wanted = &options["preconditions"][field];
            if !wanted.is_null() && *wanted != object["metadata"][field] {
                return target.conflict();
            }
        }
        self.objects.remove(&target.key());
        (200, json!({ "kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Success" }))
    }
}

impl Request {
    fn read(reader: &mut BufReader<TcpStream>) -> Option<Self> {
        let mut line = String::new();
        reader.read_line(&mut line).ok().filter(|length| *length > 0)?;
        let mut words = line.split_whitespace();
        let (method, target) = (words.next()?.to_owned(), words.next()?.to_owned());
        let mut headers = BTreeMap::new();
        loop {
            let mut line = String::new();
            reader.read_line(&mut line).ok()?;
            let Some((name, value)) = line.trim_end().split_once(':') else { break };
            headers.insert(name.to_ascii_lowercase(), value.trim().to_owned());
        }
        let length = headers.get("content-length").and_then(|length| length.parse().ok()).unwrap_or(0);
        let mut body = vec![0; length];
        reader.read_exact(&mut body).ok()?;
        let (path, query) = target.split_once('?').unwrap_or((&target, ""));
        let query = query.split('&').filter_map(|pair| pair.split_once('='));
        Some(Self {
            method,
            path: path.to_owned(),
            query: query.map(|(key, value)| (decoded(key), decoded(value))).collect(),
            authorization: headers.remove("authorization").unwrap_or_default(),
            body,
        })
    }
}

fn key(resource: &str, namespace: &str, name: &str) -> (String, String, String) {
    (resource.to_owned(), namespace.to_owned(), name.to_owned())
}

fn decoded(text: &str) -> String {
    let mut bytes = Vec::new();
    let mut rest = text.as_bytes();
    while let Some((&first, tail)) = rest.split_first() {
        let escape =
            tail.get(..2).and_then(|hex| u8::from_str_radix(std::str::from_utf8(hex).ok()?, 16).ok());
        match (first, escape) {
            (b'%', Some(byte)) => {
                bytes.push(byte);
                rest = &tail[2..];
            }
            (byte, _) => {
                bytes.push(if byte == b'+' { b' ' } else { byte });
                rest = tail;
            }
        }
    }
    String::from_utf8(bytes).unwrap()
}

/// The rules of names and sizes that matter here.
fn invalid(target: &Target, object: &Value, name: &str) -> Option<String> {
    let edge = |c: Option<char>| c.is_some_and(|c| c.is_ascii_lowercase() || c.is_ascii_digit());
    let inner = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || matches!(c, '-' | '.');
    if name.len() > 253
        || !edge(name.chars().next())
        || !edge(name.chars().last())
        || !name.chars().all(inner)
    {
        return Some(format!("metadata.name: Invalid value: \"{name}\": not a DNS-1123 subdomain"));
    }
    let empty = Map::new();
    let labels = object["metadata"]["labels"].as_object().unwrap_or(&empty);
    if labels.values().any(|value| value.as_str().is_none_or(|value| value.len() > 63)) {
        return Some("metadata.labels: Invalid value: must be no more than 63 characters".to_owned());
    }
    let data = object["data"].as_object().unwrap_or(&empty);
    let size: usize = data.values().map(|value| value.as_str().map_or(0, |text| text.len() / 4 * 3)).sum();
    // Padding makes the estimate at most two bytes a value too large.
    (target.resource == "secrets" && size > MAX_SECRET_BYTES + 2 * data.len())
        .then(|| format!("data: Too long: may not be more than {MAX_SECRET_BYTES} bytes"))
}

fn planted(status: u16, target: &Target) -> (u16, Value) {
    let Target { verb, resource, namespace, .. } = target;
    match status {
        401 => failure(401, "Unauthorized", "Unauthorized", None),
        403 => {
            let words = format!(
                "{resource} is forbidden: User \"system:serviceaccount:{namespace}:captf\" cannot {verb} resource \
                 \"{resource}\" in API group \"\" in the namespace \"{namespace}\""
            );
            failure(403, "Forbidden", &words, Some(target))
        }
        404 => target.missing(),
        409 => target.conflict(),
        429 => failure(429, "TooManyRequests", "too many requests, please try again later", None),
        status => {
            failure(status, "InternalError", "Internal error occurred: etcdserver: request timed out", None)
        }
    }
}

fn failure(code: u16, reason: &str, message: &str, target: Option<&Target>) -> (u16, Value) {
    let details = target.map(|target| json!({ "name": target.name, "kind": target.resource }));
    let status = json!({
        "kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Failure",
        "message": message, "reason": reason, "details": details.unwrap_or(json!({})), "code": code,
    });
    (code, status)
}
