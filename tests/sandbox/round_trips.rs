//! How often work waits for AWS: calls in flight together are one round trip.

use std::{
    cell::Cell,
    future::{Future, poll_fn},
    pin::pin,
    task::{Context as Task, Poll, Waker},
    time::Duration,
};

use async_trait::async_trait;
use machinepool::{
    clock::Clock as _,
    cloud::{
        Cloud, CloudError, ImageQuery, TemplateQuery, VersionQuery, recorded::Recorded, sandbox::Sandbox,
    },
    contract::request::{Request, Scope},
    engine::{
        self,
        context::{Context, Interrupt, Silent},
    },
    error::Failure,
    model::{
        checkup::{Question, Reply},
        observed::{Activity, Group, Image, Instance, Object, Policy, Refresh, Template, TemplateVersion},
        plan::Counts,
        resources::{Answer, Write},
    },
};
use serde_json::json;

use super::lab::{Lab, patched};

/// A cloud so far away that only round trips count.
struct Distant<'a> {
    near: &'a Recorded<Sandbox>,
    trips: &'a Cell<u32>,
    /// Every write reaches AWS twice, and only the second answer comes back: what an SDK makes of a
    /// connection that breaks.
    stutters: bool,
}

impl Distant<'_> {
    /// Ends when everything that can be in flight beside it is.
    async fn trip(&self) {
        let sent = self.trips.get();
        poll_fn(|task| {
            if self.trips.get() > sent {
                return Poll::Ready(());
            }
            task.waker().wake_by_ref();
            Poll::Pending
        })
        .await;
    }
}

#[async_trait(?Send)]
impl Cloud for Distant<'_> {
    fn region(&self) -> &str {
        self.near.region()
    }

    async fn group(&self, name: &str) -> Result<Option<Group>, CloudError> {
        self.trip().await;
        self.near.group(name).await
    }

    async fn instances(&self, group: &str) -> Result<Vec<Instance>, CloudError> {
        self.trip().await;
        self.near.instances(group).await
    }

    async fn policies(&self, group: &str) -> Result<Vec<Policy>, CloudError> {
        self.trip().await;
        self.near.policies(group).await
    }

    async fn refreshes(&self, group: &str) -> Result<Vec<Refresh>, CloudError> {
        self.trip().await;
        self.near.refreshes(group).await
    }

    async fn activities(&self, group: &str) -> Result<Vec<Activity>, CloudError> {
        self.trip().await;
        self.near.activities(group).await
    }

    async fn scheduled_actions(&self, group: &str) -> Result<Vec<String>, CloudError> {
        self.trip().await;
        self.near.scheduled_actions(group).await
    }

    async fn templates(&self, query: &TemplateQuery) -> Result<Vec<Template>, CloudError> {
        self.trip().await;
        self.near.templates(query).await
    }

    async fn versions(&self, query: &VersionQuery) -> Result<Vec<TemplateVersion>, CloudError> {
        self.trip().await;
        self.near.versions(query).await
    }

    async fn images(&self, query: &ImageQuery) -> Result<Vec<Image>, CloudError> {
        self.trip().await;
        self.near.images(query).await
    }

    async fn object(&self, bucket: &str, key: &str) -> Result<Object, CloudError> {
        self.trip().await;
        self.near.object(bucket, key).await
    }

    async fn answer(&self, question: &Question) -> Result<Reply, CloudError> {
        self.trip().await;
        self.near.answer(question).await
    }

    async fn perform(&self, write: &Write) -> Result<Answer, CloudError> {
        self.trip().await;
        // A client token tells AWS that a second version is the first.
        if self.stutters && !matches!(write, Write::CreateTemplateVersion { .. }) {
            let lost = self.near.perform(write).await;
            drop(lost);
        }
        self.near.perform(write).await
    }
}

/// Runs a future that waits for nothing but round trips; a turn in which nothing ends is one.
fn travel<T>(trips: &Cell<u32>, future: impl Future<Output = T>) -> T {
    let mut future = pin!(future);
    loop {
        if let Poll::Ready(value) = future.as_mut().poll(&mut Task::from_waker(Waker::noop())) {
            return value;
        }
        trips.set(trips.get() + 1);
    }
}

/// Plans and applies.
async fn work(lab: &Lab, cloud: &dyn Cloud, request: &Request) -> Result<(), Failure> {
    let (_interrupter, interrupt) = Interrupt::new();
    let deadline = lab.clock.now().plus(Duration::from_mins(45));
    let context = Context { cloud, clock: &*lab.clock, progress: &Silent, interrupt: &interrupt, deadline };
    let planned = engine::plan_with(cloud, request, &lab.known).await?;
    engine::apply(&context, request, &planned).await.map(drop)
}

/// Round trips of an apply, its plan included.
fn apply(lab: &Lab, request: &Request) -> u32 {
    let trips = Cell::new(0);
    let cloud = Distant { near: &lab.cloud, trips: &trips, stutters: false };
    travel(&trips, work(lab, &cloud, request)).unwrap();
    trips.get()
}

/// Two applies of the same, whose calls reach AWS in turn.
pub(crate) fn apply_both(lab: &Lab, request: &Request) -> [Result<(), Failure>; 2] {
    let trips = Cell::new(0);
    let cloud = Distant { near: &lab.cloud, trips: &trips, stutters: false };
    let (first, second) =
        travel(&trips, async { tokio::join!(work(lab, &cloud, request), work(lab, &cloud, request)) });
    [first, second]
}

/// Two destroys of the same, whose calls reach AWS in turn.
pub(crate) fn destroy_both(lab: &Lab, scope: &Scope) -> [Result<(), Failure>; 2] {
    let trips = Cell::new(0);
    let cloud = Distant { near: &lab.cloud, trips: &trips, stutters: false };
    let destroy = || end(lab, &cloud, scope);
    let (first, second) = travel(&trips, async { tokio::join!(destroy(), destroy()) });
    [first.map(drop), second.map(drop)]
}

/// An apply whose every write is sent twice.
pub(crate) fn apply_stuttering(lab: &Lab, request: &Request) -> Result<(), Failure> {
    let trips = Cell::new(0);
    let cloud = Distant { near: &lab.cloud, trips: &trips, stutters: true };
    travel(&trips, work(lab, &cloud, request))
}

/// A destroy whose every write is sent twice.
pub(crate) fn destroy_stuttering(lab: &Lab, scope: &Scope) -> Result<Counts, Failure> {
    let trips = Cell::new(0);
    let cloud = Distant { near: &lab.cloud, trips: &trips, stutters: true };
    travel(&trips, end(lab, &cloud, scope))
}

/// Plans and destroys.
async fn end(lab: &Lab, cloud: &dyn Cloud, scope: &Scope) -> Result<Counts, Failure> {
    let (_interrupter, interrupt) = Interrupt::new();
    let deadline = lab.clock.now().plus(Duration::from_mins(45));
    let context = Context { cloud, clock: &*lab.clock, progress: &Silent, interrupt: &interrupt, deadline };
    let teardown = engine::plan_destroy(cloud, scope).await?;
    engine::destroy(&context, &teardown).await
}

fn settled() -> Lab {
    let lab = Lab::new();
    lab.apply(&patched(json!({}))).unwrap();
    lab.wait(Duration::from_mins(10));
    lab
}

#[test]
fn a_refresh_and_a_plan_are_one() {
    let lab = settled();
    let trips = Cell::new(0);
    let cloud = Distant { near: &lab.cloud, trips: &trips, stutters: false };
    let request = patched(json!({}));
    travel(&trips, engine::outputs(&cloud, &request.scope)).unwrap();
    assert_eq!(trips.replace(0), 1);
    travel(&trips, engine::plan(&cloud, &request)).unwrap();
    assert_eq!(trips.replace(0), 1);
    let rolled = patched(json!({"kubernetes_version": "v1.35.0"}));
    travel(&trips, engine::plan(&cloud, &rolled)).unwrap();
    assert!(trips.get() <= 2, "the template that is replaced is known only from the group");
}

#[test]
fn a_rotation_is_two() {
    assert_eq!(apply(&settled(), &patched(json!({"bootstrap_data": "I2Nsb3VkLWNvbmZpZyAyCg=="}))), 2);
}

#[test]
fn a_creation_is_five() {
    let native = json!({"autoscaling": {"enabled": true, "min": 1, "max": 5}});
    assert_eq!(apply(&Lab::new(), &patched(native)), 5);
}

#[test]
fn a_roll_is_six_at_most() {
    let trips = apply(&settled(), &patched(json!({"kubernetes_version": "v1.35.0"})));
    assert!(trips <= 6, "{trips}");
}
