//! What some keys have besides their specification, fixed at creation like it (design 7.12, 7.20).
//!
//! It stands in the row of the key, for whoever looks, and in the associated data of each version's sealed
//! secret: a version whose row says something else does not open.

use keywright_encoding::put_lp;
use serde::{Deserialize, Serialize};

use crate::ReaderDetail;
use crate::reader::ObjectId;

/// What is fixed about a key of a purpose that needs more than a specification.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
#[non_exhaustive]
pub enum Detail {
    /// Of a key of purpose `tokenise`: what values look like.
    Format(FormatDetail),
    /// Of one version of a key of purpose `seal`, and not of the key: it was brought in from the seed service.
    Reader(ReaderDetail),
    /// Of a key of purpose `tree`: how its seed came to be.
    Tree(TreeDetail),
}

/// A tree of keys, whose scheme is the algorithm.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[expect(
    clippy::exhaustive_structs,
    reason = "a new part must be faced wherever a tree is fixed"
)]
pub struct TreeDetail {
    /// The name of the way in which the seed was made: `raw` or `bip39`.
    pub seed: String,
    /// Whether it makes children that a public parent could make too, and hands out public nodes.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub soft_children: bool,
}

/// A format and what goes with it, each in its canonical text.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[expect(
    clippy::exhaustive_structs,
    reason = "a new part must be faced wherever a format is fixed"
)]
pub struct FormatDetail {
    /// The format.
    pub format: String,
    /// What the tweak is made of.
    pub tweak: String,
    /// The name of the column, for the part `column` of the tweak and for the mask `hash`.
    pub column: String,
    /// Whether sets below the floor were accepted.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub small_domain: bool,
    /// What those see who may not have the value; without it nobody sees anything but the value.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mask: Option<String>,
}

impl Detail {
    /// The fields that follow a key's attributes: tag u8 + lp(bytes), rising, an empty one left out.
    pub(crate) fn put_fields(&self, out: &mut Vec<u8>) {
        let format = match self {
            Self::Format(format) => format,
            Self::Reader(reader) => {
                let object = reader.object.as_ref().map(ObjectId::as_bytes);
                put(out, LABEL, reader.label.as_bytes());
                put(out, FORMER_CONTEXT, reader.context.as_bytes());
                put(out, FORMER_NAME, &[reader.name.number()]);
                put(out, NONCE_LEN, &[reader.nonce.number()]);
                put(out, OBJECT, object.unwrap_or_default());
                return;
            }
            Self::Tree(tree) => {
                let soft: &[u8] = if tree.soft_children { &[1] } else { &[] };
                put(out, SEED, tree.seed.as_bytes());
                put(out, SOFT_CHILDREN, soft);
                return;
            }
        };
        let small: &[u8] = if format.small_domain { &[1] } else { &[] };
        let mask = format.mask.as_deref().unwrap_or_default();
        put(out, FORMAT, format.format.as_bytes());
        put(out, TWEAK, format.tweak.as_bytes());
        put(out, COLUMN, format.column.as_bytes());
        put(out, SMALL_DOMAIN, small);
        put(out, MASK, mask.as_bytes());
    }
}

fn put(out: &mut Vec<u8>, tag: u8, bytes: &[u8]) {
    if !bytes.is_empty() {
        out.push(tag);
        // A field of 4 GiB would not have fitted into its row.
        let _ = put_lp(out, bytes);
    }
}

const FORMAT: u8 = 1;
const TWEAK: u8 = 2;
const COLUMN: u8 = 3;
const SMALL_DOMAIN: u8 = 4;
const MASK: u8 = 5;
const SEED: u8 = 6;
const SOFT_CHILDREN: u8 = 7;
const LABEL: u8 = 8;
const FORMER_CONTEXT: u8 = 9;
const FORMER_NAME: u8 = 10;
const NONCE_LEN: u8 = 11;
const OBJECT: u8 = 12;

#[cfg(test)]
mod tests {
    use super::*;

    fn detail() -> FormatDetail {
        FormatDetail {
            format: "f".into(),
            tweak: "t".into(),
            column: "c".into(),
            small_domain: false,
            mask: None,
        }
    }

    fn fields(format: FormatDetail) -> Vec<u8> {
        let mut out = Vec::new();
        Detail::Format(format).put_fields(&mut out);
        out
    }

    #[test]
    fn each_part_is_a_field_of_its_own_and_absent_ones_are_left_out() {
        let plain = fields(detail());
        assert_eq!(plain, b"\x01\0\0\0\x01f\x02\0\0\0\x01t\x03\0\0\0\x01c");
        let small = FormatDetail {
            small_domain: true,
            ..detail()
        };
        assert_eq!(fields(small), [&plain[..], b"\x04\0\0\0\x01\x01"].concat());
        let masked = FormatDetail {
            mask: Some("null".into()),
            ..detail()
        };
        assert_eq!(fields(masked), [&plain[..], b"\x05\0\0\0\x04null"].concat());
    }

    #[test]
    fn a_tree_says_how_its_seed_was_made_and_whether_it_has_soft_children() {
        let fields = |soft_children| {
            let mut out = Vec::new();
            let seed = "raw".to_owned();
            Detail::Tree(TreeDetail {
                seed,
                soft_children,
            })
            .put_fields(&mut out);
            out
        };
        assert_eq!(fields(false), b"\x06\0\0\0\x03raw");
        assert_eq!(fields(true), b"\x06\0\0\0\x03raw\x07\0\0\0\x01\x01");
    }

    #[test]
    fn a_reader_says_everything_that_decides_how_it_reads() {
        use crate::reader::{FormerName, NonceLen};
        let reader = ReaderDetail {
            label: "k".into(),
            context: "c".into(),
            name: FormerName::OrganizationalUnit,
            nonce: NonceLen::Sixteen,
            object: Some("0aff".parse().unwrap()),
        };
        let mut out = Vec::new();
        Detail::Reader(reader.clone()).put_fields(&mut out);
        let expected = b"\x08\0\0\0\x01k\x09\0\0\0\x01c\x0a\0\0\0\x01\x02\x0b\0\0\0\x01\x10\
                         \x0c\0\0\0\x02\x0a\xff";
        assert_eq!(out, expected);
        let written = serde_json::to_string(&Detail::Reader(reader.clone())).unwrap();
        assert_eq!(
            written,
            r#"{"reader":{"label":"k","context":"c","name":"organizational-unit","nonce":16,"object":"0aff"}}"#
        );
        let read: Detail = serde_json::from_str(&written).unwrap();
        assert_eq!(read, Detail::Reader(reader));
        for wrong in [
            written.replace("16", "13"),
            written.replace("16", "\"16\""),
            written.replace("0aff", "0AFF"),
            written.replace("0aff", "0af"),
            written.replace("0aff", ""),
            written.replace("organizational-unit", "unit"),
            written.replace("\"nonce\"", "\"more\":1,\"nonce\""),
        ] {
            assert!(serde_json::from_str::<Detail>(&wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn it_reads_as_it_was_written_and_refuses_what_it_does_not_know() {
        let written = serde_json::to_string(&Detail::Format(detail())).unwrap();
        assert_eq!(
            written,
            r#"{"format":{"format":"f","tweak":"t","column":"c"}}"#
        );
        let read: Detail = serde_json::from_str(&written).unwrap();
        assert_eq!(read, Detail::Format(detail()));
        for unknown in [
            written.replace("tweak", "tweek"),
            written.replace("{\"format\":{", "{\"forest\":{"),
            written.replace("\"column\"", "\"more\":1,\"column\""),
        ] {
            assert!(
                serde_json::from_str::<Detail>(&unknown).is_err(),
                "{unknown}"
            );
        }
    }
}
