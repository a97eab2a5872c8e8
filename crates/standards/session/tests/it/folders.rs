//! The folders of a party, and sessions in them.

use std::fs;
use std::path::{Path, PathBuf};

use keywright_primitives::random::RandomStream;
use keywright_ratchet::{Claim, Fence};
use keywright_session::hazmat::{Failing, Stop, failing_files};
use keywright_session::{Error, Files, First, Handshake, Kept, Mode, Session, SessionId};
use tempfile::TempDir;

use crate::scene::{CONTEXT, Lattice, NOW, Scene, store_key};

pub(crate) const MODES: [Mode; 2] = [Mode::Fenced, Mode::Hedged];

/// The two folders of a party.
pub(crate) struct Folders {
    whole: TempDir,
    pub(crate) mode: Mode,
}

impl Folders {
    pub(crate) fn new(mode: Mode) -> Self {
        let whole = tempfile::tempdir().unwrap();
        fs::create_dir(whole.path().join("states")).unwrap();
        fs::create_dir(whole.path().join("marks")).unwrap();
        Self { whole, mode }
    }

    pub(crate) fn states(&self) -> PathBuf {
        self.whole.path().join("states")
    }

    pub(crate) fn marks(&self) -> PathBuf {
        self.whole.path().join("marks")
    }

    pub(crate) fn files(&self) -> Files {
        match self.mode {
            Mode::Fenced => Files::fenced(&self.states(), &self.marks(), store_key()),
            Mode::Hedged => Files::hedged(&self.states(), store_key()),
        }
    }

    pub(crate) fn failing(&self, steps: u64, stop: Stop) -> Files {
        let marks = (self.mode == Mode::Fenced).then(|| self.marks());
        failing_files(
            Failing::after(steps, stop),
            &self.states(),
            marks,
            store_key(),
        )
    }

    /// Everything in both folders.
    pub(crate) fn snapshot(&self) -> Vec<(PathBuf, Vec<u8>)> {
        let mut all = Vec::new();
        for folder in [self.states(), self.marks()] {
            for entry in fs::read_dir(folder).unwrap() {
                let path = entry.unwrap().path();
                all.push((path.clone(), fs::read(path).unwrap()));
            }
        }
        all
    }

    pub(crate) fn restore(&self, snapshot: &[(PathBuf, Vec<u8>)], from: &Path) {
        for entry in fs::read_dir(from).unwrap() {
            fs::remove_file(entry.unwrap().path()).unwrap();
        }
        for (path, bytes) in snapshot.iter().filter(|(path, _)| path.starts_with(from)) {
            fs::write(path, bytes).unwrap();
        }
    }
}

pub(crate) fn send(kept: &mut Kept<'_>, content: &[u8]) -> Result<Vec<u8>, Error> {
    let mut random = RandomStream::new().unwrap();
    kept.send(content, CONTEXT, NOW, &mut random)
}

pub(crate) fn get(kept: &mut Kept<'_>, frame: &[u8]) -> Result<Vec<u8>, Error> {
    let mut random = RandomStream::new().unwrap();
    let received = kept.receive(frame, CONTEXT, (NOW, &mut random))?;
    Ok(received.content.expose().to_vec())
}

/// An end of a fresh session whose other end is in memory, to be kept.
pub(crate) fn begin(mode: Mode) -> (Scene, Session) {
    let mut scene = Scene::new(mode, First::Deniable, Lattice::Without);
    let one = scene.initiate(Handshake::X3dh, None).unwrap();
    (scene, one)
}

/// A session in the folder that has sent and received, and the other end, which needs no saving.
pub(crate) fn stored(folders: &Folders) -> (Scene, Session, SessionId) {
    let (mut scene, one) = begin(folders.mode);
    let files = folders.files();
    let id = *one.id();
    let mut kept = files.keep(one, &mut scene.random).unwrap();
    let frame = send(&mut kept, b"hello").unwrap();
    let mut other = scene.accept(&frame).unwrap().session;
    let answer = answer(&mut scene, &mut other, b"answer");
    assert_eq!(get(&mut kept, &answer).unwrap(), b"answer");
    drop(kept);
    (scene, other, id)
}

/// What the end in memory says.
pub(crate) fn answer(scene: &mut Scene, other: &mut Session, content: &[u8]) -> Vec<u8> {
    if other.mode() == Mode::Fenced {
        // Its counter is not what is looked at here.
        let mut fence = Lenient;
        let reserve = keywright_session::Reserve::Numbers;
        other
            .save(&store_key(), reserve, &mut fence, &mut scene.random)
            .unwrap();
    }
    other
        .send(content, CONTEXT, NOW, &mut scene.random)
        .unwrap()
}

pub(crate) struct Lenient;

impl Fence for Lenient {
    fn claim(&mut self, _: &SessionId, _: u64) -> Result<Claim, keywright_ratchet::Unavailable> {
        Ok(Claim::Granted)
    }
}
