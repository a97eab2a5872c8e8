#!/usr/bin/env python3
"""Encrypts and decrypts with the standard library alone, as the client trading-1 of a demonstration home.

    client.py HOME [ADDRESS]        ADDRESS is host:port, 127.0.0.1:8443 by default

Ends with 0 only if the texts came back and the refusals were refusals.
"""

import base64
import http.client
import json
import ssl
import sys
from pathlib import Path


class Refused(Exception):
    """An answer that is no success: its status, and the service's stable code."""

    def __init__(self, status, error):
        super().__init__(f"{status} {error['code']}: {error['message']}")
        self.status, self.code = status, error["code"]


class Service:
    """One connection, under one certificate. Keep it open: every new one is a whole handshake."""

    def __init__(self, home, name, address):
        tls = ssl.create_default_context(cafile=home / "ca.pem")
        tls.minimum_version = ssl.TLSVersion.TLSv1_3
        tls.load_cert_chain(home / "clients" / f"{name}.pem", home / "clients" / f"{name}.key")
        self.connection = http.client.HTTPSConnection(address, context=tls, timeout=30)

    def ask(self, path, body):
        self.connection.request("POST", path, json.dumps(body), {"content-type": "application/json"})
        answer = self.connection.getresponse()
        content = json.loads(answer.read())
        if answer.status != 200:
            raise Refused(answer.status, content["error"])
        return content

    def encrypt(self, context, plaintext, aad=b""):
        body = {"plaintext": encoded(plaintext), "aad": encoded(aad)}
        return self.ask(f"/v1/contexts/{context}/encrypt", body)

    def decrypt(self, context, ciphertext, aad=b""):
        body = {"ciphertext": ciphertext, "aad": encoded(aad)}
        return base64.b64decode(self.ask(f"/v1/contexts/{context}/decrypt", body)["plaintext"])


def encoded(data):
    return base64.b64encode(data).decode()


def refusal(call, *arguments):
    """The code that a call is refused with."""
    try:
        call(*arguments)
    except Refused as refused:
        return refused.code
    sys.exit("a request that must be refused was not")


def main():
    if len(sys.argv) not in (2, 3):
        print(f"usage: {sys.argv[0]} HOME [ADDRESS]", file=sys.stderr)
        return 2
    home = Path(sys.argv[1])
    address = sys.argv[2] if len(sys.argv) == 3 else "127.0.0.1:8443"
    service = Service(home, "trading-1", address)

    text, row = b"Hello from Python", b"row 7"
    sealed = service.encrypt("exchange-key", text, row)
    print(f"sealed under version {sealed['key_version']}: {sealed['ciphertext']}")
    if service.decrypt("exchange-key", sealed["ciphertext"], row) != text:
        sys.exit("decrypt: another text came back")
    print(f"opened: {text.decode()}")

    # Many items in one request: each has a result of its own.
    items = [{"plaintext": encoded(str(number).encode())} for number in range(1000)]
    items[500] = {"plaintext": "no base64"}
    batch = service.ask("/v1/contexts/exchange-key/encrypt", {"items": items})
    print(f"sealed {len(batch['items']) - batch['failed']} of {len(items)} items")
    print(f"item 500: {batch['items'][500]['error']['code']}")

    print(f"without its aad: {refusal(service.decrypt, 'exchange-key', sealed['ciphertext'])}")
    other = Service(home, "web-2fa-1", address)
    print(f"as web-2fa-1: {refusal(other.decrypt, 'exchange-key', sealed['ciphertext'], row)}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
