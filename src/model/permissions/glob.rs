//! IAM's wildcards: `*` is any run of characters, `?` is one.

/// Whether `pattern` takes the whole of `text`. A `*` or `?` in `text` is a character like any other, so
/// that a pattern takes another pattern only if it takes all that the other does.
pub(super) fn covers(pattern: &str, text: &str) -> bool {
    // Most texts differ before the first wildcard.
    let (fixed, pattern) = pattern.split_at(pattern.find(['*', '?']).unwrap_or(pattern.len()));
    let Some(text) = text.strip_prefix(fixed) else { return false };
    let text: Vec<char> = text.chars().collect();
    // Positions of the text that the pattern so far may end at.
    let mut ends = vec![false; text.len() + 1];
    ends[0] = true;
    for wanted in pattern.chars() {
        let mut next = vec![false; text.len() + 1];
        for at in 0..=text.len() {
            next[at] = match wanted {
                '*' => ends[at] || (at > 0 && next[at - 1]),
                '?' => at > 0 && ends[at - 1] && text[at - 1] != '*',
                literal => at > 0 && ends[at - 1] && text[at - 1] == literal,
            };
        }
        ends = next;
    }
    ends[text.len()]
}

/// Whether there is a text that both patterns take.
pub(super) fn meet(one: &str, other: &str) -> bool {
    // Most pairs differ before their first wildcard.
    let fixed = |text: &str| text.find(['*', '?']).unwrap_or(text.len());
    let shared = fixed(one).min(fixed(other));
    if one.as_bytes()[..shared] != other.as_bytes()[..shared] {
        return false;
    }
    let (one, other): (Vec<char>, Vec<char>) = (one.chars().collect(), other.chars().collect());
    // Row by row: whether the rest of `one` from i and the rest of `other` from j meet.
    let mut below = vec![false; other.len() + 1];
    for i in (0..=one.len()).rev() {
        let mut row = vec![false; other.len() + 1];
        for j in (0..=other.len()).rev() {
            let (a, b) = (one.get(i), other.get(j));
            row[j] = match (a, b) {
                (None, None) => true,
                (Some('*'), _) if below[j] => true,
                (Some('*'), Some(_)) => row[j + 1],
                (_, Some('*')) => row[j + 1] || (a.is_some() && below[j]),
                (Some('?'), Some(_)) | (Some(_), Some('?')) => below[j + 1],
                (Some(a), Some(b)) => a == b && below[j + 1],
                _ => false,
            };
        }
        below = row;
    }
    below[0]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pattern_takes_what_is_no_wider() {
        for (pattern, text) in [
            ("*", ""),
            ("*", "a*b"),
            ("ec2:*", "ec2:RunInstances"),
            ("ec2:Describe*s", "ec2:DescribeImages"),
            ("arn:aws:s3:::*/pool/*", "arn:aws:s3:::b/pool/x"),
            ("a?c", "abc"),
            ("a*c", "a*c"),
            ("a**c", "ac"),
        ] {
            assert!(covers(pattern, text), "{pattern} {text}");
        }
        for (pattern, text) in
            [("", "a"), ("a?c", "a*c"), ("a?c", "ac"), ("ec2:*", "s3:x"), ("abc", "a*c"), ("a*b", "abc")]
        {
            assert!(!covers(pattern, text), "{pattern} {text}");
        }
    }

    #[test]
    fn patterns_meet_where_a_text_fits_both() {
        for (one, other) in [
            ("*", "*"),
            ("*", ""),
            ("a*", "*b"),
            ("arn:*:1234:x", "arn:aws:*:x"),
            ("a?c", "abc"),
            ("a?c", "a*"),
            ("pool/*", "*/x"),
            ("***", "?"),
        ] {
            assert!(meet(one, other) && meet(other, one), "{one} {other}");
        }
        for (one, other) in [("a", "b"), ("a*", "b*"), ("?", ""), ("*a", "*b"), ("ab*c", "ab"), ("a?", "a")] {
            assert!(!meet(one, other) && !meet(other, one), "{one} {other}");
        }
    }

    #[test]
    fn many_wildcards_take_no_time() {
        let (stars, text) = ("*a".repeat(500), "a".repeat(2000) + "b");
        assert!(!covers(&stars, &text) && !meet(&stars, &text));
    }
}
