//! Tables. Written by `generate.py` from the PKCS#11 3.2 header; not to be changed by hand.

pub(crate) mod attribute_values;
pub(crate) mod attributes;
pub(crate) mod certificate_types;
pub(crate) mod functions;
pub(crate) mod hardware_features;
pub(crate) mod key_derivations;
pub(crate) mod key_types;
pub(crate) mod mask_generations;
pub(crate) mod mechanisms;
pub(crate) mod object_classes;
pub(crate) mod profiles;
pub(crate) mod return_codes;
pub(crate) mod session_states;
pub(crate) mod user_types;
