package org.testcontainers.containers.wait.strategy;

public final class Wait {
    public static HttpWaitStrategy forHttp(String path) {
        return new HttpWaitStrategy(path);
    }
}
