//! Suites that the program brings along.

use super::{Context, Error, Suite};

/// A suite that the program brings along.
#[derive(Clone, Copy, Debug)]
#[expect(clippy::exhaustive_structs, reason = "a row of a table")]
pub struct Shipped {
    /// What it is called.
    pub name: &'static str,
    /// What else it is called: after the published table whose rows it has, `seed-a` to `seed-e`.
    pub aliases: &'static [&'static str],
    /// The file.
    pub text: &'static str,
}

macro_rules! shipped {
    ($($name:literal $(= $alias:literal)?;)*) => {
        &[$(Shipped {
            name: $name,
            aliases: &[$($alias)?],
            text: include_str!(concat!("../../../../../suites/", $name, ".toml")),
        }),*]
    };
}

/// Every suite that the program brings along, in the order of their names.
pub const SHIPPED: &[Shipped] = shipped! {
    "ci";
    "fpe" = "seed-c";
    "hsm";
    "hsm-local" = "seed-a";
    "key-derivation" = "seed-d";
    "service-extreme" = "seed-b";
    "service-overload";
    "sessions" = "seed-e";
};

impl Shipped {
    /// The suite of this name, or of this other name.
    #[must_use]
    pub fn find(name: &str) -> Option<&'static Self> {
        SHIPPED
            .iter()
            .find(|suite| suite.names().any(|known| known == name))
    }

    /// What it is called, its usual name first.
    pub fn names(&self) -> impl Iterator<Item = &'static str> {
        std::iter::once(self.name).chain(self.aliases.iter().copied())
    }

    /// Reads it.
    ///
    /// # Errors
    /// An operation that this program does not have.
    pub fn suite(&self, context: &Context<'_>) -> Result<Suite, Error> {
        Suite::parse(self.name, self.text, context)
    }

    /// Reads the cases whose operations this program has; why the others are left out is beside them.
    ///
    /// # Errors
    /// None for the files that are brought along.
    pub fn suite_in_part(&self, context: &Context<'_>) -> Result<(Suite, Vec<Error>), Error> {
        Suite::parse_in_part(self.name, self.text, context)
    }
}
