package org.testcontainers.utility;

public final class DockerImageName {
    public final String name;

    private DockerImageName(String name) {
        this.name = name;
    }

    public static DockerImageName parse(String name) {
        return new DockerImageName(name);
    }
}
