//! What the library refuses, as a command says it.

use std::io;

use keywright_format::Misfit;
use keywright_protect::Error;

use crate::exit::{Exit, Failure, limit_advice_within, sentence};
use crate::output::counted;

/// An error of the library as the end of the command.
#[expect(clippy::too_many_lines, reason = "a table")]
pub(crate) fn refused(error: Error) -> Failure {
    let (exit, code, advice) = match &error {
        Error::Misfit {
            misfit: Misfit::BelowFloor,
            ..
        } => (
            Exit::Gate,
            "value_misfit",
            "say small_domain = \"accept(REASON)\" in the rule if so few values are acceptable, or on_bad = \"null\" or \"reject\"",
        ),
        Error::Misfit { .. } => (
            Exit::Gate,
            "value_misfit",
            "correct the row, or say on_bad = \"null\" or \"reject\" in the rule; keywright format check lists all",
        ),
        Error::Ambiguous { .. } => (
            Exit::Refused,
            "quoted_value",
            "--quote none if the file has no quoting; if it has, --quote double, and --accept-quoted-values for such cells",
        ),
        Error::NameIsValue { .. } => (
            Exit::Refused,
            "name_is_value",
            "names are written as they are: give that column or field another name",
        ),
        Error::Unquotable { .. } => (
            Exit::Gate,
            "text_unquotable",
            "choose a format whose alphabet has no separator and no line end",
        ),
        Error::QuotingChanged { .. } => (
            Exit::Usage,
            "quoting_changed",
            "leave --quote out, or give the one it was protected with",
        ),
        Error::NotReversible { .. } => (
            Exit::Target,
            "not_reversible",
            "nothing was written: please report this with the rule of the column",
        ),
        Error::OldKey { .. } => (
            Exit::Negative,
            "old_key",
            "check --from-key-file, --from-mode, --from-tweak and the format in --from-rules",
        ),
        Error::Table(keywright_tabular::Error::Io(_)) => {
            (Exit::Internal, "input_output", "check the file")
        }
        Error::Read { source, .. } => (Exit::Internal, "input_output", read_advice(source)),
        Error::Write { source, .. } => (Exit::Internal, "input_output", write_advice(source)),
        Error::Table(table @ keywright_tabular::Error::UnknownColumn { .. }) => {
            (Exit::Usage, "column_unknown", table_advice(table))
        }
        Error::Table(table) => (Exit::Usage, "table_malformed", table_advice(table)),
        Error::NoKey { .. } => (
            Exit::Usage,
            "key_missing",
            "give --key-file FILE, --key-file NAME=FILE, or --wrapped-key FILE --context NAME",
        ),
        Error::WrongKey { .. } => (
            Exit::Negative,
            "wrong_key",
            "give the key whose id stands beside the data, in OUT.protection.json",
        ),
        Error::ProtectionChanged => (
            Exit::Negative,
            "protection_changed",
            "take the file that protect has written beside its output",
        ),
        Error::RulesChanged { .. } => (
            Exit::Refused,
            "rules_changed",
            "give the rules it was protected with, or leave --rules out when revealing",
        ),
        Error::SameFile { .. } => (Exit::Usage, "same_file", "choose another name for --out"),
        Error::Exists { .. } => (
            Exit::Refused,
            "exists",
            "choose another name, or add --yes to replace it",
        ),
        Error::NoFile { .. } => (
            Exit::Usage,
            "not_a_file",
            "name regular files, and write what comes from a pipe to one: a run reads its input more than once",
        ),
        Error::Link { .. } => (
            Exit::Usage,
            "link",
            "name the file that the link leads to, or another",
        ),
        Error::Busy { .. } => (Exit::Refused, "busy", "wait until the other run has ended"),
        Error::OtherRun { .. } | Error::InputChanged { .. } => (
            Exit::Refused,
            "other_run",
            "give the command of the interrupted run, or add --restart to begin anew",
        ),
        Error::Interrupted => (
            Exit::Interrupted,
            "interrupted",
            "give the same command again: it goes on where it was",
        ),
        Error::Rule { .. }
        | Error::CallerTweak { .. }
        | Error::TweakColumn { .. }
        | Error::NothingToDo => (
            Exit::Usage,
            "rule_unusable",
            "docs/format.md says what rules can do",
        ),
        _ => (
            Exit::Internal,
            "internal",
            "please report this with the command and what it printed",
        ),
    };
    let advice = match limit_advice_within(&error) {
        Some(limit) => format!("{limit}, and give the same command again: it goes on where it was"),
        None => advice.to_owned(),
    };
    Failure {
        code: Some(code),
        ..Failure::new(exit, sentence(&error), advice)
    }
}

fn is_not_there(error: &io::Error) -> bool {
    use io::ErrorKind::{InvalidInput, IsADirectory, NotADirectory, NotFound, PermissionDenied};
    matches!(
        error.kind(),
        InvalidInput | IsADirectory | NotADirectory | NotFound | PermissionDenied
    )
}

fn read_advice(error: &io::Error) -> &'static str {
    match is_not_there(error) {
        true => "check that the file exists and that you may read it",
        false => "check the file, and give the same command again: it goes on where it was",
    }
}

fn write_advice(error: &io::Error) -> &'static str {
    match error.kind() {
        io::ErrorKind::FileTooLarge => {
            "raise the limit on the size of files (ulimit -f), and give the same command again: it goes on where it was"
        }
        _ if is_not_there(error) => "check that the folder exists and that you may write there",
        _ => {
            "check the path and the room on the disk, and give the same command again: it goes on where it was"
        }
    }
}

/// What to do about a file that is no table, or has not the columns that were asked for.
pub(crate) const fn table_advice(error: &keywright_tabular::Error) -> &'static str {
    use keywright_tabular::Error as Table;
    match error {
        Table::Foreign(file) => file.advice(),
        Table::BareQuote { .. }
        | Table::TextBehindQuote { .. }
        | Table::UnbalancedQuote { .. }
        | Table::RecordTooLong { .. } => {
            "correct the line, or say --quote none if the file was written without quoting"
        }
        Table::CarriageReturns | Table::HeaderControl { .. } => {
            "write the file with LF or CRLF at the end of each line"
        }
        Table::UnknownColumn { .. } => {
            "name columns as the header has them; a file needs a header line"
        }
        Table::DuplicateColumn { .. } => {
            "give each column a name of its own; a file needs a header line"
        }
        _ => {
            "give a CSV file with a header, in which every row has as many fields; see --separator"
        }
    }
}

/// An error about a table whose columns are named by a schema: it has no header that could be missing.
pub(crate) fn refused_in_schema(error: Error) -> Failure {
    use keywright_tabular::Error as Table;
    let (happened, advice) = match &error {
        Error::Table(Table::UnknownColumn { column, header }) => {
            let columns = header.columns();
            let mut there = format!("; the file has {}", counted(columns as u64, "column"));
            if !header.present().is_empty() {
                there.push_str(&format!(", {:?} among them", header.present()));
            }
            (
                Some(format!("no column {column:?}{there}")),
                "name columns as the schema of the file has them",
            )
        }
        Error::Table(Table::DuplicateColumn { .. }) => (
            None,
            "write the file with a name of its own for each column",
        ),
        _ => return refused(error),
    };
    let failure = refused(error);
    Failure {
        code: failure.code,
        ..Failure::new(failure.exit, happened.unwrap_or(failure.happened), advice)
    }
}

/// An error of a columnar file as the end of the command.
#[expect(clippy::too_many_lines, reason = "a table")]
pub(crate) fn refused_columnar(error: keywright_columnar::Error) -> Failure {
    use keywright_columnar::Error as Columnar;
    let (exit, code, advice) = match error {
        Columnar::Protect(error) => return refused_in_schema(error),
        Columnar::Type { .. } => (
            Exit::Usage,
            "column_type",
            "only columns of texts can change; docs/files.md says which",
        ),
        Columnar::Required { .. } => (
            Exit::Usage,
            "column_required",
            "say on_bad = \"fail\" or \"reject\" in the rule of this column",
        ),
        Columnar::DictionaryTweak { .. } => (
            Exit::Usage,
            "dictionary_tweak",
            "leave row and other columns out of its tweak, or write the column without a dictionary",
        ),
        Columnar::SharedDictionary { .. } => (
            Exit::Usage,
            "shared_dictionary",
            "protect both columns, or write them with dictionaries of their own",
        ),
        Columnar::Codec { .. } => (
            Exit::Usage,
            "column_codec",
            "write the file with snappy, gzip, lz4 or zstd",
        ),
        Columnar::Overlap { .. } => (
            Exit::Usage,
            "columns_overlap",
            "read it with the program that has written it, and write it anew",
        ),
        Columnar::Encrypted { .. } => (
            Exit::Usage,
            "file_encrypted",
            "decrypt it with the program that has its keys, and write it without encryption",
        ),
        Columnar::Kind { .. } | Columnar::Damaged { .. } => (
            Exit::Usage,
            "file_damaged",
            "read it with the program that has written it, and write it anew",
        ),
        Columnar::Text { .. } => (
            Exit::Refused,
            "schema_has_value",
            "it is part of the schema and cannot be left out: write the file with another",
        ),
        Columnar::Behind { .. } => (
            Exit::Usage,
            "data_behind_end",
            "nothing of it would be read: make a file of each stream, or take away what is no part of it",
        ),
        Columnar::Unwritable { .. } => (
            Exit::Internal,
            "file_unwritable",
            "write the input anew with larger types, or as several files",
        ),
        _ => (
            Exit::Internal,
            "internal",
            "please report this with the command and what it printed",
        ),
    };
    Failure {
        code: Some(code),
        ..Failure::new(exit, sentence(&error), advice)
    }
}
