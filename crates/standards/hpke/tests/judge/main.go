// Command hpke-judge is the other end of HPKE in mode base: Go's crypto/hpke. It reads one case per line
// from its standard input as JSON, and writes one answer per line.
//
//	{"do":"seal","ids":[kem,kdf,aead],"key":public,"info":..,"text":..}  ->  {"made":enc||ciphertext,"export":..}
//	{"do":"open","ids":[..],"key":private,"info":..,"text":enc||ciphertext}  ->  {"made":plaintext,"export":..}
//
// Bytes are hexadecimal. What cannot be done is {"error":..}. The associated data is "aad"; the export is 48
// bytes under the context "context".
package main

import (
	"bufio"
	"crypto/hpke"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"os"
)

type order struct {
	Do   string    `json:"do"`
	IDs  [3]uint16 `json:"ids"`
	Key  string    `json:"key"`
	Info string    `json:"info"`
	Text string    `json:"text"`
}

type answer struct {
	Made   string `json:"made,omitempty"`
	Export string `json:"export,omitempty"`
	Error  string `json:"error,omitempty"`
}

func main() {
	lines := bufio.NewScanner(os.Stdin)
	lines.Buffer(nil, 1<<20)
	out := json.NewEncoder(os.Stdout)
	for lines.Scan() {
		var o order
		if err := json.Unmarshal(lines.Bytes(), &o); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(2)
		}
		made, export, err := do(o)
		a := answer{Made: hex.EncodeToString(made), Export: hex.EncodeToString(export)}
		if err != nil {
			a = answer{Error: err.Error()}
		}
		if err := out.Encode(a); err != nil {
			os.Exit(2)
		}
	}
}

func do(o order) (made, export []byte, err error) {
	kem, err1 := hpke.NewKEM(o.IDs[0])
	kdf, err2 := hpke.NewKDF(o.IDs[1])
	aead, err3 := hpke.NewAEAD(o.IDs[2])
	key, err4 := hex.DecodeString(o.Key)
	info, err5 := hex.DecodeString(o.Info)
	text, err6 := hex.DecodeString(o.Text)
	if err := errors.Join(err1, err2, err3, err4, err5, err6); err != nil {
		return nil, nil, err
	}
	switch o.Do {
	case "seal":
		return seal(kem, kdf, aead, key, info, text)
	case "open":
		return open(kem, kdf, aead, key, info, text)
	}
	return nil, nil, errors.New("unknown order")
}

func seal(kem hpke.KEM, kdf hpke.KDF, aead hpke.AEAD, key, info, text []byte) (made, export []byte, err error) {
	public, err := kem.NewPublicKey(key)
	if err != nil {
		return nil, nil, err
	}
	enc, sender, err := hpke.NewSender(public, kdf, aead, info)
	if err != nil {
		return nil, nil, err
	}
	sealed, err := sender.Seal([]byte("aad"), text)
	if err != nil {
		return nil, nil, err
	}
	export, err = sender.Export("context", 48)
	return append(enc, sealed...), export, err
}

func open(kem hpke.KEM, kdf hpke.KDF, aead hpke.AEAD, key, info, text []byte) (made, export []byte, err error) {
	private, err := kem.NewPrivateKey(key)
	if err != nil {
		return nil, nil, err
	}
	// The order carries the length of enc as the rest of what is no ciphertext: 5 bytes of text and a tag.
	length := len(text) - 5 - 16
	if length < 0 {
		return nil, nil, errors.New("too short")
	}
	recipient, err := hpke.NewRecipient(text[:length], private, kdf, aead, info)
	if err != nil {
		return nil, nil, err
	}
	made, err = recipient.Open([]byte("aad"), text[length:])
	if err != nil {
		return nil, nil, err
	}
	export, err = recipient.Export("context", 48)
	return made, export, err
}
