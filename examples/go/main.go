// Encrypts and decrypts with the standard library alone, as the client trading-1 of a demonstration home.
//
//	go run main.go HOME [ADDRESS]        ADDRESS is host:port, 127.0.0.1:8443 by default
//
// Ends with 0 only if the texts came back and the refusals were refusals.
package main

import (
	"bytes"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"time"
)

// Service is a client under one certificate. It keeps its connection open.
type Service struct {
	http    http.Client
	address string
}

// Refused is an answer that is no success.
type Refused struct {
	Status  int
	Code    string
	Message string
}

func (refused *Refused) Error() string {
	return fmt.Sprintf("%d %s: %s", refused.Status, refused.Code, refused.Message)
}

// Bytes are base64 in JSON, which is what encoding/json makes of []byte.

// Seal is what encrypt takes.
type Seal struct {
	Plaintext []byte `json:"plaintext"`
	Aad       []byte `json:"aad,omitempty"`
}

// Sealed is what encrypt answers.
type Sealed struct {
	Ciphertext []byte `json:"ciphertext"`
	KeyVersion uint32 `json:"key_version"`
}

// Open is what decrypt takes.
type Open struct {
	Ciphertext []byte `json:"ciphertext"`
	Aad        []byte `json:"aad,omitempty"`
}

// Opened is what decrypt answers.
type Opened struct {
	Plaintext []byte `json:"plaintext"`
}

// NewService reads the certificates of a home.
func NewService(home, name, address string) (*Service, error) {
	authority, err := os.ReadFile(filepath.Join(home, "ca.pem"))
	if err != nil {
		return nil, err
	}
	roots := x509.NewCertPool()
	if !roots.AppendCertsFromPEM(authority) {
		return nil, errors.New("ca.pem holds no certificate")
	}
	client := filepath.Join(home, "clients", name)
	certificate, err := tls.LoadX509KeyPair(client+".pem", client+".key")
	if err != nil {
		return nil, err
	}
	transport := &http.Transport{
		ForceAttemptHTTP2: true,
		TLSClientConfig: &tls.Config{
			MinVersion:   tls.VersionTLS13,
			RootCAs:      roots,
			Certificates: []tls.Certificate{certificate},
		},
	}
	return &Service{http.Client{Transport: transport, Timeout: 30 * time.Second}, address}, nil
}

// Ask posts a body and reads the answer.
func (service *Service) Ask(path string, body, answer any) error {
	content, err := json.Marshal(body)
	if err != nil {
		return err
	}
	response, err := service.http.Post("https://"+service.address+path, "application/json", bytes.NewReader(content))
	if err != nil {
		return err
	}
	defer response.Body.Close()
	decoder := json.NewDecoder(response.Body)
	if response.StatusCode != http.StatusOK {
		var refused struct{ Error Refused }
		if err := decoder.Decode(&refused); err != nil {
			return err
		}
		refused.Error.Status = response.StatusCode
		return &refused.Error
	}
	return decoder.Decode(answer)
}

// Encrypt seals a text in a context.
func (service *Service) Encrypt(context string, plaintext, aad []byte) (sealed Sealed, err error) {
	err = service.Ask("/v1/contexts/"+context+"/encrypt", Seal{plaintext, aad}, &sealed)
	return sealed, err
}

// Decrypt opens what Encrypt answered.
func (service *Service) Decrypt(context string, ciphertext, aad []byte) ([]byte, error) {
	var opened Opened
	err := service.Ask("/v1/contexts/"+context+"/decrypt", Open{ciphertext, aad}, &opened)
	return opened.Plaintext, err
}

// refusal is the code that a call was refused with.
func refusal(err error) (string, error) {
	var refused *Refused
	if errors.As(err, &refused) {
		return refused.Code, nil
	}
	return "", fmt.Errorf("a request that must be refused was not: %w", err)
}

func run(home, address string) error {
	service, err := NewService(home, "trading-1", address)
	if err != nil {
		return err
	}
	text, row := []byte("Hello from Go"), []byte("row 7")
	sealed, err := service.Encrypt("exchange-key", text, row)
	if err != nil {
		return err
	}
	fmt.Printf("sealed under version %d, %d bytes\n", sealed.KeyVersion, len(sealed.Ciphertext))
	opened, err := service.Decrypt("exchange-key", sealed.Ciphertext, row)
	if err != nil {
		return err
	}
	if !bytes.Equal(opened, text) {
		return errors.New("decrypt: another text came back")
	}
	fmt.Printf("opened: %s\n", opened)

	_, err = service.Decrypt("exchange-key", sealed.Ciphertext, nil)
	code, err := refusal(err)
	if err != nil {
		return err
	}
	fmt.Printf("without its aad: %s\n", code)
	other, err := NewService(home, "web-2fa-1", address)
	if err != nil {
		return err
	}
	_, err = other.Decrypt("exchange-key", sealed.Ciphertext, row)
	if code, err = refusal(err); err != nil {
		return err
	}
	fmt.Printf("as web-2fa-1: %s\n", code)
	return nil
}

func main() {
	if len(os.Args) != 2 && len(os.Args) != 3 {
		fmt.Fprintln(os.Stderr, "usage: go run main.go HOME [ADDRESS]")
		os.Exit(2)
	}
	address := "127.0.0.1:8443"
	if len(os.Args) == 3 {
		address = os.Args[2]
	}
	if err := run(os.Args[1], address); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}
