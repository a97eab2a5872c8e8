//! `keywright.Fpe`: FF1, and FF3 and FF3-1 for old data, over digits and texts.

use std::sync::Arc;

use keywright_fpe::{Algorithm, Alphabet, Key, Options as KeyOptions, Policy, Radix};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyString};
use zeroize::Zeroizing;

use crate::batch;
use crate::column::Direction;
use crate::failure::{Failure, wrong_type};
use crate::options::{Held, Options, closed};
use crate::secrets::key_bytes;

/// The arguments that have names.
const OPTIONS: &[&str] = &[
    "mode",
    "cipher",
    "radix",
    "alphabet",
    "backend",
    "accept_small_domain",
    "allow_empty_tweak",
    "allow_legacy_encrypt",
    "accept_loose_tweaks",
];

/// What the digits are written with unless the caller says otherwise.
const DIGITS: &str = "0123456789";

/// A key, and the symbols that its digits are written with.
pub(crate) struct Engine {
    pub(crate) key: Key,
    pub(crate) alphabet: Option<Alphabet>,
}

impl Engine {
    pub(crate) fn alphabet(&self) -> Result<&Alphabet, Failure> {
        self.alphabet.as_ref().ok_or_else(|| {
            let text = "this key was made for a radix without an alphabet: give digits, not text";
            Failure::parameter("alphabet_missing", text)
        })
    }
}

/// Format-preserving encryption under one key.
#[pyclass(frozen, module = "keywright")]
pub(crate) struct Fpe {
    symbols: Option<String>,
    engine: Held<Arc<Engine>>,
}

impl Fpe {
    fn engine(&self) -> Result<Arc<Engine>, Failure> {
        self.engine.get().ok_or_else(closed)
    }

    fn one<'py>(
        &self,
        direction: Direction,
        value: &Bound<'py, PyAny>,
        tweak: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let engine = self.engine()?;
        let tweak = tweak
            .map(batch::tweak_bytes)
            .transpose()?
            .unwrap_or_default();
        let Ok(text) = value.cast::<PyString>() else {
            let digits = digits(&engine.key, direction, &numbers(value)?, &tweak)?;
            return Ok(digits.as_slice().into_pyobject(value.py())?.into_any());
        };
        let text = text
            .to_str()
            .map_err(|_| Failure::parameter("not_utf8", "half a surrogate pair has no UTF-8"))?;
        let alphabet = engine.alphabet()?;
        let made = match direction {
            Direction::Forth => engine.key.encrypt_string(&tweak, alphabet, text),
            Direction::Back => engine.key.decrypt_string(&tweak, alphabet, text),
        };
        let made = Zeroizing::new(made.map_err(Failure::from)?);
        Ok(PyString::new(value.py(), &made).into_any())
    }

    fn many<'py>(
        &self,
        direction: Direction,
        (values, tweak): (&Bound<'py, PyAny>, &Bound<'py, PyAny>),
        options: Option<&Bound<'py, PyDict>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let threads = Options::new(options, &["threads"])?.threads()?;
        let engine = self.engine()?;
        let job = batch::Job {
            engine: &engine,
            direction,
            tweak,
            threads,
        };
        batch::worked(&job, values)
    }
}

/// One value of digits that are no text.
fn numbers(value: &Bound<'_, PyAny>) -> PyResult<Zeroizing<Vec<u32>>> {
    match value.extract::<Vec<u32>>() {
        Ok(numbers) => Ok(Zeroizing::new(numbers)),
        // Python's own words would quote the value.
        Err(_) => Err(wrong_type("a str, or a sequence of digits as int,", value)),
    }
}

fn digits(
    key: &Key,
    direction: Direction,
    value: &[u32],
    tweak: &[u8],
) -> Result<Zeroizing<Vec<u32>>, Failure> {
    let mut made = Zeroizing::new(vec![0; value.len()]);
    match direction {
        Direction::Forth => key.encrypt(tweak, value, &mut made),
        Direction::Back => key.decrypt(tweak, value, &mut made),
    }?;
    Ok(made)
}

#[pymethods]
impl Fpe {
    #[new]
    #[pyo3(signature = (key, **options))]
    fn new(key: &Bound<'_, PyAny>, options: Option<&Bound<'_, PyDict>>) -> PyResult<Self> {
        let options = Options::new(options, OPTIONS)?;
        let symbols = options.get::<String>("alphabet")?;
        let radix = options.get::<u32>("radix")?;
        let symbols = match (symbols, radix) {
            (None, None) => Some(DIGITS.to_owned()),
            (symbols, _) => symbols,
        };
        let alphabet = symbols.as_deref().map(Alphabet::new).transpose();
        let alphabet = alphabet.map_err(Failure::from)?;
        let own = alphabet.as_ref().map(Alphabet::symbols);
        if let (Some(symbols), Some(radix)) = (own, radix)
            && symbols != radix
        {
            let error = keywright_fpe::Error::AlphabetRadix { symbols, radix };
            return Err(Failure::from(error).into());
        }
        let radix = Radix::new(own.or(radix).unwrap_or(10)).map_err(Failure::from)?;
        let mut made = KeyOptions::new(options.mode()?, algorithm(&options)?, radix)
            .with_policy(policy(&options)?);
        if let Some(backend) = options.backend()? {
            made = made.with_backend(backend);
        }
        let key = Key::new(made, key_bytes(key)?.expose()).map_err(Failure::from)?;
        let engine = Engine { key, alphabet };
        Ok(Self {
            symbols,
            engine: Held::new(Some(Arc::new(engine))),
        })
    }

    #[pyo3(signature = (value, tweak=None))]
    fn encrypt<'py>(
        &self,
        value: &Bound<'py, PyAny>,
        tweak: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        self.one(Direction::Forth, value, tweak)
    }

    #[pyo3(signature = (value, tweak=None))]
    fn decrypt<'py>(
        &self,
        value: &Bound<'py, PyAny>,
        tweak: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        self.one(Direction::Back, value, tweak)
    }

    #[pyo3(signature = (values, tweak, **options))]
    fn encrypt_batch<'py>(
        &self,
        values: &Bound<'py, PyAny>,
        tweak: &Bound<'py, PyAny>,
        options: Option<&Bound<'py, PyDict>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        self.many(Direction::Forth, (values, tweak), options)
    }

    #[pyo3(signature = (values, tweak, **options))]
    fn decrypt_batch<'py>(
        &self,
        values: &Bound<'py, PyAny>,
        tweak: &Bound<'py, PyAny>,
        options: Option<&Bound<'py, PyDict>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        self.many(Direction::Back, (values, tweak), options)
    }

    #[getter]
    fn mode(&self) -> PyResult<&'static str> {
        Ok(self.engine()?.key.mode().name())
    }

    #[getter]
    fn radix(&self) -> PyResult<u32> {
        Ok(self.engine()?.key.radix().value())
    }

    #[getter]
    fn cipher(&self) -> PyResult<String> {
        Ok(self.engine()?.key.algorithm().to_string())
    }

    #[getter]
    fn backend(&self) -> PyResult<&'static str> {
        Ok(self.engine()?.key.backend().name())
    }

    /// The fewest and the most digits.
    #[getter]
    fn lengths(&self) -> PyResult<(u32, u32)> {
        let lengths = self.engine()?.key.lengths();
        Ok((*lengths.start(), *lengths.end()))
    }

    #[getter]
    fn alphabet(&self) -> Option<&str> {
        self.symbols.as_deref()
    }

    /// Forgets the key.
    fn close(&self) {
        self.engine.close();
    }

    const fn __enter__(own: PyRef<'_, Self>) -> PyRef<'_, Self> {
        own
    }

    #[pyo3(signature = (*_raised))]
    fn __exit__(&self, _raised: &Bound<'_, PyAny>) {
        self.engine.close();
    }

    fn __repr__(&self) -> String {
        match self.engine.get() {
            Some(engine) => {
                let (mode, radix) = (engine.key.mode(), engine.key.radix().value());
                format!("<keywright.Fpe {mode}, radix {radix}>")
            }
            None => "<keywright.Fpe, closed>".to_owned(),
        }
    }
}

fn algorithm(options: &Options<'_, '_>) -> PyResult<Algorithm> {
    match options.get::<String>("cipher")?.as_deref() {
        None | Some("aes") => Ok(Algorithm::Aes),
        Some("sm4") => Ok(Algorithm::Sm4),
        Some(_) => Err(Failure::parameter("cipher", "the cipher is aes or sm4").into()),
    }
}

fn policy(options: &Options<'_, '_>) -> PyResult<Policy> {
    let mut policy = Policy::STRICT;
    if options.is_open("accept_small_domain")? {
        policy = policy.accept_small_domain();
    }
    if options.is_open("allow_empty_tweak")? {
        policy = policy.allow_empty_tweak();
    }
    if options.is_open("allow_legacy_encrypt")? {
        policy = policy.allow_legacy_encrypt();
    }
    if options.is_open("accept_loose_tweaks")? {
        policy = policy.accept_loose_tweaks();
    }
    Ok(policy)
}
