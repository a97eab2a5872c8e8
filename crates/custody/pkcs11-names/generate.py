#!/usr/bin/env python3
"""Writes src/tables/*.rs from the PKCS#11 header that cryptoki-sys ships.

  generate.py                        the header of the cryptoki-sys that Cargo.lock names
  generate.py --header pkcs11.h      another one
  generate.py --check                writes nothing; fails if a file would change

Every number of a family is listed in ascending order; of several names of one number the header's first is the
name, the others are aliases. Deprecated spellings stand last in the header, so that they become aliases.
"""

import argparse
import json
import pathlib
import re
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent

# Prefix, file, type, what it is. A family without a type is a list of names alone.
FAMILIES = [
    ("CKR", "return_codes", "ReturnCode"),
    ("CKM", "mechanisms", "MechanismType"),
    ("CKA", "attributes", "AttributeType"),
    ("CKO", "object_classes", "ObjectClass"),
    ("CKK", "key_types", "KeyType"),
    ("CKC", "certificate_types", "CertificateType"),
    ("CKU", "user_types", "UserType"),
    ("CKD", "key_derivations", "KeyDerivation"),
]

# Families whose prefix the header uses for several things: told apart by what the name says.
PARTS = [
    ("CKS", "session_states", "SessionState", lambda name: name.endswith(("_SESSION", "_FUNCTIONS"))),
    ("CKH", "hardware_features", "HardwareFeature", lambda name: not name.endswith(("_PREFERRED", "_REQUIRED"))),
    ("CKP", "profiles", "Profile",
     lambda name: not re.match(r"CKP_(PKCS5|ML|SLH)_", name)),
    ("CKG", "mask_generations", "MaskGeneration", lambda name: name.startswith("CKG_MGF1_")),
]

# What the value of each attribute is (PKCS#11 3.2, sections 4 to 6), which the header does not say.
VALUES = {
    "Flag": """TOKEN PRIVATE TRUSTED SENSITIVE ENCRYPT DECRYPT WRAP UNWRAP SIGN SIGN_RECOVER VERIFY VERIFY_RECOVER
        DERIVE EXTRACTABLE LOCAL NEVER_EXTRACTABLE ALWAYS_SENSITIVE MODIFIABLE COPYABLE DESTROYABLE SECONDARY_AUTH
        ALWAYS_AUTHENTICATE WRAP_WITH_TRUSTED OTP_USER_FRIENDLY_MODE RESET_ON_INIT HAS_RESET COLOR X2RATCHET_ISALICE
        ENCAPSULATE DECAPSULATE""",
    "Number": """CERTIFICATE_CATEGORY JAVA_MIDP_SECURITY_DOMAIN MODULUS_BITS PRIME_BITS SUBPRIME_BITS VALUE_BITS
        VALUE_LEN AUTH_PIN_FLAGS OTP_FORMAT OTP_LENGTH OTP_TIME_INTERVAL OTP_CHALLENGE_REQUIREMENT
        OTP_TIME_REQUIREMENT OTP_COUNTER_REQUIREMENT OTP_PIN_REQUIREMENT PIXEL_X PIXEL_Y RESOLUTION CHAR_ROWS
        CHAR_COLUMNS BITS_PER_PIXEL X2RATCHET_BAGSIZE X2RATCHET_NR X2RATCHET_NS X2RATCHET_PNS HSS_LEVELS
        HSS_LMS_TYPE HSS_LMOTS_TYPE HSS_KEYS_REMAINING PARAMETER_SET OBJECT_VALIDATION_FLAGS VALIDATION_TYPE
        VALIDATION_LEVEL VALIDATION_FLAG VALIDATION_AUTHORITY_TYPE TRUST_SERVER_AUTH TRUST_CLIENT_AUTH
        TRUST_CODE_SIGNING TRUST_EMAIL_PROTECTION TRUST_IPSEC_IKE TRUST_TIME_STAMPING TRUST_OCSP_SIGNING""",
    "Numbers": "HSS_LMS_TYPES HSS_LMOTS_TYPES",
    "BigInteger": """MODULUS PUBLIC_EXPONENT PRIVATE_EXPONENT PRIME_1 PRIME_2 EXPONENT_1 EXPONENT_2 COEFFICIENT PRIME
        SUBPRIME BASE""",
    "Text": """LABEL UNIQUE_ID APPLICATION URL OTP_USER_IDENTIFIER OTP_SERVICE_IDENTIFIER OTP_SERVICE_LOGO_TYPE
        OTP_TIME CHAR_SETS ENCODING_METHODS MIME_TYPES VALIDATION_MODULE_ID VALIDATION_COUNTRY
        VALIDATION_CERTIFICATE_IDENTIFIER VALIDATION_CERTIFICATE_URI VALIDATION_VENDOR_URI VALIDATION_PROFILE""",
    "Date": "START_DATE END_DATE",
    "Template": "WRAP_TEMPLATE UNWRAP_TEMPLATE DERIVE_TEMPLATE ENCAPSULATE_TEMPLATE DECAPSULATE_TEMPLATE",
    "Mechanisms": "ALLOWED_MECHANISMS",
    "Mechanism": "KEY_GEN_MECHANISM NAME_HASH_ALGORITHM MECHANISM_TYPE",
    "CertificateType": "CERTIFICATE_TYPE",
    "HardwareFeature": "HW_FEATURE_TYPE",
    "KeyType": "KEY_TYPE",
    "ObjectClass": "CLASS",
    "Profile": "PROFILE_ID",
    "Bytes": """VALUE OBJECT_ID ISSUER SERIAL_NUMBER AC_ISSUER OWNER ATTR_TYPES HASH_OF_SUBJECT_PUBLIC_KEY
        HASH_OF_ISSUER_PUBLIC_KEY CHECK_VALUE SUBJECT ID PUBLIC_KEY_INFO EC_PARAMS EC_POINT OTP_SERVICE_LOGO
        OTP_COUNTER GOSTR3410_PARAMS GOSTR3411_PARAMS GOST28147_PARAMS REQUIRED_CMS_ATTRIBUTES
        DEFAULT_CMS_ATTRIBUTES SUPPORTED_CMS_ATTRIBUTES X2RATCHET_BAG X2RATCHET_BOBS1STMSG X2RATCHET_CKR
        X2RATCHET_CKS X2RATCHET_DHP X2RATCHET_DHR X2RATCHET_DHS X2RATCHET_HKR X2RATCHET_HKS X2RATCHET_NHKR
        X2RATCHET_NHKS X2RATCHET_RK VALIDATION_VERSION HASH_OF_CERTIFICATE PUBLIC_CRC64_VALUE SEED""",
}

# Not an attribute: where those of vendors begin.
NO_VALUE = {"VENDOR_DEFINED"}

HEADING = "//! {what}. Written by `generate.py` from the PKCS#11 {version} header; not to be changed by hand.\n"


def header_of_cryptoki_sys():
    output = subprocess.run(
        ["cargo", "metadata", "--format-version", "1", "--locked"],
        cwd=HERE, check=True, capture_output=True, text=True).stdout
    for package in json.loads(output)["packages"]:
        if package["name"] == "cryptoki-sys":
            return pathlib.Path(package["manifest_path"]).parent / "vendor" / "pkcs11.h"
    sys.exit("cryptoki-sys is not among the dependencies")


def constants(text):
    """(name, value), in the order of the header."""
    found = re.findall(r"^#define\s+(CK[A-Z]_\w+)\s+(0[xX][0-9A-Fa-f]+|\d+)U?L?\s*$", text, re.M)
    return [(name, int(value, 0)) for name, value in found]


def table(what, version, kind, rows):
    """A file: the sorted table, and an associated constant for each name."""
    canonical = {}
    for name, value in rows:
        canonical.setdefault(value, name)
    # Stable: names of one number stay in the order of the header.
    rows = sorted(rows, key=lambda row: row[1])
    lines = [HEADING.format(what=what, version=version), f"use crate::{kind};", ""]
    lines.append("/// Names and numbers, ascending; of several names of one number the first is the name.")
    lines.append(f"pub(crate) static TABLE: [(&str, u64); {len(rows)}] = [")
    lines += [f'    ("{name}", 0x{value:x}),' for name, value in rows]
    lines += ["];", "", f"impl {kind} {{"]
    for name, value in rows:
        alias = "" if canonical[value] == name else f", another name of `{canonical[value]}`"
        lines.append(f"    /// `{name}`{alias}.")
        lines.append(f"    pub const {name.split('_', 1)[1]}: Self = Self::new(0x{value:x});")
    lines += ["}", ""]
    return "\n".join(lines)


def values(version, rows):
    """What the value of each attribute is, by number."""
    kinds = {name: kind for kind, names in VALUES.items() for name in names.split()}
    assert len(kinds) == sum(len(names.split()) for names in VALUES.values()), "an attribute has one type"
    numbers = {}
    for name, value in rows:
        numbers.setdefault(value, name.split("_", 1)[1])
    known = set(numbers.values()) - NO_VALUE
    assert set(kinds) == known, f"missing or unknown: {sorted(set(kinds) ^ known)}"
    table = [(value, kinds[name], name) for value, name in sorted(numbers.items()) if name in kinds]
    lines = [HEADING.format(what="What the values of attributes are", version=version)]
    lines += ["use crate::AttributeType as A;", "use crate::ValueType;", "use crate::ValueType as V;", ""]
    lines.append("/// Ascending by number; one line for each number.")
    lines.append(f"pub(crate) static TABLE: [(A, ValueType); {len(table)}] = [")
    lines += [f"    (A::{name}, V::{kind})," for _, kind, name in table]
    lines += ["];", ""]
    return "\n".join(lines)


def functions(text, version):
    """The functions in the order of each version's list."""
    lists = []
    for struct in ("CK_FUNCTION_LIST", "CK_FUNCTION_LIST_3_0", "CK_FUNCTION_LIST_3_2"):
        body = re.search(rf"^struct {struct} \{{(.*?)^\}};", text, re.M | re.S).group(1)
        lists.append(re.findall(r"CK_C_(\w+)\s+C_\w+\s*;", body))
    for short, long in zip(lists, lists[1:]):
        assert long[:len(short)] == short, "a later list begins with the earlier one"
    lines = [HEADING.format(what="Functions", version=version)]
    lines.append("/// The names in the order of the lists.")
    lines.append(f"pub(crate) static NAMES: [&str; {len(lists[-1])}] = [")
    lines += [f'    "C_{name}",' for name in lists[-1]]
    lines += ["];", "", "/// How many of them the lists of 2.40, 3.0 and 3.2 have."]
    lines.append(f"pub(crate) const LENGTHS: [usize; 3] = {[len(one) for one in lists]};")
    lines.append("")
    return "\n".join(lines)


def files(text):
    version = ".".join(
        re.search(rf"CRYPTOKI_VERSION_{part} (\d+)", text).group(1) for part in ("MAJOR", "MINOR"))
    rows = constants(text)
    made = {}
    parts = [(prefix, file, kind, lambda name: True) for prefix, file, kind in FAMILIES] + PARTS
    for prefix, file, kind, belongs in parts:
        mine = [(name, value) for name, value in rows if name.startswith(prefix + "_") and belongs(name)]
        what = f"`{prefix}_`: names of [`{kind}`]"
        made[f"{file}.rs"] = table(what, version, kind, mine)
    made["functions.rs"] = functions(text, version)
    attributes = [(name, value) for name, value in rows if name.startswith("CKA_")]
    made["attribute_values.rs"] = values(version, attributes)
    names = sorted(name[:-3] for name in made)
    made["mod.rs"] = HEADING.format(what="Tables", version=version) + "\n" + "".join(
        f"pub(crate) mod {name};\n" for name in names)
    return made


def main():
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("--header", type=pathlib.Path)
    arguments.add_argument("--check", action="store_true")
    given = arguments.parse_args()
    header = given.header or header_of_cryptoki_sys()
    folder = HERE / "src" / "tables"
    folder.mkdir(exist_ok=True)
    stale = []
    for name, text in files(header.read_text(encoding="utf-8")).items():
        path = folder / name
        if path.exists() and path.read_text(encoding="utf-8") == text:
            continue
        stale.append(name)
        if not given.check:
            path.write_text(text, encoding="utf-8")
    if given.check and stale:
        sys.exit("not what the header gives: " + ", ".join(stale))


main()
