//! Conditions of a statement: whether they hold, as far as it is known what our requests are like.

use std::collections::BTreeMap;

use super::glob;

/// Operator -> key -> values, as in a policy.
pub(super) type Conditions = BTreeMap<&'static str, BTreeMap<String, Vec<String>>>;

/// One condition: the key's value is compared with these values.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Test {
    pub(super) operator: String,
    pub(super) key: String,
    pub(super) values: Vec<String>,
}

/// Whether something holds for what we ask.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Holds {
    Always,
    Never,
    Perhaps,
}

/// Conditions as a list.
pub(super) fn tests(conditions: &Conditions) -> impl Iterator<Item = Test> {
    conditions.iter().flat_map(|(operator, keys)| {
        keys.iter().map(|(key, values)| Test {
            operator: (*operator).to_owned(),
            key: key.clone(),
            values: values.clone(),
        })
    })
}

/// Whether all of `wanted` hold for requests for which all of `facts` do; and the keys that decide: those of which
/// nobody can know, or those that never hold.
pub(super) fn all_hold<'a>(wanted: &'a [Test], facts: &[Test]) -> (Holds, Vec<&'a str>) {
    let keys = |which: Holds| -> Vec<&'a str> {
        wanted.iter().filter(|test| holds(test, facts) == which).map(|test| test.key.as_str()).collect()
    };
    let (never, perhaps) = (keys(Holds::Never), keys(Holds::Perhaps));
    match (never.is_empty(), perhaps.is_empty()) {
        (false, _) => (Holds::Never, never),
        (true, false) => (Holds::Perhaps, perhaps),
        (true, true) => (Holds::Always, Vec::new()),
    }
}

fn holds(test: &Test, facts: &[Test]) -> Holds {
    let mut on_the_key = facts.iter().filter(|fact| fact.key.eq_ignore_ascii_case(&test.key));
    match on_the_key.find_map(|fact| decide(test, fact)) {
        Some(true) => Holds::Always,
        Some(false) => Holds::Never,
        None => Holds::Perhaps,
    }
}

/// What a fact says about a condition on the same key, if it says anything.
fn decide(test: &Test, fact: &Test) -> Option<bool> {
    let known = Operator::parse(&fact.operator)?;
    if test.operator == "Null" {
        let wants_absent = test.values.iter().all(|value| value.eq_ignore_ascii_case("true"));
        return (!known.if_exists).then_some(!wants_absent);
    }
    let asked = Operator::parse(&test.operator)?;
    let fits = |one: &String| fits_any(asked.comparison, &test.values, known.comparison, one);
    let (first, rest) = fact.values.split_first()?;
    let is_among = fits(first)?;
    if rest.iter().any(|one| fits(one) != Some(is_among)) {
        return None;
    }
    let (present, absent) = (is_among != asked.negated, asked.if_exists || asked.negated);
    // A key that may be missing decides only where it makes no difference.
    (!known.if_exists || present == absent).then_some(present)
}

/// Whether a value that is `known`, or all values of that pattern, fit any of what is `asked` for.
fn fits_any(asking: Comparison, asked: &[String], knowing: Comparison, known: &str) -> Option<bool> {
    let fits: Vec<Option<bool>> = asked.iter().map(|asked| fits(asking, asked, knowing, known)).collect();
    if fits.contains(&Some(true)) {
        return Some(true);
    }
    fits.iter().all(|fits| *fits == Some(false)).then_some(false)
}

fn fits(asking: Comparison, asked: &str, knowing: Comparison, known: &str) -> Option<bool> {
    use Comparison::{AnyCase, ArnPattern, Exact, Pattern};
    let same = if asking == AnyCase { asked.eq_ignore_ascii_case(known) } else { asked == known };
    let known_is_one = matches!(knowing, Exact | AnyCase) || !known.contains(['*', '?']);
    let covers = match asking {
        _ if same => known_is_one || matches!(asking, Pattern | ArnPattern),
        Exact | AnyCase => false,
        Pattern => glob::covers(asked, known),
        ArnPattern => part_by_part(asked, known),
    };
    // A policy variable may stand for anything.
    let is_variable = asked.contains("${");
    match asking {
        _ if covers && (same || !is_variable) => Some(true),
        _ if is_variable => None,
        Exact | AnyCase if known_is_one => Some(false),
        // Letters of the other case may meet.
        AnyCase => None,
        _ => (!glob::meet(asked, known)).then_some(false),
    }
}

/// Whether an ARN takes all that another does: a wildcard in it does not reach beyond its part.
fn part_by_part(arn: &str, other: &str) -> bool {
    let (arn, other): (Vec<&str>, Vec<&str>) = (arn.splitn(6, ':').collect(), other.splitn(6, ':').collect());
    arn.len() == other.len() && arn.iter().zip(&other).all(|(part, other)| glob::covers(part, other))
}

/// How a text is compared with another.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Comparison {
    Exact,
    AnyCase,
    Pattern,
    ArnPattern,
}

/// A condition's operator, as far as it compares texts.
#[derive(Clone, Copy, Debug)]
struct Operator {
    comparison: Comparison,
    negated: bool,
    if_exists: bool,
}

impl Operator {
    /// `None` for what compares no texts, or sets of them.
    fn parse(name: &str) -> Option<Self> {
        let (base, if_exists) = match name.strip_suffix("IfExists") {
            Some(base) => (base, true),
            None => (name, false),
        };
        let (comparison, negated) = match base {
            "StringEquals" => (Comparison::Exact, false),
            "StringNotEquals" => (Comparison::Exact, true),
            "StringEqualsIgnoreCase" => (Comparison::AnyCase, false),
            "StringNotEqualsIgnoreCase" => (Comparison::AnyCase, true),
            "StringLike" => (Comparison::Pattern, false),
            "StringNotLike" => (Comparison::Pattern, true),
            "ArnEquals" | "ArnLike" => (Comparison::ArnPattern, false),
            "ArnNotEquals" | "ArnNotLike" => (Comparison::ArnPattern, true),
            _ => return None,
        };
        Some(Self { comparison, negated, if_exists })
    }
}

#[cfg(test)]
mod unit {
    use super::*;

    fn test(operator: &str, values: &[&str]) -> Test {
        Test {
            operator: operator.to_owned(),
            key: "aws:RequestedRegion".to_owned(),
            values: values.iter().map(|&value| value.to_owned()).collect(),
        }
    }

    fn holds_for(fact: (&str, &[&str]), asked: (&str, &[&str])) -> Holds {
        holds(&test(asked.0, asked.1), &[test(fact.0, fact.1)])
    }

    #[test]
    fn what_follows_from_a_value_that_is_known() {
        use Holds::{Always, Never, Perhaps};
        let cases: [(&str, &[&str], Holds); 30] = [
            ("StringEquals", &["eu-west-1"], Always),
            ("StringEquals", &["us-east-1", "eu-west-1"], Always),
            ("StringEquals", &["us-east-1"], Never),
            // A star is no wildcard there.
            ("StringEquals", &["eu-*"], Never),
            ("StringEqualsIfExists", &["eu-west-1"], Always),
            ("StringEqualsIfExists", &["us-east-1"], Never),
            ("StringEqualsIgnoreCase", &["EU-West-1"], Always),
            ("StringEquals", &["EU-West-1"], Never),
            ("StringLike", &["eu-*"], Always),
            ("StringLike", &["eu-west-?"], Always),
            ("StringLike", &["*"], Always),
            ("StringLike", &["us-*", "ap-*"], Never),
            ("StringLike", &["${aws:PrincipalTag/region}"], Perhaps),
            ("StringLike", &["${aws:PrincipalTag/region}", "eu-*"], Always),
            ("StringEquals", &["${aws:PrincipalTag/region}"], Perhaps),
            ("StringNotEquals", &["us-east-1"], Always),
            ("StringNotEquals", &["us-east-1", "eu-west-1"], Never),
            ("StringNotEqualsIfExists", &["eu-west-1"], Never),
            ("StringNotEqualsIgnoreCase", &["EU-WEST-1"], Never),
            ("StringNotLike", &["us-*"], Always),
            ("StringNotLike", &["eu-*"], Never),
            ("StringNotLike", &["${x}"], Perhaps),
            ("Null", &["false"], Always),
            ("Null", &["true"], Never),
            ("StringEquals", &[], Never),
            ("StringNotEquals", &[], Always),
            ("Bool", &["true"], Perhaps),
            ("ForAllValues:StringEquals", &["eu-west-1"], Perhaps),
            ("ForAnyValue:StringLike", &["*"], Perhaps),
            ("stringequals", &["eu-west-1"], Perhaps),
        ];
        for (operator, values, wanted) in cases {
            let held = holds_for(("StringEquals", &["eu-west-1"]), (operator, values));
            assert_eq!(held, wanted, "{operator} {values:?}");
        }
    }

    #[test]
    fn what_follows_from_a_pattern_or_from_one_of_several_values() {
        use Holds::{Always, Never, Perhaps};
        type Case = (&'static str, &'static [&'static str], &'static str, &'static [&'static str], Holds);
        let cases: [Case; 18] = [
            ("StringLike", &["eu-*"], "StringLike", &["eu-*"], Always),
            ("StringLike", &["eu-*"], "StringLike", &["e*"], Always),
            ("StringLike", &["eu-*"], "StringLike", &["eu-west-*"], Perhaps),
            ("StringLike", &["eu-*"], "StringLike", &["us-*"], Never),
            ("StringLike", &["eu-*"], "StringEquals", &["eu-west-1"], Perhaps),
            ("StringLike", &["eu-*"], "StringEquals", &["eu-*"], Perhaps),
            ("StringLike", &["eu-*"], "StringEquals", &["us-east-1"], Never),
            ("StringLike", &["eu-*"], "StringNotEquals", &["us-east-1"], Always),
            ("StringLike", &["eu-*"], "StringEqualsIgnoreCase", &["EU-WEST-1"], Perhaps),
            ("StringEquals", &["a", "b"], "StringEquals", &["b", "a", "c"], Always),
            ("StringEquals", &["a", "b"], "StringEquals", &["a"], Perhaps),
            ("StringEquals", &["a", "b"], "StringEquals", &["c"], Never),
            ("ArnLike", &["arn:aws:ec2:r:*:t/*"], "ArnLike", &["arn:aws:ec2:*:*:t/*"], Always),
            ("ArnLike", &["arn:aws:ec2:r:*:t/*"], "ArnEquals", &["arn:aws:ec2:r:*:t/*"], Always),
            ("ArnLike", &["arn:aws:ec2:r:*:t/*"], "StringLike", &["arn:aws:ec2:*"], Always),
            ("ArnLike", &["arn:aws:ec2:r:*:t/*"], "ArnLike", &["arn:aws:ec2:*"], Perhaps),
            ("ArnLike", &["arn:aws:ec2:r:*:t/*"], "ArnLike", &["arn:aws:ec2:r:12:t/*"], Perhaps),
            ("ArnLike", &["arn:aws:ec2:r:*:t/*"], "ArnNotLike", &["arn:aws:ec2:s:*:t/*"], Always),
        ];
        for (operator, known, asking, asked, wanted) in cases {
            let held = holds_for((operator, known), (asking, asked));
            assert_eq!(held, wanted, "{operator} {known:?}: {asking} {asked:?}");
        }
    }

    #[test]
    fn a_key_that_may_be_missing_decides_less() {
        use Holds::{Always, Never, Perhaps};
        for (operator, value, wanted) in [
            ("StringEqualsIfExists", "x", Always),
            ("StringLikeIfExists", "*", Always),
            ("StringEquals", "x", Perhaps),
            ("StringEquals", "y", Never),
            ("StringNotEquals", "y", Always),
            ("StringNotEquals", "x", Perhaps),
            ("StringEqualsIfExists", "y", Perhaps),
            ("Null", "false", Perhaps),
            ("Null", "true", Perhaps),
        ] {
            let held = holds_for(("StringEqualsIfExists", &["x"]), (operator, &[value]));
            assert_eq!(held, wanted, "{operator} {value}");
        }
    }

    #[test]
    fn all_must_hold_and_keys_are_no_texts_of_case() {
        let facts = [test("StringEquals", &["eu-west-1"])];
        let upper = Test { key: "AWS:requestedregion".to_owned(), ..facts[0].clone() };
        let other = Test { key: "aws:SourceIp".to_owned(), ..facts[0].clone() };
        let never = test("StringEquals", &["us-east-1"]);
        assert_eq!(all_hold(&[], &facts), (Holds::Always, vec![]));
        assert_eq!(all_hold(std::slice::from_ref(&upper), &facts), (Holds::Always, vec![]));
        assert_eq!(all_hold(&[upper.clone(), other.clone()], &facts), (Holds::Perhaps, vec!["aws:SourceIp"]));
        assert_eq!(all_hold(&[upper, other, never], &facts), (Holds::Never, vec!["aws:RequestedRegion"]));
    }
}
