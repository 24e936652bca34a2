//! Values of options: durations and truth values as Terraform's command line has them.

use std::time::Duration;

/// `45m`, `90s`, `1h30m`, `1500ms`: whole numbers with units, one behind the other; `0` needs no unit.
pub(super) fn duration(text: &str) -> Result<Duration, String> {
    if text == "0" {
        return Ok(Duration::ZERO);
    }
    parts(text).ok_or_else(|| "give whole numbers with units, such as 45m, 90s or 1h30m".to_owned())
}

/// A [`duration`] that is not zero.
pub(super) fn timeout(text: &str) -> Result<Duration, String> {
    match duration(text)? {
        Duration::ZERO => Err("must be longer than nothing".to_owned()),
        some => Ok(some),
    }
}

/// A [`duration`] of a second or more.
pub(super) fn interval(text: &str) -> Result<Duration, String> {
    match duration(text)? {
        short if short < Duration::from_secs(1) => Err("must be 1s or longer".to_owned()),
        some => Ok(some),
    }
}

/// A duration as Go's command lines have it, which Terraform's are: `300s`, `1.5h`, `1m30.5s`, `250us`.
pub(super) fn go_duration(text: &str) -> Result<Duration, String> {
    if text == "0" {
        return Ok(Duration::ZERO);
    }
    let fault = || "give numbers with units, such as 300s, 5m or 1.5h".to_owned();
    let mut rest = text;
    let mut total = Duration::ZERO;
    while !rest.is_empty() || text.is_empty() {
        let digits = rest.find(|c: char| !c.is_ascii_digit() && c != '.').ok_or_else(fault)?;
        let number: f64 = rest[..digits].parse().map_err(|_| fault())?;
        let unit = rest[digits..]
            .find(|c: char| c.is_ascii_digit() || c == '.')
            .map_or(rest.len(), |end| digits + end);
        let seconds = match &rest[digits..unit] {
            "h" => 3600.0,
            "m" => 60.0,
            "s" => 1.0,
            "ms" => 1e-3,
            "us" | "\u{b5}s" | "\u{3bc}s" => 1e-6,
            "ns" => 1e-9,
            _ => return Err(fault()),
        };
        let part = Duration::try_from_secs_f64(number * seconds).map_err(|_| fault())?;
        total = total.checked_add(part).ok_or_else(fault)?;
        rest = &rest[unit..];
    }
    Ok(total)
}

fn parts(text: &str) -> Option<Duration> {
    let mut rest = text;
    let mut total = Duration::ZERO;
    while !rest.is_empty() || text.is_empty() {
        let digits = rest.find(|c: char| !c.is_ascii_digit())?;
        let number: u64 = rest[..digits].parse().ok()?;
        let unit = rest[digits..].find(|c: char| c.is_ascii_digit()).map_or(rest.len(), |end| digits + end);
        let part = match &rest[digits..unit] {
            "h" => Duration::from_secs(number.checked_mul(3600)?),
            "m" => Duration::from_secs(number.checked_mul(60)?),
            "s" => Duration::from_secs(number),
            "ms" => Duration::from_millis(number),
            _ => return None,
        };
        total = total.checked_add(part)?;
        rest = &rest[unit..];
    }
    Some(total)
}

/// A truth value in any of the spellings that Terraform's command line takes.
pub(super) fn truth(text: &str) -> Result<bool, String> {
    match text {
        "1" | "t" | "T" | "true" | "TRUE" | "True" => Ok(true),
        "0" | "f" | "F" | "false" | "FALSE" | "False" => Ok(false),
        _ => Err("must be true or false".to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations() {
        for (text, seconds) in
            [("45m", 2700), ("90s", 90), ("1h30m", 5400), ("1h0m5s", 3605), ("0", 0), ("0s", 0)]
        {
            assert_eq!(duration(text), Ok(Duration::from_secs(seconds)), "{text}");
        }
        assert_eq!(duration("1500ms"), Ok(Duration::from_millis(1500)));
        for text in [
            "",
            "45",
            "m",
            "-5m",
            "4 5m",
            "5m 3s",
            "5d",
            "1.5h",
            "99999999999999999999s",
            "18446744073709551615h",
            "٣s",
        ] {
            assert!(duration(text).is_err(), "{text}");
        }
    }

    #[test]
    fn durations_as_go_has_them() {
        for (text, millis) in [
            ("300s", 300_000),
            ("0", 0),
            ("0s", 0),
            ("1.5h", 5_400_000),
            ("1m30.5s", 90_500),
            (".5s", 500),
            ("250ms", 250),
        ] {
            assert_eq!(go_duration(text), Ok(Duration::from_millis(millis)), "{text}");
        }
        assert_eq!(go_duration("3us"), Ok(Duration::from_micros(3)));
        for text in ["", "5", "-5s", "s", ".s", "1..2s", "5 s", "1d", "99999999999999999999999h"] {
            assert!(go_duration(text).is_err(), "{text}");
        }
    }

    #[test]
    fn a_timeout_of_nothing_is_refused() {
        assert!(timeout("0s").is_err() && timeout("0h0m").is_err() && timeout("1ms").is_ok());
    }

    #[test]
    fn an_interval_is_a_second_at_least() {
        assert!(interval("999ms").is_err() && interval("0").is_err() && interval("soon").is_err());
        assert_eq!(interval("1s"), Ok(Duration::from_secs(1)));
    }

    #[test]
    fn truth_values() {
        assert_eq!((truth("True"), truth("0")), (Ok(true), Ok(false)));
        assert!(truth("yes").is_err() && truth("").is_err());
    }
}
