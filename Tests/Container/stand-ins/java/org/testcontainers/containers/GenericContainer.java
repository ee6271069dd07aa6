package org.testcontainers.containers;

import java.net.HttpURLConnection;
import java.net.URL;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.testcontainers.containers.wait.strategy.HttpWaitStrategy;
import org.testcontainers.containers.wait.strategy.WaitStrategy;
import org.testcontainers.utility.DockerImageName;

/** A stand-in for the library's class: the parts that the recipe uses. Its container is the server at port SIM_PORT, which runs already. */
public class GenericContainer<SELF extends GenericContainer<SELF>> implements AutoCloseable {
    public final String image;
    public List<Integer> ports = List.of();
    public List<String> command = List.of();
    public final Map<String, String> environment = new HashMap<>();
    private HttpWaitStrategy strategy;

    public GenericContainer(DockerImageName image) {
        this.image = image.name;
    }

    @SuppressWarnings("unchecked")
    private SELF self() {
        return (SELF) this;
    }

    public SELF withExposedPorts(Integer... ports) {
        this.ports = Arrays.asList(ports);
        return self();
    }

    public SELF withCommand(String... parts) {
        command = Arrays.asList(parts);
        return self();
    }

    public SELF withEnv(String name, String value) {
        environment.put(name, value);
        return self();
    }

    public SELF waitingFor(WaitStrategy strategy) {
        this.strategy = (HttpWaitStrategy) strategy;
        return self();
    }

    public void start() {
        try {
            URL url = new URL("http://" + getHost() + ":" + getMappedPort(strategy.port) + strategy.path);
            int status = ((HttpURLConnection) url.openConnection()).getResponseCode();
            if (status != strategy.status) {
                throw new IllegalStateException(url + " answers " + status + ", not " + strategy.status);
            }
        } catch (java.io.IOException error) {
            throw new IllegalStateException(error);
        }
    }

    public String getHost() {
        return "127.0.0.1";
    }

    public Integer getMappedPort(int port) {
        if (!ports.contains(port)) {
            throw new IllegalArgumentException("port " + port + " is not exposed");
        }
        return Integer.parseInt(System.getenv("SIM_PORT"));
    }

    @Override
    public void close() {
    }
}
