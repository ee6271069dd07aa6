package org.testcontainers.containers.wait.strategy;

public interface WaitStrategy {
}
