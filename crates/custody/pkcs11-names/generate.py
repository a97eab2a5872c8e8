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
