//! Reads of Auto Scaling.

use super::{Aws, convert};
use crate::{
    cloud::CloudError,
    model::observed::{Activity, Group, Policy, Refresh},
};

/// The largest page of every list here.
const PAGE: i32 = 100;

/// Refreshes are read up to this many pages. AWS keeps them for six weeks, newest first, and only
/// the newest ones decide anything.
const REFRESH_PAGES: usize = 5;

/// How many scaling activities are read.
const ACTIVITIES: i32 = 20;

/// How an Auto Scaling group is named in errors.
pub(super) fn group_text(name: &str) -> String {
    format!("Auto Scaling group {name}")
}

impl Aws {
    pub(super) async fn describe_group(&self, name: &str) -> Result<Option<Group>, CloudError> {
        let asked = self.asked("autoscaling:DescribeAutoScalingGroups", group_text(name));
        let request = self.autoscaling().describe_auto_scaling_groups().auto_scaling_group_names(name);
        let answer = self.call(&asked, || request.send()).await?;
        let group = answer.auto_scaling_groups().iter().find(|g| g.auto_scaling_group_name() == Some(name));
        Ok(group.map(convert::group))
    }

    pub(super) async fn describe_policies(&self, group: &str) -> Result<Vec<Policy>, CloudError> {
        let asked = self.asked("autoscaling:DescribePolicies", group_text(group));
        let request = self.autoscaling().describe_policies().auto_scaling_group_name(group);
        let pages = request.into_paginator().page_size(PAGE).items().send();
        let mut policies: Vec<Policy> =
            self.call(&asked, || pages.try_collect()).await?.iter().map(convert::policy).collect();
        policies.sort_by(|a, b| a.name.cmp(&b.name));
        Ok(policies)
    }

    pub(super) async fn describe_refreshes(&self, group: &str) -> Result<Vec<Refresh>, CloudError> {
        let asked = self.asked("autoscaling:DescribeInstanceRefreshes", group_text(group));
        let request = self.autoscaling().describe_instance_refreshes().auto_scaling_group_name(group);
        let mut pages = request.into_paginator().page_size(PAGE).send();
        let mut refreshes = Vec::new();
        for _ in 0..REFRESH_PAGES {
            let Some(page) = self.call(&asked, || pages.try_next()).await? else { break };
            refreshes.extend(page.instance_refreshes().iter().map(convert::refresh));
        }
        convert::newest_refresh_first(&mut refreshes);
        Ok(refreshes)
    }

    pub(super) async fn describe_activities(&self, group: &str) -> Result<Vec<Activity>, CloudError> {
        let asked = self.asked("autoscaling:DescribeScalingActivities", group_text(group));
        let request = self.autoscaling().describe_scaling_activities().auto_scaling_group_name(group);
        let answer = self.call(&asked, || request.max_records(ACTIVITIES).send()).await?;
        let mut activities: Vec<Activity> = answer.activities().iter().map(convert::activity).collect();
        activities.sort_by_key(|activity| std::cmp::Reverse(activity.start));
        Ok(activities)
    }

    pub(super) async fn describe_scheduled_actions(&self, group: &str) -> Result<Vec<String>, CloudError> {
        let asked = self.asked("autoscaling:DescribeScheduledActions", group_text(group));
        let request = self.autoscaling().describe_scheduled_actions().auto_scaling_group_name(group);
        let pages = request.into_paginator().page_size(PAGE).items().send();
        let actions = self.call(&asked, || pages.try_collect()).await?;
        let mut names: Vec<String> =
            actions.into_iter().filter_map(|action| action.scheduled_action_name).collect();
        names.sort();
        Ok(names)
    }
}
