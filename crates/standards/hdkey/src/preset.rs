//! Paths that wallets agree on: BIP-44, BIP-49, BIP-84, BIP-86.
//!
//! Their last two components are not hardened, so a tree must allow such children to use them.

use crate::path::{ChildIndex, Path, PathError};

/// What an account's addresses look like; the number is that of the standard.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Wallet {
    /// BIP-44: the first form, and other currencies.
    Legacy,
    /// BIP-49: segregated witness inside the old form.
    NestedSegwit,
    /// BIP-84: segregated witness.
    Segwit,
    /// BIP-86: Taproot with a single key.
    Taproot,
}

/// Whether an address is shown to payers or takes what is left of a payment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(clippy::exhaustive_enums, reason = "BIP-44 knows these two")]
pub enum Chain {
    /// Shown to payers.
    Receiving,
    /// Takes what is left.
    Change,
}

impl Wallet {
    /// Every kind.
    pub const ALL: [Self; 4] = [
        Self::Legacy,
        Self::NestedSegwit,
        Self::Segwit,
        Self::Taproot,
    ];

    /// The first component of its paths.
    #[must_use]
    pub const fn purpose(self) -> u32 {
        match self {
            Self::Legacy => 44,
            Self::NestedSegwit => 49,
            Self::Segwit => 84,
            Self::Taproot => 86,
        }
    }

    /// `m/purpose'/coin'/account'`; coins are numbered by SLIP-0044, Bitcoin is 0.
    ///
    /// # Errors
    /// [`PathError::TooLarge`] if a number is 2^31 or more.
    pub fn account(self, coin: u32, account: u32) -> Result<Path, PathError> {
        Path::all_hardened(&[self.purpose(), coin, account])
    }

    /// `m/purpose'/coin'/account'/chain/index`.
    ///
    /// # Errors
    /// [`PathError::TooLarge`] if a number is 2^31 or more.
    pub fn address(
        self,
        coin: u32,
        account: u32,
        chain: Chain,
        index: u32,
    ) -> Result<Path, PathError> {
        let chain = match chain {
            Chain::Receiving => 0,
            Chain::Change => 1,
        };
        let soft =
            |number, position| ChildIndex::soft(number).ok_or(PathError::TooLarge { position });
        let path = self.account(coin, account)?;
        path.join(soft(chain, 4)?)?.join(soft(index, 5)?)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_lie_where_the_standards_say() {
        let path = |wallet: Wallet, chain| wallet.address(0, 2, chain, 7).unwrap().to_string();
        assert_eq!(path(Wallet::Legacy, Chain::Receiving), "m/44'/0'/2'/0/7");
        assert_eq!(path(Wallet::NestedSegwit, Chain::Change), "m/49'/0'/2'/1/7");
        assert_eq!(path(Wallet::Segwit, Chain::Receiving), "m/84'/0'/2'/0/7");
        assert_eq!(path(Wallet::Taproot, Chain::Change), "m/86'/0'/2'/1/7");
        let large = 1 << 31;
        let place = |result: Result<Path, PathError>| match result {
            Err(PathError::TooLarge { position }) => position,
            other => panic!("{other:?}"),
        };
        assert_eq!(place(Wallet::Legacy.account(large, 0)), 2);
        assert_eq!(place(Wallet::Legacy.account(0, large)), 3);
        assert_eq!(place(Wallet::Legacy.address(0, 0, Chain::Change, large)), 5);
    }
}
