"""The client hvac against the routes for Vault's transit API of a running service.

    transit.py ADDRESS HOME

HOME is the folder of a home whose service listens on ADDRESS (host:port), with the contexts that
tests/program/tests/it/hvac.rs makes. Each check is a function; the first that fails ends the program.
"""

import base64
import sys
from hashlib import sha256
from pathlib import Path

import hvac
from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec, ed25519, utils
from hvac.exceptions import Forbidden, InvalidPath, InvalidRequest, UnexpectedError

ADDRESS, HOME = sys.argv[1], Path(sys.argv[2])
KEY, OTHER = "exchange-key", "2fa"


def encoded(data):
    return base64.b64encode(data).decode()


def files(name):
    return str(HOME / "clients" / f"{name}.pem"), str(HOME / "clients" / f"{name}.key")


def client(name, **more):
    """A client with a certificate and no token."""
    return hvac.Client(
        url=f"https://{ADDRESS}", cert=files(name), verify=str(HOME / "ca.pem"), token="", **more
    )


def logged_in(name):
    found = client(name)
    certificate, key = files(name)
    found.auth.cert.login(cert_pem=certificate, key_pem=key)
    assert found.token.startswith("kwv1."), found.token
    return found


def refused(kind, call, *arguments, says=None, **named):
    """What the refusal said; another one, or none, is a failure."""
    try:
        answer = call(*arguments, **named)
    except kind as error:
        assert type(error) is kind, repr(error)
        told = str(error)
        assert says is None or says in told, told
        return told
    raise AssertionError(f"not refused: {answer}")


def sealed(transit, plaintext=b"secret", name=KEY, **more):
    return transit.encrypt_data(name, plaintext=encoded(plaintext), **more)["data"]["ciphertext"]


def opened(transit, ciphertext, name=KEY, **more):
    return base64.b64decode(transit.decrypt_data(name, ciphertext=ciphertext, **more)["data"]["plaintext"])


def check_login():
    found = logged_in("trading-1")
    assert found.is_authenticated()
    facts = found.auth.token.lookup_self()["data"]
    assert facts["policies"] == [] and 0 < facts["ttl"] <= 3600 and facts["type"] == "batch"
    assert facts["display_name"] == "cert-trading-1"
    assert not client("trading-1").is_authenticated()


def check_login_by_name():
    certificate, key = files("trading-1")
    found = client("trading-1")
    answer = found.auth.cert.login(
        name="trading-1", cert_pem=certificate, key_pem=key
    )
    assert answer["auth"]["metadata"]["cert_name"] == "trading-1" and answer["auth"]["policies"] == []
    refused(
        InvalidRequest, client("trading-1").auth.cert.login,
        name="web-2fa-1", cert_pem=certificate, key_pem=key,
    )


def check_there_and_back():
    for found in (logged_in("trading-1"), client("trading-1")):
        transit = found.secrets.transit
        for plaintext in (b"", b"x", bytes(range(256)) * 100):
            answer = transit.encrypt_data(KEY, plaintext=encoded(plaintext))
            data = answer["data"]
            assert data["ciphertext"].startswith(f"vault:v{data['key_version']}:KWR1"), data["ciphertext"][:20]
            assert answer["request_id"] and answer["auth"] is None
            assert opened(transit, data["ciphertext"]) == plaintext


def check_additional_data_and_context():
    transit = client("trading-1").secrets.transit
    row, other = encoded(b"row 7"), encoded(b"row 8")
    for kind in ("associated_data", "context"):
        text = sealed(transit, **{kind: row})
        assert opened(transit, text, **{kind: row}) == b"secret"
        refused(InvalidRequest, opened, transit, text)
        refused(InvalidRequest, opened, transit, text, **{kind: other})
    text = sealed(transit, associated_data=row, context=other)
    assert opened(transit, text, associated_data=row, context=other) == b"secret"
    refused(InvalidRequest, opened, transit, text, associated_data=other, context=row)
    # The one is not taken for the other.
    text = sealed(transit, associated_data=row)
    refused(InvalidRequest, opened, transit, text, context=row)


def check_batches():
    transit = client("trading-1").secrets.transit
    items = [{"plaintext": encoded(str(number).encode()), "reference": f"no {number}"} for number in range(50)]
    items[7]["context"] = encoded(b"seven")
    results = transit.encrypt_data(KEY, batch_input=items)["data"]["batch_results"]
    assert [result["reference"] for result in results] == [item["reference"] for item in items]
    wanted = [{"ciphertext": result["ciphertext"]} for result in results]
    wanted[7]["context"] = encoded(b"seven")
    results = transit.decrypt_data(KEY, batch_input=wanted)["data"]["batch_results"]
    assert [base64.b64decode(result["plaintext"]) for result in results] == [
        str(number).encode() for number in range(50)
    ]
    moved = transit.rewrap_data(KEY, ciphertext="", batch_input=wanted)["data"]["batch_results"]
    assert len(moved) == 50 and all(result["ciphertext"] for result in moved)
    # One that fails is told in its place, with the status of a failure.
    wanted[3]["ciphertext"] = "vault:v1:AAAA"
    refused(InvalidRequest, transit.decrypt_data, KEY, batch_input=wanted)
    body = {"batch_input": wanted, "partial_failure_response_code": 200}
    results = client("trading-1").adapter.post(f"/v1/transit/decrypt/{KEY}", json=body)["data"]["batch_results"]
    assert "error" in results[3] and "plaintext" not in results[3]
    assert all("plaintext" in result for place, result in enumerate(results) if place != 3)
    refused(InvalidRequest, transit.encrypt_data, KEY, batch_input=[])


def check_rotation():
    transit = logged_in("trading-1").secrets.transit
    before = sealed(transit, context=encoded(b"c"))
    assert before.startswith("vault:v1:")
    assert transit.rotate_key(KEY).status_code == 204
    after = sealed(transit)
    assert after.startswith("vault:v2:")
    assert opened(transit, before, context=encoded(b"c")) == b"secret"
    moved = transit.rewrap_data(KEY, ciphertext=before, context=encoded(b"c"))["data"]
    assert moved["key_version"] == 2 and moved["ciphertext"].startswith("vault:v2:")
    assert opened(transit, moved["ciphertext"], context=encoded(b"c")) == b"secret"
    refused(InvalidRequest, transit.rewrap_data, KEY, ciphertext=before)
    # The number in front is the envelope's.
    refused(InvalidRequest, opened, transit, after.replace("vault:v2:", "vault:v1:"))
    assert sealed(transit, key_version=2).startswith("vault:v2:")
    refused(InvalidRequest, sealed, transit, key_version=1, says="key_version")


def check_data_keys():
    transit = client("trading-1").secrets.transit
    for more in ({}, {"context": encoded(b"c")}):
        made = transit.generate_data_key(KEY, key_type="plaintext", bits=256, **more)["data"]
        assert len(base64.b64decode(made["plaintext"])) == 32
        assert opened(transit, made["ciphertext"], **more) == base64.b64decode(made["plaintext"])
    hidden = transit.generate_data_key(KEY, key_type="wrapped")["data"]
    assert "plaintext" not in hidden and len(opened(transit, hidden["ciphertext"])) == 32
    refused(InvalidRequest, transit.generate_data_key, KEY, key_type="plaintext", bits=512, says="256")
    # A batch is of one kind.
    mixed = [{"ciphertext": hidden["ciphertext"]}, {"ciphertext": sealed(transit)}]
    refused(InvalidRequest, transit.decrypt_data, KEY, batch_input=mixed)


def public_key(transit, name):
    version = transit.read_key(name)["data"]["keys"]["1"]["public_key"]
    if version.startswith("-----BEGIN"):
        return serialization.load_pem_public_key(version.encode())
    return ed25519.Ed25519PublicKey.from_public_bytes(base64.b64decode(version))


def check_ed25519():
    transit = client("trading-1").secrets.transit
    message = b"order 4711"
    signature = transit.sign_data("edwards", hash_input=encoded(message))["data"]["signature"]
    assert signature.startswith("vault:v1:")
    raw = base64.b64decode(signature.removeprefix("vault:v1:"))
    public_key(transit, "edwards").verify(raw, message)
    verify = lambda text, **more: transit.verify_signed_data(
        "edwards", hash_input=encoded(text), signature=signature, **more
    )["data"]["valid"]
    assert verify(message) is True and verify(b"order 4712") is False
    # Ed25519 signs its input whatever this says: the same input has the same signature.
    ignored = transit.sign_data("edwards", hash_input=encoded(message), prehashed=True)["data"]["signature"]
    assert ignored == signature and verify(message, prehashed=True) is True


def check_ecdsa():
    transit = client("trading-1").secrets.transit
    message = b"order 4711"
    key = public_key(transit, "nist")
    signature = transit.sign_data("nist", hash_input=encoded(message), hash_algorithm="sha2-256")["data"]["signature"]
    key.verify(base64.b64decode(signature.removeprefix("vault:v1:")), message, ec.ECDSA(hashes.SHA256()))
    # As JSON Web Signatures have it: r and s side by side.
    jws = transit.sign_data("nist", hash_input=encoded(message), marshaling_algorithm="jws")["data"]["signature"]
    raw = base64.urlsafe_b64decode(jws.removeprefix("vault:v1:") + "==")
    r, s = int.from_bytes(raw[:32], "big"), int.from_bytes(raw[32:], "big")
    key.verify(utils.encode_dss_signature(r, s), message, ec.ECDSA(hashes.SHA256()))
    try:
        key.verify(utils.encode_dss_signature(s, r), message, ec.ECDSA(hashes.SHA256()))
        raise AssertionError("the judge accepts anything")
    except InvalidSignature:
        pass
    digest = encoded(sha256(message).digest())
    hashed = transit.sign_data("nist", hash_input=digest, prehashed=True)["data"]["signature"]

    def fits(given, text=message, **more):
        return transit.verify_signed_data("nist", hash_input=encoded(text), signature=given, **more)["data"]["valid"]

    assert fits(signature) and fits(hashed) and fits(jws, marshaling_algorithm="jws")
    assert not fits(signature, b"another")
    assert transit.verify_signed_data("nist", hash_input=digest, signature=signature, prehashed=True)["data"]["valid"]
    refused(InvalidRequest, fits, jws)
    refused(InvalidRequest, fits, signature.replace("vault:v1:", "vault:v9:"))
    refused(InvalidRequest, fits, signature.removeprefix("vault:v1:"))
    refused(InvalidRequest, transit.sign_data, "nist", hash_input=encoded(message), hash_algorithm="sha2-512")
    # A padding means nothing to a curve.
    padded = transit.sign_data("nist", hash_input=encoded(message), signature_algorithm="pss")["data"]["signature"]
    assert fits(padded)
    results = transit.sign_data("nist", batch_input=[{"input": encoded(b"a")}, {"input": encoded(b"b")}])
    assert all(fits(one["signature"], text) for one, text in zip(results["data"]["batch_results"], (b"a", b"b")))


def check_codes():
    transit = client("trading-1").secrets.transit
    code = transit.generate_hmac("codes", hash_input=encoded(b"text"), algorithm="sha2-256")["data"]["hmac"]
    assert code.startswith("vault:v1:") and len(base64.b64decode(code.removeprefix("vault:v1:"))) == 32
    fits = lambda text, given=code: transit.verify_signed_data("codes", hash_input=encoded(text), hmac=given)["data"]["valid"]
    assert fits(b"text") is True and fits(b"another") is False
    assert fits(b"text", "vault:v1:AAAA") is False
    refused(InvalidRequest, transit.generate_hmac, "codes", hash_input=encoded(b"text"), algorithm="sha2-512")
    refused(InvalidRequest, transit.generate_hmac, KEY, hash_input=encoded(b"text"))
    refused(Forbidden, transit.sign_data, KEY, hash_input=encoded(b"text"))
    refused(Forbidden, sealed, transit, name="codes")


def check_random():
    transit = client("trading-1").secrets.transit
    seen = {transit.generate_random_bytes()["data"]["random_bytes"] for _ in range(4)}
    assert len(seen) == 4 and all(len(base64.b64decode(text)) == 32 for text in seen)
    assert len(bytes.fromhex(transit.generate_random_bytes(n_bytes=5, output_format="hex")["data"]["random_bytes"])) == 5
    for count in (0, 65_537):
        refused(InvalidRequest, transit.generate_random_bytes, n_bytes=count)
    refused(InvalidRequest, transit.generate_random_bytes, output_format="text")


def check_keys():
    transit = client("trading-1").secrets.transit
    assert transit.list_keys()["data"]["keys"] == ["codes", "edwards", KEY, "nist", "rsa"]
    assert client("web-2fa-1").secrets.transit.list_keys()["data"]["keys"] == [OTHER]
    facts = transit.read_key(KEY)["data"]
    assert facts["supports_encryption"] and not facts["supports_signing"] and not facts["exportable"]
    assert facts["latest_version"] == 2 and set(facts["keys"]) == {"1", "2"}, facts
    assert transit.read_key("codes")["data"]["type"] == "hmac"
    assert transit.read_key("nist")["data"]["type"] == "ecdsa-p256"
    for name in (OTHER, "no-such-key"):
        refused(Forbidden, transit.read_key, name, says="permission denied")


def check_foreign_tokens():
    mine = logged_in("trading-1").token
    thief = client("web-2fa-1")
    thief.token = mine
    refused(Forbidden, thief.secrets.transit.encrypt_data, OTHER, plaintext="", says="token")
    refused(Forbidden, thief.auth.token.lookup_self)
    for token in ("x", "hvs.CAESIJ", mine[:-1], mine + "0", mine.replace("kwv1.", "kwv2."), mine[:6] + "f" * 10 + mine[16:]):
        changed = client("trading-1")
        changed.token = token
        refused(Forbidden, changed.secrets.transit.encrypt_data, KEY, plaintext="", says="token")
    # It grants nothing: what its owner may not do it may not either.
    own = logged_in("web-2fa-1")
    refused(Forbidden, own.secrets.transit.encrypt_data, KEY, plaintext="", says="permission denied")


def check_refusals():
    transit = client("trading-1").secrets.transit
    text = sealed(transit)
    body = text.split(":")[2]
    raw = base64.b64decode(body)
    for place in (0, 3, 5, 22, 40, len(raw) - 1):
        changed = bytearray(raw)
        changed[place] ^= 1
        refused(InvalidRequest, opened, transit, f"vault:v2:{encoded(bytes(changed))}")
    for wrong in ("", "vault", "vault:v2", "vault:v2:", f"vault:v02:{body}", f"vault:v2:{body}=", f"vault:v+2:{body}", body):
        refused(InvalidRequest, opened, transit, wrong)
    for name in (OTHER, "no-such-key"):
        refused(Forbidden, opened, transit, text, name=name, says="permission denied")
        refused(Forbidden, sealed, transit, name=name, says="permission denied")
    # What this service does not do is refused, and never passed over.
    refused(InvalidRequest, sealed, transit, nonce=encoded(bytes(12)))
    refused(InvalidRequest, sealed, transit, convergent_encryption=True)
    # The type of a key that exists is its own.
    sealed(transit, type="aes256-gcm96")
    refused(InvalidRequest, transit.encrypt_data, KEY, plaintext="no base64")
    post = client("trading-1").adapter.post
    for more in ({"surprise": 1}, {"plaintexts": ""}, {"batch_input": [{"plaintext": "", "surprise": 1}]}, {"name": OTHER}):
        refused(InvalidRequest, post, f"/v1/transit/encrypt/{KEY}", json={"plaintext": ""} | more)
    refused(InvalidRequest, client("trading-1", namespace="team").secrets.transit.list_keys, says="namespaces")
    refused(InvalidRequest, post, f"/v1/transit/encrypt/{KEY}", json={"plaintext": ""}, wrap_ttl="60s", says="wrapped")
    # hvac has no word of its own for status 405.
    refused(UnexpectedError, transit.create_key, "new", says="unsupported operation")
    refused(UnexpectedError, transit.delete_key, KEY, says="unsupported operation")
    refused(InvalidPath, transit.export_key, KEY, key_type="encryption-key")
    refused(InvalidPath, transit.update_key_configuration, KEY, min_decryption_version=1)
    refused(InvalidPath, client("trading-1").secrets.transit.list_keys, mount_point="transit/elsewhere")


def main():
    for name, check in list(globals().items()):
        if name.startswith("check_"):
            check()
            print(f"ok {name.removeprefix('check_').replace('_', ' ')}")


main()
