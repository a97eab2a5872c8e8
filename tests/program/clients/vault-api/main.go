// The client library of Vault against the routes for Vault's transit API of a running service.
//
//	vault-api ADDRESS HOME
//
// HOME is the folder of a home whose service listens on ADDRESS (host:port), with the contexts that
// tests/program/tests/it/transit.rs makes. Each check prints a line; the first that fails ends the program.
package main

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"

	"github.com/hashicorp/vault/api"
)

const key = "exchange-key"

var message = base64.StdEncoding.EncodeToString([]byte("order 4711"))

func main() {
	if len(os.Args) != 3 {
		fail(errors.New("usage: vault-api ADDRESS HOME"))
	}
	client, err := connect(os.Args[1], os.Args[2])
	if err != nil {
		fail(err)
	}
	checks := []struct {
		name  string
		check func(*api.Client) error
	}{
		{"login", login}, {"rotate", rotate}, {"datakey", datakey}, {"random", random}, {"encrypt", encrypt},
		{"sign", sign}, {"hmac", hmac}, {"keys", keys}, {"refused", refused},
	}
	for _, one := range checks {
		if err := one.check(client); err != nil {
			fail(fmt.Errorf("%s: %w", one.name, err))
		}
		fmt.Println("done:", one.name)
	}
}

func fail(err error) {
	fmt.Fprintln(os.Stderr, err)
	os.Exit(1)
}

func connect(address, home string) (*api.Client, error) {
	config := api.DefaultConfig()
	if config.Error != nil {
		return nil, config.Error
	}
	config.Address = "https://" + address
	config.MaxRetries = 0
	err := config.ConfigureTLS(&api.TLSConfig{
		CACert:     filepath.Join(home, "ca.pem"),
		ClientCert: filepath.Join(home, "clients", "trading-1.pem"),
		ClientKey:  filepath.Join(home, "clients", "trading-1.key"),
	})
	if err != nil {
		return nil, err
	}
	client, err := api.NewClient(config)
	if err != nil {
		return nil, err
	}
	client.ClearToken()
	client.ClearNamespace()
	return client, nil
}

// write sends what Logical().Write sends; without data that is the body `null`.
func write(client *api.Client, path string, data map[string]interface{}) (map[string]interface{}, error) {
	secret, err := client.Logical().Write(path, data)
	if err != nil || secret == nil {
		return nil, err
	}
	return secret.Data, nil
}

func text(data map[string]interface{}, name string) string {
	text, _ := data[name].(string)
	return text
}

func login(client *api.Client) error {
	for _, data := range []map[string]interface{}{nil, {}, {"name": ""}} {
		secret, err := client.Logical().Write("auth/cert/login", data)
		if err != nil {
			return err
		}
		if !strings.HasPrefix(secret.Auth.ClientToken, "kwv1.") {
			return fmt.Errorf("token %q", secret.Auth.ClientToken)
		}
		client.SetToken(secret.Auth.ClientToken)
	}
	_, err := client.Auth().Token().LookupSelf()
	return err
}

func rotate(client *api.Client) error {
	before, err := latest(client)
	if err != nil {
		return err
	}
	for _, data := range []map[string]interface{}{nil, {}} {
		if _, err := write(client, "transit/keys/"+key+"/rotate", data); err != nil {
			return err
		}
	}
	after, err := latest(client)
	if err == nil && after != before+2 {
		err = fmt.Errorf("version %d after %d", after, before)
	}
	return err
}

func latest(client *api.Client) (int64, error) {
	secret, err := client.Logical().Read("transit/keys/" + key)
	if err != nil {
		return 0, err
	}
	number, ok := secret.Data["latest_version"].(json.Number)
	if !ok {
		return 0, fmt.Errorf("latest_version %v", secret.Data["latest_version"])
	}
	return number.Int64()
}

func datakey(client *api.Client) error {
	made, err := write(client, "transit/datakey/plaintext/"+key, nil)
	if err != nil {
		return err
	}
	opened, err := write(client, "transit/decrypt/"+key, map[string]interface{}{"ciphertext": text(made, "ciphertext")})
	if err == nil && text(opened, "plaintext") != text(made, "plaintext") {
		err = errors.New("another key")
	}
	if err != nil {
		return err
	}
	wrapped, err := write(client, "transit/datakey/wrapped/"+key, nil)
	if err == nil && (wrapped["plaintext"] != nil || text(wrapped, "ciphertext") == "") {
		err = errors.New("not only wrapped")
	}
	return err
}

func random(client *api.Client) error {
	for path, length := range map[string]int{"transit/random": 32, "transit/random/7": 7} {
		made, err := write(client, path, nil)
		if err != nil {
			return err
		}
		bytes, err := base64.StdEncoding.DecodeString(text(made, "random_bytes"))
		if err != nil || len(bytes) != length {
			return fmt.Errorf("%d bytes: %v", len(bytes), err)
		}
	}
	return nil
}

func encrypt(client *api.Client) error {
	sealed, err := write(client, "transit/encrypt/"+key, map[string]interface{}{
		"plaintext": message, "type": "aes256-gcm96", "key_version": 0, "context": nil,
	})
	if err != nil {
		return err
	}
	sealed, err = write(client, "transit/rewrap/"+key, map[string]interface{}{"ciphertext": text(sealed, "ciphertext")})
	if err != nil {
		return err
	}
	opened, err := write(client, "transit/decrypt/"+key, map[string]interface{}{"ciphertext": text(sealed, "ciphertext")})
	if err == nil && text(opened, "plaintext") != message {
		err = errors.New("another plaintext")
	}
	return err
}

func sign(client *api.Client) error {
	for _, name := range []string{"edwards", "nist"} {
		signed, err := write(client, "transit/sign/"+name, map[string]interface{}{
			"input": message, "signature_algorithm": "pkcs1v15", "key_version": "0", "salt_length": "auto",
		})
		if err != nil {
			return err
		}
		verified, err := write(client, "transit/verify/"+name, map[string]interface{}{
			"input": message, "signature": text(signed, "signature"), "signature_algorithm": "pkcs1v15",
		})
		if err == nil && verified["valid"] != true {
			err = errors.New("not valid")
		}
		if err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
	}
	return nil
}

func hmac(client *api.Client) error {
	made, err := write(client, "transit/hmac/codes", map[string]interface{}{"input": message})
	if err != nil {
		return err
	}
	verified, err := write(client, "transit/verify/codes", map[string]interface{}{"input": message, "hmac": text(made, "hmac")})
	if err == nil && verified["valid"] != true {
		err = errors.New("not valid")
	}
	return err
}

func keys(client *api.Client) error {
	listed, err := client.Logical().List("transit/keys")
	if err == nil && len(listed.Data["keys"].([]interface{})) == 0 {
		err = errors.New("none")
	}
	return err
}

func refused(client *api.Client) error {
	for path, says := range map[string]string{
		"transit/encrypt/" + key:     "missing plaintext to encrypt",
		"transit/decrypt/" + key:     "missing ciphertext to decrypt",
		"transit/sign/nist":          "missing input to sign",
		"transit/hmac/codes":         "missing input for HMAC",
		"transit/datakey/wrapped/no": "permission denied",
	} {
		_, err := client.Logical().Write(path, nil)
		if err == nil || !strings.Contains(err.Error(), says) {
			return fmt.Errorf("%s: %v", path, err)
		}
	}
	_, err := client.Logical().JSONMergePatch(context.Background(), "transit/random", nil)
	var response *api.ResponseError
	if !errors.As(err, &response) || response.StatusCode != http.StatusMethodNotAllowed {
		return fmt.Errorf("PATCH: %v", err)
	}
	return nil
}
