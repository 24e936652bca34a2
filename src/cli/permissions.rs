//! The options of `iam-policy`.

use std::path::PathBuf;

use clap::Args;

use super::inputs::InputArgs;

/// Options of `iam-policy`.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  machinepool iam-policy -var-file=pool.tfvars.json > policy.json
  machinepool iam-policy --all-pools --region 'eu-*' --bucket 'captf-*' --account 123456789012
  machinepool iam-policy --explain -var-file=pool.tfvars.json
  aws iam get-policy-version --policy-arn ARN --version-id v1 | machinepool iam-policy --compare - -var-file=pool.tfvars.json

It asks nothing of AWS. With --compare it ends with 1 if an action is lacking or denied; what cannot be \
judged is told and is no failure.")]
pub struct PolicyArgs {
    /// For every pool that this program manages; needs no inputs.
    #[arg(long)]
    pub all_pools: bool,
    /// Narrow to this account: 12 digits. Without it, to whichever account has the policy.
    #[arg(long, value_name = "ID", value_parser = account)]
    pub account: Option<String>,
    /// The region, or a pattern of regions such as eu-*, instead of the one that the inputs give.
    #[arg(long, value_name = "REGION", value_parser = region)]
    pub region: Option<String>,
    /// A further bootstrap bucket, or a pattern of buckets; a bucket that the cluster had earlier, too. May be
    /// repeated.
    #[arg(long, value_name = "BUCKET", value_parser = bucket)]
    pub bucket: Vec<String>,
    /// The workers' role, by name or ARN, the only one that may then be passed to EC2. May be repeated.
    #[arg(long, value_name = "ROLE", value_parser = role)]
    pub worker_role: Vec<String>,
    /// With the reads that only doctor makes; it works without them and skips what it may not see.
    #[arg(long)]
    pub doctor: bool,
    /// Print a table that says what each statement is for, instead of JSON.
    #[arg(long, conflicts_with = "compare")]
    pub explain: bool,
    /// Tell what this policy document lacks, in any form that the aws command prints; - is standard input. May be
    /// repeated: the policies of one identity count together.
    #[arg(long, value_name = "FILE")]
    pub compare: Vec<PathBuf>,
    /// Where the inputs come from.
    #[command(flatten)]
    pub inputs: InputArgs,
}

fn account(text: &str) -> Result<String, String> {
    let is_account = text.len() == 12 && text.bytes().all(|b| b.is_ascii_digit());
    if is_account { Ok(text.to_owned()) } else { Err("must be 12 digits".to_owned()) }
}

/// A region as a pattern: what IAM compares is text.
fn region(text: &str) -> Result<String, String> {
    let fits = |b: u8| b.is_ascii_lowercase() || b.is_ascii_digit() || b"-*?".contains(&b);
    if !text.is_empty() && text.bytes().all(fits) {
        Ok(text.to_owned())
    } else {
        Err("must be a region such as us-east-1, or a pattern such as eu-*".to_owned())
    }
}

fn bucket(text: &str) -> Result<String, String> {
    let fits = |b: u8| b.is_ascii_lowercase() || b.is_ascii_digit() || b".-*?".contains(&b);
    if !text.is_empty() && text.bytes().all(fits) {
        Ok(text.to_owned())
    } else {
        Err("must be the name of a bucket, or a pattern such as captf-*".to_owned())
    }
}

/// The characters of role names, paths and ARNs, and wildcards.
fn role(text: &str) -> Result<String, String> {
    let fits = |b: u8| b.is_ascii_alphanumeric() || b"+=,.@_-/:*?".contains(&b);
    let name = text.rsplit('/').next().unwrap_or_default();
    if !name.is_empty() && text.bytes().all(fits) && (!text.contains(':') || text.starts_with("arn:")) {
        Ok(text.to_owned())
    } else {
        Err("must be the name or the ARN of an IAM role".to_owned())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_goes_into_a_policy_is_checked() {
        assert!(account("123456789012").is_ok() && account("12345678901").is_err() && account("*").is_err());
        assert!(region("eu-*").is_ok() && region("us-east-1").is_ok() && region("*").is_ok());
        assert!(region("").is_err() && region("eu west").is_err() && region("US-EAST-1").is_err());
        assert!(bucket("captf-*").is_ok() && bucket("a/b").is_err() && bucket("${x}").is_err());
        assert!(role("workers").is_ok() && role("path/workers").is_ok());
        assert!(role("arn:aws:iam::123456789012:role/workers").is_ok());
        assert!(role("a:b").is_err() && role("").is_err() && role("path/").is_err() && role("${x}").is_err());
    }
}
