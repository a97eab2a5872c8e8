//! The committed files of the second implementation: all of them, in every build.

use keywright_container::{DataKey, Error, FileHeader, Slot, hazmat, open};
use keywright_envelope::{Aad, Identity, derive};
use keywright_hpke::{Policy, PrivateKey, Suite as Suite3};
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
    if slot.number::<u8>("type").unwrap() == SlotType::Hpke.number() {
        let key = private_key(slot);
        return Some(header.open_with_private_key(&key, &Policy::default()));
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

fn suite(slot: &Record) -> Suite3 {
    let ids: [u8; 6] = slot.array("suite_ids").unwrap();
    let ids = [[ids[0], ids[1]], [ids[2], ids[3]], [ids[4], ids[5]]];
    Suite3::from_ids(ids.map(u16::from_be_bytes)).unwrap()
}

fn private_key(slot: &Record) -> PrivateKey {
    let bytes = SecretBytes::from_vec(slot.hex("private_key").unwrap());
    PrivateKey::from_bytes(suite(slot).kem, &bytes).unwrap()
}

/// Whether the same ephemeral key makes the same slot here.
fn made_again(case: &Case, slot: &Record) -> bool {
    let suite = Policy::default().admit(suite(slot)).unwrap();
    let (key, ikm) = (private_key(slot), slot.hex("ephemeral_ikm").unwrap());
    let made = hazmat::hpke_slot_with(&data_key(case), key.public_key(), suite, &ikm).unwrap();
    made.content() == slot.hex("content").unwrap()
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
                Error::Malformed | Error::Password(_) | Error::Hpke(_) => "ciphertext_malformed",
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
    all_of("file.json", "golden-file");
}

#[test]
fn files_for_recipients() {
    all_of("recipient.json", "golden-recipient");
}

fn all_of(file: &str, group: &str) {
    let golden = Golden::load(file).unwrap();
    let mut tally = Tally::new(group);
    for case in golden.cases() {
        let file = golden.bytes(case, "file", &seal).unwrap();
        for slot in case.fields.list("slots").unwrap() {
            let kind: u8 = slot.number("type").unwrap();
            if case.valid && kind == SlotType::Hpke.number() {
                tally.check(slot.name(), made_again(case, &slot));
            }
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
