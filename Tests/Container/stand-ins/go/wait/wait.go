// Package wait is a stand-in for the library's: one strategy.
package wait

import (
	"fmt"
	"net/http"
)

type Strategy interface{ Check(port string) error }

type HTTPStrategy struct{ path, port string }

func ForHTTP(path string) *HTTPStrategy { return &HTTPStrategy{path: path} }

func (s *HTTPStrategy) WithPort(port string) *HTTPStrategy {
	s.port = port
	return s
}

func (s *HTTPStrategy) Check(port string) error {
	answer, err := http.Get("http://127.0.0.1:" + port + s.path)
	if err == nil && (answer.StatusCode != 200 || s.port != "8642/tcp") {
		return fmt.Errorf("%s answers %s", s.path, answer.Status)
	}
	return err
}
