//! A small simulated AWS account, in one JSON file or in memory: no AWS account, no network.
//!
//! It keeps the rules of AWS that this program leans on, and is never kinder: names are unique,
//! bounds and limits hold, reads may lag, instances come up over time. Time is the clock's; nothing
//! is random, so the same calls give the same account.

use std::{cell::RefCell, path::Path, rc::Rc};

use async_trait::async_trait;
use tokio::{sync::Mutex, task::yield_now};

use super::{Cloud, CloudError, ErrorKind, ImageQuery, TemplateQuery, VersionQuery, operations};
use crate::{
    clock::{Clock, Timestamp},
    model::{
        checkup::{Question, Reply},
        observed::{Activity, Group, Image, Instance, Object, Policy, Refresh, Template, TemplateVersion},
        resources::{Answer, Write},
    },
};

mod attachments;
mod clock;
mod echo;
mod fault;
mod file;
mod groups;
mod images;
mod launching;
mod objects;
mod refreshes;
mod settling;
mod spread;
mod surroundings;
mod tags;
mod templates;
mod world;

#[cfg(test)]
mod tests;

use fault::Fault;
use file::{Content, Locked, Store};

pub use clock::{ManualClock, SandboxClock};
pub use file::SandboxError;
pub use images::CATALOGUE_OWNER;
pub use surroundings::Surroundings;
pub use world::{
    Echo, Echoes, Lag, OwnedImage, RefreshOptions, Seed, StoredActivity, StoredGroup, StoredInstance,
    StoredObject, StoredRefresh, StoredTemplate, StoredVersion, World,
};

/// The code of a call whose account could not be read or written; AWS has no such.
const FILE_FAILED: &str = "SandboxFileFailed";

/// So many looks at instances, and whoever else waits has a turn: a signal must be heard while a large account or a
/// long time is worked through. They are counted, not timed, so that a slow machine does all in the same order.
const TURN: usize = 20_000;

/// In an account of so many instances, every call is long enough for that.
const LARGE: usize = 1_000;

/// The simulated account.
pub struct Sandbox {
    region: String,
    clock: Rc<dyn Clock>,
    /// The clock whose offset the file keeps, if it is one of those.
    offset: Option<Rc<SandboxClock>>,
    store: Option<Store>,
    kept: RefCell<Kept>,
    /// Held by the call that is under way.
    turn: Mutex<()>,
}

/// The account as last seen, and the file's text that it was read from or written to.
#[derive(Clone, Default)]
struct Kept {
    text: String,
    content: Content,
    /// Whether the content holds something that the file does not.
    unsaved: bool,
}

impl Sandbox {
    /// An account in a file, which is made from `seed` on first use; later, only its own content
    /// counts. A file that cannot be read, made or understood is an error that names it.
    pub fn open(path: &Path, seed: &Seed, clock: Rc<dyn Clock>) -> Result<Self, SandboxError> {
        Self::open_with(path, seed, clock, None)
    }

    /// As [`Sandbox::open`], with the clock for the command line, whose offset the file keeps.
    pub fn open_with_own_clock(path: &Path, seed: &Seed) -> Result<(Self, Rc<SandboxClock>), SandboxError> {
        let clock = Rc::new(SandboxClock::new());
        let sandbox = Self::open_with(path, seed, clock.clone(), Some(clock.clone()))?;
        Ok((sandbox, clock))
    }

    fn open_with(
        path: &Path,
        seed: &Seed,
        clock: Rc<dyn Clock>,
        offset: Option<Rc<SandboxClock>>,
    ) -> Result<Self, SandboxError> {
        let (store, text) = Store::open(path, &Content::new(World::furnished(seed)))?;
        let content = store.parse(&text)?;
        if let Some(own) = &offset {
            own.catch_up(content.clock_offset_ms);
        }
        let region = content.world.region.clone();
        Ok(Self {
            region,
            clock,
            offset,
            store: Some(store),
            kept: RefCell::new(Kept { text, content, unsaved: false }),
            turn: Mutex::default(),
        })
    }

    /// An account in memory.
    pub fn in_memory(seed: &Seed, clock: Rc<dyn Clock>) -> Self {
        let content = Content::new(World::furnished(seed));
        Self {
            region: seed.region.clone(),
            clock,
            offset: None,
            store: None,
            kept: RefCell::new(Kept { text: String::new(), content, unsaved: false }),
            turn: Mutex::default(),
        }
    }

    /// Changes the account by somebody else's hands. Auto Scaling looks at every group soon after.
    /// A file that cannot be read or written is reported by the next call.
    pub fn edit<T>(&self, change: impl FnOnce(&mut World) -> T) -> T {
        let locked = self.load();
        let now = self.clock.now();
        let mut kept = self.kept.borrow_mut();
        kept.content.world.settle(now);
        let answer = change(&mut kept.content.world);
        kept.content.world.wake_all(now);
        kept.unsaved = true;
        if let Ok(Some(locked)) = locked {
            // What could not be saved stays marked so, and the next call tries again.
            let _ = self.save(&locked, &mut kept);
        }
        answer
    }

    /// Adds to the account, as it was last seen, what `supply` finds missing. It says whether it added anything.
    pub fn supply(&self, supply: impl FnOnce(&mut World) -> bool) -> Result<(), SandboxError> {
        let locked = self.load()?;
        let mut kept = self.kept.borrow_mut();
        if !supply(&mut kept.content.world) {
            return Ok(());
        }
        kept.content.world.wake_all(self.clock.now());
        kept.unsaved = true;
        locked.map_or(Ok(()), |locked| self.save(&locked, &mut kept))
    }

    /// A copy of the account as it is now; changes nothing.
    pub fn world(&self) -> World {
        // An unreadable file is reported by the next call; until then, the account as last seen.
        let _ = self.load();
        let mut world = self.kept.borrow().content.world.clone();
        world.settle(self.clock.now());
        world
    }

    /// Takes the file, and its content if that is not what was seen last. `None` in memory.
    fn load(&self) -> Result<Option<Locked>, SandboxError> {
        let Some(store) = &self.store else { return Ok(None) };
        let locked = store.lock()?;
        let mut kept = self.kept.borrow_mut();
        if locked.text != kept.text {
            let content = store.parse(&locked.text)?;
            *kept = Kept { text: locked.text.clone(), content, unsaved: false };
        }
        if let Some(own) = &self.offset {
            own.catch_up(kept.content.clock_offset_ms);
        }
        Ok(Some(locked))
    }

    fn save(&self, locked: &Locked, kept: &mut Kept) -> Result<(), SandboxError> {
        let Some(store) = &self.store else { return Ok(()) };
        let text = store.render(&kept.content)?;
        store.replace(locked, &text)?;
        kept.text = text;
        kept.unsaved = false;
        Ok(())
    }

    /// One call: reads the file, lets happen what is due, acts, and writes the file if anything changed.
    async fn call<T>(
        &self,
        operation: &'static str,
        resource: String,
        act: impl FnOnce(&mut World, Timestamp) -> Result<T, Fault>,
    ) -> Result<T, CloudError> {
        let permitted =
            |world: &mut World, now| world.check_permission(operation).and_then(|()| act(world, now));
        match self.transact(permitted).await {
            Ok(answer) => answer.map_err(|fault| fault.at(operation, resource, &self.region)),
            Err(error) => Err(CloudError {
                operation,
                resource,
                region: self.region.clone(),
                kind: ErrorKind::Other,
                code: FILE_FAILED.to_owned(),
                message: error.to_string(),
                request_id: None,
            }),
        }
    }

    async fn transact<T>(&self, act: impl FnOnce(&mut World, Timestamp) -> T) -> Result<T, SandboxError> {
        let _turn = self.turn.lock().await;
        if self.population() >= LARGE {
            yield_now().await;
        }
        let locked = self.load()?;
        let now = self.clock.now();
        let before = locked.is_some().then(|| self.kept.borrow().content.clone());
        self.settle(now).await;
        let mut kept = self.kept.borrow_mut();
        let answer = act(&mut kept.content.world, now);
        let (Some(locked), Some(before)) = (locked, before) else { return Ok(answer) };
        if let Some(own) = &self.offset {
            kept.content.clock_offset_ms = own.offset_ms();
        }
        if kept.unsaved || kept.content != before {
            // What was not written did not happen.
            let saved = self.save(&locked, &mut kept);
            saved.inspect_err(|_| kept.content = before)?;
        }
        Ok(answer)
    }

    /// Lets everything happen that is due at `now`, with turns for others. It may be given up between two of them, for
    /// each leaves an account that only has not come so far.
    async fn settle(&self, now: Timestamp) {
        let mut looks = 0;
        while self.settle_step(now) {
            looks += 1 + self.population();
            if looks >= TURN {
                looks = 0;
                yield_now().await;
            }
        }
    }

    fn settle_step(&self, now: Timestamp) -> bool {
        let mut kept = self.kept.borrow_mut();
        let moved = kept.content.world.settle_step(now);
        kept.unsaved |= moved;
        moved
    }

    fn population(&self) -> usize {
        self.kept.borrow().content.world.instances.len()
    }
}

/// Does one write.
fn perform_on(world: &mut World, write: &Write, now: Timestamp) -> Result<Answer, Fault> {
    let done = match write {
        Write::CreateTemplate { name, description, data, tags } => {
            let id = world.create_template(name, description, data, tags, now)?;
            return Ok(Answer::Template { id });
        }
        Write::CreateTemplateVersion { template_id, description, data } => {
            return world.create_version(template_id, description, data, now).map(Answer::Version);
        }
        Write::StartRefresh { group, warmup_seconds } => {
            let options = RefreshOptions {
                warmup_seconds: *warmup_seconds,
                skip_matching: true,
                replace_protected: true,
                desired: None,
            };
            return world.start_refresh(group, options, now).map(Answer::Refresh);
        }
        Write::PutObject { bucket, key, body, tags } => world.put_object(bucket, key, body, tags),
        Write::DeleteObject { bucket, key } => world.delete_object(bucket, key),
        Write::SetDefaultVersion { template_id, version } => world.set_default_version(template_id, *version),
        Write::DeleteTemplateVersions { template_id, versions } => {
            world.delete_versions(template_id, versions)
        }
        Write::DeleteTemplate { template_id } => world.delete_template(template_id),
        Write::TagTemplate { template_id, tags } => world.tag_template(template_id, tags),
        Write::UntagTemplate { template_id, keys } => world.untag_template(template_id, keys),
        Write::CreateGroup(create) => world.create_group(create, now),
        Write::UpdateGroup(update) => world.update_group(update, now),
        Write::TagGroup { group, tags } => world.tag_group(group, tags),
        Write::UntagGroup { group, keys } => world.untag_group(group, keys),
        Write::SuspendProcess { group, process } => world.set_suspended(group, process, true, now),
        Write::ResumeProcess { group, process } => world.set_suspended(group, process, false, now),
        Write::PutPolicy { group, name, target } => world.put_policy(group, name, *target),
        Write::DeletePolicy { group, name } => world.delete_policy(group, name),
        Write::CancelRefresh { group } => world.cancel_refresh(group, now),
        Write::Unprotect { group, instances } => world.unprotect(group, instances, now),
        Write::DeleteScheduledAction { group, name } => world.delete_scheduled_action(group, name),
        Write::DeleteWarmPool { group } => world.delete_warm_pool(group),
        Write::DeleteGroup { group, force } => world.delete_group(group, *force, now),
    };
    done.map(|()| Answer::Done)
}

fn group_label(name: &str) -> String {
    format!("Auto Scaling group {name}")
}

#[async_trait(?Send)]
impl Cloud for Sandbox {
    fn region(&self) -> &str {
        &self.region
    }

    async fn group(&self, name: &str) -> Result<Option<Group>, CloudError> {
        self.call(operations::DESCRIBE_GROUPS, group_label(name), |world, _| Ok(world.describe_group(name)))
            .await
    }

    async fn instances(&self, group: &str) -> Result<Vec<Instance>, CloudError> {
        self.call(operations::DESCRIBE_INSTANCES, group_label(group), |world, _| {
            Ok(world.describe_instances(group))
        })
        .await
    }

    async fn policies(&self, group: &str) -> Result<Vec<Policy>, CloudError> {
        self.call(operations::DESCRIBE_POLICIES, group_label(group), |world, _| {
            let shown = echo::show(&world.groups, &mut world.echoes.policies, group);
            Ok(shown.map(|stored| stored.policies.into_values().collect()).unwrap_or_default())
        })
        .await
    }

    async fn refreshes(&self, group: &str) -> Result<Vec<Refresh>, CloudError> {
        self.call(operations::DESCRIBE_REFRESHES, group_label(group), |world, _| {
            let shown = echo::show(&world.groups, &mut world.echoes.refreshes, group);
            let newest_first = shown.iter().flat_map(|stored| stored.refreshes.iter().rev());
            Ok(newest_first.map(StoredRefresh::described).collect())
        })
        .await
    }

    async fn activities(&self, group: &str) -> Result<Vec<Activity>, CloudError> {
        self.call(operations::DESCRIBE_ACTIVITIES, group_label(group), |world, _| {
            Ok(world.describe_activities(group))
        })
        .await
    }

    async fn scheduled_actions(&self, group: &str) -> Result<Vec<String>, CloudError> {
        self.call(operations::DESCRIBE_SCHEDULED_ACTIONS, group_label(group), |world, _| {
            let stored = world.groups.get(group).map(|g| g.scheduled_actions.iter().cloned().collect());
            Ok(stored.unwrap_or_default())
        })
        .await
    }

    async fn templates(&self, query: &TemplateQuery) -> Result<Vec<Template>, CloudError> {
        self.call(operations::DESCRIBE_TEMPLATES, "launch templates".to_owned(), |world, _| {
            Ok(world.describe_templates(query))
        })
        .await
    }

    async fn versions(&self, query: &VersionQuery) -> Result<Vec<TemplateVersion>, CloudError> {
        let (VersionQuery::CurrentByName(which)
        | VersionQuery::CurrentById(which)
        | VersionQuery::All(which)) = query;
        self.call(operations::DESCRIBE_TEMPLATE_VERSIONS, format!("launch template {which}"), |world, _| {
            Ok(world.describe_versions(query))
        })
        .await
    }

    async fn images(&self, query: &ImageQuery) -> Result<Vec<Image>, CloudError> {
        let resource = match query {
            ImageQuery::Id(id) => format!("image {id}"),
            ImageQuery::Name { owner, name, .. } => format!("images {name} of {owner}"),
        };
        self.call(operations::DESCRIBE_IMAGES, resource, |world, _| world.describe_images(query)).await
    }

    async fn object(&self, bucket: &str, key: &str) -> Result<Object, CloudError> {
        self.call(operations::HEAD_OBJECT, format!("S3 object s3://{bucket}/{key}"), |world, _| {
            world.head_object(bucket, key)
        })
        .await
    }

    async fn answer(&self, question: &Question) -> Result<Reply, CloudError> {
        let (operation, resource) =
            (operations::of_question(question), operations::resource_of_question(question));
        self.call(operation, resource, |world, _| world.answer(question)).await
    }

    async fn perform(&self, write: &Write) -> Result<Answer, CloudError> {
        let (operation, resource) = (operations::of_write(write), operations::resource_of_write(write));
        self.call(operation, resource, |world, now| perform_on(world, write, now)).await
    }
}
