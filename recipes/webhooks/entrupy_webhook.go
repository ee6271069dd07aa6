// Verifies the signature of a webhook. Copy Forms and Verify; the rest is a receiver to try it with. Needs Go 1.19 or newer, and no
// module.
//
//	PORT=9000 WEBHOOK_SECRET=my-secret go run entrupy_webhook.go
//
// WEBHOOK_SIGNATURE is the form of the subscription: sha256-base64 (the default), sha256-hex or hex.
package main

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
)

// Forms are the forms of a signature by their names. A subscription has one of them.
var Forms = map[string]func(code []byte) string{
	"sha256-base64": func(code []byte) string { return "SHA256:" + base64.StdEncoding.EncodeToString(code) },
	"sha256-hex":    func(code []byte) string { return "SHA256:" + hex.EncodeToString(code) },
	"hex":           hex.EncodeToString,
}

// Verify tells whether signature, the header Entrupy-Signature or "" without one, is that of body: the bytes as they came, before
// JSON is parsed. secret is the subscription's secret_key, and form one of Forms; with another form nothing is right.
func Verify(secret string, body []byte, signature string, form string) bool {
	text, isKnown := Forms[form]
	if !isKnown {
		return false
	}
	mac := hmac.New(sha256.New, []byte(secret))
	mac.Write(body)
	// hmac.Equal takes the same time wherever the first difference is. == does not.
	return hmac.Equal([]byte(signature), []byte(text(mac.Sum(nil))))
}

func receiver(secret, form string) http.HandlerFunc {
	return func(response http.ResponseWriter, request *http.Request) {
		body, err := io.ReadAll(http.MaxBytesReader(response, request.Body, 1_000_000))
		if err != nil {
			response.WriteHeader(http.StatusRequestEntityTooLarge)
			return
		}
		if !Verify(secret, body, request.Header.Get("Entrupy-Signature"), form) {
			response.WriteHeader(http.StatusUnauthorized)
			return
		}
		// From here on the body is the platform's: parse it, and put it into a queue. An answer that takes 10 s is too late.
		fmt.Println("verified", len(body), "bytes")
		response.WriteHeader(http.StatusNoContent)
	}
}

func main() {
	setting := func(name, otherwise string) string {
		if value := os.Getenv(name); value != "" {
			return value
		}
		return otherwise
	}
	stop := func(text any) {
		fmt.Fprintln(os.Stderr, text)
		os.Exit(1)
	}
	secret, form := setting("WEBHOOK_SECRET", ""), setting("WEBHOOK_SIGNATURE", "sha256-base64")
	if secret == "" {
		stop("WEBHOOK_SECRET must be the secret_key of the subscription")
	}
	if _, isKnown := Forms[form]; !isKnown {
		stop(fmt.Sprintf("WEBHOOK_SIGNATURE must be one of sha256-base64, sha256-hex, hex, not %q", form))
	}
	listener, err := net.Listen("tcp", "127.0.0.1:"+setting("PORT", "9000"))
	if err != nil {
		stop(err)
	}
	fmt.Printf("listening on http://%s\n", listener.Addr())
	stop(http.Serve(listener, receiver(secret, form)))
}
