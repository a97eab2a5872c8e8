"""The package cbor2, an independent reader and writer of RFC 8949, against a running service.

    cbor.py ADDRESS HOME

HOME is the folder of a home whose service listens on ADDRESS (host:port), with the contexts that
tests/program/tests/it/forms.rs makes. Each check is a function; the first that fails ends the program.
"""

import base64
import datetime
import struct
import sys
from pathlib import Path

import cbor2
import requests

ADDRESS, HOME = sys.argv[1], Path(sys.argv[2])
CBOR, JSON = "application/cbor", "application/json"
ENVELOPE = bytes.fromhex("296475")

session = requests.Session()
# Roots and proxies that the environment names are for others.
session.trust_env = False
session.cert = (str(HOME / "clients/trading-1.pem"), str(HOME / "clients/trading-1.key"))
session.verify = str(HOME / "ca.pem")


def send(path, body, sent=CBOR, accept=None):
    headers = {"Content-Type": sent, "Accept": accept}
    return session.post(f"https://{ADDRESS}{path}", data=body, headers=headers)


def told(answer, status=200, form=CBOR):
    """What an answer in CBOR says, once cbor2 would have written the same bytes."""
    assert answer.status_code == status, (answer.status_code, answer.content)
    assert answer.headers["Content-Type"] == form, answer.headers
    if form == JSON:
        return answer.json()
    said = cbor2.loads(answer.content)
    assert cbor2.dumps(said) == answer.content, answer.content.hex()
    return said


def ask(action, item, context="exchange-key"):
    return told(send(f"/v1/contexts/{context}/{action}", cbor2.dumps(item)))


def refused(body, status, code, path="/v1/contexts/exchange-key/encrypt"):
    said = told(send(path, body), status)
    assert said["error"]["code"] == code, said
    assert len(bytes.fromhex(said["error"]["request"])) == 16, said
    return said["error"]["message"]


def messages():
    for length in [0, 1, 23, 24, 255, 256, 65535, 65536, 1 << 20]:
        plain = bytes(place * 7 % 256 for place in range(length))
        sealed = ask("encrypt", {"plaintext": plain, "aad": b"row 7"})
        assert sealed["key_version"] == 1 and sealed["ciphertext"].startswith(ENVELOPE), sealed
        again = ask("rewrap", {"aad": b"row 7", "ciphertext": sealed["ciphertext"]})
        for one in (sealed, again):
            opened = ask("decrypt", {"ciphertext": one["ciphertext"], "aad": b"row 7"})
            assert opened == {"plaintext": plain, "key_version": 1}


def batches():
    plain = [bytes([place % 256]) * (place % 70) for place in range(1000)]
    sealed = ask("encrypt", {"items": [{"plaintext": one} for one in plain]})
    assert sealed["failed"] == 0 and len(sealed["items"]) == 1000
    items = [{"ciphertext": one["ciphertext"]} for one in sealed["items"]]
    items[7]["ciphertext"] = b"no envelope"
    items[8]["aad"] = b"another"
    opened = ask("decrypt", {"items": items})
    assert opened["failed"] == 2
    codes = {7: "ciphertext_malformed", 8: "decryption_failed"}
    for place, one in enumerate(opened["items"]):
        if place in codes:
            assert one["error"]["code"] == codes[place], one
        else:
            assert one == {"plaintext": plain[place], "key_version": 1}


def data_keys():
    made = ask("datakey", {"aad": b"file"})
    assert len(made["plaintext"]) == 32 and len(bytes.fromhex(made["id"])) == 16
    datetime.datetime.fromisoformat(made["not_after"])
    opened = ask("datakey/open", {"ciphertext": made["ciphertext"], "aad": b"file"})
    assert opened["plaintext"] == made["plaintext"] and opened["id"] == made["id"]
    assert "plaintext" not in ask("datakey", {"plain": False})


def keys():
    for context, length in [("edwards", 64), ("nist", 64)]:
        signed = ask("sign", {"message": b"Hello"}, context)
        assert len(signed["signature"]) == length
        for message, valid in [(b"Hello", True), (b"hello", False)]:
            asked = {"message": message, "signature": signed["signature"], "key_version": 1}
            assert ask("verify", asked, context) == {"valid": valid, "key_version": 1}
        shown = ask("public-key", {}, context)
        assert isinstance(shown["public_key"], bytes) and shown["pem"].startswith("-----BEGIN")
        assert {"kty", "crv", "x"} <= shown["jwk"].keys()
    code = ask("mac", {"message": b"Hello"}, "codes")
    asked = {"message": b"Hello", "mac": code["mac"], "key_version": 1}
    assert ask("mac/verify", asked, "codes")["valid"] is True


def random_bytes():
    said = told(send("/v1/random", cbor2.dumps({"items": [{"bytes": 33}, {"bytes": 0}]})))
    assert len(said["items"][0]["random"]) == 33 and said["failed"] == 1


def forms():
    """What one form seals the other opens, and either can be answered in the other."""
    path = "/v1/contexts/exchange-key/"
    binary = cbor2.dumps({"plaintext": b"x"})
    text = '{"plaintext":"eA=="}'
    for sent, body in [(CBOR, binary), (JSON, text), ("text/plain", text)]:
        for accept, form in [
            (CBOR, CBOR),
            (JSON, JSON),
            ("*/*", CBOR if sent == CBOR else JSON),
            (f"{JSON}, {CBOR}", CBOR if sent == CBOR else JSON),
        ]:
            sealed = told(send(path + "encrypt", body, sent, accept), form=form)["ciphertext"]
            sealed = base64.b64decode(sealed) if form == JSON else sealed
            assert ask("decrypt", {"ciphertext": sealed})["plaintext"] == b"x"
            asked = '{"ciphertext":"%s"}' % base64.b64encode(sealed).decode()
            opened = told(send(path + "decrypt", asked, JSON), form=JSON)
            assert opened == {"plaintext": "eA==", "key_version": 1}


def refusals():
    plain = b"\x69plaintext"
    for body in [
        b"",
        cbor2.dumps({}),
        cbor2.dumps([]),
        cbor2.dumps({"plaintext": "text"}),
        cbor2.dumps({"plaintext": 1.5}),
        cbor2.dumps({"plaintext": None}),
        cbor2.dumps({"plaintext": cbor2.CBORTag(24, b"")}),
        cbor2.dumps({"plaintext": b"", "nonce": b""}),
        cbor2.dumps({"plaintext": b"", 1: b""}),
        cbor2.dumps({"items": []}),
        cbor2.dumps({"items": [{"plaintext": b""}, -1]}),
        cbor2.dumps({"plaintext": b""}) + b"\0",
        cbor2.dumps({"plaintext": b"x"})[:-1],
        b"\xa2" + plain + b"\x40" + plain + b"\x40",
        b"\xbf" + plain + b"\x40\xff",
        b"\xa1" + plain + b"\x5f\x41a\xff",
        b"\xa1" + plain + b"\x58\x01a",
        b"\xa1" + plain + b"\x5b" + struct.pack(">Q", 1 << 63),
        b'{"plaintext":""}',
        b"\xa1\x65items" + b"\x81" * 100_000,
    ]:
        message = refused(body, 400, "request_malformed")
        assert "`plaintext` and optional `aad`" in message and "of the CBOR)" in message, message
    one = cbor2.dumps({"plaintext": b""})
    refused(cbor2.dumps({"plaintext": b"", "aad": bytes(16385)}), 400, "aad_too_large")
    refused(cbor2.dumps({"items": [{"plaintext": b""}] * 10_001}), 413, "too_many_items")
    refused(one, 404, "context_not_found", "/v1/contexts/nothing/encrypt")
    refused(one, 404, "route_not_found", "/v1/nothing")
    refused(one, 400, "request_malformed", "/v1/contexts/exchange-key/decrypt")
    refused(cbor2.dumps({"message": b""}), 403, "operation_denied", "/v1/contexts/exchange-key/mac")
    # A route without items has one form.
    said = told(send("/v1/contexts/exchange-key/key/rotate", one), 400, JSON)
    assert said["error"]["code"] == "request_malformed", said


for check in (messages, batches, data_keys, keys, random_bytes, forms, refusals):
    check()
    print(check.__name__, flush=True)
