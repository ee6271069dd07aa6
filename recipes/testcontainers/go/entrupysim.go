// Package entrupysim starts entrupy-sim in a container, for tests.
package entrupysim

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"

	"github.com/testcontainers/testcontainers-go"
	"github.com/testcontainers/testcontainers-go/wait"
)

const port = "8642/tcp"

// Container is a server in memory, on a free port. URL is the base URL of its namespace "default".
type Container struct {
	testcontainers.Container
	URL string
}

// Run starts the image, and returns when the server is ready. End it with testcontainers.TerminateContainer.
func Run(ctx context.Context, image string) (*Container, error) {
	started, err := testcontainers.Run(ctx, image,
		testcontainers.WithExposedPorts(port),
		testcontainers.WithCmd("serve", "--in-memory"),
		// The control API needs no token: the port is the test run's own.
		testcontainers.WithEnv(map[string]string{"ENTRUPY_SIM_CONTROL_OPEN": "1"}),
		testcontainers.WithWaitStrategy(wait.ForHTTP("/_sim/ready").WithPort(port)))
	if err != nil {
		return nil, err
	}
	url, err := started.PortEndpoint(ctx, port, "http")
	if err != nil {
		return nil, err
	}
	return &Container{Container: started, URL: url}, nil
}

// Namespace makes a platform of its own, for one test, and returns its base URL. Options are those of POST /_sim/namespaces.
func (c *Container) Namespace(ctx context.Context, options map[string]any) (string, error) {
	body, err := json.Marshal(options)
	if err != nil {
		return "", err
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, c.URL+"/_sim/namespaces", bytes.NewReader(body))
	if err != nil {
		return "", err
	}
	request.Header.Set("Content-Type", "application/json")
	answer, err := http.DefaultClient.Do(request)
	if err != nil {
		return "", err
	}
	defer answer.Body.Close()
	text, err := io.ReadAll(answer.Body)
	if err != nil {
		return "", err
	}
	var made struct{ URL string }
	if err := json.Unmarshal(text, &made); err != nil || answer.StatusCode != http.StatusCreated {
		return "", fmt.Errorf("no namespace: %s %s", answer.Status, text)
	}
	return made.URL, nil
}
