//! Tokens that a client gets for its certificate.
//!
//! The MAC in a [`LoginToken`] is HMAC-SHA-256 over
//!
//! ```text
//! lp("keywright/vault-token/v1") + not-after u64 + SHA-256 of the leaf's public key + SHA-256 of the leaf
//! ```
//!
//! A token holds nothing and grants nothing: it says that whoever shows this certificate has logged in. It is checked
//! against the certificate of the connection it comes over, so a copy of it is of no use to anybody else, and
//! against a key that each process makes for itself, so it ends with the process at the latest.

use std::time::Duration;

use http::HeaderMap;
use http::header::AUTHORIZATION;
use keywright_api::vault::LoginToken;
use keywright_api::vault::answer::TokenFacts;
use keywright_clock::WallTime;
use keywright_primitives::mac::MacKey;
use keywright_primitives::random::RandomStream;
use keywright_types::Credential;

/// Makes and checks tokens.
pub(super) struct Tokens {
    key: MacKey,
    life: Duration,
}

impl Tokens {
    pub(super) fn new(life: Duration) -> Result<Self, keywright_primitives::Error> {
        let key = RandomStream::new()?.secret::<32>()?;
        Ok(Self {
            key: MacKey::new(key.expose()),
            life,
        })
    }

    /// A token for a certificate, and the seconds for which it works: never longer than the certificate does.
    pub(super) fn issue(&self, credential: &Credential, now: WallTime) -> (String, u64) {
        let now = now.unix_seconds();
        let not_after = now
            .saturating_add(self.life.as_secs())
            .min(credential.not_after);
        let mac = self
            .key
            .mac_pieces(&pieces(&not_after.to_be_bytes(), credential));
        let token = LoginToken::new(not_after, mac).expose();
        (token, not_after.saturating_sub(now))
    }

    /// When a token ends, if it is one of this certificate and has not ended.
    pub(super) fn check(
        &self,
        token: &str,
        credential: &Credential,
        now: WallTime,
    ) -> Option<WallTime> {
        let LoginToken { not_after, mac, .. } = LoginToken::read(token)?;
        let signed = pieces(&not_after.to_be_bytes(), credential).concat();
        self.key.verify(&signed, &mac).ok()?;
        (now.unix_seconds() < not_after).then(|| WallTime::from_unix_seconds(not_after))
    }
}

/// What the MAC is over. All parts have a fixed length.
fn pieces<'a>(not_after: &'a [u8; 8], credential: &'a Credential) -> [&'a [u8]; 4] {
    [LABEL, not_after, &credential.leaf_key, &credential.leaf]
}

/// What a request shows besides its certificate.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Presented<'a> {
    /// Nothing.
    Nothing,
    /// One token.
    Token(&'a str),
    /// Several, or something that is no text.
    Unreadable,
}

impl<'a> Presented<'a> {
    /// Looks at the two headers that carry tokens. An empty one is none.
    pub(super) fn of(headers: &'a HeaderMap) -> Self {
        let named = headers.get_all(TOKEN_HEADER).iter();
        let mut presented = Self::Nothing;
        for value in named.chain(headers.get_all(AUTHORIZATION)) {
            let text = value
                .to_str()
                .map(|text| text.strip_prefix("Bearer ").unwrap_or(text));
            match (text, &presented) {
                (Ok(""), _) => {}
                (Ok(text), Self::Nothing) => presented = Self::Token(text),
                (Ok(text), Self::Token(known)) if *known == text => {}
                _ => return Self::Unreadable,
            }
        }
        presented
    }
}

/// What a client is told of its token.
pub(super) fn facts(principal: &str, ends: WallTime, now: WallTime) -> TokenFacts {
    TokenFacts {
        accessor: String::new(),
        display_name: format!("cert-{principal}"),
        expire_time: ends.rfc3339(),
        num_uses: 0,
        orphan: true,
        path: "auth/cert/login".to_owned(),
        policies: Vec::new(),
        renewable: false,
        ttl: ends.unix_seconds().saturating_sub(now.unix_seconds()),
        kind: "batch".to_owned(),
    }
}

/// With its length in front, as every label of this project that stands before other bytes.
const LABEL: &[u8] = b"\x00\x00\x00\x18keywright/vault-token/v1";
const TOKEN_HEADER: &str = "x-vault-token";

#[cfg(test)]
mod tests {
    use keywright_mutate::{mutants, mutations};

    use super::*;

    const NOW: WallTime = WallTime::from_unix_seconds(1_000_000);

    fn credential(key: u8, leaf: u8) -> Credential {
        Credential {
            anchor: [1; 32],
            leaf_key: [key; 32],
            leaf: [leaf; 32],
            serial: vec![1],
            subject: String::new(),
            common_name: None,
            organizational_unit: None,
            san_uris: Vec::new(),
            san_dns: Vec::new(),
            not_after: u64::MAX,
        }
    }

    fn tokens() -> Tokens {
        Tokens::new(Duration::from_secs(60)).unwrap()
    }

    #[test]
    fn the_label_has_its_length_in_front() {
        let (length, text) = LABEL.split_first_chunk::<4>().unwrap();
        assert_eq!(u32::from_be_bytes(*length) as usize, text.len());
    }

    #[test]
    fn a_token_works_with_its_certificate_until_it_ends() {
        let (tokens, mine) = (tokens(), credential(2, 3));
        let (token, seconds) = tokens.issue(&mine, NOW);
        assert_eq!(seconds, 60);
        let ends = NOW.plus(Duration::from_secs(60));
        assert_eq!(tokens.check(&token, &mine, NOW), Some(ends));
        assert_eq!(
            tokens.check(&token, &mine, NOW.plus(Duration::from_secs(59))),
            Some(ends)
        );
        assert_eq!(tokens.check(&token, &mine, ends), None);
    }

    #[test]
    fn a_token_never_outlives_its_certificate() {
        let mut short = credential(2, 3);
        short.not_after = NOW.unix_seconds() + 7;
        let (token, seconds) = tokens().issue(&short, NOW);
        assert_eq!(seconds, 7);
        assert_eq!(LoginToken::read(&token).unwrap().not_after, short.not_after);
        short.not_after = 5;
        assert_eq!(tokens().issue(&short, NOW).1, 0);
    }

    #[test]
    fn no_other_certificate_and_no_other_process_takes_it() {
        let (ours, mine) = (tokens(), credential(2, 3));
        let (token, _) = ours.issue(&mine, NOW);
        for other in [credential(2, 4), credential(4, 3), credential(3, 2)] {
            assert_eq!(ours.check(&token, &other, NOW), None);
        }
        assert_eq!(tokens().check(&token, &mine, NOW), None);
    }

    #[test]
    fn every_change_of_a_token_breaks_it() {
        let (tokens, mine) = (tokens(), credential(2, 3));
        let (token, _) = tokens.issue(&mine, NOW);
        for text in [
            "",
            "kwv1.",
            "hvs.CAES",
            &token.to_uppercase(),
            &format!("{token}00"),
            &format!(" {token}"),
        ] {
            assert_eq!(tokens.check(text, &mine, NOW), None, "{text}");
        }
        for place in 0..token.len() {
            let mut bytes = token.clone().into_bytes();
            bytes[place] ^= 1;
            let changed = String::from_utf8(bytes).unwrap();
            assert_eq!(tokens.check(&changed, &mine, NOW), None, "{place}");
            assert_eq!(tokens.check(&token[..place], &mine, NOW), None, "{place}");
        }
        let seeds = [token.as_bytes()];
        for changed in mutations(&seeds, mutants(), 1) {
            if changed != token.as_bytes()
                && let Ok(text) = std::str::from_utf8(&changed)
            {
                assert_eq!(tokens.check(text, &mine, NOW), None);
            }
        }
    }

    #[test]
    fn one_token_is_taken_from_either_header_and_two_are_refused() {
        let with = |values: &[(&'static str, &'static str)]| {
            let mut headers = HeaderMap::new();
            for (name, value) in values {
                headers.append(*name, value.parse().unwrap());
            }
            headers
        };
        for (values, expected) in [
            (&[][..], Presented::Nothing),
            (&[("x-vault-token", "")], Presented::Nothing),
            (&[("x-vault-token", "a")], Presented::Token("a")),
            (&[("authorization", "Bearer a")], Presented::Token("a")),
            (
                &[("x-vault-token", "a"), ("authorization", "Bearer a")],
                Presented::Token("a"),
            ),
            (
                &[("x-vault-token", "a"), ("x-vault-token", "b")],
                Presented::Unreadable,
            ),
            (
                &[("x-vault-token", "a"), ("authorization", "Bearer b")],
                Presented::Unreadable,
            ),
        ] {
            assert_eq!(Presented::of(&with(values)), expected);
        }
        let mut binary = HeaderMap::new();
        binary.insert(
            "x-vault-token",
            http::HeaderValue::from_bytes(&[0xFF]).unwrap(),
        );
        assert_eq!(Presented::of(&binary), Presented::Unreadable);
    }
}
