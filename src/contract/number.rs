//! Numbers as people and programs write them, kept exactly: `40`, `"40"`, `3.0`, `1e2`.

/// The longest text that a number is written out to. Longer ones come of exponents such as `1e999999999`.
const MAX_PLAIN_CHARS: i64 = 1000;

/// An exact decimal number: `digits` times ten to the `exponent`.
///
/// Neither end of `digits` is a zero and zero has none, so equal numbers are equal values, however
/// they were written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Decimal {
    negative: bool,
    digits: String,
    exponent: i64,
}

impl Decimal {
    /// Reads what Terraform reads as a decimal number, in JSON or in a string: an optional sign,
    /// digits with at most one point, an optional exponent. No blanks, no other base, no infinity.
    pub fn parse(text: &str) -> Option<Self> {
        let (mantissa, exponent) = match text.split_once(['e', 'E']) {
            Some((mantissa, exponent)) => (mantissa, read_exponent(exponent)?),
            None => (text, 0),
        };
        let (negative, mantissa) = signed(mantissa);
        let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
        let all_digits = |part: &str| part.bytes().all(|b| b.is_ascii_digit());
        if whole.len() + fraction.len() == 0 || !all_digits(whole) || !all_digits(fraction) {
            return None;
        }
        let digits = [whole, fraction].concat();
        let significant = digits.trim_end_matches('0');
        let dropped = digits.len() - significant.len();
        let shift = i64::try_from(dropped).ok()? - i64::try_from(fraction.len()).ok()?;
        let digits = significant.trim_start_matches('0');
        if digits.is_empty() {
            return Some(Self { negative: false, digits: String::new(), exponent: 0 });
        }
        Some(Self { negative, digits: digits.to_owned(), exponent: exponent.saturating_add(shift) })
    }

    /// The number, if it is whole, not negative and fits.
    pub fn to_u32(&self) -> Option<u32> {
        if self.negative || self.exponent < 0 || self.exponent > 10 {
            return None;
        }
        self.plain()?.parse().ok()
    }

    /// The nearest double, if writing it out gives this very number again: nothing is rounded away.
    pub fn to_f64(&self) -> Option<f64> {
        let sign = if self.negative { "-" } else { "" };
        let digits = if self.digits.is_empty() { "0" } else { &self.digits };
        let double: f64 = format!("{sign}{digits}e{}", self.exponent).parse().ok()?;
        (Self::parse(&format!("{double:e}")).as_ref() == Some(self)).then_some(double)
    }

    /// The number written out without an exponent, as Terraform turns numbers into strings: `1.10`
    /// gives `1.1`, `1e2` gives `100`. `None` if that would be absurdly long.
    pub fn plain(&self) -> Option<String> {
        let length = i64::try_from(self.digits.len()).ok()?;
        let point = length.checked_add(self.exponent)?;
        if self.digits.is_empty() {
            return Some("0".to_owned());
        }
        if length > MAX_PLAIN_CHARS || point.abs() > MAX_PLAIN_CHARS {
            return None;
        }
        let zeros = |count: i64| "0".repeat(usize::try_from(count).unwrap_or_default());
        let magnitude = if self.exponent >= 0 {
            format!("{}{}", self.digits, zeros(self.exponent))
        } else if point > 0 {
            let (whole, fraction) = self.digits.split_at(usize::try_from(point).ok()?);
            format!("{whole}.{fraction}")
        } else {
            format!("0.{}{}", zeros(-point), self.digits)
        };
        Some(if self.negative { format!("-{magnitude}") } else { magnitude })
    }
}

fn signed(text: &str) -> (bool, &str) {
    match text.strip_prefix('-') {
        Some(rest) => (true, rest),
        None => (false, text.strip_prefix('+').unwrap_or(text)),
    }
}

/// An exponent of any length. One beyond 18 digits is as good as infinite and stays within `i64` with
/// room for the shift of the point.
fn read_exponent(text: &str) -> Option<i64> {
    const HUGE: i64 = 1_000_000_000_000_000_000;
    let (negative, digits) = signed(text);
    if digits.is_empty() || !digits.bytes().all(|b| b.is_ascii_digit()) {
        return None;
    }
    let size = digits.parse::<i64>().unwrap_or(HUGE).min(HUGE);
    Some(if negative { -size } else { size })
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

    use proptest::prelude::*;

    use super::*;

    #[test]
    fn one_number_written_in_many_ways() {
        for text in ["40", "+40", "040", "40.", "40.00", "4e1", "4E+1", "4000e-2", ".4e2", "0.0004e5"] {
            assert_eq!(Decimal::parse(text).unwrap(), Decimal::parse("40").unwrap(), "{text}");
            assert_eq!(Decimal::parse(text).unwrap().to_u32(), Some(40), "{text}");
            assert_eq!(Decimal::parse(text).unwrap().plain().unwrap(), "40", "{text}");
        }
        for text in ["0", "-0", "0.0", "0e999999999999999999999", "-0E-5", "000"] {
            assert_eq!(Decimal::parse(text).unwrap().to_u32(), Some(0), "{text}");
        }
    }

    #[test]
    fn what_is_no_decimal_number() {
        for text in [
            "", " ", "40 ", " 40", "40\n", "0x28", "0b1", "1_000", "1,5", "1.2.3", "e5", "5e", "5e+",
            "5e1.5", "+", "-", ".", "--4", "+-4", "NaN", "Inf", "Infinity", "-inf", "four", "４０", "1e5e5",
            "40;",
        ] {
            assert_eq!(Decimal::parse(text), None, "{text:?}");
        }
    }

    #[test]
    fn whole_numbers_fit_or_are_refused() {
        let whole = |text: &str| Decimal::parse(text).unwrap().to_u32();
        assert_eq!(whole("4294967295"), Some(u32::MAX));
        for text in
            ["4294967296", "-1", "3.5", "0.9999999999999999999999999", "1e10", "1e999999999", "1e-999999999"]
        {
            assert_eq!(whole(text), None, "{text}");
        }
        // A double would round this one to 3.
        assert_eq!(whole("3.00000000000000000000000000000001"), None);
    }

    #[test]
    fn text_is_exact_and_bounded() {
        let plain = |text: &str| Decimal::parse(text).unwrap().plain();
        assert_eq!(plain("1.10").unwrap(), "1.1");
        assert_eq!(plain("-0.0250").unwrap(), "-0.025");
        assert_eq!(plain("12345678901234567890.5").unwrap(), "12345678901234567890.5");
        assert_eq!(plain("1e-3").unwrap(), "0.001");
        for text in
            ["1e999999999", "1e-999999999", "1e99999999999999999999999", "-1e-99999999999999999999999"]
        {
            assert_eq!(plain(text), None, "{text}");
        }
    }

    #[test]
    #[allow(clippy::float_cmp)]
    fn doubles_lose_nothing() {
        let double = |text: &str| Decimal::parse(text).unwrap().to_f64();
        assert_eq!(double("62.5"), Some(62.5));
        assert_eq!(double("0.1"), Some(0.1));
        assert_eq!(double("6e1"), Some(60.0));
        assert_eq!(double("0"), Some(0.0));
        for text in
            ["60.00000000000000000001", "1e999999999", "1e-999999999", "0.1000000000000000055511151231257827"]
        {
            assert_eq!(double(text), None, "{text}");
        }
    }

    proptest! {
        #[test]
        fn any_spelling_of_a_whole_number_is_that_number(n in any::<u32>(), zeros in 0_usize..20, point in 0_usize..11) {
            let digits = n.to_string();
            let padded = format!("{}{digits}", "0".repeat(zeros));
            let (left, right) = padded.split_at(padded.len().saturating_sub(point));
            let count = right.len();
            for text in [
                digits.clone(),
                format!("{padded}.{}", "0".repeat(zeros)),
                format!("{left}.{right}e{count}"),
                format!("{left}.{right}E+{count}"),
                format!("{digits}{}e-{zeros}", "0".repeat(zeros)),
            ] {
                prop_assert_eq!(Decimal::parse(&text).unwrap().to_u32(), Some(n), "{}", text);
            }
        }

        #[test]
        fn plain_text_is_the_same_number(whole in 0_u64.., fraction in "[0-9]{0,30}", exponent in -40_i32..40) {
            let number = Decimal::parse(&format!("-{whole}.{fraction}e{exponent}")).unwrap();
            prop_assert_eq!(Decimal::parse(&number.plain().unwrap()).unwrap(), number);
        }

        #[test]
        fn doubles_survive(double in any::<f64>()) {
            prop_assume!(double.is_finite());
            prop_assert_eq!(Decimal::parse(&double.to_string()).unwrap().to_f64(), Some(double));
        }

        #[test]
        fn no_text_panics(text in ".{0,30}") {
            let _ = Decimal::parse(&text).map(|n| (n.to_u32(), n.to_f64(), n.plain()));
        }
    }
}
