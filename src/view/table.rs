//! Tables that fit a width without losing a character.

use tabled::{builder::Builder, grid::util::string::get_string_width, settings::Style as Border};

use super::{style::Style, text};

/// A word of no more columns than this is broken only where nothing else can give way. Names of actions, ids and
/// addresses are shorter: somebody wants to copy them, or looks for them.
const WHOLE: usize = 40;

/// Sentences in fewer columns are hard to read.
const PROSE: usize = 20;

/// A table with a heading row. Cells are wrapped where the table would be wider than `style`; their lines
/// must be safe to show ([`super::text::line`]).
pub(super) fn table(heading: &[&str], rows: &[Vec<String>], style: Style) -> String {
    let mut records = vec![heading.iter().map(|&title| title.to_owned()).collect::<Vec<_>>()];
    records.extend_from_slice(rows);
    // A border and two blanks for each column, and the last border.
    let widths = widths(&records, style.width.saturating_sub(3 * heading.len() + 1));
    let mut builder = Builder::with_capacity(records.len(), heading.len());
    for record in &records {
        builder.push_record(record.iter().zip(&widths).map(|(cell, width)| text::fold(cell, *width)));
    }
    builder.build().with(Border::rounded()).to_string()
}

/// An ARN has seams to break it at, and is seldom short.
fn is_name(word: &str) -> bool {
    get_string_width(word) <= WHOLE && !word.starts_with("arn:")
}

/// How wide each column is, so that all of them have `room`. The widest gives way first: down to its words, then
/// to the parts of its long words, then to its names.
fn widths(records: &[Vec<String>], room: usize) -> Vec<usize> {
    let columns = records.first().map_or(0, Vec::len);
    // The widest part of each column between `ends`, of those that are looked at.
    let widest = |ends: &[char], looked_at: fn(&str) -> bool| -> Vec<usize> {
        let parts = |column: usize| records.iter().flat_map(move |record| record[column].split(ends));
        let width = |column| parts(column).filter(|part| looked_at(part)).map(get_string_width).max();
        (0..columns).map(|column| width(column).unwrap_or(0).max(1)).collect()
    };
    let mut widths = widest(&['\n'], |_| true);
    let words = widest(&[' ', '\n'], |_| true);
    let prose = words.iter().zip(&widths).map(|(&word, &line)| word.max(line.min(PROSE))).collect();
    let names = widest(&[' ', '\n'], is_name);
    let parts = widest(&[' ', '\n', ':', '/', ','], is_name);
    let parts = parts.iter().zip(&words).zip(&names);
    let parts = parts.map(|((&part, &word), &name)| name.max(word.min(part + 1))).collect();
    for floors in [prose, parts, names, vec![1; columns]] {
        while widths.iter().sum::<usize>() > room {
            let can_give_way = (0..columns).filter(|&column| widths[column] > floors[column]);
            let Some(column) = can_give_way.max_by_key(|&column| widths[column]) else { break };
            widths[column] -= 1;
        }
    }
    widths
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(width: usize, row: &[&str]) -> String {
        let row = row.iter().map(|&cell| cell.to_owned()).collect::<Vec<_>>();
        let shown = table(&["one", "two", "three"][..row.len()], &[row], Style::new(Some(width), false));
        assert!(shown.lines().all(|line| line.chars().count() <= width), "{shown}");
        shown
    }

    #[test]
    fn wraps_the_widest_column_and_keeps_every_character() {
        let arn = format!("arn:aws:kms:us-east-1:123456789012:key/{}", "0123456789abcdef".repeat(4));
        let shown = shown(60, &["root_volume.kms_key_id", &arn]);
        let cells: String = shown.lines().filter_map(|line| line.rsplit('│').nth(1)).map(str::trim).collect();
        assert!(cells.contains(&arn), "{shown}");
    }

    #[test]
    fn a_name_stays_in_one_piece_where_other_columns_can_give_way() {
        let action = "autoscaling:DescribeAutoScalingGroups";
        let address = "2001:0db8:1234:5678:9abc:def0:1234:5678";
        let arn = "arn:aws:autoscaling:us-east-1:123456789012:autoScalingGroup:*:autoScalingGroupName/captf-team-a-x";
        let prose = "Plan, outputs and every other command that reads. AWS narrows these to a region";
        for row in [[action, arn, prose], [prose, action, arn], [arn, address, prose], [arn, arn, action]] {
            let shown = shown(80, &row);
            for name in [action, address] {
                assert_eq!(row.contains(&name), shown.contains(name), "{shown}");
            }
        }
        let both = shown(80, &[action, address]);
        assert!(!both.contains(action) || !both.contains(address), "two do not fit: {both}");
        let lines = shown(80, &["s3:GetObject\ns3:PutObject", "x"]);
        assert_eq!(lines.lines().count(), 6, "{lines}");
    }

    #[test]
    fn nothing_is_too_narrow() {
        shown(40, &[&"名".repeat(40), &"x".repeat(400), ""]);
    }
}
