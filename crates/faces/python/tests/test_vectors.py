"""Other people's vectors and our own, through Python, both ways; what must be refused refused."""

from __future__ import annotations

import json
import pathlib
from collections.abc import Callable
from typing import Any

import keywright
import pytest

from conftest import ROOT, Tally

Family = Callable[[str, int], pathlib.Path]
ACVP_64 = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz+/"
DIGITS = "0123456789"
# Everything that the standard of 2016 allows.
OPEN: dict[str, bool] = {
    "accept_small_domain": True,
    "allow_empty_tweak": True,
    "allow_legacy_encrypt": True,
    "accept_loose_tweaks": True,
}


def engine(mode: str, key: str, **options: Any) -> keywright.Fpe:
    return keywright.Fpe(bytes.fromhex(key), mode=mode.lower(), **options, **OPEN)  # type: ignore[arg-type]


def both_ways(own: keywright.Fpe, tweak: str, plain: Any, cipher: Any) -> bool:
    given = bytes.fromhex(tweak)
    there, back = own.encrypt(plain, given), own.decrypt(cipher, given)
    return bool((there, back) == (cipher, plain))


def text_holds(mode: str, alphabet: str, key: str, tweak: str, plain: str, cipher: str) -> bool:
    return both_ways(engine(mode, key, alphabet=alphabet), tweak, plain, cipher)


def wycheproof_case(group: dict[str, Any], case: dict[str, Any]) -> bool:
    symbols = {"alphabet": group["alphabet"]} if "alphabet" in group else {"radix": group["radix"]}
    try:
        own = engine("ff1", case["key"], **symbols)
        if case["result"] == "valid":
            return both_ways(own, case["tweak"], case["msg"], case["ct"])
        own.encrypt(case["msg"], bytes.fromhex(case["tweak"]))
    except (keywright.Error, TypeError):
        return bool(case["result"] == "invalid")
    return False


def test_wycheproof_ff1(family: Family, tally: Tally) -> None:
    folder = family("wycheproof-ff1", 49_500)
    files = sorted(folder.glob("aes_ff1_*_test.json"))
    assert len(files) == 18
    for path in files:
        whole = json.loads(path.read_text(encoding="utf-8"))
        for group in whole["testGroups"]:
            for case in group["tests"]:
                tally.check((path.name, case["tcId"]), wycheproof_case(group, case))
    tally.finish(49_500)


@pytest.mark.parametrize(("name", "mode"), [("acvp-ff1", "ff1"), ("acvp-ff3-1", "ff3-1")])
def test_validation_server(name: str, mode: str, family: Family, tally: Tally) -> None:
    path = family(name, 21) / "transcribed.tsv"
    alphabets = {"10": DIGITS, "26": "abcdefghijklmnopqrstuvwxyz"}
    for line in path.read_text(encoding="ascii").splitlines():
        if line.startswith("#"):
            continue
        number, _, _, radix, key, tweak, plain, cipher = line.split("\t")
        alphabet = alphabets.get(radix, ACVP_64)
        tally.check(number, text_holds(mode, alphabet, key, tweak, plain, cipher))
    tally.finish(21)


@pytest.mark.parametrize(
    ("file", "mode", "output", "cases"),
    [("nist_ff1.json", "ff1", "expected", 9), ("nist_ff3.json", "ff3", "ciphertext", 15)],
)
def test_worked_examples(
    file: str, mode: str, output: str, cases: int, family: Family, tally: Tally
) -> None:
    whole = json.loads((family("nist-samples", cases) / file).read_text(encoding="utf-8"))
    for number, case in enumerate(whole["cases"]):
        fields = (case["key"], case["tweak"], case["plaintext"], case[output])
        tally.check(number, text_holds(mode, case["alphabet"], *fields))
    tally.finish(cases)


def test_mixed_file_of_worked_examples(family: Family, tally: Tally) -> None:
    path = family("nist-samples", 54) / "FPE_FF1_FF3_FF3-1.tv"
    seen: dict[str, str] = {}
    for line in path.read_text(encoding="utf-8").splitlines():
        name, equals, value = line.partition("=")
        if line.startswith("#") or not equals:
            continue
        seen[name.strip()] = value.strip()
        if name.strip() == "CT":
            fields = [seen[word] for word in ("Method", "Alphabet", "Key", "Tweak", "PT", "CT")]
            tally.check(seen["Count"], text_holds(*fields))
    tally.finish(54)


def test_collected(family: Family, tally: Tally) -> None:
    path = family("fpe", 226) / "collected.json"
    for number, case in enumerate(json.loads(path.read_text(encoding="utf-8"))["cases"]):
        own = engine(case["alg"], case["key"], alphabet=case["alphabet"], cipher=case["cipher"].lower())
        holds = both_ways(own, case["tweak"], case["pt"], case["ct"])
        tally.check(number, holds == case["verified"])
    tally.finish(226)


def test_generated(family: Family, tally: Tally) -> None:
    path = family("fpe", 3_093) / "generated.json"
    for number, case in enumerate(json.loads(path.read_text(encoding="utf-8"))["cases"]):
        own = engine(case["alg"], case["key"], radix=case["radix"], cipher=case["cipher"].lower())
        tally.check(number, both_ways(own, case["tweak"], case["pt"], case["ct"]))
    tally.finish(3_093)


def test_golden(tally: Tally) -> None:
    path = ROOT / "vectors" / "golden" / "fpe" / "values.json"
    for case in json.loads(path.read_text(encoding="ascii"))["cases"]:
        own = engine(case["mode"], case["key"], radix=case["radix"], cipher=case["algorithm"])
        tweak = bytes.fromhex(case["tweak"])
        holds = own.decrypt(case["ciphertext"], tweak) == case["plaintext"]
        if case["mode"] != "fpec-ff3-1":
            holds = holds and own.encrypt(case["plaintext"], tweak) == case["ciphertext"]
        tally.check(case["name"], holds)
    tally.finish(64)
