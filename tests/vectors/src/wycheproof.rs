//! Wycheproof's JSON: groups of cases that are valid, invalid or acceptable.

use std::path::Path;

use crate::family::read_json;
use crate::record::{Record, shape};
use crate::{Error, Failures, Family, Tally, Verdict};

/// What the file says of a case.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(clippy::exhaustive_enums, reason = "the three words of the schema")]
pub enum Expected {
    /// Either decision is right, a wrong output is not.
    Acceptable,
    /// The implementation refuses.
    Invalid,
    /// The implementation accepts.
    Valid,
}

/// One case and the group that it stands in.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Case {
    /// The group's own fields: sizes, keys.
    pub group: Record,
    /// The case's fields.
    pub fields: Record,
    /// What the file says of it.
    pub expected: Expected,
}

/// All cases of a file, whose number is compared with the one the file declares.
///
/// # Errors
/// If the file cannot be read, has another shape, or another number of cases.
pub fn read(path: &Path) -> Result<Vec<Case>, Error> {
    let file = path
        .file_name()
        .map(|name| name.to_string_lossy().into_owned());
    let file = Record::new(file.unwrap_or_default(), &read_json(path)?)?;
    let mut cases = Vec::new();
    for group in file.list("testGroups")? {
        for fields in group.list("tests")? {
            let number: u64 = fields.number("tcId")?;
            let fields = fields.renamed(format!("{} {number}", file.name()));
            let expected = expected(&fields)?;
            cases.push(Case {
                group: group.clone(),
                fields,
                expected,
            });
        }
    }
    let declared = file.number("numberOfTests")?;
    let found = u64::try_from(cases.len()).unwrap_or(u64::MAX);
    if declared != found {
        return Err(Error::Count {
            file: file.name().to_owned(),
            declared,
            found,
        });
    }
    Ok(cases)
}

/// Runs every case of `file` through `decide`. Where the file is absent, `cases` are counted as skipped.
///
/// # Errors
/// [`RunError::Failures`] if a case is decided otherwise than the file says, [`RunError::Unreadable`] if
/// the file cannot be read.
pub fn run(
    file: &str,
    cases: u64,
    mut decide: impl FnMut(&Case) -> Result<Verdict, Error>,
) -> Result<(), RunError> {
    let mut tally = Tally::new(&format!("wycheproof-{}", file.trim_end_matches(".json")));
    let files = Family::locate("wycheproof").files(file)?;
    if files.is_empty() {
        tally.skip("the folder of vectors is absent", cases);
    }
    for case in files
        .iter()
        .map(|path| read(path))
        .collect::<Result<Vec<_>, _>>()?
        .concat()
    {
        let name = case.fields.name();
        match (decide(&case)?, case.expected) {
            (Verdict::Unsupported(reason), _) => tally.skip(reason, 1),
            (Verdict::Accepted, expected) => tally.check(name, expected != Expected::Invalid),
            (Verdict::Refused, expected) => tally.check(name, expected != Expected::Valid),
            (Verdict::Wrong, _) => tally.check(name, false),
        }
    }
    Ok(tally.finish()?)
}

/// Why a run did not pass.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum RunError {
    /// Cases were decided otherwise than the file says.
    #[error(transparent)]
    Failures(#[from] Failures),
    /// The file could not be read.
    #[error(transparent)]
    Unreadable(#[from] Error),
}

fn expected(fields: &Record) -> Result<Expected, Error> {
    match fields.text("result")? {
        "acceptable" => Ok(Expected::Acceptable),
        "invalid" => Ok(Expected::Invalid),
        "valid" => Ok(Expected::Valid),
        _ => Err(shape(fields.name(), "result")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn written(declared: u64, result: &str) -> tempfile::NamedTempFile {
        let file = tempfile::NamedTempFile::new().unwrap();
        let case = format!(r#"{{"tcId": 1, "result": "{result}", "key": "00"}}"#);
        let text =
            format!(r#"{{"numberOfTests": {declared}, "testGroups": [{{"tests": [{case}]}}]}}"#);
        std::fs::write(file.path(), text).unwrap();
        file
    }

    #[test]
    fn the_declared_number_of_cases_is_compared() {
        assert_eq!(read(written(1, "valid").path()).unwrap().len(), 1);
        assert!(matches!(
            read(written(2, "valid").path()),
            Err(Error::Count { .. })
        ));
    }

    #[test]
    fn an_unknown_word_for_the_result_is_an_error() {
        assert!(matches!(
            read(written(1, "maybe").path()),
            Err(Error::Shape { .. })
        ));
    }
}
