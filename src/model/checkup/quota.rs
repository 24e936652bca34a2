//! The quotas of running vCPUs, which EC2 has per class of families and per market.

use super::{Check, Facts, Look, size};
use crate::contract::request::Request;

/// Codes of Service Quotas: first letters of the families, On-Demand, Spot. Source: the console of Service
/// Quotas, "Running On-Demand ... instances" and "All ... Spot Instance Requests".
const CODES: [(&[&str], &str, &str); 3] = [
    (&["a", "c", "d", "h", "i", "m", "r", "t", "z"], "L-1216C47A", "L-34B43A08"),
    (&["g", "vt"], "L-DB2E81BA", "L-3819A6DF"),
    (&["p"], "L-417A185B", SPOT_P2_TO_P4),
];

/// "All P4, P3 and P2 Spot Instance Requests".
const SPOT_P2_TO_P4: &str = "L-7212CCBC";
/// "All P5 Spot Instance Requests".
const SPOT_P5: &str = "L-C4BD4855";

/// P is one class On-Demand and several ones as Spot, by generation.
fn spot_code_of_p(family: &str) -> Option<&'static str> {
    match family.get(1..2)? {
        "2" | "3" | "4" => Some(SPOT_P2_TO_P4),
        "5" => Some(SPOT_P5),
        _ => None,
    }
}

/// The code of the quota that a request's instances count against; `None` for families that have one of
/// their own which is not known here.
pub fn code(request: &Request) -> Option<&'static str> {
    let family = request.instance_type.split('.').next()?;
    let series = family.split(|c: char| !c.is_ascii_lowercase()).next()?;
    // Series of several letters count with the first one, but for those that have a quota of their own.
    let class = match series {
        "vt" => "vt",
        "inf" | "trn" | "dl" | "hpc" | "mac" | "u" | "f" | "x" => return None,
        other => other.get(..1)?,
    };
    if class == "p" && request.spot {
        return spot_code_of_p(family);
    }
    let (_, on_demand, spot) = CODES.iter().find(|(letters, ..)| letters.contains(&class))?;
    Some(if request.spot { spot } else { on_demand })
}

pub(super) fn check(request: &Request, facts: &Facts) -> Check {
    const ID: &str = "quota.vcpus";
    let market = if request.spot { "Spot" } else { "On-Demand" };
    let kind = &request.instance_type;
    let Look::Seen(Some(quota)) = facts.quota else {
        let idle = Look::<()>::Idle("Service Quotas knows no such quota.");
        let subject = format!("the quota of vCPUs for {market} {kind}");
        return match &facts.quota {
            Look::Seen(_) => Check::unseen(ID, &subject, &idle),
            other => Check::unseen(ID, &subject, other),
        };
    };
    let Some(found) = facts.instance_type.seen().and_then(Option::as_ref) else {
        let idle = Look::<()>::Idle("It is not known how many vCPUs the instance type has.");
        return Check::unseen(ID, "the quota of vCPUs", &idle);
    };
    let size = size(request);
    let once = f64::from(size) * f64::from(found.vcpus);
    let about = format!("{market} quota: {quota} vCPUs, and {size} {kind} need {once}");
    let fix = format!(
        "Ask for more:\n\n  aws service-quotas request-service-quota-increase --service-code ec2 --quota-code {} \
         --desired-value {}",
        code(request).unwrap_or_default(),
        2.0 * once
    );
    if quota < once {
        return Check::fail(ID, format!("{about} at full size")).because("Launches beyond it fail.").fix(fix);
    }
    if quota < 2.0 * once {
        return Check::warning(ID, format!("{about}, twice that in a roll"))
            .because(
                "A roll launches each replacement before an old instance goes. Other instances count, too.",
            )
            .fix(fix);
    }
    Check::pass(ID, format!("{about}, twice that in a roll"))
        .because("What other instances of the account use is not counted.")
}
