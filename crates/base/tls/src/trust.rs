//! Which client certificates are believed (RFC 5280, section 6; design 7.25, 7.27).

use std::fmt;

use keywright_clock::{Clock, WallTime};
use keywright_primitives::hash::sha256;
use keywright_types::Credential;
use rustls::DistinguishedName;
use rustls_pki_types::{CertificateDer, CertificateRevocationListDer, TrustAnchor, UnixTime};
use std::time::Duration;
use webpki::{
    CertRevocationList, EndEntityCert, ExpirationPolicy, KeyUsage, OwnedCertRevocationList,
    RevocationCheckDepth, RevocationOptionsBuilder, UnknownStatusPolicy, VerifiedPath,
    anchor_from_trusted_cert,
};
use x509_parser::asn1_rs::FromDer;
use x509_parser::certificate::X509Certificate;
use x509_parser::num_bigint::BigUint;
use x509_parser::revocation_list::CertificateRevocationList;

use crate::config::provider;
use crate::pem::sections;
use crate::{Error, Older, Refusal, Role, Roster, der, identity};

/// Longest chain that is looked at. Each anchor starts a search of its own, so that a long chain of
/// foreign certificates would buy many signature checks with one connection.
const LONGEST_CHAIN: usize = 8;

/// Trust anchors for client certificates, and the revocation lists that belong to them.
///
/// Immutable: a new list or anchor means a new value, swapped in as a whole.
pub struct ClientTrust {
    anchors: Vec<Anchor>,
    /// Those of the anchors, and those of issuers between an anchor and its clients.
    lists: Vec<List>,
    subjects: Vec<DistinguishedName>,
    /// Who is let in or kept out besides, if anybody has said so.
    roster: Option<Roster>,
    clock: Clock,
}

struct Anchor {
    trusted: TrustAnchor<'static>,
    /// The whole SubjectPublicKeyInfo; `trusted` holds it without its outer header.
    key_info: Vec<u8>,
    not_before: WallTime,
    not_after: WallTime,
    path_length: Option<u32>,
    /// Place of its revocation list; every anchor of a finished [`ClientTrust`] has one.
    list: Option<usize>,
}

struct List {
    list: CertRevocationList<'static>,
    /// Big-endian without leading zeros.
    number: Option<Vec<u8>>,
    this_update: WallTime,
    next_update: WallTime,
    issuer: Issuer,
}

#[derive(PartialEq, Eq)]
enum Issuer {
    Anchor,
    Intermediate,
}

impl ClientTrust {
    /// Reads anchors and revocation lists. Each anchor needs exactly one list; lists of issuers that
    /// are no anchors are kept for the certificates between anchor and client, which need one too.
    /// `clock` is what handshakes are judged by.
    ///
    /// A list that has expired is loaded all the same and then refuses every client of its anchor:
    /// [`ClientTrust::expires`] tells when that begins. A list from the near future is used at once:
    /// an authority whose clock is a little ahead must not lock everybody out.
    ///
    /// # Errors
    /// A file that cannot be read or holds nothing; [`Error::AnchorNotAuthority`];
    /// [`Error::AnchorWithoutRevocationList`]; [`Error::RevocationListSignature`];
    /// [`Error::RevocationListDuplicate`].
    pub fn new(anchors_pem: &[u8], crls_pem: &[u8], clock: Clock) -> Result<Self, Error> {
        let certificates: Vec<CertificateDer<'static>> =
            sections(anchors_pem, Role::ClientAnchors)?;
        let mut anchors = certificates
            .iter()
            .enumerate()
            .map(|(at, certificate)| Anchor::read(certificate, at + 1))
            .collect::<Result<Vec<_>, _>>()?;
        // A file without any list is the plainest form of an anchor without one.
        let ders = match sections(crls_pem, Role::RevocationLists) {
            Err(Error::Empty(_)) => return Err(Error::AnchorWithoutRevocationList { position: 1 }),
            other => other?,
        };
        let lists = assign(&mut anchors, &ders)?;
        let subjects = anchors
            .iter()
            .map(|anchor| DistinguishedName::in_sequence(&anchor.trusted.subject))
            .collect();
        Ok(Self {
            anchors,
            lists,
            subjects,
            roster: None,
            clock,
        })
    }

    /// The same with a list of certificates beside the revocation lists.
    #[must_use]
    pub fn with_roster(mut self, roster: Roster) -> Self {
        self.roster = Some(roster);
        self
    }

    /// Reads what [`ClientTrust::text`] wrote.
    ///
    /// # Errors
    /// As [`ClientTrust::new`] and [`Roster::parse`].
    pub fn from_text(text: &[u8], clock: Clock) -> Result<Self, Error> {
        let (files, roster) = Roster::split(text);
        // Each kind of section is found among the others by its own reader.
        let trust = Self::new(files, files, clock)?;
        Ok(match roster {
            Some(roster) => trust.with_roster(Roster::parse(roster)?),
            None => trust,
        })
    }

    /// One text of the files that a trust is made of, to be read again together: those of anchors and revocation lists
    /// in any order, then the list of certificates.
    #[must_use]
    pub fn text(files: &[&[u8]], roster: Option<&[u8]>) -> Vec<u8> {
        let parts: Vec<_> = files.iter().copied().chain(roster).collect();
        parts.join(&b'\n')
    }

    /// Verifies a chain as the client sent it, the leaf first, at the time `now`: path, validity (of
    /// the anchor too), revocation of every certificate in the path, purpose, and identity.
    ///
    /// ```
    /// # use std::time::Duration;
    /// # use keywright_clock::{Clock, WallTime};
    /// # use keywright_tls::{ClientTrust, certificates, issue::{Authority, ClientSubject}};
    /// # fn main() -> Result<(), keywright_tls::Error> {
    /// # let now = WallTime::from_unix_seconds(1_800_000_000);
    /// # let day = Duration::from_secs(86_400);
    /// let authority = Authority::create("Example CA", now, day)?;
    /// let list = authority.revocation_list(&[], 1, now, now.plus(day))?;
    /// let trust = ClientTrust::new(authority.certificate_pem().as_bytes(), list.as_bytes(), Clock::system())?;
    /// let subject = ClientSubject { common_name: "trading-1", organizational_unit: Some("Trading"), principal: None };
    /// let issued = authority.issue_client(&subject, now, day)?;
    /// let credential = trust.verify(&certificates(issued.certificate_pem.as_bytes())?, now).unwrap();
    /// assert_eq!(credential.organizational_unit.as_deref(), Some("Trading"));
    /// assert_eq!(credential.anchor, authority.spki_sha256());
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// [`Refusal`], the reason for the log.
    pub fn verify(
        &self,
        chain: &[CertificateDer<'_>],
        now: WallTime,
    ) -> Result<Credential, Refusal> {
        self.verify_until(chain, now)
            .map(|(credential, _)| credential)
    }

    /// [`ClientTrust::verify`], and the first moment at which its answer no longer holds: a
    /// certificate of the path, the anchor or one of the revocation lists used has run out by then.
    /// Whoever keeps the answer for longer must ask again.
    ///
    /// # Errors
    /// As [`ClientTrust::verify`].
    pub fn verify_until(
        &self,
        chain: &[CertificateDer<'_>],
        now: WallTime,
    ) -> Result<(Credential, WallTime), Refusal> {
        let (leaf, intermediates) = chain.split_first().ok_or(Refusal::Missing)?;
        if chain.len() > LONGEST_CHAIN {
            return Err(Refusal::Malformed);
        }
        let end = EndEntityCert::try_from(leaf)?;
        let mut refusal = Refusal::UnknownIssuer;
        for anchor in &self.anchors {
            match self.verify_under(anchor, &end, intermediates, now) {
                Ok(Vouched { until, issuer }) => {
                    let credential = identity::credential(leaf, sha256(&anchor.key_info))?;
                    if let Some(roster) = &self.roster {
                        roster.judge(&credential, &issuer)?;
                    }
                    let until = until.min(after(credential.not_after));
                    return Ok((credential, until));
                }
                Err(Refusal::UnknownIssuer) => {}
                Err(nearer) => refusal = nearer,
            }
        }
        Err(refusal)
    }

    /// When the first of the revocation lists expires; from then on clients are refused.
    #[must_use]
    pub fn expires(&self) -> WallTime {
        self.lists
            .iter()
            .map(|list| list.next_update)
            .min()
            .unwrap_or(WallTime::from_unix_seconds(0))
    }

    /// Until when clients of at least one anchor can be let in: the last day of the anchors and their lists. Later
    /// than [`ClientTrust::expires`] only where there are several anchors.
    #[must_use]
    pub fn serves_until(&self) -> WallTime {
        let ends = self.anchors.iter().filter_map(|anchor| {
            let list = self.lists.get(anchor.list?)?;
            Some(list.next_update.min(after(anchor.not_after.unix_seconds())))
        });
        ends.max().unwrap_or(WallTime::from_unix_seconds(0))
    }

    /// Which of the lists here is older than the list of the same issuer in `current`: by its
    /// number, or by its date where one of them has none. Such a value must not replace `current`,
    /// or somebody who puts an old file back ends a revocation. The same goes for the list of
    /// certificates; that there is none at all is the configuration's to say.
    #[must_use]
    pub fn older_than(&self, current: &Self) -> Option<Older> {
        let rosters = self.roster.as_ref().zip(current.roster.as_ref());
        let roster = rosters.and_then(|(ours, theirs)| ours.older_than(theirs));
        let list = || {
            self.has_older_list(current)
                .then_some(Older::RevocationList)
        };
        roster.or_else(list)
    }

    fn has_older_list(&self, current: &Self) -> bool {
        self.lists.iter().any(|ours| {
            current
                .lists
                .iter()
                .filter(|theirs| ours.list.issuer() == theirs.list.issuer())
                .filter(|theirs| self.signer(ours) == current.signer(theirs))
                .any(|theirs| ours.precedes(theirs))
        })
    }

    /// The key of the anchor that a list belongs to; none for issuers that are no anchors.
    fn signer<'a>(&'a self, list: &List) -> Option<&'a [u8]> {
        let mut anchors = self.anchors.iter();
        anchors
            .find(|anchor| {
                let own = anchor.list.and_then(|place| self.lists.get(place));
                own.is_some_and(|own| std::ptr::eq(own, list))
            })
            .map(|anchor| anchor.key_info.as_slice())
    }

    pub(crate) fn subjects(&self) -> &[DistinguishedName] {
        &self.subjects
    }

    pub(crate) const fn clock(&self) -> &Clock {
        &self.clock
    }

    /// One anchor at a time, because two anchors may share a name and then only one of their lists
    /// carries the right signature.
    fn verify_under(
        &self,
        anchor: &Anchor,
        end: &EndEntityCert<'_>,
        intermediates: &[CertificateDer<'_>],
        now: WallTime,
    ) -> Result<Vouched, Refusal> {
        let own = anchor.list.and_then(|place| self.lists.get(place));
        let own = own.ok_or(Refusal::RevocationUnknown)?;
        let others = self
            .lists
            .iter()
            .filter(|list| list.issuer == Issuer::Intermediate);
        let lists: Vec<_> = std::iter::once(own)
            .chain(others)
            .map(|list| &list.list)
            .collect();
        let revocation = RevocationOptionsBuilder::new(&lists)
            .map_err(|_| Refusal::RevocationUnknown)?
            .with_depth(RevocationCheckDepth::Chain)
            .with_status_policy(UnknownStatusPolicy::Deny)
            .with_expiration_policy(ExpirationPolicy::Enforce)
            .build();
        let path = end.verify_for_usage(
            provider().signature_verification_algorithms.all,
            std::slice::from_ref(&anchor.trusted),
            intermediates,
            UnixTime::since_unix_epoch(Duration::from_secs(now.unix_seconds())),
            KeyUsage::client_auth(),
            Some(revocation),
            None,
        )?;
        anchor.check(&path, now)?;
        Ok(Vouched {
            until: self.path_ends(&path, own, anchor)?,
            issuer: issuer_of(&path, anchor)?,
        })
    }

    /// The earliest end among anchor, certificates between, and the lists that vouch for the path.
    fn path_ends(
        &self,
        path: &VerifiedPath<'_>,
        own: &List,
        anchor: &Anchor,
    ) -> Result<WallTime, Refusal> {
        // Certificates are good to the end of their last second, lists to its beginning.
        let mut until = own.next_update.min(after(anchor.not_after.unix_seconds()));
        let vouched = |issuer: &[u8]| {
            let named = self
                .lists
                .iter()
                .filter(|list| list.issuer == Issuer::Intermediate && list.list.issuer() == issuer);
            named.map(|list| list.next_update).min()
        };
        until = vouched(path.end_entity().issuer()).map_or(until, |end| until.min(end));
        for between in path.intermediate_certificates() {
            let der = between.der();
            let parsed = der::certificate(&der).ok_or(Refusal::Malformed)?;
            until = until.min(after(der::seconds(parsed.validity().not_after)));
            until = vouched(between.issuer()).map_or(until, |end| until.min(end));
        }
        Ok(until)
    }
}

impl fmt::Debug for ClientTrust {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ClientTrust")
            .field("anchors", &self.anchors.len())
            .field("lists", &self.lists.len())
            .finish_non_exhaustive()
    }
}

impl Anchor {
    fn read(certificate: &CertificateDer<'_>, position: usize) -> Result<Self, Error> {
        let malformed = Error::Malformed(Role::ClientAnchors);
        let Ok(trusted) = anchor_from_trusted_cert(certificate) else {
            return Err(malformed);
        };
        let parsed = der::certificate(certificate).ok_or(malformed)?;
        let path_length = authority(&parsed).ok_or(Error::AnchorNotAuthority { position })?;
        Ok(Self {
            trusted: trusted.to_owned(),
            key_info: parsed.public_key().raw.to_vec(),
            not_before: der::wall(parsed.validity().not_before),
            not_after: der::wall(parsed.validity().not_after),
            path_length,
            list: None,
        })
    }

    /// What path building leaves out, since to it an anchor is a name and a key.
    fn check(&self, path: &VerifiedPath<'_>, now: WallTime) -> Result<(), Refusal> {
        let seconds = now.unix_seconds();
        if seconds < self.not_before.unix_seconds() || seconds > self.not_after.unix_seconds() {
            return Err(Refusal::AnchorNotValid);
        }
        let between = u32::try_from(path.intermediate_certificates().count()).unwrap_or(u32::MAX);
        if self.path_length.is_some_and(|most| between > most) {
            return Err(Refusal::UnknownIssuer);
        }
        Ok(())
    }
}

/// What a path says besides that it is one.
struct Vouched {
    /// Until when that holds, the leaf's own end left out.
    until: WallTime,
    /// SHA-256 of the key that signed the leaf.
    issuer: [u8; 32],
}

fn issuer_of(path: &VerifiedPath<'_>, anchor: &Anchor) -> Result<[u8; 32], Refusal> {
    let Some(nearest) = path.intermediate_certificates().next() else {
        return Ok(sha256(&anchor.key_info));
    };
    let der = nearest.der();
    let parsed = der::certificate(&der).ok_or(Refusal::Malformed)?;
    Ok(sha256(parsed.public_key().raw))
}

/// The first moment after a certificate's last second.
const fn after(not_after: u64) -> WallTime {
    WallTime::from_unix_seconds(not_after.saturating_add(1))
}

/// The path length constraint of a certificate that may sign certificates and revocation lists.
fn authority(certificate: &X509Certificate<'_>) -> Option<Option<u32>> {
    let constraints = certificate.basic_constraints().ok()??.value;
    let usage = certificate.key_usage().ok()?;
    let signs = usage.is_none_or(|bits| bits.value.key_cert_sign() && bits.value.crl_sign());
    (constraints.ca && signs).then_some(constraints.path_len_constraint)
}

/// Gives each anchor its list.
fn assign(
    anchors: &mut [Anchor],
    ders: &[CertificateRevocationListDer<'_>],
) -> Result<Vec<List>, Error> {
    let mut lists: Vec<List> = Vec::with_capacity(ders.len());
    for (at, der) in ders.iter().enumerate() {
        let position = at + 1;
        let list = List::read(der, anchors)?;
        if list.issuer == Issuer::Anchor {
            let mut signed = false;
            for anchor in anchors
                .iter_mut()
                .filter(|anchor| anchor.signed(&list, der))
            {
                if anchor.list.is_some() {
                    return Err(Error::RevocationListDuplicate { position });
                }
                (anchor.list, signed) = (Some(at), true);
            }
            if !signed {
                return Err(Error::RevocationListSignature { position });
            }
        } else if lists
            .iter()
            .any(|other| other.list.issuer() == list.list.issuer())
        {
            return Err(Error::RevocationListDuplicate { position });
        }
        lists.push(list);
    }
    match anchors.iter().position(|anchor| anchor.list.is_none()) {
        Some(at) => Err(Error::AnchorWithoutRevocationList { position: at + 1 }),
        None => Ok(lists),
    }
}

impl Anchor {
    fn signed(&self, list: &List, der: &[u8]) -> bool {
        self.trusted.subject.as_ref() == list.list.issuer()
            && der::signed_by(
                der,
                &self.key_info,
                provider().signature_verification_algorithms.all,
            )
    }
}

impl List {
    fn precedes(&self, other: &Self) -> bool {
        match (&self.number, &other.number) {
            (Some(ours), Some(theirs)) => (ours.len(), ours) < (theirs.len(), theirs),
            _ => self.this_update < other.this_update,
        }
    }

    fn read(der: &[u8], anchors: &[Anchor]) -> Result<Self, Error> {
        let malformed = || Error::Malformed(Role::RevocationLists);
        let list = OwnedCertRevocationList::from_der(der).map_err(|_| malformed())?;
        let list = CertRevocationList::Owned(list);
        let (_, dates) = CertificateRevocationList::from_der(der).map_err(|_| malformed())?;
        let next_update = der::wall(dates.next_update().ok_or_else(malformed)?);
        let named = |anchor: &Anchor| anchor.trusted.subject.as_ref() == list.issuer();
        let issuer = if anchors.iter().any(named) {
            Issuer::Anchor
        } else {
            Issuer::Intermediate
        };
        Ok(Self {
            list,
            number: dates.crl_number().map(BigUint::to_bytes_be),
            this_update: der::wall(dates.last_update()),
            next_update,
            issuer,
        })
    }
}
