//! `man`: the manual pages of a program, one for each command, from the same definitions as its help.

use std::fs::OpenOptions;
use std::io::Write as _;
use std::path::{Path, PathBuf};

use serde::Serialize;

use crate::exit::{Exit, Failure};
use crate::output::{self, Format};

/// Which pages, and where they go.
#[derive(Debug, clap::Args)]
pub struct Arguments {
    /// The command whose page is shown, such as `hsm sign`; without one that of the program.
    #[arg(value_name = "COMMAND", conflicts_with = "output")]
    command: Vec<String>,
    /// Write the pages of all commands into this folder, as keywright-hsm-sign.1 and so on.
    #[arg(long, value_name = "DIR")]
    output: Option<PathBuf>,
    /// Write over pages that are there.
    #[arg(long, requires = "output")]
    force: bool,
}

#[derive(Serialize)]
struct Page {
    name: String,
    page: String,
}

#[derive(Serialize)]
struct Written {
    folder: PathBuf,
    pages: Vec<String>,
}

/// Shows a page of `program`, or writes all of them. `left_out` is a command whose page another program has.
pub fn run(
    program: clap::Command,
    left_out: Option<&str>,
    arguments: &Arguments,
    format: Format,
) -> Result<Exit, Failure> {
    // The command `help` of each command would be a page that says nothing.
    let mut program = program.disable_help_subcommand(true);
    program.build();
    match &arguments.output {
        Some(folder) => {
            let mut pages = Vec::new();
            pages.push(page(&program)?);
            let shown = program.get_subcommands().filter(|one| !one.is_hide_set());
            for command in shown.filter(|one| Some(one.get_name()) != left_out) {
                every(command, &mut pages)?;
            }
            let existing = match arguments.force {
                true => Existing::Replace,
                false => Existing::Keep,
            };
            for page in &pages {
                write(folder, page, existing)?;
            }
            let content = Written {
                folder: folder.clone(),
                pages: pages.into_iter().map(|page| page.name).collect(),
            };
            output::document(format, &content, || {
                format!("{} pages in {}\n", content.pages.len(), folder.display())
            })?;
        }
        None => {
            let content = page(named(&program, &arguments.command)?)?;
            output::document(format, &content, || content.page.clone())?;
        }
    }
    Ok(Exit::Ok)
}

/// The command that these words name.
fn named<'c>(program: &'c clap::Command, words: &[String]) -> Result<&'c clap::Command, Failure> {
    let mut command = program;
    for word in words {
        command = command.find_subcommand(word).ok_or_else(|| {
            Failure::new(
                Exit::NotFound,
                format!("there is no command {:?}", words.join(" ")),
                format!("{} --help lists the commands", program.get_name()),
            )
        })?;
    }
    Ok(command)
}

/// The pages of a command and of all below it; what is not shown in the help has none.
fn every(command: &clap::Command, pages: &mut Vec<Page>) -> Result<(), Failure> {
    pages.push(page(command)?);
    for below in command
        .get_subcommands()
        .filter(|below| !below.is_hide_set())
    {
        every(below, pages)?;
    }
    Ok(())
}

fn page(command: &clap::Command) -> Result<Page, Failure> {
    let man = clap_mangen::Man::new(command.clone());
    let name = man.get_filename();
    let mut bytes = Vec::new();
    // Writing into memory does not fail, and what is written is text.
    man.render(&mut bytes)
        .map_err(|error| Failure::broken(format!("no page was made: {error}")))?;
    let page = String::from_utf8(bytes).map_err(|_| Failure::broken("the page is not text"))?;
    Ok(Page { name, page })
}

/// What becomes of a page that is there already.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Existing {
    Keep,
    Replace,
}

fn write(folder: &Path, page: &Page, existing: Existing) -> Result<(), Failure> {
    let path = folder.join(&page.name);
    let mut options = OpenOptions::new();
    match existing {
        Existing::Replace => options.write(true).create(true).truncate(true),
        Existing::Keep => options.write(true).create_new(true),
    };
    let opened = options.open(&path);
    let mut file = opened.map_err(|error| Failure::new_file(&path, &error))?;
    let written = file.write_all(page.page.as_bytes());
    written.map_err(|error| Failure::file(&path, "written", &error))
}
