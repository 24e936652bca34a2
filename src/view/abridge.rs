//! Long lists in text for people: the first few, and how many more there are. Nothing is left out
//! without a sign, and the JSON form has all of it.

use super::text;

/// How many items of a list are shown.
pub(super) const SHOWN: usize = 20;

/// The sign in the place of the rest of a list.
pub(super) fn rest(number: usize) -> String {
    format!("... and {number} more (all of them with --format json)")
}

/// A text of several lines for a place `width` columns wide. Lists are shortened, and lines are broken
/// at blanks, but for those that begin with one: commands, which are broken as a shell takes them, and the like.
pub(super) fn paragraphs(text: &str, width: usize) -> String {
    let lines: Vec<String> = text
        .split('\n')
        .map(|line| match line {
            line if text::is_command(line) => text::command(line, width),
            line if line.starts_with(' ') => line.to_owned(),
            line => text::wrap(&list(line), width),
        })
        .collect();
    lines.join("\n")
}

/// A line, in which a list with commas that is longer than [`SHOWN`] is shortened. It ends where its
/// sentence does; what follows stays.
fn list(line: &str) -> String {
    let items: Vec<&str> = line.split(", ").collect();
    if items.len() <= SHOWN {
        return line.to_owned();
    }
    let end = items[SHOWN..].iter().position(|item| item.contains(". ")).map(|place| SHOWN + place);
    let hidden = end.map_or(items.len(), |end| end + 1) - SHOWN;
    let shown = format!("{}, {}", items[..SHOWN].join(", "), rest(hidden));
    match end {
        Some(end) => {
            let after = items[end..].join(", ");
            format!("{shown}. {}", after.split_once(". ").map_or("", |(_, after)| after))
        }
        None if line.ends_with('.') => format!("{shown}."),
        None => shown,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ids(count: usize) -> String {
        (0..count).map(|n| format!("i-{n:04}")).collect::<Vec<_>>().join(", ")
    }

    #[test]
    fn a_list_is_shortened_and_the_sentences_around_it_stay() {
        assert_eq!(list(&ids(20)), ids(20));
        assert_eq!(list(&ids(2000)), format!("{}, {}", ids(20), rest(1980)));
        let around = format!("Members with, say, a flaw: {}. Mend them, or not. Or so.", ids(100));
        let shortened = list(&around);
        assert!(shortened.starts_with("Members with, say, a flaw: i-0000, "), "{shortened}");
        assert!(
            shortened.ends_with(
                "i-0017, ... and 82 more (all of them with --format json). Mend them, or not. Or so."
            ),
            "{shortened}"
        );
        assert!(
            list(&format!("Members: {}.", ids(21)))
                .ends_with("... and 1 more (all of them with --format json).")
        );
    }

    #[test]
    fn lines_fit_and_commands_can_be_pasted() {
        let command = format!("  aws autoscaling {}", "x ".repeat(40));
        let shown = paragraphs(&format!("{}\n\n{command}", ids(2000)), 40);
        let (list, rest) = shown.split_once("\n\n").unwrap_or_default();
        assert!(list.lines().all(|line| line.len() <= 40) && list.lines().count() < 10, "{list}");
        assert!(rest.lines().all(|line| line.len() <= 40), "{rest}");
        assert_eq!(rest.replace(" \\\n   ", ""), command.trim_end());
    }
}
