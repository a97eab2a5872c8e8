//! The promises of the parsers over arbitrary bytes, as one function that the fuzz target and a plain
//! test of this crate both call.

use keywright_encoding::Reader;
use keywright_types::BootId;

use crate::chain::{ChainReader, FileId, Origin, Step};
use crate::check::{CheckKey, Proof};
use crate::head::{HeadReader, SignedHead};
use crate::record::{Entry, ReadField};
use crate::show;

/// Reads `data` as the body of a record, as a head, as a file of records and as a file of heads, and
/// checks that
///
/// * nothing panics and every file ends;
/// * a body that is read is written back to the same bytes;
/// * a head that is read is written back to the same bytes;
/// * a file of records is read only as far as its bytes go, and to the same place with a check key and without;
/// * a check frame follows a record, and nothing else.
///
/// # Panics
/// If one of them does not hold, which is what a fuzzer looks for.
pub fn audit(data: &[u8]) {
    if let Ok(entry) = Entry::parse(data) {
        body(data, &entry);
    }
    if let Ok(head) = SignedHead::from_bytes(data) {
        assert_eq!(head.to_bytes(), data, "a head has one spelling");
    }
    file(data);
    let mut heads = HeadReader::new(data, data.len() as u64);
    while let Ok(Step::Record) = heads.step() {
        assert!(heads.take().is_some_and(|head| head.check().is_ok()));
    }
    assert!(heads.position() <= data.len() as u64);
}

fn body(data: &[u8], entry: &Entry<'_>) {
    let mut out = Vec::new();
    entry.facts().put(entry.sequence(), &mut out);
    for field in entry.fields() {
        match field {
            ReadField::Known(field) => field.put(&mut out),
            ReadField::Unknown { tag, bytes } => {
                out.extend_from_slice(&tag.to_be_bytes());
                assert!(keywright_encoding::put_lp(&mut out, bytes).is_ok());
            }
        }
    }
    assert!(out == data, "a body has one spelling");
    assert!(show::to_json("", entry).is_object());
}

fn file(data: &[u8]) {
    let mut keyless = ChainReader::new(data, data.len() as u64, claimed(data));
    let key = CheckKey::from_bytes(&CHECK_KEY);
    let mut reader = ChainReader::new(data, data.len() as u64, claimed(data)).judged_by(&key);
    let mut last = Step::End;
    loop {
        let (step, passed) = (reader.step(), keyless.step());
        assert_eq!(reader.state(), keyless.state(), "a key moves nothing");
        let Ok(step) = step else {
            assert!(passed.is_err());
            break;
        };
        match step {
            Step::Record => assert!(reader.entry().is_some()),
            Step::Check(proof) => {
                assert!(last == Step::Record, "a check frame follows a record");
                assert!(proof != Proof::Unknown);
                assert!(matches!(passed, Ok(Step::Check(Proof::Unknown))));
            }
            Step::End | Step::Cut => break,
        }
        last = step;
    }
    assert!(reader.state().length <= data.len() as u64);
}

/// The key of check frames that hold in the corpus.
pub const CHECK_KEY: [u8; 32] = [8; 32];

/// The file that the first record claims to begin: taken at its word, so that the rest is read as well.
fn claimed(data: &[u8]) -> FileId {
    let first = Reader::new(data)
        .lp()
        .ok()
        .and_then(|body| Entry::parse(body).ok());
    let origin = first.and_then(|entry| Origin::of(&entry));
    origin.map_or(
        FileId {
            boot: BootId::NONE,
            writer: 0,
        },
        |(origin, _)| origin.file,
    )
}
