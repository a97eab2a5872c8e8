#!/usr/bin/env bash
# Encrypts and decrypts a text with nothing but curl, as the client trading-1 of a demonstration home.
#
#   examples/curl.sh HOME [ADDRESS]        ADDRESS is host:port, 127.0.0.1:8443 by default
#
# Ends with 0 only if the text came back and the refusals were refusals.
set -euo pipefail

if [ "$#" -lt 1 ] || [ "$#" -gt 2 ]; then
  printf 'usage: %s HOME [ADDRESS]\n' "$0" >&2
  exit 2
fi
readonly HOME_FOLDER=$1 ADDRESS=${2:-127.0.0.1:8443}

# call CLIENT PATH: posts standard input as that client; the answer, then its status on a line of its own.
call() {
  curl --silent --show-error --tlsv1.3 --max-time 30 \
    --cacert "$HOME_FOLDER/ca.pem" --cert "$HOME_FOLDER/clients/$1.pem" --key "$HOME_FOLDER/clients/$1.key" \
    --header 'content-type: application/json' --data-binary @- --write-out '\n%{http_code}\n' \
    "https://$ADDRESS$2"
}

# field NAME ANSWER: a text or number of an answer that is one object.
field() { sed -n "s/.*\"$1\":\"\{0,1\}\([^\",}]*\).*/\1/p" <<<"$2"; }

encode() { printf '%s' "$1" | base64 | tr -d '\n'; }

expect() { # status answer what
  if [ "$(tail -n 1 <<<"$2")" != "$1" ]; then
    printf '%s: expected %s, got: %s\n' "$3" "$1" "$2" >&2
    exit 1
  fi
}

text='Hello from curl' aad=$(encode 'row 7')

sealed=$(call trading-1 /v1/contexts/exchange-key/encrypt <<<"{\"plaintext\":\"$(encode "$text")\",\"aad\":\"$aad\"}")
expect 200 "$sealed" encrypt
ciphertext=$(field ciphertext "$sealed")
printf 'sealed under version %s: %s\n' "$(field key_version "$sealed")" "$ciphertext"

opened=$(call trading-1 /v1/contexts/exchange-key/decrypt <<<"{\"ciphertext\":\"$ciphertext\",\"aad\":\"$aad\"}")
expect 200 "$opened" decrypt
back=$(field plaintext "$opened" | base64 -d)
if [ "$back" != "$text" ]; then
  printf 'decrypt: another text came back\n' >&2
  exit 1
fi
printf 'opened: %s\n' "$back"

refused=$(call trading-1 /v1/contexts/exchange-key/decrypt <<<"{\"ciphertext\":\"$ciphertext\"}")
expect 400 "$refused" 'decrypt without its aad'
printf 'without its aad: %s\n' "$(field code "$refused")"

refused=$(call web-2fa-1 /v1/contexts/exchange-key/decrypt <<<"{\"ciphertext\":\"$ciphertext\",\"aad\":\"$aad\"}")
expect 404 "$refused" 'decrypt as another client'
printf 'as web-2fa-1: %s\n' "$(field code "$refused")"
