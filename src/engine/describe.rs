//! Says in words what a task does, for progress and for failures.

use crate::model::{plan::Task, resources::Write};

/// Present participle and object.
pub(super) fn task(task: &Task) -> String {
    match task {
        Task::Write(write) => self::write(write),
        Task::EndRefresh { group } | Task::Supersede { group, .. } => {
            format!("ending the instance refresh of {group}")
        }
        Task::RollStragglers { group, .. } => format!("looking for members of {group} to roll"),
        Task::AwaitGroupGone { group } => format!("waiting until Auto Scaling group {group} is gone"),
        Task::CheckFetchers { left, key, .. } => {
            let places: Vec<String> = left.iter().map(|bucket| format!("s3://{bucket}/{key}")).collect();
            format!("looking for members that may still fetch {}", places.join(", "))
        }
        Task::RemoveObject { bucket, key } => format!("deleting s3://{bucket}/{key}, left behind"),
        Task::PruneVersions { template_id, .. } => format!("pruning old versions of {template_id}"),
    }
}

fn write(write: &Write) -> String {
    match write {
        Write::PutObject { bucket, key, .. } => format!("uploading s3://{bucket}/{key}"),
        Write::DeleteObject { bucket, key } => format!("deleting s3://{bucket}/{key}"),
        Write::CreateTemplate { name, .. } => format!("creating launch template {name}"),
        Write::CreateTemplateVersion { template_id, .. } => {
            format!("creating a version of launch template {template_id}")
        }
        Write::SetDefaultVersion { template_id, .. } => {
            format!("setting the default version of {template_id}")
        }
        Write::DeleteTemplateVersions { template_id, versions } => {
            format!("deleting old versions of {template_id}: {}", versions.len())
        }
        Write::DeleteTemplate { template_id } => format!("deleting launch template {template_id}"),
        Write::TagTemplate { template_id, .. } => format!("tagging launch template {template_id}"),
        Write::UntagTemplate { template_id, .. } => format!("removing tags of launch template {template_id}"),
        Write::CreateGroup(group) => format!("creating Auto Scaling group {}", group.name),
        Write::UpdateGroup(group) => format!("updating Auto Scaling group {}", group.name),
        Write::TagGroup { group, .. } => format!("tagging Auto Scaling group {group}"),
        Write::UntagGroup { group, .. } => format!("removing tags of Auto Scaling group {group}"),
        Write::SuspendProcess { group, process } => format!("suspending {process} of {group}"),
        Write::ResumeProcess { group, process } => format!("resuming {process} of {group}"),
        Write::PutPolicy { name, .. } => format!("putting scaling policy {name}"),
        Write::DeletePolicy { name, .. } => format!("deleting scaling policy {name}"),
        Write::StartRefresh { group, .. } => format!("starting an instance refresh of {group}"),
        Write::CancelRefresh { group } => format!("cancelling the instance refresh of {group}"),
        Write::Unprotect { instances, .. } => {
            format!("clearing the protection of {} instances", instances.len())
        }
        Write::DeleteScheduledAction { name, .. } => format!("deleting scheduled action {name}"),
        Write::DeleteWarmPool { group } => format!("deleting the warm pool of {group}"),
        Write::DeleteGroup { group, .. } => format!("deleting Auto Scaling group {group}"),
    }
}
