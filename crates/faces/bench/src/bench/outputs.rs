//! Where a result goes: standard output, files, a status file.

use std::ffi::{OsStr, OsString};
use std::fs::{File, OpenOptions};
use std::io::{IsTerminal as _, Write as _};
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};

use keywright_measure::Exit as End;
use keywright_measure::document::Document;
use keywright_report::text::{Detail, Settings};
use keywright_report::{Style, csv, exports, html, json, text};

use super::flags::{Colour, OutputFlags};
use crate::exit::{Exit, Failure};
use crate::output::{self, Format};

/// Opened before the measurement.
pub(super) struct Outputs {
    files: Vec<Sink>,
    status: Option<PathBuf>,
    format: Format,
    profile: Option<exports::Profile>,
    settings: Settings,
    quiet: bool,
    dialect: Dialect,
}

/// What JSON and CSV are where no other form is asked for.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Dialect {
    /// This engine's.
    Own,
    /// Those of the published token benchmark, with this engine's figures beside its own.
    Published,
}

/// A file that can be written. If nothing is, what was not there before is removed again.
struct Sink {
    path: PathBuf,
    form: Form,
    created: bool,
    written: bool,
}

/// How a file is written, by its ending.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Form {
    Csv,
    Html,
    Json,
    Markdown,
    Text,
}

impl Form {
    fn of(path: &Path) -> Result<Self, Failure> {
        match path.extension().and_then(|ending| ending.to_str()) {
            Some("csv") => Ok(Self::Csv),
            Some("html" | "htm") => Ok(Self::Html),
            Some("json") => Ok(Self::Json),
            Some("md") => Ok(Self::Markdown),
            Some("txt") => Ok(Self::Text),
            _ => Err(Failure::new(
                Exit::Usage,
                format!("{} does not say how it is to be written", path.display()),
                "end its name with .json, .csv, .html, .md or .txt",
            )),
        }
    }
}

impl Sink {
    fn open(path: &Path) -> Result<Self, Failure> {
        let form = Form::of(path)?;
        let created = !path.exists();
        writable(path)?;
        Ok(Self {
            path: path.to_owned(),
            form,
            created,
            written: false,
        })
    }

    /// The whole file at once: a reader sees the old one or the new one.
    fn write(&mut self, bytes: &[u8]) -> Result<(), Failure> {
        replace(&self.path, bytes)?;
        self.written = true;
        Ok(())
    }
}

impl Drop for Sink {
    fn drop(&mut self) {
        if self.created && !self.written {
            drop(std::fs::remove_file(&self.path));
        }
    }
}

fn writable(path: &Path) -> Result<File, Failure> {
    let opened = OpenOptions::new().create(true).append(true).open(path);
    opened.map_err(|error| Failure::file(path, "written", &error))
}

fn replace(path: &Path, bytes: &[u8]) -> Result<(), Failure> {
    let failed = |error: std::io::Error| Failure::file(path, "written", &error);
    if std::fs::metadata(path).is_ok_and(|data| !data.is_file()) {
        // A pipe or a device takes what it is given.
        let mut file = OpenOptions::new().write(true).open(path).map_err(failed)?;
        return file.write_all(bytes).map_err(failed);
    }
    let mut beside = path.as_os_str().to_owned();
    beside.push(format!(".{}.partial", std::process::id()));
    let beside = PathBuf::from(beside);
    let written = std::fs::write(&beside, bytes).and_then(|()| std::fs::rename(&beside, path));
    written.map_err(|error| {
        drop(std::fs::remove_file(&beside));
        failed(error)
    })
}

impl Outputs {
    /// Opens everything that was asked for.
    pub(super) fn open(flags: &OutputFlags, format: Format) -> Result<Self, Failure> {
        let files = flags.output.iter().map(|path| Sink::open(path));
        let files = files.collect::<Result<Vec<_>, _>>()?;
        if let Some(path) = &flags.status_file {
            // What an earlier run left there must not be read as the end of this one.
            drop(writable(path)?.set_len(0));
        }
        Ok(Self {
            files,
            status: flags.status_file.clone(),
            format,
            profile: flags.profile,
            settings: Settings::new(style(flags.color), detail(flags)),
            quiet: flags.quiet,
            dialect: Dialect::Own,
        })
    }

    /// Writes JSON and CSV in the published forms, unless this engine's are asked for by name.
    pub(super) fn publish(&mut self) {
        self.dialect = match self.profile {
            Some(exports::Profile::KeywrightCsv | exports::Profile::KeywrightJson) => Dialect::Own,
            _ => Dialect::Published,
        };
    }

    /// Writes the document everywhere; texts have the baseline that it was compared with beside it.
    pub(super) fn write(
        &mut self,
        document: &Document,
        baseline: Option<&Document>,
    ) -> Result<(), Failure> {
        let pair = (document, baseline);
        for sink in &mut self.files {
            let settings = Settings::new(Style::Plain, Detail::Normal);
            let bytes = rendered(pair, (sink.form, self.dialect), settings)?;
            sink.write(bytes.as_bytes())?;
        }
        let form = match self.format {
            // SARIF is refused before anything is measured: there are no findings here.
            Format::Text | Format::Sarif => Form::Text,
            Format::Json => Form::Json,
            Format::Csv => Form::Csv,
            Format::Html => Form::Html,
        };
        let shown = match self.profile {
            Some(profile) => profile.render(document).map_err(internal)?,
            None => rendered(pair, (form, self.dialect), self.settings)?,
        };
        output::data(shown.as_bytes()).map(drop)
    }

    /// Says how it ended: the last line on standard error, and the status file.
    pub(super) fn ended(&self, end: End) -> Exit {
        let line = format!("exit {} {}\n", end.code(), end.name());
        if let Some(path) = &self.status {
            status(path, &line);
        }
        if !self.quiet {
            drop(output::write_to_stderr(&line));
        }
        super::exit_of(end)
    }
}

fn status(path: &Path, line: &str) {
    if let Err(failure) = replace(path, line.as_bytes()) {
        message!("warning: {}", failure.happened);
    }
}

/// Writes the status file of a command that ends without a result. Where it is was said in words that may
/// not have been taken in when the command failed, so they are looked at again.
pub(super) fn failed(exit: Exit) {
    if let Some(path) = named(std::env::args_os()) {
        status(&path, &format!("exit {} {}\n", exit as u8, name(exit)));
    }
}

/// The status file among words. A word that looks like a flag is none: the name was forgotten then.
fn named(words: impl IntoIterator<Item = OsString>) -> Option<PathBuf> {
    let words: Vec<OsString> = words.into_iter().collect();
    let joined = words.iter().find_map(|word| {
        let name = word.as_encoded_bytes().strip_prefix(b"--status-file=")?;
        (!name.is_empty()).then(|| PathBuf::from(OsStr::from_bytes(name)))
    });
    let apart = words
        .windows(2)
        .find(|pair| pair[0] == "--status-file")
        .map(|pair| &pair[1])
        .filter(|name| !name.is_empty() && !name.as_encoded_bytes().starts_with(b"-"));
    apart.map(PathBuf::from).or(joined)
}

/// The name that goes with a code. Codes that a measurement may end with are called as it calls them.
const fn name(exit: Exit) -> &'static str {
    match exit {
        Exit::Ok => End::Ok.name(),
        Exit::Internal => End::Internal.name(),
        Exit::Usage => End::Usage.name(),
        Exit::Gate => End::GateFailed.name(),
        Exit::Inconclusive => End::Inconclusive.name(),
        Exit::Target => End::TargetWrong.name(),
        Exit::MeasurementInvalid => End::MeasurementInvalid.name(),
        Exit::NotComparable => End::NotComparable.name(),
        Exit::Negative => "negative",
        Exit::NotFound => "not_found",
        Exit::Ambiguous => "ambiguous",
        Exit::Authentication => "authentication",
        Exit::Unsupported => "unsupported",
        Exit::Refused => "refused",
        Exit::HungUp | Exit::Interrupted | Exit::Terminated => End::Interrupted.name(),
    }
}

fn rendered(
    (document, baseline): (&Document, Option<&Document>),
    (form, dialect): (Form, Dialect),
    settings: Settings,
) -> Result<String, Failure> {
    match form {
        Form::Csv if dialect == Dialect::Published => Ok(exports::seed::csv_beside(document)),
        Form::Json if dialect == Dialect::Published => {
            exports::seed::json_beside(document).map_err(internal)
        }
        Form::Csv => Ok(csv::long(document)),
        Form::Html => Ok(html::render(document)),
        Form::Json => json::render(document, json::Layout::Pretty).map_err(internal),
        Form::Markdown => Ok(exports::markdown(document)),
        Form::Text => Ok(text::render_against(document, baseline, settings)),
    }
}

fn internal(error: keywright_report::Error) -> Failure {
    Failure::new(
        Exit::Internal,
        error.to_string(),
        "choose another form, and please report this",
    )
}

fn detail(flags: &OutputFlags) -> Detail {
    match (flags.quiet, flags.verbose) {
        (true, _) => Detail::Brief,
        (_, true) => Detail::Verbose,
        _ => Detail::Normal,
    }
}

/// Colour is asked for, or welcome: a terminal, no NO_COLOR, no TERM=dumb.
#[expect(clippy::disallowed_methods, reason = "the faces read the environment")]
fn style(colour: Colour) -> Style {
    let set = |name: &str| std::env::var_os(name).filter(|value| !value.is_empty());
    let wanted = match colour {
        Colour::Always => true,
        Colour::Never => false,
        Colour::Auto => {
            let forced = set("CLICOLOR_FORCE").is_some_and(|value| value != "0");
            let dumb = set("TERM").is_some_and(|value| value == "dumb");
            let terminal = std::io::stdout().is_terminal() && !dumb;
            set("NO_COLOR").is_none() && (forced || terminal)
        }
    };
    if wanted { Style::Ansi } else { Style::Plain }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_status_file_is_found_among_words_and_a_forgotten_name_is_not_made_up() {
        let of = |text: &str| named(text.split(' ').map(OsString::from));
        for (words, name) in [
            ("bench op x --status-file s", Some("s")),
            ("bench --status-file s op --rate fast", Some("s")),
            ("bench op --status-file=a/b x", Some("a/b")),
            ("bench op x", None),
            ("bench op x --status-file", None),
            ("bench op --status-file --quiet x", None),
            ("bench op --status-file= x", None),
            ("bench op --status-files s", None),
        ] {
            assert_eq!(of(words), name.map(PathBuf::from), "{words}");
        }
    }
}
