//! The file that a seed lies in: a protected file (design 7.10) with one password slot, over a short text.
//!
//! ```text
//! keywright seed 1
//! seed_scheme bip39
//! export never
//! seed 0123...
//! ```
//!
//! The names stand beside the seed, so that it cannot be read as another kind of seed by mistake, and all of
//! it is authenticated. A file appears under its name only when it is whole, and never over another.

use std::fs::File;
use std::path::{Path, PathBuf};

use keywright_container::{DataKey, FileHeader, Slot, open, seal_to_path};
use keywright_encoding::hex;
use keywright_envelope::Aad;
use keywright_hdkey::{Seed, SeedScheme};
use keywright_password::{Limits, Profile};
use keywright_primitives::random::RandomStream;
use keywright_secret::SecretBytes;
use keywright_types::SlotType;

use crate::exit::{Exit, Failure, sentence};

/// Said to every seed file, so that no other protected file passes for one.
const PURPOSE: &[u8] = b"keywright/hd/seed";

const FIRST_LINE: &str = "keywright seed 1";

/// The longest text: three short lines and 128 digits.
const LONGEST: usize = 512;

/// Whether a seed, and private keys of it, may leave.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub(super) enum Export {
    /// Keys are used, and never leave.
    Never,
    /// Seed and keys may leave in plain form.
    Plain,
}

impl Export {
    const fn name(self) -> &'static str {
        match self {
            Self::Never => "never",
            Self::Plain => "plain",
        }
    }
}

/// How dear it is to guess the password.
#[derive(Clone, Copy, Debug, clap::ValueEnum)]
pub(super) enum ProfileName {
    /// For tests.
    Fast,
    /// For most.
    Balanced,
    /// For seeds that protect much.
    Strong,
}

impl From<ProfileName> for Profile {
    fn from(name: ProfileName) -> Self {
        match name {
            ProfileName::Fast => Self::Fast,
            ProfileName::Balanced => Self::Balanced,
            ProfileName::Strong => Self::Strong,
        }
    }
}

/// What a seed file holds.
pub(super) struct Document {
    pub(super) seed: Seed,
    pub(super) export: Export,
}

impl Document {
    /// Writes the file. What exists already stays as it is, and that is an error.
    pub(super) fn write(
        &self,
        path: &Path,
        password: &SecretBytes,
        profile: Profile,
    ) -> Result<(), Failure> {
        refuse_existing(path)?;
        let mut random = RandomStream::new().map_err(|error| failed(path, &error))?;
        let key = DataKey::generate(&mut random).map_err(|error| failed(path, &error))?;
        let slot = Slot::password(&key, password, profile, &mut random)
            .map_err(|error| failed(path, &error))?;
        let suffix = random.array::<8>().map_err(|error| failed(path, &error))?;
        let staged = beside(path, &suffix);
        let text = self.text();
        let sealed = seal_to_path(
            &mut text.expose(),
            &staged,
            &key,
            &[slot],
            &aad()?,
            &mut |_| {},
        );
        sealed.map_err(|error| failed(path, &error))?;
        // A link is refused where something stands already, which a renaming would replace.
        let linked = std::fs::hard_link(&staged, path);
        let removed = std::fs::remove_file(&staged);
        match linked {
            Err(error) if error.kind() == std::io::ErrorKind::AlreadyExists => Err(exists(path)),
            Err(error) => Err(Failure::file(path, "written", &error)),
            Ok(()) => removed.map_err(|error| Failure::file(&staged, "removed", &error)),
        }
    }

    /// Opens the file.
    pub(super) fn read(path: &Path, password: &SecretBytes) -> Result<Self, Failure> {
        let mut file = File::open(path).map_err(|error| match error.kind() {
            std::io::ErrorKind::NotFound => Failure::new(
                Exit::NotFound,
                format!("there is no seed file {}", path.display()),
                "make one: keywright hd seed new --out FILE",
            ),
            _ => Failure::file(path, "read", &error),
        })?;
        let header = FileHeader::read_from(&mut file).map_err(|error| failed(path, &error))?;
        let slot = header
            .slots()
            .iter()
            .find(|slot| slot.kind() == SlotType::Password);
        let slot = slot.ok_or_else(|| no_seed(path))?;
        let (key, _) = slot
            .open_password(password, &Limits::standard())
            .map_err(|error| failed(path, &error))?;
        let mut text = Bounded(SecretBytes::zeroed(LONGEST), 0);
        open(&mut file, &mut text, &header, &key, &aad()?, &mut |_| {})
            .map_err(|error| failed(path, &error))?;
        Self::parse(text.text()).ok_or_else(|| no_seed(path))
    }

    fn text(&self) -> SecretBytes {
        let digits = SecretBytes::from_vec(hex::encode(self.seed.expose()).into_bytes());
        let front = format!(
            "{FIRST_LINE}\nseed_scheme {}\nexport {}\nseed ",
            self.seed.scheme(),
            self.export.name()
        );
        let mut text = Vec::with_capacity(LONGEST);
        text.extend_from_slice(front.as_bytes());
        text.extend_from_slice(digits.expose());
        text.push(b'\n');
        SecretBytes::from_vec(text)
    }

    fn parse(text: &[u8]) -> Option<Self> {
        let mut lines = std::str::from_utf8(text)
            .ok()?
            .strip_suffix('\n')?
            .split('\n');
        (lines.next()? == FIRST_LINE).then_some(())?;
        let scheme: SeedScheme = lines.next()?.strip_prefix("seed_scheme ")?.parse().ok()?;
        let export = match lines.next()?.strip_prefix("export ")? {
            "never" => Export::Never,
            "plain" => Export::Plain,
            _ => return None,
        };
        let seed = hex::decode(lines.next()?.strip_prefix("seed ")?).ok()?;
        let seed = SecretBytes::from_vec(seed);
        let none_left = lines.next().is_none();
        let seed = Seed::restore(seed.expose(), scheme).ok()?;
        none_left.then_some(Self { seed, export })
    }
}

/// A buffer that does not grow.
struct Bounded(SecretBytes, usize);

impl Bounded {
    fn text(&self) -> &[u8] {
        self.0.expose().get(..self.1).unwrap_or_default()
    }
}

impl std::io::Write for Bounded {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        let end = self.1 + bytes.len();
        let room = self.0.expose_mut().get_mut(self.1..end);
        let room = room.ok_or_else(|| std::io::Error::from(std::io::ErrorKind::WriteZero))?;
        room.copy_from_slice(bytes);
        self.1 = end;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

fn aad() -> Result<Aad<'static>, Failure> {
    Aad::EMPTY
        .caller(PURPOSE)
        .map_err(|error| failed(Path::new("the seed file"), &error))
}

/// A name in the same folder that nothing has.
fn beside(path: &Path, suffix: &[u8; 8]) -> PathBuf {
    let mut name = path.file_name().unwrap_or_default().to_owned();
    name.push(format!(".new-{}", hex::encode(suffix)));
    path.with_file_name(name)
}

/// Said before anything is made or asked for; the link says it again at the end.
pub(super) fn refuse_existing(path: &Path) -> Result<(), Failure> {
    match std::fs::symlink_metadata(path) {
        Ok(_) => Err(exists(path)),
        Err(_) => Ok(()),
    }
}

fn exists(path: &Path) -> Failure {
    Failure::new(
        Exit::Refused,
        format!(
            "{} exists, and a seed is never written over",
            path.display()
        ),
        "choose another name with --out FILE",
    )
}

fn no_seed(path: &Path) -> Failure {
    Failure::new(
        Exit::Usage,
        format!("{} is no seed file", path.display()),
        "give a file that `keywright hd seed` has written",
    )
}

fn failed(path: &Path, error: &(dyn std::error::Error + 'static)) -> Failure {
    use keywright_container::Error;
    let (exit, advice) = match error.downcast_ref::<Error>() {
        Some(Error::Rejected | Error::Password(keywright_password::Error::Rejected)) => (
            Exit::Authentication,
            "check the password, and whether the file was changed",
        ),
        Some(Error::Malformed) => (
            Exit::Usage,
            "give a file that `keywright hd seed` has written",
        ),
        _ => (
            Exit::Internal,
            "check that the path exists and that you may use it",
        ),
    };
    Failure::new(
        exit,
        format!("{}: {}", path.display(), sentence(error)),
        advice,
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_is_read_back_and_nothing_that_is_nearly_one() {
        for scheme in [SeedScheme::Apollo, SeedScheme::Bip39, SeedScheme::Raw] {
            for export in [Export::Never, Export::Plain] {
                let seed = Seed::restore(&[7; 64], scheme).unwrap();
                let text = Document { seed, export }.text();
                let read = Document::parse(text.expose()).unwrap();
                assert_eq!((read.seed.scheme(), read.export), (scheme, export));
                assert_eq!(read.seed.expose(), [7; 64]);
                for cut in 0..text.len() {
                    assert!(Document::parse(&text.expose()[..cut]).is_none(), "{cut}");
                }
                let more = [text.expose(), b"\n"].concat();
                assert!(Document::parse(&more).is_none());
            }
        }
        let good = "keywright seed 1\nseed_scheme raw\nexport never\nseed 00000000000000000000000000000000\n";
        assert!(Document::parse(good.as_bytes()).is_some());
        for (from, to) in [
            ("seed 1", "seed 2"),
            ("raw", "bip39"),
            ("raw", "node"),
            ("raw", "Raw"),
            ("never", "ever"),
            ("seed 00", "seed 0"),
            ("seed 00", "seed zz"),
            ("\nexport", "\r\nexport"),
        ] {
            assert!(
                Document::parse(good.replace(from, to).as_bytes()).is_none(),
                "{from} {to}"
            );
        }
    }
}
