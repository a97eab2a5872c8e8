//! From a task to an act and its judge.
//!
//! What is sealed is opened, what is wrapped is unwrapped, what is signed is verified, by other code than the
//! token's where there is any; a verification also has to refuse another message.

use keywright_hsm::public_key::PublicKey;
use keywright_pkcs11::{
    Curve, Error, Hash, KeyPlan, Mechanism, ObjectHandle, PairKind, Purpose, SHARED_SECRET_LEN,
    SecretKind, Session, Template, User,
};
use keywright_pkcs11_names::AttributeType;
use keywright_primitives::hash::{sha256, sha384, sha512};

use super::inputs::{Input, Nonces};
use super::judge::{Verifier, sign, verify};
use super::keys::{Keys, Wanted, make as make_key};
use super::task::{Code, Padding, Shape, Signature, Task};
use super::worker::{Deed, Making};

/// The deed of a task.
pub(super) fn make(making: Making<'_>) -> Result<Deed, Error> {
    let Shape { task, whose } = making.shape;
    let keys = match task.key() {
        None => None,
        Some(wanted) => making.opened.key(wanted, (whose, making.worker))?,
    };
    match (task, keys) {
        (Task::Hash(hash), _) => hashing(making, hash),
        (Task::Random, _) => Ok(random(making.inputs)),
        (Task::Null, _) => Ok(silent(|session, _| session.check())),
        (Task::OpenSession, _) => Ok(silent(|session, _| session.token().open()?.close())),
        (Task::Login, _) => login(making),
        (Task::MakePair(kind), _) => Ok(pairs(kind)),
        (Task::MakeSecret(kind), _) => Ok(silent(move |session, _| {
            let plan = KeyPlan::new(Purpose::Encrypt).in_session();
            session.destroy_object(session.generate_secret(kind, &plan)?)
        })),
        (_, None) => Err(Error::NoObject),
        (Task::Sign(how), Some(keys)) => Ok(signing(making.session, how, keys)),
        (Task::Verify(how), Some(keys)) => verifying(making, how, keys),
        (Task::Encrypt(padding, _), Some(keys)) => Ok(encrypting(padding, keys)),
        (Task::Decrypt(padding, _), Some(keys)) => decrypting(making, padding, keys),
        (Task::Seal(_), Some(keys)) => seal(keys),
        (Task::Open(_), Some(keys)) => open(making, keys),
        (Task::Mac(code), Some(keys)) => Ok(coding(code, keys)),
        (Task::MacVerify(code), Some(keys)) => code_checking(making, code, keys),
        (Task::Wrap, Some(keys)) => wrap(&making, keys),
        (Task::Unwrap, Some(keys)) => unwrap(making, keys),
        (Task::Agree(curve), Some(keys)) => agree(&making, curve, keys),
        (Task::Encapsulate, Some(keys)) => Ok(encapsulate(keys)),
        (Task::Decapsulate, Some(keys)) => decapsulate(making, keys),
        (Task::Find, Some(_)) => find(&making),
    }
}

/// An act without a result: that it went well is all there is to see.
fn silent(act: impl FnMut(&Session, &Input) -> Result<(), Error> + Send + 'static) -> Deed {
    let mut act = act;
    Deed {
        act: Box::new(move |session, input, _| act(session, input)),
        judge: Box::new(|_, _, output| output.is_empty()),
    }
}

/// An act whose right result stands beside its input.
fn known(
    act: impl FnMut(&Session, &Input, &mut Vec<u8>) -> Result<(), Error> + Send + 'static,
) -> Deed {
    Deed {
        act: Box::new(act),
        judge: Box::new(|_, input, output| input.other == output),
    }
}

fn hashing(making: Making<'_>, hash: Hash) -> Result<Deed, Error> {
    for input in making.inputs {
        input.other = match hash {
            Hash::Sha256 => sha256(&input.message).to_vec(),
            Hash::Sha384 => sha384(&input.message).to_vec(),
            Hash::Sha512 => sha512(&input.message).to_vec(),
            _ => return Err(Error::NoObject),
        };
    }
    Ok(known(move |session, input, out| {
        session.digest(&Mechanism::Digest(hash), &input.message, out)
    }))
}

fn random(inputs: &[Input]) -> Deed {
    let length = inputs.first().map_or(0, |input| input.message.len());
    let mut last = Vec::new();
    Deed {
        act: Box::new(move |session, _, out| {
            out.resize(length, 0);
            session.random(out)
        }),
        judge: Box::new(move |_, _, output| {
            let new = last != output && output.iter().any(|byte| *byte != 0);
            last = output.to_vec();
            new && output.len() == length
        }),
    }
}

fn login(making: Making<'_>) -> Result<Deed, Error> {
    let opened = std::sync::Arc::clone(making.opened);
    if opened.login().is_none() {
        return Err(Error::NoObject);
    }
    Ok(silent(move |session, _| {
        if let Some(login) = opened.login() {
            session.login(User::User, login.credential())?;
        }
        session.logout()
    }))
}

fn pairs(kind: PairKind) -> Deed {
    silent(move |session, _| {
        let plan = KeyPlan::new(Purpose::Sign).in_session();
        let pair = session.generate_pair(kind, &plan)?;
        session.destroy_object(pair.private)?;
        session.destroy_object(pair.public)
    })
}

fn signing(session: &Session, how: Signature, keys: Keys) -> Deed {
    let verifier = Verifier::new(session, how, keys.public);
    Deed {
        act: Box::new(move |session, input, out| {
            sign(session, (how, keys.private), &input.message, out)
        }),
        judge: Box::new(move |session, input, output| {
            verifier.accepts(session, &input.message, output)
        }),
    }
}

/// A verification: it went well, and another message is refused.
fn verifying(making: Making<'_>, how: Signature, keys: Keys) -> Result<Deed, Error> {
    for input in making.inputs {
        let signed = (how, keys.private);
        sign(making.session, signed, &input.message, &mut input.other)?;
    }
    Ok(Deed {
        act: Box::new(move |session, input, _| {
            verify(session, (how, keys.public), &input.message, &input.other)
        }),
        judge: Box::new(move |session, input, output| {
            let refused = verify(session, (how, keys.public), &changed(input), &input.other);
            output.is_empty() && matches!(refused, Err(Error::SignatureInvalid(_)))
        }),
    })
}

/// The message with one bit changed.
fn changed(input: &Input) -> Vec<u8> {
    let mut message = input.message.clone();
    if let Some(byte) = message.last_mut() {
        *byte ^= 1;
    }
    message
}

fn encrypting(padding: Padding, keys: Keys) -> Deed {
    Deed {
        act: Box::new(move |session, input, out| {
            session.encrypt(&padding.mechanism(), keys.public, &input.message, out)
        }),
        judge: Box::new(move |session, input, output| {
            let mut plain = Vec::new();
            let opened = session.decrypt(&padding.mechanism(), keys.private, output, &mut plain);
            opened.is_ok() && plain == input.message
        }),
    }
}

fn decrypting(making: Making<'_>, padding: Padding, keys: Keys) -> Result<Deed, Error> {
    let mechanism = padding.mechanism();
    for input in making.inputs {
        let mut sealed = Vec::new();
        let session = making.session;
        session.encrypt(&mechanism, keys.public, &input.message, &mut sealed)?;
        input.other = std::mem::replace(&mut input.message, sealed);
    }
    Ok(known(move |session, input, out| {
        session.decrypt(&padding.mechanism(), keys.private, &input.message, out)
    }))
}

const fn gcm(nonce: &[u8]) -> Mechanism<'_> {
    Mechanism::AesGcm { nonce, aad: &[] }
}

fn nonces() -> Result<Nonces, Error> {
    // Without random bytes of the system there is no measurement, whatever the error is called.
    Nonces::new().map_err(|_| Error::NoObject)
}

/// Behind ciphertext and tag the nonce, for whoever looks.
fn seal(keys: Keys) -> Result<Deed, Error> {
    let mut nonces = nonces()?;
    Ok(Deed {
        act: Box::new(move |session, input, out| {
            let nonce = nonces.draw().ok_or(Error::NoObject)?;
            session.encrypt(&gcm(&nonce), keys.private, &input.message, out)?;
            out.extend_from_slice(&nonce);
            Ok(())
        }),
        judge: Box::new(move |session, input, output| {
            let Some((sealed, nonce)) = output.split_last_chunk::<12>() else {
                return false;
            };
            let mut plain = Vec::new();
            let opened = session.decrypt(&gcm(nonce), keys.private, sealed, &mut plain);
            opened.is_ok() && plain == input.message
        }),
    })
}

fn open(making: Making<'_>, keys: Keys) -> Result<Deed, Error> {
    let mut nonces = nonces()?;
    for input in making.inputs {
        let nonce = nonces.draw().ok_or(Error::NoObject)?;
        let mut sealed = nonce.to_vec();
        let session = making.session;
        session.encrypt(&gcm(&nonce), keys.private, &input.message, &mut sealed)?;
        input.other = std::mem::replace(&mut input.message, sealed);
    }
    Ok(known(move |session, input, out| {
        let (nonce, sealed) = input.message.split_at(12);
        session.decrypt(&gcm(nonce), keys.private, sealed, out)
    }))
}

fn coding(code: Code, keys: Keys) -> Deed {
    Deed {
        act: Box::new(move |session, input, out| {
            session.sign(&code.mechanism(), keys.private, &input.message, out)
        }),
        judge: Box::new(move |session, input, output| {
            let verified = session.verify(&code.mechanism(), keys.private, &input.message, output);
            verified.is_ok()
        }),
    }
}

fn code_checking(making: Making<'_>, code: Code, keys: Keys) -> Result<Deed, Error> {
    let mechanism = code.mechanism();
    for input in making.inputs {
        let (session, out) = (making.session, &mut input.other);
        session.sign(&mechanism, keys.private, &input.message, out)?;
    }
    Ok(Deed {
        act: Box::new(move |session, input, _| {
            session.verify(
                &code.mechanism(),
                keys.private,
                &input.message,
                &input.other,
            )
        }),
        judge: Box::new(move |session, input, output| {
            let other = changed(input);
            let refused = session.verify(&code.mechanism(), keys.private, &other, &input.other);
            output.is_empty() && matches!(refused, Err(Error::SignatureInvalid(_)))
        }),
    })
}

const AES: SecretKind = SecretKind::Aes { len: 32 };

fn guest(session: &Session) -> Result<ObjectHandle, Error> {
    let plan = KeyPlan::new(Purpose::Encrypt).in_session().extractable();
    session.generate_secret(AES, &plan)
}

/// Unwraps into the session and destroys.
fn let_in(session: &Session, keys: Keys, wrapped: &[u8]) -> Result<(), Error> {
    let plan = KeyPlan::new(Purpose::Encrypt).in_session();
    let kind = (AES, &plan);
    let made = session.unwrap_secret(&Mechanism::AesKeyWrap, keys.private, wrapped, kind)?;
    session.destroy_object(made)
}

fn wrap(making: &Making<'_>, keys: Keys) -> Result<Deed, Error> {
    let guest = guest(making.session)?;
    Ok(Deed {
        act: Box::new(move |session, _, out| {
            session.wrap_key(&Mechanism::AesKeyWrap, keys.private, guest, out)
        }),
        judge: Box::new(move |session, _, output| {
            output.len() == 40 && let_in(session, keys, output).is_ok()
        }),
    })
}

fn unwrap(making: Making<'_>, keys: Keys) -> Result<Deed, Error> {
    let guest = guest(making.session)?;
    let mut wrapped = Vec::new();
    let session = making.session;
    session.wrap_key(&Mechanism::AesKeyWrap, keys.private, guest, &mut wrapped)?;
    session.destroy_object(guest)?;
    for input in making.inputs {
        input.message.clone_from(&wrapped);
    }
    Ok(Deed {
        act: Box::new(move |session, input, _| let_in(session, keys, &input.message)),
        judge: Box::new(move |session, input, output| {
            output.is_empty() && let_in(session, keys, &changed(input)).is_err()
        }),
    })
}

fn agree(making: &Making<'_>, curve: Curve, keys: Keys) -> Result<Deed, Error> {
    let session = making.session;
    let wanted = Wanted::Pair(PairKind::Curve(curve), Purpose::Derive);
    let plan = KeyPlan::new(Purpose::Derive).in_session();
    let other = make_key(session, wanted, &plan)?;
    let point = |key| match PublicKey::read(session, key) {
        Ok(PublicKey::Curve { point, .. }) => Ok(point),
        _ => Err(Error::AttributeMissing(AttributeType::EC_POINT)),
    };
    let (ours, theirs) = (point(keys.public)?, point(other.public)?);
    let length = usize::try_from(curve.bits().div_ceil(8)).unwrap_or(0);
    Ok(Deed {
        act: Box::new(move |session, _, out| {
            let shared = session.agree(keys.private, &theirs, length)?;
            out.extend_from_slice(shared.expose());
            Ok(())
        }),
        judge: Box::new(move |session, _, output| {
            let shared = session.agree(other.private, &ours, length);
            shared.is_ok_and(|shared| shared.expose() == output)
        }),
    })
}

/// What is sent, then the secret that it is for.
fn encapsulate(keys: Keys) -> Deed {
    Deed {
        act: Box::new(move |session, _, out| {
            let secret = session.encapsulate_secret(keys.public, out)?;
            out.extend_from_slice(secret.expose());
            Ok(())
        }),
        // One that was changed opens to another secret, and to no error.
        judge: Box::new(move |session, _, output| {
            let Some((sent, secret)) = output.split_last_chunk::<SHARED_SECRET_LEN>() else {
                return false;
            };
            let found = session.decapsulate_secret(keys.private, sent);
            found.is_ok_and(|found| found.expose() == secret)
        }),
    }
}

fn decapsulate(making: Making<'_>, keys: Keys) -> Result<Deed, Error> {
    let session = making.session;
    for input in making.inputs {
        input.message.clear();
        let secret = session.encapsulate_secret(keys.public, &mut input.message)?;
        input.other = secret.expose().to_vec();
    }
    Ok(known(move |session, input, out| {
        let secret = session.decapsulate_secret(keys.private, &input.message)?;
        out.extend_from_slice(secret.expose());
        Ok(())
    }))
}

fn find(making: &Making<'_>) -> Result<Deed, Error> {
    let label = making.opened.label(making.worker);
    let plan = KeyPlan::new(Purpose::Encrypt).in_session().label(&label);
    let there = making.session.generate_secret(AES, &plan)?;
    let template = Template::new().label(&label);
    Ok(Deed {
        act: Box::new(move |session, _, out| {
            let found = session.find_one(&template)?;
            out.extend_from_slice(&found.number().to_be_bytes());
            Ok(())
        }),
        judge: Box::new(move |_, _, output| there.number().to_be_bytes() == output),
    })
}
