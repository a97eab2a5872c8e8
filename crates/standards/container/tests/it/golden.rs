//! The committed files of the second implementation: all of them, in every build.

use keywright_container::{DataKey, Error, FileHeader, Slot, hazmat, open};
use keywright_envelope::{Aad, Identity, derive};
use keywright_password::Limits;
use keywright_secret::{Secret, SecretBytes};
use keywright_types::{DataKeyId, KeyId, KeyVersion, Kind, SlotType, Suite};
use keywright_vectors::golden::{Case, Golden, aad_fields, expand, refused_as_stated};
use keywright_vectors::{Record, Tally};

fn aad(fields: &[Vec<u8>; 3]) -> Aad<'_> {
    Aad::EMPTY
        .caller(&fields[0])
        .unwrap()
        .derivation(&fields[1])
        .attributes(&fields[2])
}

fn data_key(case: &Case) -> DataKey {
    let id = DataKeyId::from_bytes(case.fields.array("data_key_id").unwrap());
    DataKey::new(
        id,
        Secret::copy_from(&case.fields.hex("data_key").unwrap()).unwrap(),
    )
}

/// The file of a valid case, sealed anew with the slots as they stand.
fn seal(case: &Case) -> Vec<u8> {
    let key = data_key(case);
    let slots = case.fields.list("slots").unwrap();
    let slots: Vec<Slot> = slots
        .iter()
        .map(|slot| {
            let kind = SlotType::from_number(slot.number("type").unwrap()).unwrap();
            Slot::from_parts(kind, slot.hex("content").unwrap(), key.id()).unwrap()
        })
        .collect();
    let text = expand(&case.fields, "plaintext").unwrap();
    let fields = aad_fields(&case.fields).unwrap();
    let salt = case.fields.array("salt").unwrap();
    hazmat::seal_with_salt(&text, &key, &slots, &aad(&fields), &salt).unwrap()
}

/// The data key by one of the slots; `None` for a slot under a suite whose keys are refused here.
fn unlocked(header: &FileHeader, slot: &Record) -> Option<Result<DataKey, Error>> {
    if slot.number::<u8>("type").unwrap() == SlotType::Password.number() {
        let password = SecretBytes::from_vec(slot.hex("password").unwrap());
        let opened = header.open_with_password(&password, &Limits::standard());
        return Some(opened.map(|(key, _)| key));
    }
    let identity = Identity {
        suite: Suite::from_number(slot.number("suite").unwrap()).unwrap(),
        kind: Kind::Key,
        key: KeyId::from_bytes(slot.array("key_id").unwrap()),
        version: KeyVersion::from_number(slot.number("version").unwrap()),
    };
    let (_, opening) = derive(&slot.array("key").unwrap(), identity).ok()?;
    Some(header.open_with_key(&opening, &aad(&aad_fields(slot).unwrap())))
}

fn read(case: &Case, file: &[u8], slot: &Record) -> Option<Result<Vec<u8>, Error>> {
    let mut rest = file;
    let header = match FileHeader::read_from(&mut rest) {
        Ok(header) => header,
        Err(error) => return Some(Err(error)),
    };
    let key = match unlocked(&header, slot)? {
        Ok(key) => key,
        Err(error) => return Some(Err(error)),
    };
    let fields = aad_fields(&case.fields).unwrap();
    let mut out = Vec::new();
    let opened = open(
        &mut rest,
        &mut out,
        &header,
        &key,
        &aad(&fields),
        &mut |_| (),
    );
    Some(opened.map(|_| out))
}

fn judge(case: &Case, file: &[u8], answer: Result<Vec<u8>, Error>) -> bool {
    match answer {
        Ok(text) => {
            case.valid && text == expand(&case.fields, "plaintext").unwrap() && seal(case) == file
        }
        Err(error) => {
            let code = match error {
                Error::Malformed | Error::Password(_) => "ciphertext_malformed",
                Error::Rejected | Error::NoSlot => "decryption_failed",
                _ => return false,
            };
            refused_as_stated(case, code).unwrap()
        }
    }
}

/// Every slot listed must give the stated answer, not only one of them.
#[test]
fn files() {
    let golden = Golden::load("file.json").unwrap();
    let mut tally = Tally::new("golden-file");
    for case in golden.cases() {
        let file = golden.bytes(case, "file", &seal).unwrap();
        for slot in case.fields.list("slots").unwrap() {
            match read(case, &file, &slot) {
                Some(answer) => tally.check(slot.name(), judge(case, &file, answer)),
                None => tally.skip("the slot's key is inside a token", 1),
            }
        }
        if case.valid {
            let mut rest = &file[..];
            let header = FileHeader::read_from(&mut rest).unwrap();
            let fields = aad_fields(&case.fields).unwrap();
            let (key, mut out) = (data_key(case), Vec::new());
            open(
                &mut rest,
                &mut out,
                &header,
                &key,
                &aad(&fields),
                &mut |_| (),
            )
            .unwrap();
            tally.check(case.fields.name(), judge(case, &file, Ok(out)));
        }
    }
    tally.finish().unwrap();
}
