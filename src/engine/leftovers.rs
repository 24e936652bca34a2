//! Objects that the pool left behind in other buckets: who may still need them, and their end.

use std::{collections::BTreeSet, ops::ControlFlow};

use super::{context::Event, observe, perform::Performer};
use crate::{
    cloud::{ErrorKind, VersionQuery},
    contract::problem::Diagnostic,
    error::Failure,
    model::{
        fetching,
        observed::Object,
        ownership::{self, Resource},
        resources::Write,
    },
};

impl Performer<'_> {
    /// Breaks off where an instance may still fetch from one of the buckets that the pool has left. The plan's reading
    /// is as old as the plan, and knows no time: somebody may have said yes to it much later.
    pub(super) async fn check_fetchers(
        &self,
        group: &str,
        bucket: &str,
        key: &str,
        left: &[String],
    ) -> Result<ControlFlow<()>, Failure> {
        let (group, instances) = observe::membership(self.ctx.cloud, group).await?;
        let fresh = fetching::fresh(group.as_ref(), &instances, self.ctx.clock.now());
        let templates: BTreeSet<&str> = fresh
            .iter()
            .filter_map(|f| f.template)
            .map(|t| t.id.as_str())
            .filter(|id| !id.is_empty())
            .collect();
        let mut versions = Vec::new();
        for id in templates {
            versions.extend(self.ctx.cloud.versions(&VersionQuery::All(id.to_owned())).await?);
        }
        let fetchers: Vec<&str> = fresh
            .iter()
            .filter(|f| !fetching::asks(f.template, &versions, bucket, key))
            .map(|f| f.id)
            .collect();
        let Some(first) = fetchers.first() else { return Ok(ControlFlow::Continue(())) };
        let who = match fetchers.len() {
            1 => format!("{first} was launched a short time ago or is still starting, and may"),
            many => {
                format!(
                    "{first} and {} others were launched a short time ago or are still starting, and may",
                    many - 1
                )
            }
        };
        for old in left {
            self.ctx.progress.tell(Event::Warning(Diagnostic::warning(
                format!("The bootstrap object s3://{old}/{key} is kept for now"),
                format!(
                    "{who} still fetch it from there. An apply deletes it once the last such member is in service and \
                     15 minutes old."
                ),
            )));
        }
        Ok(ControlFlow::Break(()))
    }

    /// Deletes an object that the pool left behind in another bucket, if it still is the pool's.
    pub(super) async fn remove_object(&self, bucket: &str, key: &str) -> Result<(), Failure> {
        match self.ctx.cloud.object(bucket, key).await {
            Ok(Object::Present { tags, .. }) if ownership::is_ours(self.identity, &tags) => {
                let write = Write::DeleteObject { bucket: bucket.to_owned(), key: key.to_owned() };
                self.send(&write).await.map(drop)
            }
            Ok(Object::Present { tags, .. }) => {
                let resource = Resource::Object { bucket, key };
                if let Err(problem) = ownership::check(resource, self.identity, &tags) {
                    self.ctx.progress.tell(Event::Warning(Diagnostic::warning(
                        format!("{}, and stays", problem.summary),
                        "The pool kept its bootstrap data there before, and records the place no longer. If the object \
                         is this pool's all the same, delete it by hand: it may hold a token.",
                    )));
                }
                Ok(())
            }
            Err(error) if error.kind != ErrorKind::NotFound => Err(error.into()),
            Ok(_) | Err(_) => Ok(()),
        }
    }
}
