//! What an API server does with Secrets and Leases.

use std::{collections::BTreeMap, ops::Range};

use serde_json::{Map, Value, json};

use super::{Fault, Seen, http::Request};

/// The most that one Secret holds.
const MAX_SECRET_BYTES: usize = 1024 * 1024;

/// A request that names things the double knows.
pub struct Target {
    pub verb: &'static str,
    pub resource: &'static str,
    pub namespace: String,
    pub name: String,
}

#[derive(Default)]
pub struct World {
    /// By resource, namespace and name.
    pub objects: BTreeMap<(String, String, String), Value>,
    pub version: u64,
    pub planted: Vec<Planted>,
    /// Requests that come later than their answer was given up.
    pub late: Vec<(Target, Request)>,
    /// How many requests have come since the numbers began.
    pub asked: usize,
    /// Which of them fail.
    pub numbered: Option<(Range<usize>, Fault)>,
    pub seen: Vec<Seen>,
    pub token: Option<String>,
}

#[derive(Clone, Debug)]
pub struct Planted {
    pub verb: &'static str,
    pub resource: &'static str,
    pub fault: Fault,
    /// How many more times; `None` is for ever.
    pub left: Option<usize>,
}

impl Target {
    pub fn of(request: &Request) -> Option<Self> {
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

    pub fn key(&self) -> (String, String, String) {
        key(self.resource, &self.namespace, &self.name)
    }

    pub fn missing(&self) -> (u16, Value) {
        let words = format!("{} \"{}\" not found", self.resource, self.name);
        failure(404, "NotFound", &words, Some(self))
    }

    pub fn conflict(&self) -> (u16, Value) {
        let words = format!(
            "Operation cannot be fulfilled on {} \"{}\": the object has been modified; please apply your changes \
             to the latest version and try again",
            self.resource, self.name
        );
        failure(409, "Conflict", &words, Some(self))
    }
}

impl World {
    pub fn fault(&mut self, target: &Target) -> Option<Fault> {
        if let Some((numbers, fault)) = &self.numbered
            && numbers.contains(&(self.asked - 1))
        {
            return Some(fault.clone());
        }
        let fits = |planted: &&mut Planted| {
            planted.verb == target.verb && planted.resource == target.resource && planted.left != Some(0)
        };
        let planted = self.planted.iter_mut().find(fits)?;
        planted.left = planted.left.map(|left| left - 1);
        Some(planted.fault.clone())
    }

    pub fn store(&mut self, key: (String, String, String), mut object: Value) -> Value {
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
    pub fn overtake(&mut self, target: &Target, request: &Request) {
        let mut key = target.key();
        if target.verb == "create" {
            let object: Value = serde_json::from_slice(&request.body).unwrap();
            object["metadata"]["name"].as_str().unwrap().clone_into(&mut key.2);
        }
        let metadata = json!({ "name": key.2, "namespace": key.1 });
        let mut object = self.objects.get(&key).cloned().unwrap_or(json!({ "metadata": metadata }));
        if key.0 == "leases" {
            object["spec"]["holderIdentity"] = "somebody-else".into();
        } else {
            // Base64 of `theirs`.
            object["data"]["tfstate"] = "dGhlaXJz".into();
        }
        self.store(key, object);
    }

    /// Somebody else writes an annotation on the object, if it is there.
    pub fn annotate(&mut self, target: &Target) {
        let key = target.key();
        if let Some(mut object) = self.objects.get(&key).cloned() {
            object["metadata"]["annotations"]["touched"] = format!("after {}", self.version).into();
            self.store(key, object);
        }
    }

    /// Somebody else clears the holder of a Lease.
    pub fn free(&mut self, target: &Target) {
        let key = target.key();
        if let Some(mut object) = self.objects.get(&key).cloned() {
            object["spec"] = json!({});
            self.store(key, object);
        }
    }

    pub fn perform(&mut self, target: &Target, request: &Request, dry_run: bool) -> (u16, Value) {
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
                    // An update that changes nothing is not stored, and so makes no new version.
                    if dry_run || self.objects.get(&key) == Some(&object) {
                        (status, object)
                    } else {
                        (status, self.store(key, object))
                    }
                })
            }
        }
    }

    /// `Err` is good news: where the object goes. What only the API server may set is put back.
    pub fn check(
        &self,
        target: &Target,
        object: &mut Value,
    ) -> Result<(u16, Value), (String, String, String)> {
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

    pub fn list(&self, target: &Target, selector: &str) -> (u16, Value) {
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

    pub fn delete(&mut self, target: &Target, body: &[u8]) -> (u16, Value) {
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

pub fn key(resource: &str, namespace: &str, name: &str) -> (String, String, String) {
    (resource.to_owned(), namespace.to_owned(), name.to_owned())
}

/// The rules of names and sizes that matter here.
pub fn invalid(target: &Target, object: &Value, name: &str) -> Option<String> {
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

pub fn planted(status: u16, target: &Target) -> (u16, Value) {
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

pub fn failure(code: u16, reason: &str, message: &str, target: Option<&Target>) -> (u16, Value) {
    let details = target.map(|target| json!({ "name": target.name, "kind": target.resource }));
    let status = json!({
        "kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Failure",
        "message": message, "reason": reason, "details": details.unwrap_or(json!({})), "code": code,
    });
    (code, status)
}
