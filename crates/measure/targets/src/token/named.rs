//! A key that the caller names: what it is, and which operations it can be measured with.

use keywright_hsm::public_key::{PublicKey, curve};
use keywright_hsm::{Error, KeyChoice};
use keywright_pkcs11::{Curve, Error as Layer, ObjectHandle, Session, Template};
use keywright_pkcs11_names::{AttributeType, KeyType, ObjectClass};

use super::TARGET;
use super::keys::Keys;
use super::task::{Code, Padding, Shape, Signature, Task, Whose};
use crate::operation::{Make, Operation};

/// A key that the caller named.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct NamedKey {
    /// What it is, such as `RSA-3072` or `AES-256`.
    pub kind: String,
    /// What it can be measured with, and what each is called.
    pub rows: Vec<(Operation, String)>,
}

/// The objects of a key and what they may do.
struct Found<'s> {
    session: &'s Session,
    private: Option<ObjectHandle>,
    public: Option<ObjectHandle>,
}

impl NamedKey {
    pub(super) fn detect(session: &Session, choice: &KeyChoice<'_>) -> Result<(Self, Keys), Error> {
        let (found, primary) = Found::new(session, choice)?;
        let kind = session
            .attribute(primary, AttributeType::KEY_TYPE)?
            .number();
        let (kind, rows) = match kind.map(KeyType::new) {
            Some(KeyType::RSA) => found.rsa(primary)?,
            Some(KeyType::EC) => found.ecdsa(curve(session, primary)?),
            Some(KeyType::EC_MONTGOMERY) => found.montgomery(curve(session, primary)?),
            Some(KeyType::ML_DSA) => found.ml_dsa(primary)?,
            Some(KeyType::EC_EDWARDS) => found.eddsa(curve(session, primary)?),
            Some(KeyType::AES) => found.aes(primary)?,
            Some(KeyType::GENERIC_SECRET | KeyType::SHA256_HMAC) => found.generic(),
            Some(other) => {
                return Err(Error::Unusable(format!(
                    "there are no measurements of keys of type {other}"
                )));
            }
            None => return Err(Error::Unreadable(AttributeType::KEY_TYPE)),
        };
        if rows.is_empty() {
            return Err(found.idle(&kind));
        }
        if found.may(found.private, AttributeType::ALWAYS_AUTHENTICATE) {
            return Err(Error::Unusable(
                "it wants the PIN for each operation, so that the log-in would be measured"
                    .to_owned(),
            ));
        }
        let keys = Keys {
            public: found.public.unwrap_or(primary),
            private: found.private.unwrap_or(primary),
        };
        let rows = rows.into_iter().map(|(task, name)| (operation(task), name));
        let rows = rows.collect();
        Ok((Self { kind, rows }, keys))
    }
}

type Rows = Vec<(Task, String)>;

impl<'s> Found<'s> {
    fn new(session: &'s Session, choice: &KeyChoice<'_>) -> Result<(Self, ObjectHandle), Error> {
        let of = |class| choice.find(session, class);
        let mut found = Self {
            session,
            private: None,
            public: None,
        };
        match of(ObjectClass::SECRET_KEY) {
            Ok(secret) => {
                found.private = Some(secret);
                return Ok((found, secret));
            }
            Err(Error::NoKey { .. }) => {}
            Err(error) => return Err(error),
        }
        match of(ObjectClass::PRIVATE_KEY) {
            Ok(private) => {
                found.private = Some(private);
                found.public = found.other_half(private)?;
                Ok((found, private))
            }
            Err(Error::NoKey { .. }) => {
                let public = of(ObjectClass::PUBLIC_KEY)?;
                found.public = Some(public);
                Ok((found, public))
            }
            Err(error) => Err(error),
        }
    }

    /// The public key with the id of a private one.
    fn other_half(&self, private: ObjectHandle) -> Result<Option<ObjectHandle>, Error> {
        let id = self.session.attribute(private, AttributeType::ID)?;
        let Some(id) = id.bytes().filter(|id| !id.is_empty()) else {
            return Ok(None);
        };
        let template = Template::new().class(ObjectClass::PUBLIC_KEY).id(id);
        match self.session.find_one(&template) {
            Ok(public) => Ok(Some(public)),
            Err(keywright_pkcs11::Error::NoObject) => Ok(None),
            Err(error) => Err(error.into()),
        }
    }

    fn may(&self, key: Option<ObjectHandle>, what: AttributeType) -> bool {
        let flag = |key| self.session.attribute(key, what).ok()?.flag();
        key.and_then(flag).unwrap_or(false)
    }

    fn signs(&self) -> bool {
        self.may(self.private, AttributeType::SIGN)
    }

    /// To verify, something has to be signed first.
    fn verifies(&self) -> bool {
        self.signs() && self.may(self.public, AttributeType::VERIFY)
    }

    /// A shared secret can be made, and looked at from the other side.
    fn agrees(&self) -> bool {
        self.public.is_some() && self.may(self.private, AttributeType::DERIVE)
    }

    /// Why there is nothing to measure a key with.
    fn idle(&self, kind: &str) -> Error {
        let pair = self.private != self.public;
        let wraps = self.may(self.private, AttributeType::UNWRAP)
            || self.may(self.public, AttributeType::WRAP);
        Error::Unusable(match (pair && wraps, self.private, self.public) {
            (true, ..) => format!(
                "this {kind} key wraps and unwraps alone, and wrapping is measured with AES keys only"
            ),
            (_, None, _) => format!(
                "the private half of this {kind} key is not here, and everything that is measured needs it"
            ),
            (_, Some(private), None) if self.may(Some(private), AttributeType::DERIVE) => format!(
                "the public half of this {kind} key is not here, without which what it derives cannot be looked at"
            ),
            _ => format!("this {kind} key may do nothing that is measured"),
        })
    }

    fn rsa(&self, primary: ObjectHandle) -> Result<(String, Rows), Error> {
        let key = match PublicKey::read(self.session, primary) {
            Err(Layer::AttributeMissing(_)) => PublicKey::of_private(self.session, primary)?,
            read => read?,
        };
        let bits = u32::try_from(key.bits()).unwrap_or(u32::MAX);
        let how = Signature::RsaPkcs1 { bits };
        let mut rows = Vec::new();
        let mut add = |can: bool, task, what: &str| {
            if can {
                rows.push((task, format!("RSA-{bits} {what}")));
            }
        };
        add(self.signs(), Task::Sign(how), "Sign");
        add(self.verifies(), Task::Verify(how), "Verify");
        let decrypts = self.may(self.private, AttributeType::DECRYPT);
        // What nobody could open would not be looked at.
        let encrypts = decrypts && self.may(self.public, AttributeType::ENCRYPT);
        add(encrypts, Task::Encrypt(Padding::Pkcs1, bits), "Encrypt");
        add(encrypts, Task::Decrypt(Padding::Pkcs1, bits), "Decrypt");
        Ok((format!("RSA-{bits}"), rows))
    }

    fn ecdsa(&self, curve: Curve) -> (String, Rows) {
        let (long, short) = match curve {
            Curve::Secp256k1 => ("secp256k1".to_owned(), "secp256k1".to_owned()),
            _ => (format!("P-{}", curve.bits()), format!("P{}", curve.bits())),
        };
        let how = Signature::Ecdsa(curve);
        let mut rows = Vec::new();
        // The published benchmark spells one with a hyphen and the other without.
        if self.signs() {
            rows.push((Task::Sign(how), format!("ECDSA-{long} Sign")));
        }
        if self.verifies() {
            rows.push((Task::Verify(how), format!("ECDSA-{short} Verify")));
        }
        if self.agrees() {
            rows.push((Task::Agree(curve), format!("ECDH-{long} Agree")));
        }
        (format!("ECDSA {long}"), rows)
    }

    fn montgomery(&self, curve: Curve) -> (String, Rows) {
        let name = if curve == Curve::X448 {
            "X448"
        } else {
            "X25519"
        };
        let mut rows = Vec::new();
        if self.agrees() {
            rows.push((Task::Agree(curve), format!("{name} Agree")));
        }
        (name.to_owned(), rows)
    }

    fn ml_dsa(&self, primary: ObjectHandle) -> Result<(String, Rows), Error> {
        let set = self
            .session
            .attribute(primary, AttributeType::PARAMETER_SET)?;
        let name = match set.number() {
            Some(1) => "ML-DSA-44",
            Some(2) => "ML-DSA-65",
            Some(3) => "ML-DSA-87",
            _ => return Err(Error::Unreadable(AttributeType::PARAMETER_SET)),
        };
        let how = Signature::MlDsa;
        let mut rows = Vec::new();
        if self.signs() {
            rows.push((Task::Sign(how), format!("{name} Sign")));
        }
        if self.verifies() {
            rows.push((Task::Verify(how), format!("{name} Verify")));
        }
        Ok((name.to_owned(), rows))
    }

    fn eddsa(&self, curve: Curve) -> (String, Rows) {
        let name = if curve == Curve::Ed448 {
            "Ed448"
        } else {
            "Ed25519"
        };
        let how = Signature::Eddsa(curve);
        let mut rows = Vec::new();
        if self.signs() {
            rows.push((Task::Sign(how), format!("{name} Sign")));
        }
        if self.verifies() {
            rows.push((Task::Verify(how), format!("{name} Verify")));
        }
        (name.to_owned(), rows)
    }

    fn aes(&self, primary: ObjectHandle) -> Result<(String, Rows), Error> {
        let length = self.session.attribute(primary, AttributeType::VALUE_LEN)?;
        let length = length
            .number()
            .and_then(|length| u16::try_from(length).ok());
        let length = length.ok_or(Error::Unreadable(AttributeType::VALUE_LEN))?;
        let kind = format!("AES-{}", u32::from(length) * 8);
        let mut rows = Vec::new();
        let may = |what| self.may(self.private, what);
        if may(AttributeType::ENCRYPT) && may(AttributeType::DECRYPT) {
            rows.push((Task::Seal(length), format!("{kind}-GCM Encrypt (1KB)")));
            rows.push((Task::Open(length), format!("{kind}-GCM Decrypt (1KB)")));
        }
        if may(AttributeType::SIGN) && may(AttributeType::VERIFY) {
            rows.push((Task::Mac(Code::Cmac), "AES-CMAC".to_owned()));
            rows.push((Task::MacVerify(Code::Cmac), "AES-CMAC Verify".to_owned()));
        }
        if may(AttributeType::WRAP) && may(AttributeType::UNWRAP) {
            rows.push((Task::Wrap, format!("{kind} Wrap")));
            rows.push((Task::Unwrap, format!("{kind} Unwrap")));
        }
        Ok((kind, rows))
    }

    fn generic(&self) -> (String, Rows) {
        let may = |what| self.may(self.private, what);
        let mut rows = Vec::new();
        if may(AttributeType::SIGN) && may(AttributeType::VERIFY) {
            rows.push((Task::Mac(Code::HmacSha256), "HMAC-SHA256".to_owned()));
            rows.push((
                Task::MacVerify(Code::HmacSha256),
                "HMAC-SHA256 Verify".to_owned(),
            ));
        }
        ("generic secret".to_owned(), rows)
    }
}

/// An operation with the key that was named.
const fn operation(task: Task) -> Operation {
    let (name, bytes) = match task {
        Task::Sign(_) => ("pkcs11.named.sign", 32),
        Task::Verify(_) => ("pkcs11.named.verify", 32),
        Task::Encrypt(..) => ("pkcs11.named.encrypt", 32),
        Task::Decrypt(..) => ("pkcs11.named.decrypt", 32),
        Task::Seal(_) => ("pkcs11.named.seal", 1024),
        Task::Open(_) => ("pkcs11.named.open", 1024),
        Task::Mac(_) => ("pkcs11.named.mac", 32),
        Task::MacVerify(_) => ("pkcs11.named.mac-verify", 32),
        Task::Agree(_) => ("pkcs11.named.agree", 0),
        Task::Wrap => ("pkcs11.named.wrap", 0),
        _ => ("pkcs11.named.unwrap", 0),
    };
    Operation {
        name,
        target: TARGET,
        unit: "operations",
        units: 1,
        bytes,
        make: Make::Token(Shape {
            task,
            whose: Whose::Named,
        }),
    }
}
