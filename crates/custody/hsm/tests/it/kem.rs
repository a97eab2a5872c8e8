//! Pairs of ML-KEM, used with another implementation.

use keywright_hsm::pairs::{self, Leaving, Namesakes, NewKey};
use keywright_hsm::public_key::{Form, PublicKey};
use keywright_hsm::{MlKem, PairKind, Purpose};
use keywright_pkcs11::Template;
use keywright_pkcs11_names::ObjectClass;
use keywright_primitives::kem::MlKem768EncapsulationKey;
use keywright_tokens::{Kind, on_each};

use crate::audit::desk;

#[test]
fn a_pair_for_encapsulation_is_used_by_others_with_its_exported_key() {
    on_each(|store| {
        let desk = desk(store);
        let kind = PairKind::MlKem {
            set: MlKem::MlKem768.number(),
        };
        let new = NewKey {
            label: "kem",
            id: None,
            purpose: Purpose::Encapsulate,
            leaving: Leaving::Forbid,
            namesakes: Namesakes::Refuse,
        };
        let made = pairs::generate(&desk, kind, &new);
        if store.kind() == Kind::SoftHsm {
            let refused = made.unwrap_err();
            assert_eq!(refused.kind(), keywright_hsm::Kind::Unsupported);
            return;
        }
        made.unwrap();
        let session = desk.session();
        let half = |class| {
            let template = Template::new().class(class).label("kem");
            session.find_one(&template).unwrap()
        };
        let private = half(ObjectClass::PRIVATE_KEY);
        let public = PublicKey::of_private(session, private).unwrap();
        let raw = public.write(Form::Raw, "").unwrap();
        let raw = raw.as_slice().try_into().unwrap();
        let theirs = MlKem768EncapsulationKey::from_bytes(raw).unwrap();
        let (sent, secret) = theirs.encapsulate().unwrap();
        let found = session.decapsulate_secret(private, &sent).unwrap();
        assert_eq!(found.expose(), secret.expose());
        let mut changed = sent;
        changed[0] ^= 1;
        let other = session.decapsulate_secret(private, &changed).unwrap();
        assert_ne!(other.expose(), secret.expose());
    });
}
