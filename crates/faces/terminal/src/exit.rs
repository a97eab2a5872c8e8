//! How a command ends: one table of exit codes, and a failure in two lines.

use std::process::ExitCode;

use keywright_home::Kind;
use keywright_types::Code;

use crate::output::Format;

/// The exit codes of every command (design 4).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Exit {
    /// It worked.
    Ok = 0,
    /// A bug, or the system refused.
    Internal = 1,
    /// The command or the configuration is wrong.
    Usage = 2,
    /// A gate was not met.
    Gate = 3,
    /// A measurement decides nothing.
    Inconclusive = 4,
    /// The target failed or gave a wrong output.
    Target = 5,
    /// A measurement does not mean what it was asked to mean.
    MeasurementInvalid = 6,
    /// There is no baseline, or it is from elsewhere.
    NotComparable = 7,
    /// A signature, MAC or tag does not fit.
    Negative = 8,
    /// There is no such thing.
    NotFound = 9,
    /// More than one thing is meant.
    Ambiguous = 10,
    /// Nobody knows the caller.
    Authentication = 11,
    /// It cannot be done here.
    Unsupported = 12,
    /// It may not be done.
    Refused = 13,
    /// The terminal is gone: 128 and the number of the signal, as for the next two.
    HungUp = 129,
    /// Interrupted.
    Interrupted = 130,
    /// Told to end.
    Terminated = 143,
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> Self {
        Self::from(exit as u8)
    }
}

impl From<Kind> for Exit {
    fn from(kind: Kind) -> Self {
        match kind {
            Kind::Authentication => Self::Authentication,
            Kind::Internal => Self::Internal,
            Kind::NotFound => Self::NotFound,
            Kind::Refused => Self::Refused,
            Kind::Target => Self::Target,
            Kind::Usage => Self::Usage,
        }
    }
}

impl Exit {
    /// The one with this number; [`Self::Internal`] for a number that is none.
    pub fn numbered(number: u8) -> Self {
        const ALL: [Exit; 17] = [
            Exit::Ok,
            Exit::Internal,
            Exit::Usage,
            Exit::Gate,
            Exit::Inconclusive,
            Exit::Target,
            Exit::MeasurementInvalid,
            Exit::NotComparable,
            Exit::Negative,
            Exit::NotFound,
            Exit::Ambiguous,
            Exit::Authentication,
            Exit::Unsupported,
            Exit::Refused,
            Exit::HungUp,
            Exit::Interrupted,
            Exit::Terminated,
        ];
        let found = ALL.into_iter().find(|exit| *exit as u8 == number);
        found.unwrap_or(Self::Internal)
    }

    /// The exit code for an answer of the service.
    pub const fn of(code: Code) -> Self {
        match code {
            Code::DecryptionFailed | Code::CiphertextMalformed => Self::Negative,
            Code::ValueUnfit
            | Code::TweakInvalid
            | Code::PathInvalid
            | Code::DigestInvalid
            | Code::PeerKeyInvalid => Self::Usage,
            Code::ContextNotFound | Code::RouteNotFound | Code::VersionNotFound => Self::NotFound,
            Code::PrincipalUnknown
            | Code::PrincipalAmbiguous
            | Code::CertificateRevoked
            | Code::CertificateExpired
            | Code::CertificateMissing
            | Code::CertificateUntrusted
            | Code::CertificateMalformed
            | Code::TokenRefused => Self::Authentication,
            Code::OperationDenied
            | Code::KeyVersionUnavailable
            | Code::StateConflict
            | Code::ApprovalMissing
            | Code::KeyInUse
            | Code::NotYetDue
            | Code::ClockUncertain => Self::Refused,
            Code::Unsupported => Self::Unsupported,
            Code::RequestMalformed
            | Code::Base64Invalid
            | Code::BodyTooLarge
            | Code::TooManyItems
            | Code::AadTooLarge
            | Code::NameInvalid
            | Code::NameTaken
            | Code::ValueInvalid => Self::Usage,
            _ => Self::Target,
        }
    }
}

/// Why a command ends: what happened, and what to do about it.
#[derive(Debug)]
pub struct Failure {
    /// How the command ends.
    pub exit: Exit,
    /// The stable code of the service or of a library, where one is behind it.
    pub code: Option<&'static str>,
    /// What happened.
    pub happened: String,
    /// What to do about it.
    pub advice: String,
    /// Where in an audit log, for programs that read the JSON form.
    pub place: Option<Place>,
}

/// A record or head of an audit log.
#[derive(Debug, serde::Serialize)]
pub struct Place {
    /// The file of the log.
    pub file: String,
    /// The byte in it.
    pub offset: u64,
    /// The number of the record, if it is one.
    pub record: Option<u64>,
}

impl Failure {
    /// A failure without a code.
    pub fn new(exit: Exit, happened: impl Into<String>, advice: impl Into<String>) -> Self {
        Self {
            exit,
            code: None,
            happened: happened.into(),
            advice: advice.into(),
            place: None,
        }
    }

    /// A file that cannot be read or written.
    pub fn file(path: &std::path::Path, action: &str, error: &std::io::Error) -> Self {
        Self::new(
            Exit::Internal,
            format!("{} cannot be {action}: {error}", path.display()),
            limit_advice(error).unwrap_or("check that the path exists and that you may use it"),
        )
    }

    /// Something that the system refuses: a descriptor, a thread, memory.
    pub fn system(happened: &str, error: &std::io::Error) -> Self {
        let advice = match error.kind() {
            std::io::ErrorKind::WouldBlock => THREAD_ADVICE,
            _ => limit_advice(error)
                .unwrap_or("see what the system refuses to this user, and try again"),
        };
        Self::new(Exit::Internal, format!("{happened}: {error}"), advice)
    }

    /// A file that was to be new and cannot be written, because it is there or for another reason.
    pub fn new_file(path: &std::path::Path, error: &std::io::Error) -> Self {
        match error.kind() {
            std::io::ErrorKind::AlreadyExists => Self::new(
                Exit::Refused,
                format!("{} exists and is not written over", path.display()),
                "choose another name",
            ),
            _ => Self::file(path, "written", error),
        }
    }

    /// A bug.
    pub fn panicked() -> Self {
        Self::new(
            Exit::Internal,
            "the program panicked",
            "please report this with the command and what it printed before this",
        )
    }

    /// A step whose result is not what was promised.
    pub fn broken(promise: impl Into<String>) -> Self {
        Self::new(
            Exit::Target,
            promise,
            "please report this with the command and its output",
        )
    }
}

impl From<keywright_home::HomeError> for Failure {
    fn from(error: keywright_home::HomeError) -> Self {
        let code = error.code();
        let exit = code.map_or_else(|| error.kind().into(), Exit::of);
        let advice = limit_advice_within(&error);
        let advice = advice.unwrap_or_else(|| error.advice()).to_owned();
        Self {
            exit,
            code: code.map(Code::name),
            happened: sentence(&error),
            advice,
            place: None,
        }
    }
}

impl From<keywright_client::Error> for Failure {
    fn from(error: keywright_client::Error) -> Self {
        let code = error.code();
        let exit = match (&error, code) {
            (_, Some(code)) => Exit::of(code),
            (keywright_client::Error::Tls(_), _) => Exit::Authentication,
            (keywright_client::Error::Url, _) => Exit::Usage,
            _ => Exit::Target,
        };
        let advice = match exit {
            _ if let Some(advice) = limit_advice_within(&error) => advice,
            // It ends so for a certificate that no rule of the policy matches, too.
            _ if matches!(error, keywright_client::Error::Closed) => {
                "see whether the service stopped, or its policy knows no principal with this certificate: its audit log says which"
            }
            _ if matches!(error, keywright_client::Error::Url) => {
                "give the address as https://HOST:PORT"
            }
            Exit::Authentication => {
                "check --cert, --key and --ca, and whether the certificate is revoked or expired"
            }
            Exit::NotFound => "ask `keywright client contexts` which contexts this client may use",
            Exit::Negative => "give the same --aad as when it was sealed, and the whole ciphertext",
            Exit::Refused => "ask whoever keeps the policy for this right",
            Exit::Usage => "correct the request; docs/protocol.md lists the limits",
            _ => {
                "see whether the service runs: keywright client health, with the same address, roots and certificate"
            }
        };
        Self {
            exit,
            code: code.map(Code::name),
            happened: sentence(&error),
            advice: advice.to_owned(),
            place: None,
        }
    }
}

/// What to do where the system gives no thread.
const THREAD_ADVICE: &str =
    "raise the limit of processes and threads of this user (ulimit -u) or control group (pids.max)";

/// What to do where a limit of the system is reached, and nothing is wrong with the file or the other end.
pub fn limit_advice(error: &std::io::Error) -> Option<&'static str> {
    use rustix::io::Errno;
    match Errno::from_io_error(error) {
        Some(Errno::MFILE) => Some("raise the limit of open files (ulimit -n)"),
        Some(Errno::NFILE) => Some("raise the machine's limit of open files (sysctl fs.file-max)"),
        Some(Errno::NOMEM) => {
            Some("raise the memory limit (ulimit -v, or that of the control group)")
        }
        Some(Errno::NOSPC) => Some("free space on the disk"),
        Some(Errno::DQUOT) => Some("free space, or raise the disk quota of this user"),
        Some(Errno::FBIG) => Some("raise the limit of file sizes (ulimit -f)"),
        _ if error.kind() == std::io::ErrorKind::OutOfMemory => {
            Some("raise the memory limit (ulimit -v, or that of the control group)")
        }
        _ => None,
    }
}

/// The same for an error that is such a failure or has one among its causes.
pub fn limit_advice_within(error: &(dyn std::error::Error + 'static)) -> Option<&'static str> {
    let mut causes = std::iter::successors(Some(error), |error| error.source());
    causes.find_map(|cause| cause.downcast_ref().and_then(limit_advice))
}

/// An error with its causes, on one line.
pub fn sentence(error: &dyn std::error::Error) -> String {
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(error) = cause {
        let more = error.to_string();
        if !text.contains(&more) {
            text = format!("{text}: {more}");
        }
        cause = error.source();
    }
    text
}

/// Ends for words that are no command; help and version are no failure. `document` prints the failure as a document of
/// its own, or gives it back.
pub fn usage(
    error: &clap::Error,
    format: Format,
    document: impl FnOnce(Failure) -> Result<Exit, Failure>,
) -> ExitCode {
    use clap::error::ErrorKind;
    if !error.use_stderr() || error.kind() == ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand {
        if error.use_stderr() {
            drop(error.print());
            return Exit::Usage.into();
        }
        // Who closed the pipe needs no help text.
        let printed = crate::output::data(error.render().to_string().as_bytes());
        return printed.map_or_else(
            |failure| {
                crate::output::failure(format, &failure);
                failure.exit.into()
            },
            |_| Exit::Ok.into(),
        );
    }
    let mut failure = two_lines(&error.render().to_string());
    if format == Format::Json {
        match document(failure) {
            Ok(exit) => return exit.into(),
            Err(other) => failure = other,
        }
    }
    crate::output::failure(format, &failure);
    Exit::Usage.into()
}

/// The paragraphs of the parser as what happened and what to do.
fn two_lines(text: &str) -> Failure {
    let lines = text.lines().map(str::trim).filter(|line| !line.is_empty());
    let (mut happened, mut advice) = (Vec::new(), Vec::new());
    for line in lines {
        if let Some(line) = line.strip_prefix("tip: ") {
            advice.push(line.to_owned());
        } else if line.starts_with("Usage:") {
            advice.push(line.replacen("Usage:", "usage:", 1));
        } else if !line.starts_with("For more information") {
            happened.push(line.strip_prefix("error: ").unwrap_or(line));
        }
    }
    if advice.is_empty() {
        advice.push("add --help to see what the command takes".to_owned());
    }
    Failure::new(Exit::Usage, happened.join(" "), advice.join("; "))
}
