//! The committed vectors of the second implementation, read and written.

use keywright_vectors::golden::{Case, Golden};
use keywright_vectors::{Error as Unreadable, Record, Tally};
use keywright_wire::compat::{InitV2, decode_init_v2, encode_init_v2};
use keywright_wire::{
    Error, HeaderForm, InitFrame, InitHead, InitParts, MessageFrame, Mode, Offer, RecordId,
    SenderKeyId, SuiteIds, padding,
};

pub(crate) const FILE: &str = "wire/frames.json";

fn form(fields: &Record) -> HeaderForm {
    match fields.text("form").unwrap() {
        "fenced" => HeaderForm::Fenced,
        "hedged" => HeaderForm::Hedged,
        other => panic!("unknown form {other}"),
    }
}

fn mode(fields: &Record) -> Mode {
    match fields.text("mode").unwrap() {
        "base" => Mode::Base,
        "psk" => Mode::Psk,
        "auth" => Mode::Auth,
        "auth-psk" => Mode::AuthPsk,
        "auth-psk-pq" => Mode::AuthPskPq,
        other => panic!("unknown mode {other}"),
    }
}

fn suite(numbers: &serde_json::Value) -> SuiteIds {
    let number = |at: usize| u16::try_from(numbers[at].as_u64().unwrap()).unwrap();
    SuiteIds::new(number(0), number(1), number(2))
}

fn message(fields: &Record) -> Vec<u8> {
    let (header, body) = (fields.hex("header").unwrap(), fields.hex("body").unwrap());
    let tag = fields.array("tag").unwrap();
    let frame = MessageFrame::new(form(fields), &header, &body, &tag).unwrap();
    let mut out = Vec::new();
    frame.encode_into(&mut out);
    assert_eq!(out.len(), frame.encoded_len());
    out
}

fn init(fields: &Record) -> Vec<u8> {
    let offered = fields.field("offer").unwrap().as_array().unwrap();
    let offer: Vec<SuiteIds> = offered.iter().map(suite).collect();
    let ciphertext = fields
        .field("kem_ciphertext")
        .map(|_| fields.hex("kem_ciphertext").unwrap());
    let parts = InitParts {
        mode: mode(fields),
        chosen: suite(fields.field("chosen").unwrap()),
        offer: Offer::new(&offer).unwrap(),
        record: RecordId::from_bytes(fields.array("record").unwrap()),
        sender: fields
            .field("sender")
            .map(|_| SenderKeyId::from_bytes(fields.array("sender").unwrap())),
        encapsulation: &fields.hex("encapsulation").unwrap(),
        kem_ciphertext: ciphertext.as_deref().map(|bytes| bytes.try_into().unwrap()),
    };
    let mut out = Vec::new();
    InitHead::new(parts).unwrap().encode_into(&mut out);
    out.extend_from_slice(&message(fields));
    out
}

/// The bytes made of the case's parts.
fn made(case: &Case) -> Vec<u8> {
    let (fields, mut out) = (&case.fields, Vec::new());
    match fields.text("kind").unwrap() {
        "message" => return message(fields),
        "init" => return init(fields),
        "padding" => padding::pad_into(&fields.hex("content").unwrap(), &mut out).unwrap(),
        "init-v2" => {
            let frame = InitV2 {
                suite: fields.number("suite").unwrap(),
                encapsulation: &fields.hex("encapsulation").unwrap(),
                binder: &fields.array("binder").unwrap(),
            };
            encode_init_v2(&frame, &mut out).unwrap();
        }
        other => panic!("unknown kind {other}"),
    }
    out
}

/// The bytes written again for what was read.
fn again(case: &Case, bytes: &[u8]) -> Result<Vec<u8>, Error> {
    let (fields, mut out) = (&case.fields, Vec::new());
    match fields.text("kind").unwrap() {
        "message" => MessageFrame::parse(bytes, form(fields))?.encode_into(&mut out),
        "init" => InitFrame::parse(bytes, form(fields))?.encode_into(&mut out),
        "padding" => {
            let content = padding::unpad(bytes)?;
            padding::pad_into(content, &mut out)?;
        }
        "init-v2" => encode_init_v2(&decode_init_v2(bytes)?, &mut out)?,
        other => panic!("unknown kind {other}"),
    }
    Ok(out)
}

fn reason(error: Error) -> &'static str {
    match error {
        Error::BodyLength(_) => "body_length",
        Error::EncapsulationLength { .. } => "encapsulation_length",
        Error::ModeForSuite(_) => "mode_for_suite",
        Error::ModeUnknown(_) => "mode_unknown",
        Error::NotOffered(_) => "not_offered",
        Error::OfferCount(_) => "offer_count",
        Error::OfferRepeats => "offer_repeats",
        Error::Padding => "padding",
        Error::SuiteUnknown(_) => "suite_unknown",
        Error::Trailing(_) => "trailing",
        Error::Truncated => "truncated",
        Error::Version(_) => "version",
        other => panic!("no decoder says {other:?}"),
    }
}

fn judge(case: &Case) -> Result<bool, Unreadable> {
    let bytes = case.fields.hex("frame")?;
    Ok(match again(case, &bytes) {
        Ok(written) => case.valid && written == bytes && made(case) == bytes,
        Err(error) => !case.valid && reason(error) == case.fields.text("reason")?,
    })
}

#[test]
fn every_frame_is_written_as_it_is_read_and_every_other_is_refused_as_stated() {
    let golden = Golden::load(FILE).unwrap();
    let mut tally = Tally::new("golden-wire");
    for case in golden.cases() {
        tally.check(case.fields.name(), judge(case).unwrap());
    }
    assert_eq!(tally.total(), 310);
    tally.finish().unwrap();
}
