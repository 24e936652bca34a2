//! Lines made of pieces, each in its own tone, that never get wider than the place they are shown in.

use tabled::grid::util::string::{get_char_width, get_string_width};

use super::{
    style::{Style, Tone},
    text,
};

/// A piece of a line: a text that is safe to show, and what it is for.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Piece {
    text: String,
    tone: Option<Tone>,
}

impl Piece {
    /// Data; what could steer a terminal is shown as escapes.
    pub(super) fn plain(data: &str) -> Self {
        Self { text: text::line(data), tone: None }
    }

    /// As [`Self::plain`], in a tone.
    pub(super) fn toned(tone: Tone, data: &str) -> Self {
        Self { tone: Some(tone), ..Self::plain(data) }
    }

    pub(super) fn width(&self) -> usize {
        get_string_width(&self.text)
    }

    /// The widths of the parts between separators.
    pub(super) fn parts(&self, separator: char) -> impl Iterator<Item = usize> {
        self.text.split(separator).map(get_string_width)
    }
}

/// The pieces side by side. What does not fit is cut off, with a sign.
pub(super) fn line(pieces: &[Piece], style: Style) -> String {
    let end = pieces.iter().rposition(|piece| !piece.text.trim().is_empty()).map_or(0, |last| last + 1);
    let pieces = &pieces[..end];
    let fits = pieces.iter().map(Piece::width).sum::<usize>() <= style.width;
    let mut left = if fits { style.width } else { style.width - 1 };
    let mut whole = String::new();
    for piece in pieces {
        let shown = beginning(&piece.text, left);
        left -= get_string_width(shown);
        whole.push_str(&match piece.tone {
            Some(tone) if !shown.is_empty() => style.paint(tone, shown),
            _ => shown.to_owned(),
        });
        if shown.len() < piece.text.len() {
            break;
        }
    }
    if !fits {
        whole.push('…');
    }
    whole
}

/// As much of a text as fits into `width` columns.
fn beginning(text: &str, width: usize) -> &str {
    let mut used = 0;
    let end = text.char_indices().find(|(_, c)| {
        used += get_char_width(*c);
        used > width
    });
    &text[..end.map_or(text.len(), |(at, _)| at)]
}

/// A heading and the text behind it, broken at blanks.
pub(super) fn headed(tone: Tone, heading: &str, says: &str, style: Style) -> Vec<String> {
    let whole = text::wrap(&format!("{heading} {}", text::line(says)), style.width);
    let mut lines = Vec::new();
    for (number, part) in whole.split('\n').enumerate() {
        let pieces = match part.strip_prefix(heading).filter(|_| number == 0) {
            Some(rest) => vec![Piece::toned(tone, heading), Piece::plain(rest)],
            None => vec![Piece::plain(part)],
        };
        lines.push(line(&pieces, style));
    }
    lines
}

/// Blanks between two columns.
pub(super) const GAP: usize = 2;

/// Rows as lines, `indent` blanks in front and their cells one below the other. The last cell of a row may
/// be long: it is broken at blanks, and goes on below itself.
pub(super) fn columns(rows: &[Vec<Piece>], indent: usize, style: Style) -> Vec<String> {
    rows_in_columns(rows, indent, style).concat()
}

/// As [`columns`], the lines of each row by themselves.
pub(super) fn rows_in_columns(rows: &[Vec<Piece>], indent: usize, style: Style) -> Vec<Vec<String>> {
    let count = rows.iter().map(Vec::len).max().unwrap_or_default();
    let width = |column: usize| rows.iter().filter_map(|row| row.get(column)).map(Piece::width).max();
    let widths: Vec<usize> = (0..count).map(|column| width(column).unwrap_or_default()).collect();
    rows.iter().map(|row| row_in_columns(row, &widths, indent, style)).collect()
}

fn row_in_columns(row: &[Piece], widths: &[usize], indent: usize, style: Style) -> Vec<String> {
    let Some((last, cells)) = row.split_last() else { return Vec::new() };
    let mut pieces = vec![blanks(indent)];
    for (cell, width) in cells.iter().zip(widths) {
        pieces.push(cell.clone());
        pieces.push(blanks(width - cell.width() + GAP));
    }
    let used: usize = pieces.iter().map(Piece::width).sum();
    let room = style.width.saturating_sub(used).max(LEAST_ROOM);
    let mut lines = Vec::new();
    for part in text::wrap(&last.text, room).split('\n') {
        pieces.push(Piece { text: part.to_owned(), tone: last.tone });
        lines.push(line(&pieces, style));
        pieces = vec![blanks(used)];
    }
    lines
}

/// The least room that a last cell is broken for; a narrower place cuts it.
const LEAST_ROOM: usize = 10;

pub(super) fn blanks(count: usize) -> Piece {
    Piece { text: " ".repeat(count), tone: None }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn plain() -> Style {
        Style::new(Some(40), false)
    }

    #[test]
    fn a_line_is_cut_with_a_sign_and_colour_takes_no_room() {
        let pieces =
            [Piece::toned(Tone::Bad, &"a".repeat(30)), Piece::plain(&"b".repeat(30)), Piece::plain("c")];
        let shown = line(&pieces, plain());
        assert_eq!(shown.chars().count(), 40);
        assert!(shown.ends_with("b…"), "{shown}");
        let coloured = line(&pieces, Style::new(Some(40), true));
        assert_eq!(coloured.replace("\u{1b}[31m", "").replace("\u{1b}[0m", ""), shown);
        assert_eq!(line(&[Piece::plain("\u{1b}[2J")], plain()), "\\u{1b}[2J");
        let exact = [Piece::plain(&"a".repeat(40)), blanks(3), Piece::plain("")];
        assert_eq!(line(&exact, plain()), "a".repeat(40), "blanks are nothing to be cut");
        let beyond = [Piece::plain(&"a".repeat(38)), blanks(2), Piece::plain("b")];
        assert_eq!(line(&beyond, plain()), format!("{} …", "a".repeat(38)));
    }

    #[test]
    fn cells_stand_below_each_other_and_the_last_goes_on_below_itself() {
        let row = |cells: &[&str]| cells.iter().map(|cell| Piece::plain(cell)).collect::<Vec<_>>();
        let rows = [
            row(&["i-1", "running", "one two three four five six seven"]),
            row(&["i-10", "up"]),
            row(&["x", "", ""]),
        ];
        assert_eq!(
            columns(&rows, 2, plain()),
            ["  i-1   running  one two three four five", "                 six seven", "  i-10  up", "  x",]
        );
    }
}
