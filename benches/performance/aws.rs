//! An AWS on loopback that answers from the account, after a delay if one is set, and writes calls down.

use std::{
    collections::BTreeMap,
    io::{BufReader, Write as _},
    net::{TcpListener, TcpStream},
    sync::{
        Arc, Mutex,
        atomic::{AtomicU64, Ordering},
    },
    thread,
    time::{Duration, Instant},
};

use machinepool::{
    cloud::{Cloud as _, TemplateQuery, VersionQuery},
    model::{image, observed::Object, resources::Answer},
};

use super::{
    account::{Account, Office},
    answers,
    calls::Call,
    double::http::{self, Request},
    instances, lab,
    xml::Xml,
};

pub(crate) const AUTOSCALING: &str = "http://autoscaling.amazonaws.com/doc/2011-01-01/";
pub(crate) const EC2: &str = "http://ec2.amazonaws.com/doc/2016-11-15/";

/// Status, headers, body.
struct Reply {
    status: u16,
    headers: Vec<(&'static str, String)>,
    body: String,
}

/// By the number of members and of those before the page.
type Pages = BTreeMap<(usize, usize), Arc<String>>;

#[derive(Clone)]
pub(crate) struct Aws {
    pub(crate) address: String,
    pub(crate) office: Office,
    calls: Arc<Mutex<Vec<Call>>>,
    /// Milliseconds that each call takes longer.
    delay: Arc<AtomicU64>,
    /// Pages of instances: rendering one takes longer than answering with it.
    pages: Arc<Mutex<Pages>>,
    started: Instant,
}

impl Aws {
    pub(crate) fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let aws = Self {
            address: format!("http://{}", listener.local_addr().unwrap()),
            office: Office::open(),
            calls: Arc::default(),
            delay: Arc::default(),
            pages: Arc::default(),
            started: Instant::now(),
        };
        let serving = aws.clone();
        thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let aws = serving.clone();
                thread::spawn(move || aws.serve(stream));
            }
        });
        aws
    }

    pub(crate) fn delay(&self, delay: Duration) {
        self.delay.store(u64::try_from(delay.as_millis()).unwrap(), Ordering::Relaxed);
    }

    /// The calls since this was asked last.
    pub(crate) fn calls(&self) -> Vec<Call> {
        std::mem::take(&mut self.calls.lock().unwrap())
    }

    fn serve(&self, stream: TcpStream) {
        stream.set_nodelay(true).unwrap();
        let mut stream = BufReader::new(stream);
        while let Some(request) = Request::read(&mut stream) {
            let started = self.now();
            let fields = fields(&request);
            let operation = operation(&request, &fields);
            thread::sleep(Duration::from_millis(self.delay.load(Ordering::Relaxed)));
            let reply = self.reply(&operation, fields);
            let finished = Some(self.now());
            let parameters = serde_json::Value::Null;
            let call = Call { operation, parameters, started, finished, fault: None };
            self.calls.lock().unwrap().push(call);
            if send(stream.get_mut(), &reply, request.method == "HEAD").is_err() {
                break;
            }
        }
    }

    fn now(&self) -> f64 {
        self.started.elapsed().as_secs_f64() * 1000.0
    }

    fn reply(&self, operation: &str, fields: BTreeMap<String, String>) -> Reply {
        if operation == "DescribeInstances" {
            return ok(self.page(&fields).to_string());
        }
        let asked = operation.to_owned();
        self.office
            .with(move |account| read(account, &asked, &fields).unwrap_or_else(|| write(account, &asked)))
    }

    /// A page of instances. The token is the number of those before it.
    fn page(&self, fields: &BTreeMap<String, String>) -> Arc<String> {
        let from: usize = fields.get("NextToken").map_or(0, |token| token.parse().unwrap());
        let limit: usize = fields.get("MaxResults").map_or(1000, |limit| limit.parse().unwrap());
        let instances = self.office.with(|account| account.instances());
        let page = &instances[from..instances.len().min(from + limit)];
        let next = (from + limit < instances.len()).then(|| (from + limit).to_string());
        let render = || {
            let page = instances::Page { group: lab::GROUP, instances: page, next };
            Arc::new(page.to_xml())
        };
        if instances.len() < 100 {
            return render();
        }
        let mut pages = self.pages.lock().unwrap();
        Arc::clone(pages.entry((instances.len(), from)).or_insert_with(render))
    }
}

/// The fields of a query-protocol request.
fn fields(request: &Request) -> BTreeMap<String, String> {
    let form = request.headers.get("content-type").is_some_and(|kind| kind.contains("urlencoded"));
    let body = if form { String::from_utf8_lossy(&request.body).into_owned() } else { String::new() };
    let pairs = body.split('&').filter_map(|pair| pair.split_once('='));
    pairs.map(|(name, value)| (http::decoded(name), http::decoded(value))).collect()
}

fn operation(request: &Request, fields: &BTreeMap<String, String>) -> String {
    let object = match request.method.as_str() {
        "HEAD" => "HeadObject",
        "GET" => "GetObjectTagging",
        "PUT" => "PutObject",
        "DELETE" => "DeleteObject",
        _ => fields.get("Action").map_or("", String::as_str),
    };
    object.to_owned()
}

fn send(stream: &mut TcpStream, reply: &Reply, head: bool) -> std::io::Result<()> {
    let mut answer = format!("HTTP/1.1 {} X\r\nx-amzn-requestid: 7c6e177f\r\n", reply.status).into_bytes();
    for (name, value) in &reply.headers {
        write!(answer, "{name}: {value}\r\n")?;
    }
    write!(answer, "Content-Length: {}\r\n\r\n", reply.body.len())?;
    if !head {
        answer.extend(reply.body.as_bytes());
    }
    stream.write_all(&answer)
}

fn ok(body: String) -> Reply {
    Reply { status: 200, headers: vec![("Content-Type", "text/xml;charset=UTF-8".to_owned())], body }
}

fn read(account: &Account, operation: &str, fields: &BTreeMap<String, String>) -> Option<Reply> {
    let cloud = account.cloud();
    let group = lab::GROUP;
    Some(ok(match operation {
        "DescribeAutoScalingGroups" => answers::autoscaling(operation, |xml| {
            xml.list("AutoScalingGroups", "member", account.group(), |xml, group| {
                answers::group(xml, &group);
            });
        }),
        "DescribePolicies" => answers::autoscaling(operation, |xml| {
            let policies = lab::run(cloud.policies(group)).unwrap();
            xml.list("ScalingPolicies", "member", &policies, answers::policy);
        }),
        "DescribeInstanceRefreshes" => answers::autoscaling(operation, |xml| {
            let refreshes = lab::run(cloud.refreshes(group)).unwrap();
            xml.list("InstanceRefreshes", "member", &refreshes, answers::refresh);
        }),
        "DescribeScalingActivities" => answers::autoscaling(operation, |xml| {
            let activities = lab::run(cloud.activities(group)).unwrap();
            xml.list("Activities", "member", &activities, answers::activity);
        }),
        "DescribeLaunchTemplates" => answers::ec2(operation, |xml| {
            let templates = lab::run(cloud.templates(&template_query(fields))).unwrap();
            xml.list("launchTemplates", "item", &templates, answers::template);
        }),
        "DescribeLaunchTemplateVersions" => return Some(versions(account, fields)),
        "DescribeImages" => answers::ec2(operation, |xml| {
            let images = lab::run(cloud.images(&image::query(&account.request).unwrap())).unwrap();
            xml.list("imagesSet", "item", &images, answers::image);
        }),
        "HeadObject" | "GetObjectTagging" => return Some(object(account, operation)),
        _ => return None,
    }))
}

fn template_query(fields: &BTreeMap<String, String>) -> TemplateQuery {
    match (fields.get("LaunchTemplateId.1"), fields.get("Filter.1.Value.1")) {
        (Some(id), _) => TemplateQuery::Id(id.clone()),
        (None, Some(pattern)) => TemplateQuery::NamePrefix(pattern.trim_end_matches('*').to_owned()),
        (None, None) => TemplateQuery::Tagged(Vec::new()),
    }
}

fn versions(account: &Account, fields: &BTreeMap<String, String>) -> Reply {
    let query = match (fields.get("LaunchTemplateName"), fields.get("LaunchTemplateId")) {
        (Some(name), _) => VersionQuery::CurrentByName(name.clone()),
        (None, Some(id)) if fields.contains_key("LaunchTemplateVersion.1") => {
            VersionQuery::CurrentById(id.clone())
        }
        (None, id) => VersionQuery::All(id.cloned().unwrap_or_default()),
    };
    let versions = lab::run(account.cloud().versions(&query)).unwrap();
    if versions.is_empty() {
        let error = "<Response><Errors><Error><Code>InvalidLaunchTemplateName.NotFoundException</Code><Message>At \
                     least one of the launch templates specified in the request does not exist.</Message></Error>\
                     </Errors></Response>";
        return Reply { status: 400, headers: Vec::new(), body: error.to_owned() };
    }
    ok(answers::ec2("DescribeLaunchTemplateVersions", |xml| {
        xml.list("launchTemplateVersionSet", "item", &versions, answers::version);
    }))
}

fn object(account: &Account, operation: &str) -> Reply {
    let (bucket, key) = (&account.request.exports.bootstrap_bucket, "pool/demo-pool-0");
    let object = lab::run(account.cloud().object(bucket.as_str(), key)).unwrap();
    let Object::Present { sha256, content_type, encryption, tags } = object else {
        let body =
            "<Error><Code>NoSuchKey</Code><Message>The specified key does not exist.</Message></Error>";
        return Reply { status: 404, headers: Vec::new(), body: body.to_owned() };
    };
    if operation == "GetObjectTagging" {
        return ok(Xml::document("Tagging", "http://s3.amazonaws.com/doc/2006-03-01/", |xml| {
            xml.list("TagSet", "Tag", &tags, |xml, (key, value)| {
                xml.leaves(&[("Key", key), ("Value", value)]);
            });
        }));
    }
    let headers = vec![
        ("x-amz-checksum-sha256", sha256.unwrap_or_default()),
        ("x-amz-checksum-type", "FULL_OBJECT".to_owned()),
        ("x-amz-server-side-encryption", encryption.unwrap_or_default()),
        ("Content-Type", content_type.unwrap_or_default()),
        ("ETag", "\"9b2cf535f27731c974343645a3985328\"".to_owned()),
        ("Last-Modified", "Sat, 31 Jan 2026 12:00:00 GMT".to_owned()),
    ];
    Reply { status: 200, headers, body: String::new() }
}

fn write(account: &mut Account, operation: &str) -> Reply {
    let Some(answer) = account.write(operation) else {
        return Reply { status: 400, headers: Vec::new(), body: format!("{operation} was not expected") };
    };
    ok(match (operation, answer) {
        ("PutObject" | "DeleteObject", _) => String::new(),
        (_, Answer::Template { id }) => answers::ec2(operation, |xml| {
            xml.node("launchTemplate", |xml| xml.leaf("launchTemplateId", id));
        }),
        (_, Answer::Version(number)) => answers::ec2(operation, |xml| {
            xml.node("launchTemplateVersion", |xml| xml.leaf("versionNumber", number));
        }),
        (_, Answer::Refresh(id)) => answers::autoscaling(operation, |xml| xml.leaf("InstanceRefreshId", id)),
        (_, Answer::Done) if operation.contains("LaunchTemplate") || operation.ends_with("Tags") => {
            answers::ec2(operation, |xml| xml.leaf("return", true))
        }
        (_, Answer::Done) => answers::autoscaling(operation, |_| ()),
    })
}
