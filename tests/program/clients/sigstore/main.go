// sigstore's signer for Vault, which cosign signs with, against the routes for Vault's transit API of a running service.
//
//	sigstore ADDRESS HOME
//
// HOME is the folder of a home whose service listens on ADDRESS (host:port), with the contexts that
// tests/program/tests/it/transit.rs makes. Each key prints a line; the first that fails ends the program.
package main

import (
	"bytes"
	"crypto"
	"crypto/ed25519"
	"crypto/sha256"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/hashicorp/vault/api"
	"github.com/sigstore/sigstore/pkg/signature"
	"github.com/sigstore/sigstore/pkg/signature/kms/hashivault"
)

var message = []byte("order 4711")

func main() {
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run() error {
	if len(os.Args) != 3 {
		return errors.New("usage: sigstore ADDRESS HOME")
	}
	home := os.Args[2]
	// The signer makes its own client, which is told by the environment alone.
	for name, value := range map[string]string{
		api.EnvVaultAddress:    "https://" + os.Args[1],
		api.EnvVaultCACert:     filepath.Join(home, "ca.pem"),
		api.EnvVaultClientCert: filepath.Join(home, "clients", "trading-1.pem"),
		api.EnvVaultClientKey:  filepath.Join(home, "clients", "trading-1.key"),
	} {
		if err := os.Setenv(name, value); err != nil {
			return err
		}
	}
	client, err := api.NewClient(api.DefaultConfig())
	if err != nil {
		return err
	}
	secret, err := client.Logical().Write("auth/cert/login", nil)
	if err != nil {
		return fmt.Errorf("login: %w", err)
	}
	if err := os.Setenv(api.EnvVaultToken, secret.Auth.ClientToken); err != nil {
		return err
	}
	for _, name := range []string{"nist", "edwards", "rsa"} {
		if err := use(name); err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		fmt.Println("done:", name)
	}
	return nil
}

func use(name string) error {
	signer, err := hashivault.LoadSignerVerifier("hashivault://"+name, crypto.SHA256)
	if err != nil {
		return err
	}
	made, err := signer.SignMessage(bytes.NewReader(message))
	if err != nil {
		return fmt.Errorf("sign: %w", err)
	}
	public, err := signer.PublicKey()
	if err != nil {
		return fmt.Errorf("public key: %w", err)
	}
	if key, ok := public.(ed25519.PublicKey); ok {
		// Vault signs the digest that it is sent, as a message.
		digest := sha256.Sum256(message)
		if !ed25519.Verify(key, digest[:], made) {
			return errors.New("the signature is not one of the digest")
		}
		return nil
	}
	local, err := signature.LoadVerifier(public, crypto.SHA256)
	if err != nil {
		return err
	}
	if err := local.VerifySignature(bytes.NewReader(made), bytes.NewReader(message)); err != nil {
		return fmt.Errorf("verify here: %w", err)
	}
	if err := signer.VerifySignature(bytes.NewReader(made), bytes.NewReader(message)); err != nil {
		return fmt.Errorf("verify there: %w", err)
	}
	if signer.VerifySignature(bytes.NewReader(made), bytes.NewReader([]byte("another"))) == nil {
		return errors.New("another message verifies")
	}
	return nil
}
