//! `keywright hsm`: tokens of any vendor through their PKCS#11 modules.
//!
//! Each command reads its words, asks the operation layer, and prints one document or one text; a failure is
//! two lines, or one document. The pages under docs/hsm are written from these definitions.

mod audit;
mod codes;
mod config;
mod explain;
mod interactive;
mod keys;
mod look;
mod make;
mod schema;
mod secret;
mod show;
mod tokens;
mod work;

use clap::CommandFactory as _;
use keywright_hsm::Context;
use keywright_secret::locked::refuse_core_files;
use keywright_terminal::token::{answer, asked, environment, files, interrupt, pin, place, sarif};

use crate::delegated;
use crate::exit::{Exit, Failure};
use crate::output::Format;
use answer::{Answer, Beside, Refusal};

/// Look at tokens and use their keys.
#[derive(Debug, clap::Args)]
#[command(arg_required_else_help = true)]
pub(crate) struct Arguments {
    /// The same as --format json.
    #[arg(long, global = true)]
    json: bool,
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, clap::Subcommand)]
enum Command {
    /// What the module says about itself.
    Info(show::ModuleWords),
    /// All slots and the tokens in them.
    #[command(alias = "list-tokens")]
    ListSlots(show::ModuleWords),
    /// What a token can do.
    ListMechanisms(show::MechanismWords),
    /// What a token really does: each thing is tried once, with keys that end with the session.
    Capabilities(show::CapabilityWords),
    /// The objects of a token.
    ListObjects(look::ObjectWords),
    /// Every attribute of a key.
    InspectKey(look::InspectWords),
    /// Look for a key.
    FindKey(look::FindWords),
    /// Where two keys differ.
    DiffKeys(look::DiffWords),
    /// What a return code means and what to do about it.
    ExplainError(explain::ExplainWords),
    /// Random bytes of the token.
    #[command(alias = "random")]
    GenRandom(make::RandomWords),
    /// A hash, made by the token.
    Hash(make::HashWords),
    /// Initialise a blank token.
    InitToken(tokens::InitWords),
    /// Set the user's PIN as security officer.
    InitPin(tokens::PinWords),
    /// Change the user's or the security officer's PIN.
    ChangePin(tokens::ChangeWords),
    /// Initialise a token again: everything in it is gone.
    DeleteToken(tokens::DeleteWords),
    /// Make a key pair.
    GenKeypair(keys::PairWords),
    /// Show a public key.
    ExportPubkey(keys::ExportWords),
    /// Destroy a key.
    DeleteKey(keys::DeleteWords),
    /// Sign with a private key.
    Sign(work::SignWords),
    /// Verify a signature with a public key.
    Verify(work::VerifyWords),
    /// Make an AES key.
    #[command(alias = "gen-symmetric")]
    GenSymmetricKey(secret::AesWords),
    /// Encrypt with an AES key (GCM or CCM).
    EncryptSymmetric(work::SealWords),
    /// Decrypt what encrypt-symmetric made.
    DecryptSymmetric(work::SealWords),
    /// Encrypt with an RSA public key: a short input, or with --envelope one of any size.
    Encrypt(work::RsaWords),
    /// Decrypt with an RSA private key.
    Decrypt(work::RsaWords),
    /// Take a secret or private key out under another key.
    WrapKey(secret::WrapWords),
    /// Bring a wrapped secret or private key in.
    UnwrapKey(secret::UnwrapWords),
    /// Make a certificate request.
    GenCsr(keys::RequestWords),
    /// Make a key for HMAC.
    GenHmacKey(secret::HmacKeyWords),
    /// Make a code with HMAC.
    #[command(alias = "generate-mac")]
    HmacSign(codes::HmacWords),
    /// Verify a code of HMAC.
    #[command(alias = "verify-mac")]
    HmacVerify(codes::HmacVerifyWords),
    /// Make a key for AES-CMAC.
    GenCmacKey(secret::CmacKeyWords),
    /// Make a code with AES-CMAC.
    CmacSign(codes::CmacWords),
    /// Verify a code of AES-CMAC.
    CmacVerify(codes::CmacVerifyWords),
    /// Measure the token: fourteen operations, or a key of yours.
    Benchmark(Box<delegated::TokenWords>),
    /// Hold the keys of a token against rules.
    #[command(alias = "audit")]
    AuditKeys(Box<audit::AuditWords>),
    /// What an application asks of a token, and what to change: from a log of its calls.
    Analyze(delegated::LogWords),
    /// What the other commands would work with, and where it comes from.
    Config(config::ConfigWords),
    /// The JSON Schema of a command's documents.
    Schema(schema::SchemaWords),
    /// A menu of these commands at the terminal.
    Interactive(Box<interactive::InteractiveWords>),
}

impl Command {
    /// Its name, and what it is about.
    const fn about(&self) -> (&'static str, Context) {
        match self {
            Self::Info(_) => ("info", Context::Session),
            Self::ListSlots(_) => ("list-slots", Context::Session),
            Self::ListMechanisms(_) => ("list-mechanisms", Context::Session),
            Self::Capabilities(_) => ("capabilities", Context::Session),
            Self::ListObjects(_) => ("list-objects", Context::Find),
            Self::InspectKey(_) => ("inspect-key", Context::Find),
            Self::FindKey(_) => ("find-key", Context::Find),
            Self::DiffKeys(_) => ("diff-keys", Context::Find),
            Self::ExplainError(_) => ("explain-error", Context::General),
            Self::GenRandom(_) => ("gen-random", Context::Random),
            Self::Hash(_) => ("hash", Context::Digest),
            Self::InitToken(_) => ("init-token", Context::InitToken),
            Self::InitPin(_) => ("init-pin", Context::InitPin),
            Self::ChangePin(_) => ("change-pin", Context::InitPin),
            Self::DeleteToken(_) => ("delete-token", Context::InitToken),
            Self::GenKeypair(_) => ("gen-keypair", Context::Keygen),
            Self::ExportPubkey(_) => ("export-pubkey", Context::Find),
            Self::DeleteKey(_) => ("delete-key", Context::Find),
            Self::Sign(_) => ("sign", Context::Sign),
            Self::Verify(_) => ("verify", Context::Verify),
            Self::GenSymmetricKey(_) => ("gen-symmetric-key", Context::Keygen),
            Self::EncryptSymmetric(_) => ("encrypt-symmetric", Context::Encrypt),
            Self::DecryptSymmetric(_) => ("decrypt-symmetric", Context::Decrypt),
            Self::Encrypt(_) => ("encrypt", Context::Encrypt),
            Self::Decrypt(_) => ("decrypt", Context::Decrypt),
            Self::WrapKey(_) => ("wrap-key", Context::Wrap),
            Self::UnwrapKey(_) => ("unwrap-key", Context::Unwrap),
            Self::GenCsr(_) => ("gen-csr", Context::Sign),
            Self::GenHmacKey(_) => ("gen-hmac-key", Context::Keygen),
            Self::HmacSign(_) => ("hmac-sign", Context::Mac),
            Self::HmacVerify(_) => ("hmac-verify", Context::Mac),
            Self::GenCmacKey(_) => ("gen-cmac-key", Context::Keygen),
            Self::CmacSign(_) => ("cmac-sign", Context::Mac),
            Self::CmacVerify(_) => ("cmac-verify", Context::Mac),
            Self::Benchmark(_) => ("benchmark", Context::General),
            Self::AuditKeys(_) => ("audit-keys", Context::Find),
            Self::Analyze(_) => ("analyze", Context::General),
            Self::Config(_) => ("config", Context::General),
            Self::Schema(_) => ("schema", Context::General),
            Self::Interactive(_) => ("interactive", Context::General),
        }
    }

    fn run(&self, beside: &mut Beside) -> Result<Answer, Refusal> {
        match self {
            Self::Info(words) => show::info(words, beside),
            Self::ListSlots(words) => show::slots(words, beside),
            Self::ListMechanisms(words) => show::mechanisms(words, beside),
            Self::Capabilities(words) => show::capabilities(words, beside),
            Self::ListObjects(words) => look::objects(words, beside),
            Self::InspectKey(words) => look::inspect(words, beside),
            Self::FindKey(words) => look::find(words, beside),
            Self::DiffKeys(words) => look::diff(words, beside),
            Self::ExplainError(words) => explain::explain(words),
            Self::GenRandom(words) => make::random(words, beside),
            Self::Hash(words) => make::hash(words, beside),
            Self::InitToken(words) => tokens::init(words, beside),
            Self::InitPin(words) => tokens::init_pin(words, beside),
            Self::ChangePin(words) => tokens::change(words, beside),
            Self::DeleteToken(words) => tokens::delete(words, beside),
            Self::GenKeypair(words) => keys::gen_pair(words, beside),
            Self::ExportPubkey(words) => keys::export(words, beside),
            Self::DeleteKey(words) => keys::delete(words, beside),
            Self::Sign(words) => work::sign(words, beside),
            Self::Verify(words) => work::verify(words, beside),
            Self::GenSymmetricKey(words) => secret::gen_aes(words, beside),
            Self::EncryptSymmetric(words) => work::seal(words, beside),
            Self::DecryptSymmetric(words) => work::open(words, beside),
            Self::Encrypt(words) => work::encrypt(words, beside),
            Self::Decrypt(words) => work::decrypt(words, beside),
            Self::WrapKey(words) => secret::wrap(words, beside),
            Self::UnwrapKey(words) => secret::unwrap(words, beside),
            Self::GenCsr(words) => keys::csr(words, beside),
            Self::GenHmacKey(words) => secret::gen_hmac(words, beside),
            Self::HmacSign(words) => codes::hmac(words, beside),
            Self::HmacVerify(words) => codes::hmac_verify(words, beside),
            Self::GenCmacKey(words) => secret::gen_cmac(words, beside),
            Self::CmacSign(words) => codes::cmac(words, beside),
            Self::CmacVerify(words) => codes::cmac_verify(words, beside),
            Self::AuditKeys(words) => audit::audit_keys(words, beside),
            Self::Config(words) => config::config(words, beside),
            Self::Schema(words) => schema::schema(words),
            Self::Analyze(_) | Self::Benchmark(_) => Err(delegated::kept().into()),
            Self::Interactive(_) => Err(Failure::broken("a menu is no answer").into()),
        }
    }
}

impl Arguments {
    /// Whether what comes of it has this form.
    pub(crate) const fn has_form(&self, format: Format) -> bool {
        match format {
            Format::Text | Format::Json => true,
            Format::Csv | Format::Sarif => matches!(self.command, Command::AuditKeys(_)),
            Format::Html => false,
        }
    }
}

/// Says that the words of an `hsm` command are none, in one document; gives the failure back if they are not
/// meant for these commands.
pub(crate) fn misused(failure: Failure) -> Result<Exit, Failure> {
    let words = std::env::args_os().skip(1);
    let mut words = words.filter_map(|word| word.into_string().ok());
    let known = |word: &String| <Command as clap::Subcommand>::has_subcommand(word);
    let name = match words.next().as_deref() {
        Some("hsm") => words.find(known),
        _ => return Err(failure),
    };
    let name = name.unwrap_or_else(|| "hsm".to_owned());
    let refusal = Err(failure.into());
    let beside = Beside::default();
    answer::print(&name, Context::General, Format::Json, &beside, refusal)
}

pub(crate) fn run(arguments: &Arguments, format: Format) -> Result<Exit, Failure> {
    // PINs, plain texts and keys of files pass through the memory of this process.
    refuse_core_files();
    let format = if arguments.json { Format::Json } else { format };
    let (name, context) = arguments.command.about();
    let words: Vec<_> = std::env::args_os().collect();
    if let Err(refusal) = environment::prepare(crate::Arguments::command(), &words) {
        return answer::print(name, context, format, &Beside::default(), Err(refusal));
    }
    if let Command::Interactive(words) = &arguments.command {
        return interactive::run(words).or_else(|failure| {
            answer::print(
                name,
                context,
                format,
                &Beside::default(),
                Err(failure.into()),
            )
        });
    }
    let mut beside = Beside {
        format: Some(format),
        ..Beside::default()
    };
    interrupt::listen();
    let outcome = interrupt::told(arguments.command.run(&mut beside));
    answer::print(name, context, format, &beside, outcome)
}
