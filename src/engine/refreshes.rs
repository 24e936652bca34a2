//! Starting, recognising and ending instance refreshes.

use std::ops::ControlFlow;

use super::{observe, perform::Performer, wait};
use crate::{
    cloud::ErrorKind,
    contract::request::Tags,
    error::{Failure, Kind},
    model::{
        observed::{Group, Instance, Refresh},
        records::{self, RollMark},
        resources::{Answer, Write},
        roll, target,
    },
};

/// A start that was answered without saying what was started.
fn nameless(group: &str) -> Failure {
    Failure::new(
        Kind::Aws,
        format!(
            "StartInstanceRefresh of Auto Scaling group {group} was answered without an instance refresh id"
        ),
        "The roll may have been started all the same: machinepool rollout status tells. If it was not, run the command \
         again.",
    )
}

/// A look at a group and its refreshes.
struct Look {
    group: Option<Group>,
    instances: Vec<Instance>,
    refreshes: Vec<Refresh>,
}

impl Performer<'_> {
    /// `InstanceRefreshInProgress` can mean that the answer to our own start was lost: one that belongs
    /// to the wanted template is success. Another one is ended, and ours started.
    pub(super) async fn start_refresh(&self, write: &Write, group: &str) -> Result<(), Failure> {
        wait::until(self.ctx, wait::LIMIT, async || {
            match self.patiently(write).await? {
                Ok(Answer::Refresh(id)) if !id.is_empty() => {
                    self.refresh.replace(Some(id));
                    return Ok(ControlFlow::Break(()));
                }
                Ok(_) => return Err(nameless(group)),
                Err(error) if error.kind == ErrorKind::RefreshInProgress => {}
                Err(error) => return Err(error.into()),
            }
            let look = self.look(group).await?;
            let Some(active) = roll::active(&look.refreshes) else {
                return Ok(ControlFlow::Continue(
                    "AWS does not show yet which instance refresh runs".to_owned(),
                ));
            };
            if self.is_ours(&look) {
                self.refresh.replace(Some(active.id.clone()));
                return Ok(ControlFlow::Break(()));
            }
            self.mark_off(group, &self.hash, &look.refreshes).await?;
            self.end_refresh(group).await?;
            Ok(ControlFlow::Continue("another instance refresh ran, and was ended".to_owned()))
        })
        .await
    }

    pub(super) async fn roll_stragglers(
        &self,
        group: &str,
        template: &str,
        warmup_seconds: u32,
    ) -> Result<(), Failure> {
        let found = self.ctx.cloud.group(group).await?;
        if found.is_some_and(|found| roll::outdated(&found, template).next().is_some()) {
            let write = Write::StartRefresh { group: group.to_owned(), warmup_seconds };
            self.start_refresh(&write, group).await?;
        }
        Ok(())
    }

    async fn look(&self, group: &str) -> Result<Look, Failure> {
        let (membership, refreshes) =
            futures_util::join!(observe::membership(self.ctx.cloud, group), self.ctx.cloud.refreshes(group));
        let (group, instances) = membership?;
        Ok(Look { group, instances, refreshes: refreshes? })
    }

    /// Whether the refresh that runs serves the wanted template.
    fn is_ours(&self, look: &Look) -> bool {
        let Look { group: Some(group), instances, refreshes } = look else { return false };
        let own = roll::marked(group, &self.hash, &self.template, refreshes);
        let own = roll::serving(own, group, &self.template, instances, refreshes);
        own.first().is_some_and(|newest| !roll::is_final(&newest.status))
    }

    /// Says on the group that none of these refreshes, newest first, belongs to the template of a roll key.
    pub(super) async fn mark_off(
        &self,
        group: &str,
        hash: &str,
        refreshes: &[Refresh],
    ) -> Result<(), Failure> {
        let newest = refreshes.first().map(|r| r.id.clone());
        let mark = RollMark { hash: hash.to_owned(), newest }.to_string();
        let tags = Tags::from([(records::ROLL.to_owned(), mark)]);
        self.send(&Write::TagGroup { group: group.to_owned(), tags }).await.map(drop)
    }

    /// Marks off and ends what runs, unless it turns out to be the roll that is wanted: then the
    /// reading that the plan was made from lagged behind.
    pub(super) async fn supersede(&self, group: &str, template: &str) -> Result<(), Failure> {
        let look = self.look(group).await?;
        let used = look.group.as_ref().and_then(target::current_use);
        if used.is_some_and(|used| used.name == template) && self.is_ours(&look) {
            return Ok(());
        }
        self.mark_off(group, &self.hash, &look.refreshes).await?;
        self.end_refresh(group).await
    }

    /// Cancels the active refresh, once, and waits until it has come to a final status.
    pub(super) async fn end_refresh(&self, group: &str) -> Result<(), Failure> {
        let mut cancelled = false;
        wait::until(self.ctx, wait::LIMIT, async || {
            let refreshes = self.ctx.cloud.refreshes(group).await?;
            let Some(active) = roll::active(&refreshes) else { return Ok(ControlFlow::Break(())) };
            let waiting = format!("instance refresh {} is {}", active.id, active.status);
            if !cancelled && active.status != "Cancelling" {
                match self.ctx.cloud.perform(&Write::CancelRefresh { group: group.to_owned() }).await {
                    Err(error) if error.kind != ErrorKind::NoActiveRefresh => return Err(error.into()),
                    _ => cancelled = true,
                }
            }
            Ok(ControlFlow::Continue(waiting))
        })
        .await
    }
}
