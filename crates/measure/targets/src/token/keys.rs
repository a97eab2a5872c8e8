//! Keys of a measurement: made once for all workers or once for each, and gone afterwards.

use keywright_pkcs11::{
    Access, Error, KeyPlan, ObjectHandle, PairKind, Purpose, SecretKind, Session, Template, Token,
    User,
};

use super::place::Login;

/// Where keys of a measurement are.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[expect(clippy::exhaustive_enums, reason = "the standard knows these two")]
pub enum Storage {
    /// In a session: they end with it, and nothing of them is ever stored.
    #[default]
    Session,
    /// In the token, to measure what storage costs; destroyed when the measurement ends.
    Token,
}

/// Which worker uses which key.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[expect(clippy::exhaustive_enums, reason = "there is no third")]
pub enum Sharing {
    /// All of them the same one, as requests to a service do.
    #[default]
    One,
    /// Each of them its own.
    Each,
}

/// A key that an operation takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Wanted {
    Pair(PairKind, Purpose),
    Secret(SecretKind, Purpose),
}

/// The halves of a pair; of a secret key, it twice.
#[derive(Clone, Copy, Debug)]
pub(super) struct Keys {
    pub(super) public: ObjectHandle,
    pub(super) private: ObjectHandle,
}

impl Keys {
    pub(super) const fn secret(key: ObjectHandle) -> Self {
        Self {
            public: key,
            private: key,
        }
    }
}

/// The session that keys live in, logged in as long as it is.
#[derive(Debug)]
pub(super) struct Keeper {
    session: Session,
    storage: Storage,
    prefix: String,
    made: Vec<Made>,
    pub(super) named: Option<Keys>,
}

#[derive(Debug)]
struct Made {
    wanted: Wanted,
    worker: Option<u32>,
    keys: Keys,
}

impl Keeper {
    pub(super) fn open(
        token: &Token,
        login: Option<&Login>,
        (storage, prefix): (Storage, &str),
    ) -> Result<Self, Error> {
        let access = match storage {
            Storage::Session => Access::Read,
            Storage::Token => Access::Write,
        };
        let session = token.open_for(access)?;
        if let Some(login) = login {
            session.login(User::User, login.credential())?;
        }
        Ok(Self {
            session,
            storage,
            prefix: prefix.to_owned(),
            made: Vec::new(),
            named: None,
        })
    }

    pub(super) const fn session(&self) -> &Session {
        &self.session
    }

    /// The key that is wanted, made if there is none yet.
    pub(super) fn key(&mut self, wanted: Wanted, worker: Option<u32>) -> Result<Keys, Error> {
        let known = self
            .made
            .iter()
            .find(|made| made.wanted == wanted && made.worker == worker);
        if let Some(made) = known {
            return Ok(made.keys);
        }
        let plan = self.plan(wanted);
        let keys = make(&self.session, wanted, &plan)?;
        self.made.push(Made {
            wanted,
            worker,
            keys,
        });
        Ok(keys)
    }

    /// Gives the session up, which is lost; the labels of keys that are in the token all the same.
    pub(super) fn give_up(mut self) -> Vec<String> {
        let made = std::mem::take(&mut self.made);
        match self.storage {
            Storage::Session => Vec::new(),
            Storage::Token => (0..made.len()).map(|place| self.label(place)).collect(),
        }
    }

    /// Destroys keys that an earlier session left in the token.
    pub(super) fn destroy(&self, labels: &[String]) -> Result<(), Error> {
        for label in labels {
            let left = self.session.search(&Template::new().label(label))?;
            for object in left.collect::<Result<Vec<_>, _>>()? {
                self.session.destroy_object(object)?;
            }
        }
        Ok(())
    }

    fn label(&self, place: usize) -> String {
        format!("{}-{place}", self.prefix)
    }

    fn plan(&self, wanted: Wanted) -> KeyPlan {
        let (Wanted::Pair(_, purpose) | Wanted::Secret(_, purpose)) = wanted;
        let plan = KeyPlan::new(purpose).label(&self.label(self.made.len()));
        match self.storage {
            Storage::Session => plan.in_session(),
            Storage::Token => plan,
        }
    }
}

pub(super) fn make(session: &Session, wanted: Wanted, plan: &KeyPlan) -> Result<Keys, Error> {
    match wanted {
        Wanted::Pair(kind, _) => {
            let pair = session.generate_pair(kind, plan)?;
            Ok(Keys {
                public: pair.public,
                private: pair.private,
            })
        }
        Wanted::Secret(kind, _) => Ok(Keys::secret(session.generate_secret(kind, plan)?)),
    }
}

impl Drop for Keeper {
    fn drop(&mut self) {
        if self.storage == Storage::Session {
            return;
        }
        for made in &self.made {
            // What cannot be destroyed any more is gone, or the token is.
            self.session.destroy_object(made.keys.private).ok();
            if made.keys.public != made.keys.private {
                self.session.destroy_object(made.keys.public).ok();
            }
        }
    }
}
