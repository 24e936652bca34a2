//! Tables that fit a width without losing a character.

use tabled::{
    builder::Builder,
    settings::{Style as Border, Width, peaker::PriorityMax},
};

use super::style::Style;

/// A table with a heading row. Cells are wrapped where the table would be wider than `style`; they
/// must be safe to show ([`super::text::line`]).
pub(super) fn table(heading: &[&str], rows: &[Vec<String>], style: Style) -> String {
    let mut builder = Builder::with_capacity(rows.len() + 1, heading.len());
    builder.push_record(heading.iter().copied());
    for row in rows {
        builder.push_record(row.iter().map(String::as_str));
    }
    builder
        .build()
        .with(Border::rounded())
        .with(Width::wrap(style.width).keep_words(true).priority(PriorityMax::left()))
        .to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn wraps_the_widest_column_and_keeps_every_character() {
        let arn = format!("arn:aws:kms:us-east-1:123456789012:key/{}", "0123456789abcdef".repeat(4));
        let rows = vec![vec!["root_volume.kms_key_id".to_owned(), arn.clone()]];
        let shown = table(&["field", "then"], &rows, Style::new(Some(60), false));
        assert!(shown.lines().all(|line| line.chars().count() <= 60), "{shown}");
        let cells: String = shown.lines().filter_map(|line| line.rsplit('│').nth(1)).map(str::trim).collect();
        assert!(cells.contains(&arn), "{shown}");
    }
}
