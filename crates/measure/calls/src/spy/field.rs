//! The kinds of lines that the spy writes.

use std::borrow::Cow;

use keywright_pkcs11_names::{
    CallRecord, KeySummary, MechanismSummary, MechanismType, Named as _, UserType,
};

/// A line of the spy.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Line<'a> {
    /// A process begins.
    Banner,
    /// `Loaded: "..."`: the file name of the module.
    Loaded(&'a str),
    /// `N: C_Function`.
    Header(u64, &'a str),
    /// The local time of the call.
    Time(&'a [u8]),
    /// `[in]` or `[out]`.
    Field(Field<'a>),
    /// `Returned:  N CKR_...`.
    Returned(u64),
    /// Bytes, which may be a secret.
    Dump,
    /// What the spy says of slots, tokens, mechanisms and attributes.
    Detail,
    /// Nothing of the spy's.
    Other,
}

/// Which way a value goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Way {
    In,
    Out,
}

/// A named value.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Field<'a> {
    /// `[in] name = value`.
    Value { name: &'a str, value: &'a str },
    /// `name[length] address / bytes`: only that there were so many.
    Buffer {
        way: Way,
        name: &'a str,
        null: bool,
        bytes: u64,
    },
    /// Anything else behind `[in]` or `[out]`.
    Other,
}

/// What a line is. Bytes that could be a secret are not looked at further than that.
pub(crate) fn classify(line: &[u8]) -> Line<'_> {
    let Ok(text) = std::str::from_utf8(line) else {
        // The characters of a text attribute; or no text at all, where no call is open.
        return if line.first() == Some(&b' ') {
            Line::Dump
        } else {
            Line::Other
        };
    };
    if text.starts_with(' ') {
        return indented(text);
    }
    if text.starts_with("****") && text.contains("PKCS#11 spy") {
        return Line::Banner;
    }
    if let Some(path) = text.strip_prefix("Loaded: \"") {
        let path = path.trim_end_matches('"');
        return Line::Loaded(path.rsplit('/').next().unwrap_or(path));
    }
    if let Some(answer) = text.strip_prefix("Returned:") {
        let mut words = answer.split_ascii_whitespace();
        let code = words.next().and_then(|word| word.parse().ok());
        return code.map_or(Line::Other, Line::Returned);
    }
    // As the spies of older OpenSC write it, without a mark.
    if let Some(value) = text.strip_prefix("pMechanism->type=") {
        let name = "pMechanism->type";
        return Line::Field(Field::Value { name, value });
    }
    if let Some(rest) = text.strip_prefix("[in] ") {
        return Line::Field(field(rest, Way::In));
    }
    if let Some(rest) = text.strip_prefix("[out] ") {
        return Line::Field(field(rest, Way::Out));
    }
    if let Some((number, name)) = header(text) {
        return Line::Header(number, name);
    }
    match text {
        _ if is_time(line) => Line::Time(line),
        "[compat]" => Line::Detail,
        _ if DETAILS.iter().any(|begin| text.starts_with(begin)) => Line::Detail,
        _ => Line::Other,
    }
}

/// How lines without an indent begin that tell of lists.
const DETAILS: &[&str] = &[
    "Count is ",
    "Notify=",
    "pApplication=",
    "Slot ",
    "Object 0x",
    "CKM_",
    "Unknown Mechanism (",
];

/// Attributes, what is said of slots and tokens, and bytes.
fn indented(text: &str) -> Line<'_> {
    let inner = text.trim();
    let told = inner.starts_with("CKA_") || inner.starts_with("CKM_") || inner.starts_with("CKF_");
    if told || inner.starts_with("Unknown Mechanism (") || is_info(text, inner) {
        return Line::Detail;
    }
    Line::Dump
}

/// `name:   value` six blanks deep, as in the descriptions of slots, tokens and sessions.
fn is_info(text: &str, inner: &str) -> bool {
    let Some((name, _)) = inner.split_once(':') else {
        return false;
    };
    let depth = text.len() - text.trim_start().len();
    (5..=6).contains(&depth) && INFO.contains(&name)
}

const INFO: &[&str] = &[
    "cryptokiVersion",
    "firmwareVersion",
    "flags",
    "hardwareVersion",
    "label",
    "libraryDescription",
    "libraryVersion",
    "manufacturerID",
    "model",
    "serialNumber",
    "slotDescription",
    "slotID",
    "state",
    "time",
    "ulDeviceError",
    "ulFreePrivateMemory",
    "ulFreePublicMemory",
    "ulMaxPinLen",
    "ulMaxRwSessionCount",
    "ulMaxSessionCount",
    "ulMinPinLen",
    "ulRwSessionCount",
    "ulSessionCount",
    "ulTotalPrivateMemory",
    "ulTotalPublicMemory",
];

fn header(text: &str) -> Option<(u64, &str)> {
    let (number, name) = text.split_once(": ")?;
    let letters = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_';
    let is_name = name.starts_with("C_") && name.len() <= 64 && name.bytes().all(letters);
    let digits = !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit());
    if !is_name || !digits {
        return None;
    }
    Some((number.parse().ok()?, name))
}

fn is_time(line: &[u8]) -> bool {
    let form = b"0000-00-00 00:00:00.000";
    line.len() == form.len()
        && line.iter().zip(form).all(|(byte, model)| match model {
            b'0' => byte.is_ascii_digit(),
            mark => byte == mark,
        })
}

fn field(rest: &str, way: Way) -> Field<'_> {
    // Two fields share a line where the function asks for a mechanism.
    let rest = rest.split("[out] ").next().unwrap_or(rest).trim_end();
    if let Some((name, value)) = rest.split_once(" = ") {
        return Field::Value { name, value };
    }
    let Some((name, behind)) = rest.split_once("] ") else {
        return Field::Other;
    };
    let name = name.split('[').next().unwrap_or(name);
    let Some((address, bytes)) = behind.split_once(" / ") else {
        return Field::Other;
    };
    let Ok(bytes) = bytes.trim().parse() else {
        return Field::Other;
    };
    Field::Buffer {
        way,
        name,
        null: address.trim() == "NULL" || address.bytes().all(|byte| byte == b'0'),
        bytes,
    }
}

/// Buffers whose length is the length of what is worked on.
const DATA: &[&str] = &[
    "pCiphertext",
    "pData",
    "pDigest",
    "pEncryptedData",
    "pEncryptedPart",
    "pLastEncryptedPart",
    "pLastPart",
    "pPart",
    "pPlaintext",
    "pSeed",
    "pSignature",
    "pWrappedKey",
    "RandomData",
];

impl Field<'_> {
    pub(super) fn apply(&self, record: &mut CallRecord<'static>) {
        match self {
            Self::Value { name, value } => value_of(record, name, value),
            Self::Buffer {
                way,
                name,
                null,
                bytes,
            } if DATA.contains(name) => match (way, null) {
                (Way::Out, true) => record.size_query = true,
                (Way::Out, false) => record.out_len = Some(*bytes),
                (Way::In, _) => record.in_len = record.in_len.or(Some(*bytes)),
            },
            _ => {}
        }
    }
}

fn value_of(record: &mut CallRecord<'static>, name: &str, value: &str) {
    match name {
        "hSession" | "*phSession" => record.session = number(value),
        "slotID" => record.slot_id = number(value),
        "hKey" | "hWrappingKey" | "hUnwrappingKey" | "hBaseKey" => {
            record.key = number(value).map(KeySummary::new);
        }
        "userType" => {
            let named = value.parse::<UserType>().ok();
            record.user_type = named.map(UserType::value).or_else(|| number(value));
        }
        "pMechanism->type" | "type" => record.mech = mechanism(value),
        _ => {}
    }
}

fn number(value: &str) -> Option<u64> {
    match value.trim().strip_prefix("0x") {
        Some(digits) => u64::from_str_radix(digits, 16).ok(),
        None => value.trim().parse().ok(),
    }
}

/// `CKM_ECDSA`, `Unknown Mechanism (0000210a)`, `0x0000210A`.
fn mechanism(value: &str) -> Option<MechanismSummary<'static>> {
    let value = value.trim();
    let unknown = value.strip_prefix("Unknown Mechanism (");
    let digits = unknown.map(|rest| rest.trim_end_matches(')'));
    let digits = digits.or_else(|| value.strip_prefix("0x"));
    if let Some(digits) = digits {
        let number = u64::from_str_radix(digits, 16).ok()?;
        return Some(MechanismSummary::new(MechanismType::new(number)));
    }
    let known = MechanismType::names().iter();
    let mut known = known.filter(|(name, _)| *name == value);
    if let Some((_, number)) = known.next() {
        return Some(MechanismSummary::new(MechanismType::new(*number)));
    }
    let plain = value.len() <= 64
        && value
            .bytes()
            .all(|byte| byte.is_ascii_alphanumeric() || byte == b'_');
    plain.then(|| {
        let mut summary = MechanismSummary::new(MechanismType::NULL);
        summary.value = None;
        summary.name = Cow::Owned(value.to_owned());
        summary
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_kind_of_line_is_told_from_the_others() {
        let field = |name, value| Line::Field(Field::Value { name, value });
        for (line, kind) in [
            (
                "*************** OpenSC PKCS#11 spy *****************",
                Line::Banner,
            ),
            (
                "Loaded: \"/usr/lib/softhsm/libsofthsm2.so\"",
                Line::Loaded("libsofthsm2.so"),
            ),
            ("14: C_Sign", Line::Header(14, "C_Sign")),
            (
                "2026-11-21 02:36:58.432",
                Line::Time(b"2026-11-21 02:36:58.432"),
            ),
            ("[in] hSession = 0x1", field("hSession", "0x1")),
            (
                "[in] type = CKM_AES_CBC                  [out] pInfo: ",
                field("type", "CKM_AES_CBC"),
            ),
            ("Returned:  160 CKR_PIN_INCORRECT", Line::Returned(160)),
            (
                "    00000000  38 37 36 35 34 33 32 31                          87654321        ",
                Line::Dump,
            ),
            ("    6B31", Line::Dump),
            ("     k 1", Line::Dump),
            ("    CKA_TOKEN             True", Line::Detail),
            (
                "      label:                  'spy                             '",
                Line::Detail,
            ),
            ("Object 0x2 matches", Line::Detail),
            ("[compat]", Line::Detail),
            ("12: C_Login(6, 0, 1234, 4)", Line::Other),
            ("Returned: soon", Line::Other),
            ("what is this", Line::Other),
        ] {
            assert_eq!(classify(line.as_bytes()), kind, "{line}");
        }
        assert_eq!(classify(b"\xff\xfe"), Line::Other);
        assert_eq!(classify(b"    \xff\xfe"), Line::Dump);
    }

    #[test]
    fn of_a_buffer_only_its_length_is_read() {
        assert_eq!(
            classify(b"[out] pSignature[*pulSignatureLen] 00007ffd480eb0d0 / 64"),
            Line::Field(Field::Buffer {
                way: Way::Out,
                name: "pSignature",
                null: false,
                bytes: 64
            })
        );
        assert_eq!(
            classify(b"[out] pSignature[*pulSignatureLen] 0000000000000000 / 64"),
            Line::Field(Field::Buffer {
                way: Way::Out,
                name: "pSignature",
                null: true,
                bytes: 64
            })
        );
        assert_eq!(
            classify(b"[in] pMechanism->pParameter[ulParameterLen] NULL [size : 0x0 (0)]"),
            Line::Field(Field::Other)
        );
    }

    #[test]
    fn mechanisms_are_read_by_name_and_by_either_spelling_of_a_number() {
        for (text, number) in [
            ("CKM_ECDSA                    ", Some(0x1041)),
            ("Unknown Mechanism (0000210a)", Some(0x210a)),
            ("0x0000210A", Some(0x210a)),
            ("CKM_FROM_TOMORROW", None),
        ] {
            let value = mechanism(text).unwrap().value.map(MechanismType::value);
            assert_eq!(value, number, "{text}");
        }
        assert!(mechanism("x = 0x1; rm").is_none());
    }
}
