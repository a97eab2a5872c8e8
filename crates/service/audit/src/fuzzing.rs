//! The promises of the parsers over arbitrary bytes, as one function that the fuzz target and a plain
//! test of this crate both call.

use keywright_encoding::Reader;
use keywright_types::BootId;

use crate::chain::{ChainReader, FileId, Origin, Step};
use crate::head::{HeadReader, SignedHead};
use crate::record::{Entry, ReadField};
use crate::show;

/// Reads `data` as the body of a record, as a head, as a file of records and as a file of heads, and
/// checks that
///
/// * nothing panics and every file ends;
/// * a body that is read is written back to the same bytes;
/// * a head that is read is written back to the same bytes;
/// * a file of records is read only as far as its bytes go.
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
    let mut reader = ChainReader::new(data, data.len() as u64, claimed(data));
    while let Ok(Step::Record) = reader.step() {
        assert!(reader.entry().is_some());
    }
    assert!(reader.state().length <= data.len() as u64);
}

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
