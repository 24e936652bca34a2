//! How wide and how colourful text may be.

/// What a piece of text is for; becomes a colour where colour is wanted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Tone {
    /// Something is added.
    Good,
    /// Something changes, or is worth a look.
    Caution,
    /// Something goes, or is wrong.
    Bad,
    /// The sentence to read if one reads only one.
    Strong,
    /// Beside the point.
    Faint,
}

/// The place where text will be shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Style {
    /// Columns.
    pub width: usize,
    /// Whether to colour.
    pub colour: bool,
    /// Whether warnings go without their details.
    pub compact_warnings: bool,
}

impl Style {
    /// Columns where there is no terminal.
    pub const PIPED_WIDTH: usize = 100;
    /// Narrower than this nothing is readable; such a terminal wraps by itself.
    const LEAST_WIDTH: usize = 40;

    /// A place of `width` columns, [`Self::PIPED_WIDTH`] if unknown.
    pub fn new(width: Option<usize>, colour: bool) -> Self {
        Self {
            width: width.unwrap_or(Self::PIPED_WIDTH).max(Self::LEAST_WIDTH),
            colour,
            compact_warnings: false,
        }
    }

    /// `text` in the colour of `tone`, or as it is.
    pub fn paint(self, tone: Tone, text: &str) -> String {
        if !self.colour {
            return text.to_owned();
        }
        let code = match tone {
            Tone::Good => "32",
            Tone::Caution => "33",
            Tone::Bad => "31",
            Tone::Strong => "1",
            Tone::Faint => "2",
        };
        format!("\u{1b}[{code}m{text}\u{1b}[0m")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn colour_only_when_told() {
        assert_eq!(Style::new(None, false).paint(Tone::Bad, "x"), "x");
        assert_eq!(Style::new(None, true).paint(Tone::Bad, "x"), "\u{1b}[31mx\u{1b}[0m");
    }

    #[test]
    fn width_has_a_floor_and_a_default() {
        assert_eq!(Style::new(None, false).width, 100);
        assert_eq!(Style::new(Some(3), false).width, 40);
        assert_eq!(Style::new(Some(231), false).width, 231);
    }
}
