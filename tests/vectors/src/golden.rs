//! Our own vectors under `vectors/golden`, made by a second implementation (design 7.11).
//!
//! Byte strings stand as hexadecimal, or as a pattern where byte `i` is `(seed + i) mod 251`. A long
//! result stands as length and digest and is rebuilt from its case, or is put together from parts of
//! other cases.

use std::collections::BTreeMap;

use keywright_encoding::hex;
use keywright_primitives::hash::sha256;
use serde_json::Value;

use crate::Error;
use crate::family::{read_json, repository};
use crate::record::{Record, shape};

/// One committed file of cases.
#[derive(Clone, Debug)]
pub struct Golden {
    cases: Vec<Case>,
    places: BTreeMap<String, usize>,
}

/// One case.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Case {
    /// The case's fields, by name.
    pub fields: Record,
    /// Whether it opens.
    pub valid: bool,
}

impl Golden {
    /// Reads `vectors/golden/<name>`, which is part of the repository and so never absent.
    ///
    /// # Errors
    /// If it cannot be read, has another shape, or another number of cases than it declares.
    pub fn load(name: &str) -> Result<Self, Error> {
        let path = repository().join("vectors/golden").join(name);
        Self::of(name, &read_json(&path)?)
    }

    fn of(name: &str, file: &Value) -> Result<Self, Error> {
        let file = Record::new(name, file)?;
        let mut golden = Self {
            cases: Vec::new(),
            places: BTreeMap::new(),
        };
        for fields in file.list("cases")? {
            let name = fields.text("name")?.to_owned();
            let valid = fields.truth("valid")?;
            golden.places.insert(name.clone(), golden.cases.len());
            golden.cases.push(Case {
                fields: fields.renamed(name),
                valid,
            });
        }
        golden.compare(name, file.number("valid")?, file.number("invalid")?)?;
        Ok(golden)
    }

    /// The cases in the order of the file.
    #[must_use]
    pub fn cases(&self) -> &[Case] {
        &self.cases
    }

    /// The bytes that `field` of `case` stands for; `make` makes the bytes of a valid case anew.
    ///
    /// # Errors
    /// [`Error::Rebuilt`] if what was rebuilt is not what is written, or another shape.
    pub fn bytes(
        &self,
        case: &Case,
        field: &str,
        make: &dyn Fn(&Case) -> Vec<u8>,
    ) -> Result<Vec<u8>, Error> {
        let name = case.fields.name();
        let written = case.fields.field(field).ok_or_else(|| shape(name, field))?;
        if written.is_string() {
            return case.fields.hex(field);
        }
        let written = Record::new(format!("{name}/{field}"), written)?;
        let data = match written.field("parts") {
            Some(_) => self.joined(&written, field, make)?,
            None => make(case),
        };
        let same = written.number::<usize>("length")? == data.len()
            && written.array::<32>("sha256")? == sha256(&data);
        same.then_some(data).ok_or_else(|| Error::Rebuilt {
            case: name.to_owned(),
        })
    }

    fn joined(
        &self,
        written: &Record,
        field: &str,
        make: &dyn Fn(&Case) -> Vec<u8>,
    ) -> Result<Vec<u8>, Error> {
        let mut data = Vec::new();
        for part in written.list("parts")? {
            let place = self.places.get(part.text("case")?);
            let source = place.and_then(|place| self.cases.get(*place));
            let source = source.ok_or_else(|| shape(part.name(), "case"))?;
            let whole = self.bytes(source, field, make)?;
            let range = part.number("start")?..part.number("end")?;
            let piece = whole.get(range).ok_or_else(|| shape(part.name(), "end"))?;
            data.extend_from_slice(piece);
        }
        Ok(data)
    }

    fn compare(&self, name: &str, valid: usize, invalid: usize) -> Result<(), Error> {
        let opening = self.cases.iter().filter(|case| case.valid).count();
        if (opening, self.cases.len()) == (valid, valid + invalid) {
            return Ok(());
        }
        Err(Error::Count {
            file: name.to_owned(),
            declared: u64::try_from(valid + invalid).unwrap_or(u64::MAX),
            found: u64::try_from(self.cases.len()).unwrap_or(u64::MAX),
        })
    }
}

/// A byte string: hexadecimal or a pattern.
///
/// # Errors
/// [`Error::Shape`] if the field is neither.
pub fn expand(record: &Record, field: &str) -> Result<Vec<u8>, Error> {
    match record.field(field) {
        Some(Value::String(_)) => record.hex(field),
        Some(Value::Object(_)) => {
            let pattern = record.object(field)?;
            let [seed] = hex::decode_array(pattern.text("pattern")?)
                .map_err(|_| shape(record.name(), field))?;
            let wheel = (0..=250_u8).cycle().skip(usize::from(seed) % 251);
            Ok(wheel.take(pattern.number("length")?).collect())
        }
        _ => Err(shape(record.name(), field)),
    }
}

/// The fields 1, 2 and 3 of design 7.5; an absent one is empty.
///
/// # Errors
/// [`Error::Shape`] if one is no byte string.
pub fn aad_fields(record: &Record) -> Result<[Vec<u8>; 3], Error> {
    let aad = record.object("aad")?;
    let mut fields = [const { Vec::new() }; 3];
    for (tag, field) in ["1", "2", "3"].into_iter().zip(&mut fields) {
        if aad.field(tag).is_some() {
            *field = expand(&aad, tag)?;
        }
    }
    Ok(fields)
}

/// Whether `code` is the refusal that the case states; where the text leaves the choice, any is.
///
/// # Errors
/// [`Error::Shape`] if the case states none.
pub fn refused_as_stated(case: &Case, code: &str) -> Result<bool, Error> {
    let stated = case.fields.text("error")?;
    Ok(!case.valid && (stated == "any" || stated == code))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_pattern_counts_modulo_251() {
        let record = Record::new("case", &json!({"p": {"pattern": "fa", "length": 3}})).unwrap();
        assert_eq!(expand(&record, "p").unwrap(), [250, 0, 1]);
        let record = Record::new(
            "case",
            &json!({"p": 1, "q": {"pattern": "xx", "length": 1}}),
        );
        let record = record.unwrap();
        assert!(expand(&record, "p").is_err());
        assert!(expand(&record, "q").is_err());
        assert!(expand(&record, "absent").is_err());
    }

    fn sample(digest: &str) -> Value {
        let parts = json!({"length": 2, "sha256": digest, "parts": [
            {"case": "whole", "start": 1, "end": 2}, {"case": "made", "start": 0, "end": 1}]});
        let made = json!({"length": 1, "sha256": hex::encode(&sha256(b"z"))});
        json!({"valid": 2, "invalid": 1, "cases": [
            {"name": "whole", "valid": true, "x": "6162"},
            {"name": "made", "valid": true, "x": made},
            {"name": "parts", "valid": false, "error": "any", "x": parts}]})
    }

    #[test]
    fn bytes_are_put_together_from_other_cases_and_their_digest_is_compared() {
        let make = |_: &Case| b"z".to_vec();
        let golden = Golden::of("sample", &sample(&hex::encode(&sha256(b"bz")))).unwrap();
        let [whole, made, parts] = golden.cases() else {
            panic!("three cases")
        };
        assert_eq!(golden.bytes(whole, "x", &make).unwrap(), b"ab");
        assert_eq!(golden.bytes(made, "x", &make).unwrap(), b"z");
        assert_eq!(golden.bytes(parts, "x", &make).unwrap(), b"bz");
        let other = golden.bytes(parts, "x", &|_| b"y".to_vec());
        assert!(matches!(other, Err(Error::Rebuilt { .. })));
        assert!(matches!(
            golden.bytes(whole, "absent", &make),
            Err(Error::Shape { .. })
        ));
        let golden = Golden::of("sample", &sample(&"00".repeat(32))).unwrap();
        assert!(golden.bytes(&golden.cases()[2], "x", &make).is_err());
    }

    #[test]
    fn a_count_that_is_not_the_declared_one_is_an_error() {
        let mut file = sample("");
        file["invalid"] = json!(2);
        assert!(matches!(
            Golden::of("sample", &file),
            Err(Error::Count { .. })
        ));
    }
}
