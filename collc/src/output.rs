//! Where text goes and how it looks.

use crate::cli::{ColorWhen, Format, Look};
use coll_lang::diagnostics::render::{self, HumanOptions};
use coll_lang::diagnostics::{Code, Diagnostic};
use coll_lang::source::SourceMap;
use indicatif::ProgressBar;
use serde::Serialize;
use std::fmt;
use std::io::{IsTerminal, Write};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::thread::JoinHandle;
use std::time::Duration;

/// Why a command did not end well.
#[derive(Debug)]
pub(crate) enum Failure {
    /// The input is wrong; the message is still to be printed. Exit code 1.
    Input(String),
    /// The input is wrong, and everything has been printed. Exit code 1.
    Reported,
    /// The command was used wrongly. Exit code 2.
    Usage(String),
    /// As `Usage`, with the code whose page says more.
    UsageCode(Code, String),
}

/// What every command returns.
pub(crate) type Outcome = Result<(), Failure>;

/// The standard streams, and how text on them is to look.
pub(crate) struct Output {
    look: Look,
}

impl Output {
    pub(crate) fn new(look: Look) -> Self {
        Self { look }
    }

    /// The chosen form.
    pub(crate) fn format(&self) -> Format {
        self.look.format
    }

    /// Fails unless the chosen form is one of those that a command has.
    pub(crate) fn accept(&self, formats: &[Format]) -> Outcome {
        if formats.contains(&self.format()) {
            return Ok(());
        }
        let names: Vec<String> = formats
            .iter()
            .map(|f| format!("{f:?}").to_lowercase())
            .collect();
        Err(Failure::Usage(format!(
            "this command has no --format {}; it has {}",
            format!("{:?}", self.format()).to_lowercase(),
            names.join(", ")
        )))
    }

    /// Writes a result. A reader that went away ends the program quietly.
    pub(crate) fn print(&mut self, text: impl fmt::Display) {
        let mut stdout = std::io::stdout().lock();
        if write!(stdout, "{text}")
            .and_then(|()| stdout.flush())
            .is_err()
        {
            std::process::exit(0);
        }
    }

    /// Writes a result and a line end.
    pub(crate) fn line(&mut self, text: impl fmt::Display) {
        self.print(format_args!("{text}\n"));
    }

    /// Writes a result as one JSON object.
    pub(crate) fn json(&mut self, value: &impl Serialize) {
        match serde_json::to_string_pretty(value) {
            Ok(text) => self.line(text),
            Err(error) => self.note(format_args!("error: the result has no JSON form: {error}")),
        }
    }

    /// Writes to standard error.
    pub(crate) fn note(&mut self, text: impl fmt::Display) {
        let mut stderr = std::io::stderr().lock();
        // Nobody is left to be told when standard error is closed.
        let _ = writeln!(stderr, "{text}");
    }

    /// Says why the command failed.
    pub(crate) fn failure(&mut self, failure: &Failure) {
        match failure {
            Failure::Input(text) | Failure::Usage(text) => {
                self.note(format_args!("error: {text}"));
            }
            Failure::UsageCode(code, text) => self.note(format_args!("error[{code}]: {text}")),
            Failure::Reported => {}
        }
    }

    /// The diagnostics in the chosen form; for JSON and SARIF see the `check` command.
    pub(crate) fn diagnostics(
        &self,
        found: &[Diagnostic],
        sources: &SourceMap,
        to: Stream,
    ) -> String {
        match self.format() {
            Format::Short => render::short(found, sources),
            _ => render::human(found, sources, self.human(to)),
        }
    }

    /// Whether text on a stream is coloured.
    pub(crate) fn colored(&self, to: Stream) -> bool {
        match self.look.color {
            ColorWhen::Always => true,
            ColorWhen::Never => false,
            ColorWhen::Auto => {
                std::env::var_os("NO_COLOR").is_none_or(|v| v.is_empty())
                    && supports_color::on_cached(to.into()).is_some()
            }
        }
    }

    fn human(&self, to: Stream) -> HumanOptions {
        let width = terminal_size::terminal_size().map_or(80, |(w, _)| usize::from(w.0));
        HumanOptions {
            color: self.colored(to),
            unicode: unicode(),
            width: width.clamp(40, 120),
        }
    }

    /// Shows that work goes on, once it has taken a second, until the result is dropped.
    pub(crate) fn progress(&self, what: &'static str) -> Progress {
        Progress::start(what, std::io::stderr().is_terminal())
    }
}

/// A spinner on standard error.
pub(crate) struct Progress {
    done: Option<mpsc::Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

impl Progress {
    fn start(what: &'static str, interactive: bool) -> Self {
        if !interactive {
            return Self {
                done: None,
                thread: None,
            };
        }
        let (done, ended) = mpsc::channel::<()>();
        let thread = std::thread::spawn(move || {
            if ended.recv_timeout(Duration::from_secs(1)) != Err(RecvTimeoutError::Timeout) {
                return;
            }
            let spinner = ProgressBar::new_spinner().with_message(what);
            spinner.enable_steady_tick(Duration::from_millis(100));
            // An error means that the sender is gone, which is what is waited for.
            let _ = ended.recv();
            spinner.finish_and_clear();
        });
        Self {
            done: Some(done),
            thread: Some(thread),
        }
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        drop(self.done.take());
        if let Some(thread) = self.thread.take() {
            // A spinner that failed takes nothing with it.
            let _ = thread.join();
        }
    }
}

/// A standard stream.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Stream {
    Stdout,
    Stderr,
}

impl From<Stream> for supports_color::Stream {
    fn from(stream: Stream) -> Self {
        match stream {
            Stream::Stdout => Self::Stdout,
            Stream::Stderr => Self::Stderr,
        }
    }
}

/// Whether the locale can show box-drawing characters.
fn unicode() -> bool {
    let locale = ["LC_ALL", "LC_CTYPE", "LANG"]
        .iter()
        .find_map(|name| std::env::var(name).ok().filter(|v| !v.is_empty()));
    locale.is_none_or(|l| l.to_lowercase().replace('-', "").contains("utf8"))
}

/// The member of `known` nearest to `text`, if one is near.
pub(crate) fn nearest<'a>(text: &str, known: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    known
        .into_iter()
        .map(|k| {
            (
                strsim::jaro_winkler(&text.to_lowercase(), &k.to_lowercase()),
                k,
            )
        })
        .filter(|(score, _)| *score > 0.75)
        .max_by(|a, b| a.0.total_cmp(&b.0))
        .map(|(_, k)| k)
}

/// `; did you mean X?` or nothing.
pub(crate) fn did_you_mean<'a>(text: &str, known: impl IntoIterator<Item = &'a str>) -> String {
    nearest(text, known).map_or_else(String::new, |k| format!("; did you mean `{k}`?"))
}
