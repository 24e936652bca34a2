//! `iam-policy`: the policy, what it is for, and what another one lacks. Asks nothing of AWS.

use std::{fs::File, io::Read, path::Path};

use super::ui::Ui;
use crate::{
    cli::PolicyArgs,
    contract::{
        problem::{Diagnostic, sentence},
        request::Scope,
    },
    error::{Failure, Kind, file_name},
    model::{
        names::Names,
        permissions::{Document, Grant, Policy, Pools, compare, partition},
    },
    runtime::commands::Setting,
    view,
};

/// No policy document is larger; IAM's limit is a few thousand characters. In bytes.
const LARGEST: u64 = 4 << 20;

/// Prints the policy, or explains it, or compares another one with it.
pub(super) fn iam_policy(ui: &Ui, args: &PolicyArgs) -> anyhow::Result<u8> {
    // Read before anything is told of inputs: standard input has one reader.
    let theirs = documents(&args.compare)?;
    let scope = scope(ui, args)?;
    let grant = grant(args, scope.as_ref());
    let policy = Policy::of(&grant);
    ui.tell(&wide(&grant));
    if !policy.fits_managed_policy() {
        ui.tell(&[Diagnostic::warning(
            "The policy is too long for a managed policy of IAM's",
            "Give fewer buckets or roles, or make two policies of its statements.",
        )]);
    }
    if let Some(theirs) = theirs {
        let findings = compare::compare(&policy, &theirs);
        if grant.account == "*" && !findings.iter().all(compare::Finding::is_lacking) {
            ui.tell(&[Diagnostic::warning(
                "The account is not known",
                "Give --account ID, so that what a policy allows in one account can be judged.",
            )]);
        }
        ui.result(&view::comparison(&findings, ui.result_style()));
        return Ok(u8::from(findings.iter().any(compare::Finding::is_lacking)));
    }
    let text =
        if args.explain { view::explanation(&policy, ui.result_style()) } else { view::policy_json(&policy) };
    ui.result(&text);
    Ok(0)
}

/// The pool's names, unless all pools are asked for and no inputs are given.
fn scope(ui: &Ui, args: &PolicyArgs) -> anyhow::Result<Option<Scope>> {
    if args.all_pools && args.inputs.sources.is_empty() {
        return Ok(None);
    }
    Ok(Some(Setting::here()?.inputs(ui, &args.inputs)?.scope()?))
}

fn grant(args: &PolicyArgs, scope: Option<&Scope>) -> Grant {
    let told = scope.and_then(|scope| scope.region.as_ref()).map(ToString::to_string);
    let region = args.region.clone().or(told).unwrap_or_else(|| "*".to_owned());
    let partition = partition(&region);
    let account = args.account.clone().unwrap_or_else(|| "*".to_owned());
    let mut buckets: Vec<String> =
        scope.and_then(|scope| scope.bucket.as_ref()).map(ToString::to_string).into_iter().collect();
    buckets.extend(args.bucket.iter().filter(|name| !buckets.contains(name)).cloned().collect::<Vec<_>>());
    let role = |name: &str| {
        if name.starts_with("arn:") {
            return name.to_owned();
        }
        format!("arn:{partition}:iam::{account}:role/{}", name.trim_start_matches('/'))
    };
    let mut worker_roles: Vec<String> = args.worker_role.iter().map(|name| role(name)).collect();
    if buckets.is_empty() {
        buckets.push("*".to_owned());
    }
    if worker_roles.is_empty() {
        worker_roles.push(role("*"));
    }
    let pools = match scope.filter(|_| !args.all_pools) {
        None => Pools::All,
        Some(scope) => {
            let Names { group, object_key } = Names::of(scope);
            Pools::One { group, object_key, identity: scope.identity.clone() }
        }
    };
    Grant { partition, region, account, buckets, worker_roles, pools, doctor: args.doctor }
}

/// Where the policy is wider than it need be, and how to narrow it.
fn wide(grant: &Grant) -> Vec<Diagnostic> {
    let mut told = Vec::new();
    if grant.worker_roles.iter().any(|arn| arn.ends_with(":role/*")) {
        told.push(Diagnostic::warning(
            "The policy lets any role be passed to EC2",
            "The inputs name the workers' instance profile, not the role in it. Give --worker-role NAME to narrow \
             it to that one.",
        ));
    }
    if grant.buckets.iter().any(|bucket| bucket == "*") {
        told.push(Diagnostic::warning(
            "The policy covers pool/ in any bucket",
            "No bootstrap bucket is known. Give --bucket NAME, or a pattern, to narrow it.",
        ));
    }
    if grant.region == "*" {
        told.push(Diagnostic::warning(
            "The policy covers any region",
            "No region is known. Give --region NAME, or a pattern, to narrow it.",
        ));
    }
    told
}

/// All documents together; `None` if there is nothing to compare.
fn documents(files: &[std::path::PathBuf]) -> anyhow::Result<Option<Document>> {
    let mut all: Option<Document> = None;
    for file in files {
        let summary = || format!("Cannot read the policy in {}", file_name(file));
        let failed = |detail: String| Failure::new(Kind::Local, summary(), detail);
        let text = read(file).map_err(|error| failed(sentence(&error.to_string())))?;
        if text.len() as u64 > LARGEST {
            return Err(failed(format!("It is larger than {} MiB.", LARGEST >> 20)).into());
        }
        let document = Document::parse(&text)
            .map_err(|error| failed(sentence(&view::text::capitalised(&error.to_string()))))?;
        match &mut all {
            Some(all) => all.add(document),
            None => all = Some(document),
        }
    }
    Ok(all)
}

fn read(file: &Path) -> std::io::Result<Vec<u8>> {
    let mut text = Vec::new();
    match file.to_str() {
        Some("-") => std::io::stdin().lock().take(LARGEST + 1).read_to_end(&mut text)?,
        _ => File::open(file)?.take(LARGEST + 1).read_to_end(&mut text)?,
    };
    Ok(text)
}
