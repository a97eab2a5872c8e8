//! Public keys as the standards write them: SubjectPublicKeyInfo (RFC 5280 4.1.2.7), raw, and as SSH does.
//!
//! RSA: RFC 8017 A.1.1 under rsaEncryption. Curves: RFC 5480 with the curve's name, a point in uncompressed
//! form. Ed25519, Ed448, X25519, X448: RFC 8410. ML-DSA: RFC 9881. SLH-DSA: RFC 9909. ML-KEM: RFC 9935. A token may give
//! a point as it is or as a DER OCTET STRING; which one is told by its length, never by its first byte, since both begin
//! with 4.
//!
//! Not here: compressed points.

use keywright_encoding::{base64, der, hex, terminal};
use keywright_pkcs11_names::{AttributeType, KeyType, ObjectClass};
use keywright_primitives::hash::sha256;

use crate::error::Error;
use crate::kinds::{Curve, MlDsa, MlKem, SlhDsa};
use crate::object::ObjectHandle;
use crate::session::Session;
use crate::template::Template;

/// A public key.
#[derive(Clone, Debug, PartialEq, Eq)]
#[expect(
    clippy::exhaustive_enums,
    reason = "another kind must be faced wherever a key is written"
)]
pub enum PublicKey {
    /// RSA.
    Rsa {
        /// The modulus without zeros before it.
        modulus: Vec<u8>,
        /// The public exponent without zeros before it.
        exponent: Vec<u8>,
    },
    /// On a curve.
    Curve {
        /// Which.
        curve: Curve,
        /// The point in uncompressed form, or the one coordinate.
        point: Vec<u8>,
    },
    /// ML-DSA.
    MlDsa {
        /// The parameter set.
        set: MlDsa,
        /// The key as FIPS 204 writes it (algorithm 22).
        key: Vec<u8>,
    },
    /// ML-KEM.
    MlKem {
        /// The parameter set.
        set: MlKem,
        /// The encapsulation key as FIPS 203 writes it (algorithm 13).
        key: Vec<u8>,
    },
    /// SLH-DSA.
    SlhDsa {
        /// The parameter set.
        set: SlhDsa,
        /// The key as FIPS 205 writes it (figure 15).
        key: Vec<u8>,
    },
}

/// How a public key is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(clippy::exhaustive_enums, reason = "whoever writes must know the form")]
pub enum Form {
    /// SubjectPublicKeyInfo.
    Der,
    /// A JSON Web Key (RFC 7517) whose `kid` is its thumbprint (RFC 7638).
    Jwk,
    /// SubjectPublicKeyInfo between lines of PEM.
    Pem,
    /// The point alone.
    Raw,
    /// A line of `authorized_keys`.
    Ssh,
}

/// 1.2.840.113549.1.1.1, rsaEncryption, with its NULL.
const RSA: [u8; 13] = [6, 9, 0x2A, 0x86, 0x48, 0x86, 0xF7, 0x0D, 1, 1, 1, 5, 0];
/// 1.2.840.10045.2.1, ecPublicKey.
const EC: [u8; 9] = [6, 7, 0x2A, 0x86, 0x48, 0xCE, 0x3D, 2, 1];

impl PublicKey {
    /// Reads a public key object, or a private one that holds the public values.
    ///
    /// # Errors
    /// [`Error::AttributeMissing`] if an attribute is missing; [`Error::Unusable`] for a curve without a name here and
    /// for other kinds of keys.
    pub fn read(session: &Session, key: ObjectHandle) -> Result<Self, Error> {
        let kind = session.attribute(key, AttributeType::KEY_TYPE)?.number();
        match kind.map(KeyType::new) {
            Some(KeyType::RSA) => Ok(Self::Rsa {
                modulus: positive(session, key, AttributeType::MODULUS)?,
                exponent: positive(session, key, AttributeType::PUBLIC_EXPONENT)?,
            }),
            Some(KeyType::EC | KeyType::EC_EDWARDS | KeyType::EC_MONTGOMERY) => {
                let curve = curve(session, key)?;
                let given = value(session, key, AttributeType::EC_POINT)?;
                let point = decode_point(curve, &given)
                    .ok_or_else(|| Error::Unusable(format!("its point is none of {curve:?}")))?;
                Ok(Self::Curve { curve, point })
            }
            Some(KeyType::ML_DSA) => {
                let (set, key) = whole_value(session, key, ("ML-DSA", MlDsa::from_number))?;
                let public = Self::MlDsa { set, key };
                public.of_its_length(set.name(), set.public_len())
            }
            Some(KeyType::ML_KEM) => {
                let (set, key) = whole_value(session, key, ("ML-KEM", MlKem::from_number))?;
                let public = Self::MlKem { set, key };
                public.of_its_length(set.name(), set.public_len())
            }
            Some(KeyType::SLH_DSA) => {
                let (set, key) = whole_value(session, key, ("SLH-DSA", SlhDsa::from_number))?;
                let public = Self::SlhDsa { set, key };
                public.of_its_length(set.name(), set.public_len())
            }
            Some(other) => Err(Error::Unusable(format!(
                "a public key of type {other} has no form here"
            ))),
            None => Err(Error::AttributeMissing(AttributeType::KEY_TYPE)),
        }
    }

    /// Reads the public half of the pair that a private key belongs to: what it holds itself, else the public
    /// key with the same id.
    ///
    /// # Errors
    /// As [`PublicKey::read`].
    pub fn of_private(session: &Session, private: ObjectHandle) -> Result<Self, Error> {
        match Self::read(session, private) {
            Err(Error::AttributeMissing(missing)) => {
                let id = session.attribute(private, AttributeType::ID)?;
                let id = id.bytes().filter(|id| !id.is_empty());
                let id = id.ok_or(Error::AttributeMissing(missing))?;
                let template = Template::new().class(ObjectClass::PUBLIC_KEY).id(id);
                Self::read(session, session.find_one(&template)?)
            }
            read => read,
        }
    }

    /// SubjectPublicKeyInfo.
    #[must_use]
    pub fn spki(&self) -> Vec<u8> {
        match self {
            Self::Rsa { modulus, exponent } => {
                let key = der::sequence(&[&der::integer(modulus), &der::integer(exponent)]);
                der::sequence(&[&der::sequence(&[&RSA]), &der::bit_string(&key)])
            }
            Self::Curve { curve, point } => {
                let name = curve.parameters();
                let algorithm = if curve.is_weierstrass() {
                    der::sequence(&[&EC, name])
                } else {
                    der::sequence(&[name])
                };
                der::sequence(&[&algorithm, &der::bit_string(point)])
            }
            Self::MlDsa { set, key } => bare_spki(set.algorithm(), key),
            Self::MlKem { set, key } => bare_spki(set.algorithm(), key),
            Self::SlhDsa { set, key } => bare_spki(set.algorithm(), key),
        }
    }

    /// The same, if its bytes are as many as its parameter set says.
    fn of_its_length(self, name: &str, length: usize) -> Result<Self, Error> {
        match &self {
            Self::MlDsa { key, .. } | Self::MlKem { key, .. } | Self::SlhDsa { key, .. }
                if key.len() != length =>
            {
                let bytes = key.len();
                let text = format!("a key of {bytes} bytes is none of {name}");
                Err(Error::Unusable(text))
            }
            _ => Ok(self),
        }
    }

    /// SHA-256 of SubjectPublicKeyInfo in hexadecimal.
    #[must_use]
    pub fn fingerprint(&self) -> String {
        hex::encode(&sha256(&self.spki()))
    }

    /// What `ssh-keygen -l` prints, for keys that SSH knows.
    #[must_use]
    pub fn ssh_fingerprint(&self) -> Option<String> {
        let blob = self.ssh_blob()?.1;
        let digest = base64::encode(&sha256(&blob));
        Some(format!("SHA256:{}", digest.trim_end_matches('=')))
    }

    /// In this form.
    ///
    /// # Errors
    /// [`Error::Unusable`] if keys of this kind have no such form.
    pub fn write(&self, form: Form, comment: &str) -> Result<Vec<u8>, Error> {
        let none = |form| Error::Unusable(format!("keys of its kind have no {form} form"));
        match form {
            Form::Der => Ok(self.spki()),
            Form::Jwk => {
                let jwk = self.jwk().ok_or_else(|| none("JWK"))?;
                Ok((jwk + "\n").into_bytes())
            }
            Form::Pem => Ok(der::pem("PUBLIC KEY", &self.spki()).into_bytes()),
            Form::Raw => match self {
                Self::Curve { point, .. } => Ok(point.clone()),
                Self::MlDsa { key, .. } | Self::MlKem { key, .. } | Self::SlhDsa { key, .. } => {
                    Ok(key.clone())
                }
                Self::Rsa { .. } => Err(none("raw")),
            },
            Form::Ssh => {
                let (name, blob) = self.ssh_blob().ok_or_else(|| none("SSH"))?;
                let blob = base64::encode(&blob);
                // A line of its own: no comment may begin another one.
                let comment = terminal::escaped(comment);
                Ok(format!("{name} {blob} {comment}\n").into_bytes())
            }
        }
    }

    /// A JSON Web Key with what such a key must have and no more, in the order of the names (RFC 7518 6.2 and 6.3,
    /// RFC 8037 2, RFC 8812 3.1, draft-ietf-cose-dilithium): what its thumbprint is made of. `None` for a point that is
    /// none, and for ML-KEM and SLH-DSA, which have no such form.
    #[must_use]
    pub fn bare_jwk(&self) -> Option<String> {
        let members = match self {
            Self::Rsa { modulus, exponent } => {
                let (n, e) = (url(modulus), url(exponent));
                format!(r#""e":"{e}","kty":"RSA","n":"{n}""#)
            }
            Self::Curve { curve, point } => {
                let (kty, name) = match curve {
                    Curve::P256 => ("EC", "P-256"),
                    Curve::P384 => ("EC", "P-384"),
                    Curve::P521 => ("EC", "P-521"),
                    Curve::Secp256k1 => ("EC", "secp256k1"),
                    Curve::Ed25519 => ("OKP", "Ed25519"),
                    Curve::Ed448 => ("OKP", "Ed448"),
                    Curve::X25519 => ("OKP", "X25519"),
                    Curve::X448 => ("OKP", "X448"),
                };
                if kty == "OKP" {
                    let x = url(point);
                    format!(r#""crv":"{name}","kty":"OKP","x":"{x}""#)
                } else {
                    let coordinates = point.get(1..)?;
                    let (x, y) = coordinates.split_at_checked(coordinates.len() / 2)?;
                    let (x, y) = (url(x), url(y));
                    format!(r#""crv":"{name}","kty":"EC","x":"{x}","y":"{y}""#)
                }
            }
            Self::MlDsa { set, key } => {
                let (name, public) = (set.name(), url(key));
                format!(r#""alg":"{name}","kty":"AKP","pub":"{public}""#)
            }
            Self::MlKem { .. } | Self::SlhDsa { .. } => return None,
        };
        Some(format!("{{{members}}}"))
    }

    /// The same with its thumbprint (RFC 7638) as its name.
    fn jwk(&self) -> Option<String> {
        let bare = self.bare_jwk()?;
        let thumbprint = url(&sha256(bare.as_bytes()));
        let members = bare.strip_suffix('}')?;
        Some(format!(r#"{members},"kid":"{thumbprint}"}}"#))
    }

    /// RFC 4253 6.6, RFC 5656 3.1, RFC 8709 4.
    fn ssh_blob(&self) -> Option<(String, Vec<u8>)> {
        let string = |out: &mut Vec<u8>, part: &[u8]| {
            let length = u32::try_from(part.len()).ok()?;
            out.extend_from_slice(&length.to_be_bytes());
            out.extend_from_slice(part);
            Some(())
        };
        let mut blob = Vec::new();
        let name = match self {
            Self::Rsa { modulus, exponent } => {
                string(&mut blob, b"ssh-rsa")?;
                for number in [exponent, modulus] {
                    let number = der::integer(number);
                    string(&mut blob, der::exactly(2, &number)?)?;
                }
                "ssh-rsa".to_owned()
            }
            Self::Curve { curve, point } => {
                let (name, inner) = match curve {
                    Curve::P256 => ("ecdsa-sha2-nistp256", Some("nistp256")),
                    Curve::P384 => ("ecdsa-sha2-nistp384", Some("nistp384")),
                    Curve::P521 => ("ecdsa-sha2-nistp521", Some("nistp521")),
                    Curve::Ed25519 => ("ssh-ed25519", None),
                    Curve::Ed448 => ("ssh-ed448", None),
                    _ => return None,
                };
                string(&mut blob, name.as_bytes())?;
                if let Some(inner) = inner {
                    string(&mut blob, inner.as_bytes())?;
                }
                string(&mut blob, point)?;
                name.to_owned()
            }
            Self::MlDsa { .. } | Self::MlKem { .. } | Self::SlhDsa { .. } => return None,
        };
        Some((name, blob))
    }

    /// Bits: of the modulus, of the curve's field, or of the whole key of ML-DSA, ML-KEM and SLH-DSA.
    #[must_use]
    pub fn bits(&self) -> u64 {
        match self {
            Self::Rsa { modulus, .. } => {
                let zeros = modulus.first().map_or(0, |first| first.leading_zeros());
                (modulus.len() as u64 * 8).saturating_sub(u64::from(zeros))
            }
            Self::Curve { curve, .. } => u64::from(curve.bits()),
            Self::MlDsa { key, .. } | Self::MlKem { key, .. } | Self::SlhDsa { key, .. } => {
                key.len() as u64 * 8
            }
        }
    }
}

/// SubjectPublicKeyInfo of an algorithm without parameters whose key stands as it is.
fn bare_spki(algorithm: &[u8], key: &[u8]) -> Vec<u8> {
    der::sequence(&[&der::sequence(&[algorithm]), &der::bit_string(key)])
}

/// Base64 for addresses, without padding (RFC 4648, section 5).
fn url(bytes: &[u8]) -> String {
    let text = base64::encode(bytes).replace('+', "-").replace('/', "_");
    text.trim_end_matches('=').to_owned()
}

/// The curve of a key.
///
/// # Errors
/// [`Error::AttributeMissing`]; [`Error::Unusable`] for a curve without a name here.
pub fn curve(session: &Session, key: ObjectHandle) -> Result<Curve, Error> {
    let parameters = value(session, key, AttributeType::EC_PARAMS)?;
    Curve::from_parameters(&parameters)
        .ok_or_else(|| Error::Unusable("its curve has no name here".to_owned()))
}

fn value(session: &Session, key: ObjectHandle, kind: AttributeType) -> Result<Vec<u8>, Error> {
    let reading = session.attribute(key, kind)?;
    let value = reading.bytes().filter(|value| !value.is_empty());
    value
        .map(<[u8]>::to_vec)
        .ok_or(Error::AttributeMissing(kind))
}

/// The parameter set and the value of a public object. The value of a private object of such a kind is the private key,
/// so none is read but a public object's.
fn whole_value<S>(
    session: &Session,
    key: ObjectHandle,
    (family, known): (&str, fn(u64) -> Option<S>),
) -> Result<(S, Vec<u8>), Error> {
    let class = session.attribute(key, AttributeType::CLASS)?.number();
    if class.map(ObjectClass::new) != Some(ObjectClass::PUBLIC_KEY) {
        return Err(Error::AttributeMissing(AttributeType::VALUE));
    }
    let set = session.attribute(key, AttributeType::PARAMETER_SET)?;
    let set = set
        .number()
        .ok_or(Error::AttributeMissing(AttributeType::PARAMETER_SET))?;
    let known = known(set)
        .ok_or_else(|| Error::Unusable(format!("{family} has no parameter set {set}")))?;
    Ok((known, value(session, key, AttributeType::VALUE)?))
}

fn positive(session: &Session, key: ObjectHandle, kind: AttributeType) -> Result<Vec<u8>, Error> {
    let bytes = value(session, key, kind)?;
    let zeros = bytes.iter().take_while(|byte| **byte == 0).count();
    Ok(bytes.get(zeros..).unwrap_or_default().to_vec())
}

fn decode_point(curve: Curve, given: &[u8]) -> Option<Vec<u8>> {
    let right = |point: &&[u8]| {
        let first_fits = !curve.is_weierstrass() || point.first() == Some(&4);
        point.len() == curve.public_len() && first_fits
    };
    let bare = Some(given).filter(right);
    let wrapped = || der::exactly(4, given).filter(right);
    bare.or_else(wrapped).map(<[u8]>::to_vec)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_point_is_told_from_its_wrapping_by_length() {
        for curve in Curve::ALL {
            let point = [&[4][..], &vec![9; curve.public_len() - 1]].concat();
            let wrapped = der::octet_string(&point);
            assert_eq!(
                decode_point(curve, &point),
                Some(point.clone()),
                "{curve:?}"
            );
            assert_eq!(
                decode_point(curve, &wrapped),
                Some(point.clone()),
                "{curve:?}"
            );
            assert_eq!(decode_point(curve, &point[1..]), None, "{curve:?}");
            assert_eq!(
                decode_point(curve, &[wrapped, vec![0]].concat()),
                None,
                "{curve:?}"
            );
        }
        let compressed = [&[2][..], &[9; 64]].concat();
        assert_eq!(decode_point(Curve::P256, &compressed), None);
    }

    #[test]
    fn a_jwk_has_the_thumbprint_of_the_rfc() {
        // RFC 8037 A.2 and A.3.
        let point = hex::decode("d75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511a");
        let key = PublicKey::Curve {
            curve: Curve::Ed25519,
            point: point.unwrap(),
        };
        let jwk = String::from_utf8(key.write(Form::Jwk, "").unwrap()).unwrap();
        assert_eq!(
            jwk.trim_end(),
            r#"{"crv":"Ed25519","kty":"OKP","x":"11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo","kid":"kPrK_qmxVWaYVA9wwBF6Iuo3vVzz7TxHCTwXBygrS4k"}"#
        );
    }

    #[test]
    fn forms_that_do_not_exist_are_refused() {
        let rsa = PublicKey::Rsa {
            modulus: vec![0x80; 256],
            exponent: vec![1, 0, 1],
        };
        assert!(matches!(rsa.write(Form::Raw, ""), Err(Error::Unusable(_))));
        let agreement = PublicKey::Curve {
            curve: Curve::X25519,
            point: vec![9; 32],
        };
        assert!(matches!(
            agreement.write(Form::Ssh, ""),
            Err(Error::Unusable(_))
        ));
        assert_eq!(agreement.ssh_fingerprint(), None);
        let lattice = PublicKey::MlDsa {
            set: MlDsa::MlDsa65,
            key: vec![9; 1952],
        };
        assert!(matches!(
            lattice.write(Form::Ssh, ""),
            Err(Error::Unusable(_))
        ));
        assert_eq!(lattice.ssh_fingerprint(), None);
        let hashes = PublicKey::SlhDsa {
            set: SlhDsa::Sha2_128s,
            key: vec![9; 32],
        };
        for form in [Form::Ssh, Form::Jwk] {
            assert!(matches!(hashes.write(form, ""), Err(Error::Unusable(_))));
        }
        assert_eq!(hashes.bare_jwk(), None);
        assert_eq!((rsa.bits(), agreement.bits()), (2048, 255));
    }

    #[test]
    fn the_newer_kinds_stand_without_parameters_under_the_numbers_of_the_rfcs() {
        // RFC 9935, C.2, and RFC 9909, A.2: what stands before the key.
        let kem = PublicKey::MlKem {
            set: MlKem::MlKem768,
            key: vec![7; 1184],
        };
        let front = "308204b2300b0609608648016503040402038204a100";
        assert!(hex::encode(&kem.spki()).starts_with(front));
        let hashes = PublicKey::SlhDsa {
            set: SlhDsa::Sha2_128s,
            key: vec![7; 32],
        };
        let front = "3030300b0609608648016503040314032100";
        assert!(hex::encode(&hashes.spki()).starts_with(front));
        let last = |spki: &[u8]| hex::encode(&spki[4..17]);
        for (index, set) in (20..).zip(SlhDsa::ALL) {
            let key = vec![7; set.public_len()];
            let spki = PublicKey::SlhDsa { set, key }.spki();
            let oid = format!("06096086480165030403{index:02x}");
            assert!(last(&spki).contains(&oid), "{}", set.name());
        }
        assert!(hashes.of_its_length("SLH-DSA-SHA2-192s", 48).is_err());
        assert!(kem.of_its_length("ML-KEM-768", 1184).is_ok());
    }
}
