//! The one document or text that a command prints, and its failures.

use keywright_encoding::terminal;
use keywright_hsm::{Context, Error, Kind};
use serde::Serialize;
use serde_json::{Map, Value, json};

use crate::exit::{Exit, Failure, limit_advice_within};
use crate::output::{self, Format};

/// What a command came to.
pub struct Answer {
    /// The `data` of the document.
    pub data: Value,
    /// The text.
    pub text: Vec<u8>,
    /// How the command ends.
    pub exit: Exit,
    /// What went wrong all the same; it decides the exit code.
    refusal: Option<Refusal>,
}

impl Answer {
    /// A result whose text is its names and values.
    pub fn of(data: &impl Serialize) -> Self {
        let data = serde_json::to_value(data).unwrap_or_default();
        let text = output::fields(&rows(&data)).into_bytes();
        Self {
            data,
            text,
            exit: Exit::Ok,
            refusal: None,
        }
    }

    /// With a failure that leaves something to tell.
    pub fn but(mut self, refusal: Refusal) -> Self {
        self.exit = Told::of(&refusal, Context::General).exit;
        self.refusal = Some(refusal);
        self
    }

    /// With another text.
    pub fn text(mut self, text: impl Into<Vec<u8>>) -> Self {
        self.text = text.into();
        self
    }

    /// With another exit code.
    pub fn exit(mut self, exit: Exit) -> Self {
        self.exit = exit;
        self
    }
}

/// The scalars of a document, in its order.
fn rows(data: &Value) -> Vec<(&str, String)> {
    let fields = data.as_object().into_iter().flatten();
    let row = |(name, value): (&'_ String, &Value)| {
        match value {
            Value::Null | Value::Object(_) => None,
            Value::String(text) => Some(text.clone()),
            Value::Array(list) => {
                let words: Option<Vec<_>> = list.iter().map(Value::as_str).collect();
                words
                    .filter(|words| !words.is_empty())
                    .map(|words| words.join(", "))
            }
            other => Some(other.to_string()),
        }
        .map(|text| (name.clone(), text))
    };
    let found: Vec<_> = fields.filter_map(row).collect();
    found
        .into_iter()
        .filter_map(|(name, text)| {
            let (name, _) = data.as_object()?.get_key_value(&name)?;
            Some((name.as_str(), text))
        })
        .collect()
}

/// Why a command did not do it.
pub enum Refusal {
    /// The command's own reasons.
    Face(Failure),
    /// The operation layer's.
    Token(Box<Error>),
}

impl From<Failure> for Refusal {
    fn from(failure: Failure) -> Self {
        Self::Face(failure)
    }
}

impl From<Error> for Refusal {
    fn from(error: Error) -> Self {
        Self::Token(Box::new(error))
    }
}

impl Refusal {
    /// Wrong usage.
    pub fn usage(happened: impl Into<String>, advice: impl Into<String>) -> Self {
        Self::Face(Failure::new(Exit::Usage, happened, advice))
    }
}

/// What is known besides the result, gathered on the way.
#[derive(Default)]
pub struct Beside {
    /// The token, as documents show it.
    pub token: Option<Value>,
    /// What is said besides, and decides nothing.
    pub warnings: Vec<String>,
    /// The form that is asked for, for commands with more than two; none within the terminal.
    pub format: Option<Format>,
}

/// The version of all documents of these commands.
const SCHEMA_VERSION: &str = "1.0";

/// Prints what came of `command` and gives its exit code.
pub fn print(
    command: &str,
    context: Context,
    format: Format,
    beside: &Beside,
    outcome: Result<Answer, Refusal>,
) -> Result<Exit, Failure> {
    let exit = match &outcome {
        Ok(answer) => answer.exit,
        Err(refusal) => Told::of(refusal, context).exit,
    };
    if format == Format::Json {
        let document = document(command, context, beside, outcome);
        let document = document.to_string() + "\n";
        output::data(terminal::escaped_json(&document).as_bytes())?;
        return Ok(exit);
    }
    for warning in &beside.warnings {
        message!("warning: {}", output::line(warning));
    }
    match outcome {
        Ok(answer) => {
            output::data(&answer.text)?;
            if let Some(refusal) = &answer.refusal {
                message!("{}", Told::of(refusal, context).lines());
            }
        }
        Err(refusal) => {
            message!("{}", Told::of(&refusal, context).lines());
        }
    }
    Ok(exit)
}

/// What [`print()`] would show of it as text, on both streams, and its exit code.
pub fn told(context: Context, beside: &Beside, outcome: Result<Answer, Refusal>) -> (Exit, String) {
    let warnings = beside
        .warnings
        .iter()
        .map(|warning| format!("warning: {}\n", output::line(warning)));
    let warnings: String = warnings.collect();
    match outcome {
        Ok(answer) => {
            let text = match String::from_utf8(answer.text) {
                Ok(text) => text,
                Err(bytes) => {
                    let length = bytes.as_bytes().len();
                    format!(
                        "{length} bytes that are no text; name a file with output to keep them\n"
                    )
                }
            };
            let failed = answer.refusal.as_ref();
            let failed = failed.map(|refusal| Told::of(refusal, context).lines() + "\n");
            (answer.exit, text + &failed.unwrap_or_default() + &warnings)
        }
        Err(refusal) => {
            let told = Told::of(&refusal, context);
            (told.exit, told.lines() + "\n" + &warnings)
        }
    }
}

fn document(
    command: &str,
    context: Context,
    beside: &Beside,
    outcome: Result<Answer, Refusal>,
) -> Value {
    let mut document = Map::new();
    document.insert(
        "schema".to_owned(),
        json!(format!("keywright.hsm.{command}")),
    );
    document.insert("schema_version".to_owned(), json!(SCHEMA_VERSION));
    document.insert("command".to_owned(), json!(command));
    let good = matches!(&outcome, Ok(answer) if answer.exit == Exit::Ok);
    let status = if good { "ok" } else { "error" };
    document.insert("status".to_owned(), json!(status));
    if let Some(token) = &beside.token {
        document.insert("token".to_owned(), token.clone());
    }
    document.insert("warnings".to_owned(), json!(beside.warnings));
    match outcome {
        Ok(answer) => {
            document.insert("data".to_owned(), answer.data);
            if let Some(refusal) = &answer.refusal {
                document.insert("error".to_owned(), Told::of(refusal, context).json());
            }
        }
        Err(refusal) => {
            document.insert("error".to_owned(), Told::of(&refusal, context).json());
        }
    }
    Value::Object(document)
}

/// A refusal in words.
struct Told {
    exit: Exit,
    kind: &'static str,
    /// The return code with its number, and the function that it came from, if it came from one.
    code: Option<(String, u64)>,
    function: Option<&'static str>,
    message: String,
    hint: String,
    explain: Option<String>,
}

impl Told {
    fn of(refusal: &Refusal, context: Context) -> Self {
        match refusal {
            Refusal::Face(failure) => Self {
                exit: failure.exit,
                kind: kind_of(failure.exit),
                code: None,
                function: None,
                message: failure.happened.clone(),
                hint: failure.advice.clone(),
                explain: None,
            },
            Refusal::Token(error) => {
                let function = error.failure().map(|failure| failure.function());
                let code = error.code().map(|code| (code.to_string(), code.value()));
                let mut message = error.to_string();
                if let Some((code, rv)) = &code
                    && !message.contains(code.as_str())
                {
                    message = match function {
                        Some(function) => {
                            format!("{message}: {function} failed with {code} (0x{rv:x})")
                        }
                        None => format!("{message}: {code} (0x{rv:x})"),
                    };
                }
                let limit = limit_advice_within(error.as_ref());
                let kind = limit.map_or_else(|| error.kind(), |_| Kind::Io);
                let advice = limit.map_or_else(|| error.advice(), str::to_owned);
                Self {
                    exit: exit_of(kind),
                    kind: kind.name(),
                    code,
                    function,
                    message: message.replace('\n', " "),
                    hint: advice.replace('\n', " "),
                    explain: error.explain_line(context),
                }
            }
        }
    }

    /// What happened, and what to do.
    fn lines(&self) -> String {
        let more = self.explain.as_ref().map(|line| format!("; {line}"));
        let more = more.unwrap_or_default();
        let (message, hint) = (output::line(&self.message), output::line(&self.hint));
        format!("error: {message}\nhelp: {hint}{more}")
    }

    fn json(&self) -> Value {
        let code = self.code.as_ref();
        json!({
            "kind": self.kind,
            "code": code.map(|(code, _)| code),
            "rv": code.map(|(_, rv)| rv),
            "rv_hex": code.map(|(_, rv)| format!("0x{rv:08x}")),
            "function": self.function,
            "message": self.message,
            "hint": self.hint,
            "explain": self.explain,
            "exit": self.exit as u8,
        })
    }
}

const fn exit_of(kind: Kind) -> Exit {
    match kind {
        Kind::Ambiguous => Exit::Ambiguous,
        Kind::Auth => Exit::Authentication,
        Kind::Io => Exit::Internal,
        Kind::Negative => Exit::Negative,
        Kind::NotFound => Exit::NotFound,
        Kind::Refused => Exit::Refused,
        Kind::Token => Exit::Target,
        Kind::Unsupported => Exit::Unsupported,
        Kind::Usage => Exit::Usage,
    }
}

fn kind_of(exit: Exit) -> &'static str {
    match exit {
        Exit::Internal => Kind::Io.name(),
        Exit::Authentication => Kind::Auth.name(),
        Exit::NotFound => Kind::NotFound.name(),
        Exit::Refused => Kind::Refused.name(),
        Exit::Negative => Kind::Negative.name(),
        Exit::Target => Kind::Token.name(),
        Exit::Unsupported => Kind::Unsupported.name(),
        Exit::HungUp | Exit::Interrupted | Exit::Terminated => "interrupted",
        _ => Kind::Usage.name(),
    }
}
