"""The second implementation against values that others published.

Fixed values are from C2SP's XAES-256-GCM, from draft-irtf-cfrg-xchacha, and from docs/formats.md ("Worked
envelopes"); the files are Project Wycheproof's, read from the folder that KEYWRIGHT_VECTORS names and never copied. Absent files count as skipped.
"""

from __future__ import annotations

import hashlib
import json
import os
import zlib
from pathlib import Path
from typing import Callable, Iterator

import second_implementation as kw

Check = tuple[str, bool | None]

XAES_NONCE = b"ABCDEFGHIJKLMNOPQRSTUVWX"
XAES_PLAINTEXT = b"XAES-256-GCM"
# C2SP, XAES-256-GCM, test vectors: key byte, AAD, output.
XAES = [
    (1, b"", "ce546ef63c9cc60765923609b33a9a1974e96e52daf2fcf7075e2271"),
    (3, b"c2sp.org/XAES-256-GCM", "986ec1832593df5443a179437fd083bf3fdb41abd740a21f71eb769d"),
]
# draft-irtf-cfrg-xchacha-03, section 2.2.1, with its key 00 01 .. 1f.
HCHACHA20_NONCE = "000000090000004a0000000031415927"
HCHACHA20 = "82413b4227b27bfed30e42508a877d73a0f9e4d58a74a853c12ec41326d3ecdc"
# docs/formats.md, "Worked envelopes".
WORKED_KEY = bytes(range(32))
WORKED_KEY_ID = b"\x11" * 16
WORKED_NONCE = b"\x22" * 24
WORKED_PLAINTEXT = b"hello"
WORKED_AAD = b"row 7"
WORKED = {
    1: "29647501010011111111111111111111111111111111" "00000001" + "22" * 24
       + "23cff50120b8909706df0a058bbbc51aa7d93af96c1f48ea7d4a70cb81d9fd60"
       "8fe8615d824b85ed83f2296c231baed7722d84b1a2",
    2: "29647502010011111111111111111111111111111111" "00000001" + "22" * 24
       + "0be74a29613b6ad2e91a778904b334a6a079c77773ee88e09849313dc3af6018"
       "8eefc8b9d3bcb1a9d686616ea4ddbfc4f5f83b32b0",
    6: "29647506010011111111111111111111111111111111" "00000001" + "22" * 24
       + "35514139583e279049b8ccc5a2418672b27317b621bd9a50630d0260f59ddd24"
       "d9b8b9f2feedcde39203cc9a17b4b7572151aceb97",
}


def refused(call: Callable[[], bytes]) -> bool:
    try:
        call()
    except kw.Refused:
        return True
    return False


def fixed_checks() -> Iterator[Check]:
    for byte, aad, answer in XAES:
        key = bytes([byte]) * 32
        sealed = kw.xaes256_gcm_seal(key, XAES_NONCE, XAES_PLAINTEXT, aad)
        opened = kw.xaes256_gcm_open(key, XAES_NONCE, sealed, aad)
        yield f"constructions.md XAES-256-GCM key {byte:02x}", (sealed.hex(), opened) == (answer, XAES_PLAINTEXT)
    made = kw.hchacha20(bytes(range(32)), bytes.fromhex(HCHACHA20_NONCE)).hex()
    yield "constructions.md HChaCha20", made == HCHACHA20
    for suite, answer in WORKED.items():
        header = kw.Header(suite, kw.MESSAGE, WORKED_KEY_ID, 1)
        made = kw.seal(header, WORKED_KEY, WORKED_NONCE, WORKED_PLAINTEXT, {kw.CALLER_AAD: WORKED_AAD}).hex()
        yield f"constructions.md worked envelope of suite {suite}", made == answer


def hexes(test: dict, *names: str) -> list[bytes]:
    return [bytes.fromhex(test[name]) for name in names]


def check_xchacha(test: dict, group: dict) -> bool | None:
    """None where the parameters are not ours: only nonces of 24 bytes exist here."""
    key, nonce, aad, plaintext, ct, tag = hexes(test, "key", "iv", "aad", "msg", "ct", "tag")
    if (group["keySize"], group["ivSize"]) != (256, 192):
        return None if test["result"] == "invalid" else False
    if test["result"] != "valid":
        return refused(lambda: kw.xchacha20_poly1305_open(key, nonce, ct + tag, aad))
    sealed = kw.xchacha20_poly1305_seal(key, nonce, plaintext, aad)
    return sealed == ct + tag and kw.xchacha20_poly1305_open(key, nonce, sealed, aad) == plaintext


def check_chunked(test: dict, _group: dict) -> bool | None:
    key, context = hexes(test, "key", "ctx")
    sealed = zlib.decompress(bytes.fromhex(test["ct"]))
    if test["result"] != "valid":
        return refused(lambda: kw.chunked_open(key, sealed, context))
    opened = kw.chunked_open(key, sealed, context)
    same = kw.chunked_seal(key, sealed[:24], opened, context) == sealed
    return same and hashlib.sha512(opened).hexdigest() == test["msgSha512"]


def check_siv(test: dict, group: dict) -> bool | None:
    """Suite 5 has keys of 64 bytes alone."""
    if group["keySize"] != 512:
        return None
    key, aad, plaintext, sealed = hexes(test, "key", "aad", "msg", "ct")
    if test["result"] != "valid":
        return refused(lambda: kw.aes256_siv_open(key, sealed, aad))
    return kw.aes256_siv_seal(key, plaintext, aad) == sealed and kw.aes256_siv_open(key, sealed, aad) == plaintext


FILES: dict[str, Callable[[dict, dict], bool | None]] = {
    "xchacha20_poly1305_test.json": check_xchacha,
    "c2sp_chunked_encryption_aes_256_gcm_test.json": check_chunked,
    "aes_siv_cmac_test.json": check_siv,
}


def foreign_checks() -> Iterator[Check]:
    """One check a case; an absent file is one skipped check."""
    folder = os.environ.get("KEYWRIGHT_VECTORS")
    for file, check in FILES.items():
        path = Path(folder or "", "wycheproof", file)
        if not folder or not path.is_file():
            yield f"{file}: absent", None
            continue
        for group in json.loads(path.read_text())["testGroups"]:
            for test in group["tests"]:
                yield f"{file} case {test['tcId']}", check(test, group)
