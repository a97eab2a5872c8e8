//! Envelopes of suite 1 and streams of suite 6, memory to memory, without binding or associated data.
//!
//! A sealer makes its own nonce or salt, and that is part of the operation; the random stream it takes it
//! from was seeded before. A stream is one mebibyte long, so that text and ciphertext stay in the cache in
//! which `aead.aes-256-gcm.seal.16k`, its bound, is measured too.

use keywright_envelope::stream::{Prefix, StreamOpener, StreamSealer};
use keywright_envelope::{Aad, Binding, Envelope, Identity, OpeningKey, SealingKey, derive};
use keywright_measure::{Fault, TargetError, Worker};
use keywright_primitives::random::RandomStream;
use keywright_types::{KeyId, KeyVersion, Kind, Suite};

use super::row::{Row, Seeded, refused, rejected};
use super::worker::{Act, Ring, answered, ring_of, rotating};

/// A key of the seed.
pub(super) fn keys(
    row: &Row<'_>,
    seeded: &mut Seeded,
    suite: Suite,
    kind: Kind,
) -> Result<(SealingKey, OpeningKey), TargetError> {
    let identity = Identity {
        suite,
        kind,
        key: KeyId::from_bytes(seeded.array()),
        version: KeyVersion::FIRST,
    };
    let key = seeded.secret();
    derive(key.expose(), identity).map_err(|error| row.fails(error))
}

/// How a whole text is sealed and opened: in an envelope or as a stream.
pub(super) trait Form: Send + 'static {
    const SUITE: Suite;

    fn seal(
        key: &SealingKey,
        random: &mut RandomStream,
        text: &[u8],
        out: &mut Vec<u8>,
    ) -> Result<(), Fault>;
    fn open(key: &OpeningKey, sealed: &[u8], out: &mut Vec<u8>) -> Result<(), Fault>;
}

pub(super) struct OneEnvelope;
pub(super) struct OneStream;

impl Form for OneEnvelope {
    const SUITE: Suite = Suite::Xaes256Gcm;

    #[inline]
    fn seal(
        key: &SealingKey,
        random: &mut RandomStream,
        text: &[u8],
        out: &mut Vec<u8>,
    ) -> Result<(), Fault> {
        let sealed = key.seal_into(Binding::None, &Aad::EMPTY, text, random, out);
        sealed.map(drop).map_err(refused)
    }

    #[inline]
    fn open(key: &OpeningKey, sealed: &[u8], out: &mut Vec<u8>) -> Result<(), Fault> {
        let envelope = Envelope::parse(sealed).map_err(rejected)?;
        let opened = key.open_into(&envelope, &Aad::EMPTY, out);
        opened.map_err(rejected)
    }
}

impl Form for OneStream {
    const SUITE: Suite = Suite::Chunked;

    fn seal(
        key: &SealingKey,
        random: &mut RandomStream,
        text: &[u8],
        out: &mut Vec<u8>,
    ) -> Result<(), Fault> {
        let stream = StreamSealer::new(key, Binding::None, &Aad::EMPTY, random, out);
        let mut stream = stream.map_err(refused)?;
        stream.update(text, out).map_err(refused)?;
        stream.finish(out).map_err(refused)
    }

    fn open(key: &OpeningKey, sealed: &[u8], out: &mut Vec<u8>) -> Result<(), Fault> {
        let peek = sealed.first_chunk().ok_or_else(|| rejected(()))?;
        let length = Prefix::length(peek).map_err(rejected)?;
        let (prefix, chunks) = sealed
            .split_at_checked(length)
            .ok_or_else(|| rejected(()))?;
        let prefix = Prefix::parse(prefix).map_err(rejected)?;
        let mut stream = StreamOpener::new(key, &prefix, &Aad::EMPTY).map_err(rejected)?;
        stream.update(chunks, out).map_err(rejected)?;
        stream.finish(out).map_err(rejected)
    }
}

struct Sealing<F> {
    sealing: SealingKey,
    opening: OpeningKey,
    random: RandomStream,
    form: std::marker::PhantomData<F>,
}

impl<F: Form> Act for Sealing<F> {
    type Input = Vec<u8>;
    type Output = Vec<u8>;

    #[inline]
    fn act(&mut self, text: &Vec<u8>, output: &mut Vec<u8>) -> Result<(), Fault> {
        output.clear();
        F::seal(&self.sealing, &mut self.random, text, output)
    }

    fn is_right(&mut self, text: &Vec<u8>, output: &Vec<u8>) -> bool {
        let mut opened = Vec::new();
        F::open(&self.opening, output, &mut opened).is_ok() && opened == *text
    }
}

/// One text sealed.
pub(super) fn seal<F: Form>(row: &Row<'_>) -> Result<Box<dyn Worker>, TargetError> {
    let mut seeded = row.seeded();
    let (sealing, opening) = keys(row, &mut seeded, F::SUITE, Kind::Message)?;
    let ring = Ring::fill(ring_of(row.bytes), || Ok(seeded.bytes(row.bytes)))?;
    let act = Sealing::<F> {
        sealing,
        opening,
        random: RandomStream::new().map_err(|error| row.fails(error))?,
        form: std::marker::PhantomData,
    };
    Ok(rotating(act, ring, Vec::new()))
}

/// One text opened.
pub(super) fn open<F: Form>(row: &Row<'_>) -> Result<Box<dyn Worker>, TargetError> {
    let mut seeded = row.seeded();
    let (sealing, opening) = keys(row, &mut seeded, F::SUITE, Kind::Message)?;
    let mut random = RandomStream::new().map_err(|error| row.fails(error))?;
    let ring = Ring::fill(ring_of(row.bytes), || {
        let (text, mut sealed) = (seeded.bytes(row.bytes), Vec::new());
        F::seal(&sealing, &mut random, &text, &mut sealed).map_err(|fault| row.fails(fault))?;
        Ok((sealed, text))
    })?;
    Ok(answered(ring, Vec::new(), move |sealed: &Vec<u8>, out| {
        out.clear();
        F::open(&opening, sealed, out)
    }))
}
