package org.testcontainers.containers.wait.strategy;

public class HttpWaitStrategy implements WaitStrategy {
    public final String path;
    public int port;
    public int status;

    HttpWaitStrategy(String path) {
        this.path = path;
    }

    public HttpWaitStrategy forPort(int port) {
        this.port = port;
        return this;
    }

    public HttpWaitStrategy forStatusCode(int status) {
        this.status = status;
        return this;
    }
}
