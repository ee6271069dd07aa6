// Package testcontainers is a stand-in for the library: the parts that the recipe uses. Its container is the server at port SIM_PORT,
// which runs already.
package testcontainers

import (
	"context"
	"fmt"
	"os"

	"github.com/testcontainers/testcontainers-go/wait"
)

type Container interface {
	PortEndpoint(ctx context.Context, port string, scheme string) (string, error)
}

type DockerContainer struct {
	ports    []string
	command  []string
	env      map[string]string
	strategy wait.Strategy
}

type ContainerCustomizer func(*DockerContainer)

func WithExposedPorts(ports ...string) ContainerCustomizer {
	return func(c *DockerContainer) { c.ports = ports }
}

func WithCmd(command ...string) ContainerCustomizer {
	return func(c *DockerContainer) { c.command = command }
}

func WithEnv(env map[string]string) ContainerCustomizer {
	return func(c *DockerContainer) { c.env = env }
}

func WithWaitStrategy(strategies ...wait.Strategy) ContainerCustomizer {
	return func(c *DockerContainer) { c.strategy = strategies[0] }
}

func Run(ctx context.Context, image string, options ...ContainerCustomizer) (*DockerContainer, error) {
	c := &DockerContainer{}
	for _, option := range options {
		option(c)
	}
	fmt.Println(image, c.ports, c.command, c.env)
	return c, c.strategy.Check(os.Getenv("SIM_PORT"))
}

func (c *DockerContainer) PortEndpoint(ctx context.Context, port string, scheme string) (string, error) {
	if c.ports[0] != port {
		return "", fmt.Errorf("port %s is not exposed", port)
	}
	return scheme + "://127.0.0.1:" + os.Getenv("SIM_PORT"), nil
}
