//! Where text goes: results to standard output, everything else to standard error.

use std::{
    cell::{Cell, RefCell},
    collections::VecDeque,
    io::{self, ErrorKind, IsTerminal, Write},
    rc::Rc,
};

use super::screen::{self, Screen};
use crate::{
    clock::SystemClock,
    contract::problem::{Diagnostic, sentence},
    error::{Failure, Kind},
    runtime::{secrets::Secrets, ui_json::Lines},
    view::{self, Style},
};

/// How much of what is said behind a screen is kept: so many texts.
const HELD: usize = 100;

/// One of the two streams. A reader that has gone away is no error: the work goes on without it.
struct Stream {
    writer: RefCell<Box<dyn Write>>,
    failed: RefCell<Option<io::Error>>,
    style: Style,
}

impl Stream {
    fn new(writer: impl Write + 'static, style: Style) -> Self {
        Self { writer: RefCell::new(Box::new(writer)), failed: RefCell::default(), style }
    }

    fn write(&self, text: &str) {
        if self.failed.borrow().is_some() {
            return;
        }
        let mut writer = self.writer.borrow_mut();
        if let Err(error) = writer.write_all(text.as_bytes()).and_then(|()| writer.flush()) {
            *self.failed.borrow_mut() = Some(error);
        }
    }
}

/// The way of JSON lines to a stream.
struct Sink(Rc<Stream>);

impl Write for Sink {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.write(&String::from_utf8_lossy(bytes));
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// The terminal, or what stands in its place.
pub struct Ui {
    out: Rc<Stream>,
    err: Stream,
    asks: bool,
    rewrites: bool,
    /// Whether a line that the next text overwrites is on the screen.
    live: Cell<bool>,
    /// Whether a question without its line end is.
    asked: Cell<bool>,
    /// How results are told where programs read them.
    lines: Option<Lines<'static>>,
    /// What no text may hold.
    secrets: RefCell<Secrets>,
    /// Whether standard output can be drawn on, and while it is: the screen.
    draws: bool,
    screen: RefCell<Option<Screen>>,
    /// What was said while a screen covered standard error.
    held: RefCell<VecDeque<String>>,
}

/// What the command line says about how to show things.
#[derive(Clone, Copy, Debug, Default)]
pub struct Taste {
    /// No colour, whatever the terminal can.
    pub plain: bool,
    /// Warnings without their details.
    pub compact_warnings: bool,
    /// One JSON object per line on standard output.
    pub lines: bool,
}

/// How wide a help may be: as wide as the terminal or as `COLUMNS` says, and no wider than what is read with ease.
pub fn help_width() -> usize {
    let known = terminal_size::terminal_size().map(|(width, _)| usize::from(width.0));
    let told = || std::env::var("COLUMNS").ok().and_then(|columns| columns.parse().ok());
    let width = known.or_else(told).filter(|width| *width > 0);
    width.unwrap_or(Style::PIPED_WIDTH).min(Style::PIPED_WIDTH)
}

impl Ui {
    /// The streams of this process. Colour is for terminals only, and not where `NO_COLOR` is set.
    pub fn of_process(taste: Taste) -> Self {
        let no_color = std::env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty());
        let dumb = std::env::var_os("TERM").is_some_and(|term| term == "dumb");
        let style = |terminal: bool, size: Option<(terminal_size::Width, terminal_size::Height)>| {
            let width = size.filter(|_| terminal).map(|(width, _)| usize::from(width.0));
            let colour = terminal && !dumb && !no_color && !taste.plain;
            Style { compact_warnings: taste.compact_warnings, ..Style::new(width, colour) }
        };
        let (out, err) = (io::stdout(), io::stderr());
        let (out_terminal, err_terminal) = (out.is_terminal(), err.is_terminal());
        let out_style = style(out_terminal, terminal_size::terminal_size_of(&out));
        let err_style = style(err_terminal, terminal_size::terminal_size_of(&err));
        let out = Rc::new(Stream::new(out, out_style));
        let lines = taste.lines.then(|| Lines::new(Sink(Rc::clone(&out)), &SystemClock));
        if let Some(lines) = &lines {
            lines.version();
        }
        Self {
            out,
            err: Stream::new(err, err_style),
            asks: io::stdin().is_terminal() && err_terminal && !taste.lines,
            rewrites: err_terminal && !dumb,
            live: Cell::new(false),
            asked: Cell::new(false),
            draws: out_terminal && !dumb && lines.is_none(),
            lines,
            secrets: RefCell::default(),
            screen: RefCell::default(),
            held: RefCell::default(),
        }
    }

    /// How results are shown.
    pub fn result_style(&self) -> Style {
        self.out.style
    }

    /// How everything else is shown.
    pub fn talk_style(&self) -> Style {
        self.err.style
    }

    /// Whether somebody is there to answer a question.
    pub fn asks(&self) -> bool {
        self.asks
    }

    /// Whether standard error can show a line that is rewritten.
    pub fn is_live(&self) -> bool {
        self.rewrites
    }

    /// The lines that programs read, if they are asked for.
    pub fn lines(&self) -> Option<&Lines<'static>> {
        self.lines.as_ref()
    }

    /// Keeps secrets out of everything that is told from now on.
    pub fn hide(&self, secrets: &Secrets) {
        if let Some(lines) = &self.lines {
            lines.hide(secrets.clone());
        }
        self.secrets.replace(secrets.clone());
    }

    /// What is kept out of everything that is told.
    pub fn secrets(&self) -> Secrets {
        self.secrets.borrow().clone()
    }

    /// Prints a result.
    pub fn result(&self, text: &str) {
        self.begin_line();
        self.out.write(&self.secrets.borrow().mask(text));
    }

    /// Says something beside the results.
    pub fn say(&self, text: &str) {
        let text = self.secrets.borrow().mask(text);
        if self.rewrites && self.screen.borrow().is_some() {
            return self.hold(&text);
        }
        self.begin_line();
        self.err.write(&text);
    }

    /// Keeps for later what would spoil the screen; of very much, the end.
    fn hold(&self, text: &str) {
        let mut held = self.held.borrow_mut();
        held.push_back(text.to_owned());
        if held.len() > HELD {
            held.pop_front();
        }
    }

    /// Whether standard output is a terminal that can be drawn on.
    pub fn is_screen(&self) -> bool {
        self.draws
    }

    /// Whether somebody still reads the results.
    pub fn is_heard(&self) -> bool {
        self.out.failed.borrow().is_none()
    }

    /// Makes standard output a screen, until [`Self::leave_screen`] or the end.
    pub(super) fn enter_screen(&self) {
        self.begin_line();
        let screen = Screen::enter(&mut *self.out.writer.borrow_mut());
        self.screen.replace(Some(screen));
    }

    /// Draws a picture over the one before, if there is a screen still; `picture` is told how wide and how many lines
    /// high it may be, in the terminal as it is now, and whether there is a keyboard.
    pub(super) fn draw(&self, picture: impl FnOnce(Style, usize, bool) -> String) {
        let Some(keyboard) = self.screen.borrow().as_ref().map(Screen::has_keyboard) else { return };
        let size = terminal_size::terminal_size_of(io::stdout());
        let (width, height) = size.map_or((80, 24), |(width, height)| (width.0, height.0));
        let before = self.out.style;
        let style = Style { width: Style::new(Some(width.into()), before.colour).width, ..before };
        let text = self.secrets.borrow().mask(&picture(style, height.into(), keyboard));
        self.out.write(&screen::frame(&text));
    }

    /// Gives the terminal back as it was, and says what could not be said meanwhile.
    pub(super) fn leave_screen(&self) {
        if self.screen.take().is_some() {
            for text in self.held.take() {
                self.say(&text);
            }
        }
    }

    /// What was held back last, if anything.
    pub(super) fn held(&self) -> Option<String> {
        self.held.borrow().back().map(|text| text.trim_end().to_owned())
    }

    /// Shows a question; its answer stands on the same line.
    pub fn ask(&self, question: &str) {
        self.say(question);
        self.asked.set(true);
    }

    /// An answer has ended the line.
    pub fn answered(&self) {
        self.asked.set(false);
    }

    /// Shows a line that the next text overwrites; only where [`Self::is_live`].
    pub fn show_live(&self, line: &str) {
        self.begin_line();
        self.err.write(&self.secrets.borrow().mask(line));
        self.live.set(true);
    }

    fn begin_line(&self) {
        if self.live.replace(false) {
            self.err.write("\r\u{1b}[2K");
        }
        if self.asked.replace(false) {
            self.err.write("\n");
        }
    }

    /// Tells errors and warnings.
    pub fn tell(&self, diagnostics: &[Diagnostic]) {
        if let Some(lines) = &self.lines {
            for diagnostic in diagnostics {
                lines.diagnostic(diagnostic);
            }
            return;
        }
        for (number, diagnostic) in diagnostics.iter().enumerate() {
            if number > 0 {
                self.say("\n");
            }
            self.say(&view::diagnostic(diagnostic, self.err.style));
        }
    }

    /// Whether all results of a command that ended well were written; a reader that went away counts as having read enough.
    pub fn finish(&self) -> Result<(), Failure> {
        self.begin_line();
        match self.out.failed.take() {
            Some(error) if error.kind() != ErrorKind::BrokenPipe => Err(Failure::new(
                Kind::Local,
                "Cannot write to standard output",
                format!(
                    "{} The command itself is done; only its results could not be written.",
                    sentence(&error.to_string())
                ),
            )),
            _ => Ok(()),
        }
    }
}

#[cfg(test)]
pub(super) mod tests {
    use std::rc::Rc;

    use super::*;

    /// A stream to look at afterwards.
    #[derive(Clone, Default)]
    pub(crate) struct Paper(Rc<RefCell<Vec<u8>>>);

    impl Paper {
        pub(crate) fn text(&self) -> String {
            String::from_utf8_lossy(&self.0.borrow()).into_owned()
        }
    }

    impl Write for Paper {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            self.0.borrow_mut().write(bytes)
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    struct Broken(ErrorKind);

    impl Write for Broken {
        fn write(&mut self, _: &[u8]) -> io::Result<usize> {
            Err(self.0.into())
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    /// A user interface on paper, and the paper behind standard error.
    pub(crate) fn on_paper(terminal: bool) -> (Ui, Paper) {
        let (out, err, style) = (Paper::default(), Paper::default(), Style::new(Some(80), false));
        let ui = Ui {
            out: Rc::new(Stream::new(out, style)),
            err: Stream::new(err.clone(), style),
            asks: terminal,
            rewrites: terminal,
            live: Cell::new(false),
            asked: Cell::new(false),
            lines: None,
            secrets: RefCell::default(),
            draws: false,
            screen: RefCell::default(),
            held: RefCell::default(),
        };
        (ui, err)
    }

    fn with_out(out: impl Write + 'static) -> Ui {
        let (mut ui, _) = on_paper(false);
        ui.out = Rc::new(Stream::new(out, Style::new(Some(80), false)));
        ui
    }

    #[test]
    fn nothing_is_drawn_where_no_screen_is() {
        let paper = Paper::default();
        let ui = with_out(paper.clone());
        ui.draw(|_, _, _| "a picture".to_owned());
        assert_eq!(paper.text(), "");
    }

    #[test]
    fn a_reader_that_went_away_is_no_error_but_a_full_disk_is() {
        for (kind, fails) in [(ErrorKind::BrokenPipe, false), (ErrorKind::StorageFull, true)] {
            let ui = with_out(Broken(kind));
            ui.result("one\n");
            ui.result("two\n");
            assert_eq!(ui.finish().is_err(), fails, "{kind}");
        }
    }

    #[test]
    fn several_errors_are_several_blocks() {
        let (ui, err) = on_paper(false);
        ui.tell(&[Diagnostic::error("a", "b"), Diagnostic::warning("c", "")]);
        assert_eq!(err.text(), "Error: a\n\nb\n\nWarning: c\n");
    }

    #[test]
    fn a_question_without_an_answer_does_not_run_into_what_follows() {
        let (ui, err) = on_paper(true);
        ui.ask("go on? ");
        ui.say("stopping\n");
        ui.ask("go on? ");
        ui.answered();
        ui.say("going on\n");
        assert_eq!(err.text(), "go on? \nstopping\ngo on? going on\n");
    }

    #[test]
    fn the_live_line_gives_way() {
        let (ui, err) = on_paper(true);
        ui.show_live("waiting 1");
        ui.show_live("waiting 2");
        ui.say("done\n");
        ui.say("more\n");
        assert_eq!(err.text(), "waiting 1\r\u{1b}[2Kwaiting 2\r\u{1b}[2Kdone\nmore\n");
    }
}
