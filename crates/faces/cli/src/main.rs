//! The `keywright` command.
//!
//! Thin: each command parses its words, calls a library, prints. Data goes to standard output,
//! everything else to standard error; every command ends with a code of [`exit::Exit`]. What measures is the other
//! program, `keywright-bench`, which takes the place of this one for its words.
#![forbid(unsafe_code)]

#[macro_use]
extern crate keywright_terminal;

mod admin;
mod audit;
mod bulk;
mod client;
mod delegated;
mod demo;
mod format;
mod fpe;
mod hd;
mod hsm;
mod seal;
mod serve;
mod token;

use clap::{CommandFactory as _, Parser};
use keywright_terminal::{
    completions, confirm, dispatch, exit, man, output, place, progress, signals,
};

use crate::exit::{Exit, Failure};
use crate::output::Format;

/// The allocator of the server: every request takes and gives back a dozen small buffers.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

/// Keeps keys, puts them to work over HTTP/2 and mutual TLS, and measures all of it.
#[derive(Debug, Parser)]
#[command(
    name = "keywright",
    version,
    propagate_version = true,
    arg_required_else_help = true
)]
struct Arguments {
    /// How results and errors are printed.
    #[arg(long, global = true, value_enum, default_value_t = Format::Text)]
    format: Format,
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, clap::Subcommand)]
enum Command {
    /// Protect a real file end to end on an embedded default, checked and measured.
    Demo(demo::Arguments),
    /// Run the key service.
    Serve(serve::Arguments),
    /// Use a key service: encrypt, decrypt, tokens of values, signatures, codes, data keys, random bytes, health.
    Client(client::Arguments),
    /// Manage a home: contexts, keys, policy, certificates.
    Admin(admin::Arguments),
    /// Verify or show an audit log.
    Audit(audit::Arguments),
    /// Measure operations.
    Bench(delegated::Words),
    /// Measure a PKCS#11 token: the same as `hsm benchmark`.
    Benchmark(delegated::Words),
    /// A script that completes the words of this program in a shell.
    Completions(completions::Arguments),
    /// Show what formats there are, describe one, and hold a file against them.
    Format(format::Arguments),
    /// Encrypt or decrypt one value into a value of the same form.
    Fpe(fpe::Arguments),
    /// Derive and use keys of a tree from one seed.
    Hd(hd::Arguments),
    /// Manage the keys of any PKCS#11 token, and work with them.
    Hsm(Box<hsm::Arguments>),
    /// Seal a file under a password.
    Lock(seal::Lock),
    /// The manual pages of this program.
    Man(man::Arguments),
    /// Write the tokens of a file anew: under another key or version, or out of FF3 and FF3-1.
    Migrate(Box<bulk::Migrate>),
    /// Open a sealed file with a private key.
    Open(seal::Open),
    /// Make tokens of chosen columns of a CSV, Parquet or Arrow file; everything else stays.
    Protect(Box<bulk::Protect>),
    /// Make values again of the tokens of a file.
    Reveal(Box<bulk::Reveal>),
    /// Seal a file to public keys, and make such keys.
    Seal(seal::Seal),
    /// Let two parties talk over a bad line.
    Session(delegated::Session),
    /// Build, verify and narrow tokens.
    Token(token::Arguments),
    /// Run a token's module for the service that started this.
    #[command(name = keywright_home::TOKEN_COMMAND, hide = true)]
    TokenProcess,
    /// Open a locked file with its password.
    Unlock(seal::Unlock),
    /// Run files of test vectors.
    Vectors(delegated::Vectors),
}

fn main() -> std::process::ExitCode {
    let words: Vec<_> = std::env::args_os().collect();
    let wanted = Format::wanted(&words);
    if let Some(delegation) = dispatch::Delegation::read(words.get(1..).unwrap_or_default()) {
        return delegated::carry_out(&delegation, wanted).into();
    }
    let arguments = match Arguments::try_parse() {
        Ok(arguments) => arguments,
        Err(error) => return exit::usage(&error, wanted, hsm::misused),
    };
    let format = arguments.format;
    survive_file_size_limit();
    // A bug ends like every other failure; what panicked, and where, is on standard error by then.
    let result =
        std::panic::catch_unwind(|| run(arguments)).unwrap_or_else(|_| Err(Failure::panicked()));
    let exit = result.unwrap_or_else(|failure| {
        output::failure(format, &failure);
        failure.exit
    });
    exit.into()
}

/// Lets a write beyond the limit on the size of files fail with an error that names the file. Without a handler the
/// signal ends the program, and nothing says why.
fn survive_file_size_limit() {
    let ignored = std::sync::Arc::default();
    // Without the handler the end is as sudden as before; no command depends on it.
    drop(signal_hook::flag::register(libc::SIGXFSZ, ignored));
}

fn run(arguments: Arguments) -> Result<Exit, Failure> {
    let format = arguments.format;
    let has_form = match &arguments.command {
        Command::Hsm(arguments) => arguments.has_form(format),
        _ => matches!(format, Format::Text | Format::Json),
    };
    if !has_form {
        return Err(Failure::new(
            Exit::Usage,
            "results of this command do not have this form",
            "choose --format text or --format json; csv, html and sarif are for measurements, logs and audits",
        ));
    }
    match arguments.command {
        Command::Demo(arguments) => demo::run(arguments),
        Command::Serve(arguments) => serve::run(arguments, format),
        Command::Client(arguments) => client::run(arguments, format),
        Command::Admin(arguments) => admin::run(arguments, format),
        Command::Audit(arguments) => audit::run(arguments, format),
        Command::Bench(words) | Command::Benchmark(words) => words.run(),
        Command::Completions(arguments) => {
            completions::run(Arguments::command(), &arguments, format)
        }
        Command::Format(arguments) => format::run(&arguments, format),
        Command::Fpe(arguments) => fpe::run(&arguments, format),
        Command::Hd(arguments) => hd::run(arguments, format),
        Command::Hsm(arguments) => hsm::run(&arguments, format),
        Command::Lock(arguments) => seal::lock(&arguments, format),
        Command::Man(arguments) => {
            // Its page, and those below it, are of the program of that name.
            let program = Arguments::command();
            man::run(program, Some("bench"), &arguments, format)
        }
        Command::Migrate(arguments) => bulk::migrate(&arguments, format),
        Command::Open(arguments) => seal::open(&arguments, format),
        Command::Protect(arguments) => bulk::protect(&arguments, format),
        Command::Reveal(arguments) => bulk::reveal(&arguments, format),
        Command::Seal(arguments) => seal::seal(&arguments, format),
        Command::Session(words) => words.run(),
        Command::Token(arguments) => token::run(&arguments, format),
        Command::TokenProcess => serve::run_token(),
        Command::Unlock(arguments) => seal::unlock(&arguments, format),
        Command::Vectors(words) => words.run(),
    }
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory as _;

    use super::Arguments;

    /// A name of an argument is its flag where nothing else is said, and names in Rust have underscores.
    #[test]
    fn no_flag_of_any_command_has_an_underscore() {
        let (mut waiting, mut looked_at) = (vec![Arguments::command()], 0);
        while let Some(command) = waiting.pop() {
            for argument in command.get_arguments() {
                let aliases = argument.get_all_aliases().unwrap_or_default();
                for flag in argument.get_long().into_iter().chain(aliases) {
                    assert!(!flag.contains('_'), "{}: --{flag}", command.get_name());
                    looked_at += 1;
                }
            }
            waiting.extend(command.get_subcommands().cloned());
        }
        assert!(looked_at > 100, "only {looked_at} flags were looked at");
    }
}
