//! A case on every backend of the machine that runs its cipher.

use keywright_fpe::{Backend, Error, Key, Mode, Options, Policy, Radix};

use super::case::{Case, Expected, Value};

/// What a case came to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Verdict {
    /// Something else than has to be, on this backend.
    Failed(Backend, &'static str),
    /// It holds on all of them. Where the strict policy refuses it, the code of that.
    Passed(Option<&'static str>),
    /// It was refused, as it has to be; the code of that.
    Refused(&'static str),
}

/// The backends that cases run on.
pub(super) struct Judge {
    backends: Vec<Backend>,
}

impl Judge {
    /// All of this machine.
    pub(super) fn new() -> Self {
        let backends = Backend::ALL.into_iter();
        Self {
            backends: backends.filter(|one| one.is_available()).collect(),
        }
    }

    /// Those of this machine.
    pub(super) fn backends(&self) -> &[Backend] {
        &self.backends
    }

    /// Runs a case.
    pub(super) fn decide(&self, case: &Case) -> Verdict {
        let mut passed = Verdict::Passed(None);
        let serving = |backend: &&Backend| backend.serves(case.algorithm);
        for backend in self.backends.iter().filter(serving) {
            match on(case, *backend) {
                Ok(verdict) => passed = verdict,
                Err(reason) => return Verdict::Failed(*backend, reason),
            }
        }
        match passed {
            Verdict::Passed(_) => Verdict::Passed(strict(case)),
            refused => refused,
        }
    }
}

/// Everything that published cases need, the known wrong ones among them.
fn open() -> Policy {
    // Three published cases of FF3-1 have an eighth byte of tweak, which is zero.
    Policy::STANDARD_2016
        .accept_loose_tweaks()
        .danger_reproduce_fpec()
}

fn key(case: &Case, policy: Policy, backend: Backend) -> Result<Key, Error> {
    let options = Options::new(case.mode, case.algorithm, Radix::new(case.radix)?);
    let options = options.with_policy(policy).with_backend(backend);
    Key::new(options, &case.secret)
}

fn on(case: &Case, backend: Backend) -> Result<Verdict, &'static str> {
    match case.expected {
        Expected::Differs => differs(case, backend),
        Expected::Matches => matches(case, backend),
        Expected::Refused => refused(case, backend),
    }
}

/// Both ways.
fn matches(case: &Case, backend: Backend) -> Result<Verdict, &'static str> {
    let key = key(case, open(), backend).map_err(|error| error.code())?;
    let (plain, cipher) = (&case.plain, &case.cipher);
    let back = put(&key, case, Way::Decrypt, cipher).map_err(|error| error.code())?;
    if !back.equals(plain) {
        return Err("decryption gives another value");
    }
    let there = put(&key, case, Way::Encrypt, plain);
    // Nothing writes values that are partly in clear; old ones are read.
    if matches!(case.mode, Mode::FpecFf31) && key.is_partly_in_clear(plain.length()) {
        return match there {
            Err(_) => Ok(Verdict::Passed(None)),
            Ok(_) => Err("a value was written partly in clear"),
        };
    }
    match there {
        Ok(there) if there.equals(cipher) => Ok(Verdict::Passed(None)),
        Ok(_) => Err("encryption gives another value"),
        Err(error) => Err(error.code()),
    }
}

/// Known wrong: neither way may give it.
fn differs(case: &Case, backend: Backend) -> Result<Verdict, &'static str> {
    let key = key(case, open(), backend).map_err(|error| error.code())?;
    let there = put(&key, case, Way::Encrypt, &case.plain);
    let back = put(&key, case, Way::Decrypt, &case.cipher);
    let same = there.is_ok_and(|there| there.equals(&case.cipher))
        || back.is_ok_and(|back| back.equals(&case.plain));
    match same {
        true => Err("a value that is known to be wrong was reproduced"),
        false => Ok(Verdict::Passed(None)),
    }
}

/// By the key or by the value.
fn refused(case: &Case, backend: Backend) -> Result<Verdict, &'static str> {
    let made = key(case, open(), backend)
        .and_then(|key| put(&key, case, Way::Encrypt, &case.plain).map(drop));
    match made {
        Ok(()) => Err("an invalid case was accepted"),
        Err(error) => Ok(Verdict::Refused(error.code())),
    }
}

/// Why the strict policy refuses to encrypt this, if it does.
fn strict(case: &Case) -> Option<&'static str> {
    let backend = Backend::detect(case.algorithm);
    let made = key(case, Policy::STRICT, backend)
        .and_then(|key| put(&key, case, Way::Encrypt, &case.plain).map(drop));
    made.err().map(|error| error.code())
}

#[derive(Clone, Copy)]
enum Way {
    Decrypt,
    Encrypt,
}

fn put(key: &Key, case: &Case, way: Way, value: &Value) -> Result<Made, Error> {
    let tweak = &case.tweak;
    match value {
        Value::Digits(digits) => {
            let mut made = vec![0; digits.len()];
            match way {
                Way::Decrypt => key.decrypt(tweak, digits, &mut made)?,
                Way::Encrypt => key.encrypt(tweak, digits, &mut made)?,
            }
            Ok(Made::Digits(made))
        }
        Value::Never => Err(Error::Digit {
            position: 0,
            radix: case.radix,
        }),
        Value::Text(alphabet, text) => {
            let made = match way {
                Way::Decrypt => key.decrypt_string(tweak, alphabet, text),
                Way::Encrypt => key.encrypt_string(tweak, alphabet, text),
            };
            made.map(Made::Text)
        }
    }
}

/// What came of a value.
enum Made {
    Digits(Vec<u32>),
    Text(String),
}

impl Made {
    fn equals(&self, value: &Value) -> bool {
        match (self, value) {
            (Self::Digits(made), Value::Digits(digits)) => made == digits,
            (Self::Text(made), Value::Text(_, text)) => made == text,
            _ => false,
        }
    }
}

impl Value {
    fn length(&self) -> usize {
        match self {
            Self::Digits(digits) => digits.len(),
            Self::Never => 0,
            Self::Text(_, text) => text.chars().count(),
        }
    }
}

/// Backends that this machine does not have.
pub(super) fn lacking() -> Vec<Backend> {
    let all = Backend::ALL.into_iter();
    all.filter(|one| !one.is_available()).collect()
}

#[cfg(test)]
mod tests {
    use keywright_fpe::Algorithm;

    use super::*;

    fn case(cipher: &[u32], expected: Expected) -> Case {
        Case {
            name: "a case".to_owned(),
            mode: Mode::Ff1,
            algorithm: Algorithm::Aes,
            radix: 10,
            secret: b"\x2B\x7E\x15\x16\x28\xAE\xD2\xA6\xAB\xF7\x15\x88\x09\xCF\x4F\x3C".to_vec(),
            tweak: b"9876543210".to_vec(),
            plain: Value::Digits((0..10).collect()),
            cipher: Value::Digits(cipher.to_vec()),
            expected,
        }
    }

    const RIGHT: [u32; 10] = [6, 1, 2, 4, 2, 0, 0, 7, 7, 3];
    const WRONG: [u32; 10] = [6, 1, 2, 4, 2, 0, 0, 7, 7, 4];

    #[test]
    fn a_case_holds_both_ways_or_fails() {
        let judge = Judge::new();
        let decide = |case: Case| judge.decide(&case);
        assert_eq!(
            decide(case(&RIGHT, Expected::Matches)),
            Verdict::Passed(None)
        );
        assert_eq!(
            decide(case(&WRONG, Expected::Differs)),
            Verdict::Passed(None)
        );
        for wrong in [
            case(&WRONG, Expected::Matches),
            case(&RIGHT[..9], Expected::Matches),
            case(&RIGHT, Expected::Differs),
            case(&RIGHT, Expected::Refused),
            Case {
                tweak: Vec::new(),
                ..case(&RIGHT, Expected::Matches)
            },
            Case {
                plain: Value::Never,
                ..case(&RIGHT, Expected::Matches)
            },
            Case {
                radix: 1,
                ..case(&RIGHT, Expected::Matches)
            },
            Case {
                secret: vec![0; 15],
                ..case(&RIGHT, Expected::Matches)
            },
        ] {
            assert!(matches!(decide(wrong), Verdict::Failed(..)));
        }
    }

    #[test]
    fn what_is_to_be_refused_is_counted_by_its_code() {
        let judge = Judge::new();
        let base = || case(&RIGHT, Expected::Refused);
        for (wrong, code) in [
            (
                Case {
                    secret: vec![0; 17],
                    ..base()
                },
                "key_size",
            ),
            (
                Case {
                    plain: Value::Digits(vec![10; 10]),
                    ..base()
                },
                "digit_range",
            ),
            (
                Case {
                    plain: Value::Never,
                    ..base()
                },
                "digit_range",
            ),
            (
                Case {
                    plain: Value::Digits(vec![1]),
                    ..base()
                },
                "domain_floor",
            ),
            (Case { radix: 0, ..base() }, "radix_range"),
        ] {
            assert_eq!(judge.decide(&wrong), Verdict::Refused(code));
        }
    }
}
