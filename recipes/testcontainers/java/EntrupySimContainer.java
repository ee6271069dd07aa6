package com.example.testing;

import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.time.Duration;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.testcontainers.containers.GenericContainer;
import org.testcontainers.containers.wait.strategy.Wait;
import org.testcontainers.utility.DockerImageName;

/** entrupy-sim in a container, in memory: {@code try (var sim = new EntrupySimContainer("entrupy-sim")) { sim.start(); … }}. */
public class EntrupySimContainer extends GenericContainer<EntrupySimContainer> {
    private static final int PORT = 8642;

    public EntrupySimContainer(String image) {
        super(DockerImageName.parse(image));
        withExposedPorts(PORT);
        withCommand("serve", "--in-memory");
        // The control API needs no token: the port is the test run's own.
        withEnv("ENTRUPY_SIM_CONTROL_OPEN", "1");
        waitingFor(Wait.forHttp("/_sim/ready").forPort(PORT).forStatusCode(200));
    }

    /** The base URL of the namespace {@code default}. */
    public String getUrl() {
        return "http://" + getHost() + ":" + getMappedPort(PORT);
    }

    /** Makes a platform of its own, for one test, and returns its base URL. */
    public String namespace(String prefix) throws IOException, InterruptedException {
        HttpRequest request = HttpRequest.newBuilder(URI.create(getUrl() + "/_sim/namespaces"))
            .header("Content-Type", "application/json").timeout(Duration.ofSeconds(30))
            .POST(HttpRequest.BodyPublishers.ofString("{\"prefix\": \"" + prefix + "\"}")).build();
        HttpResponse<String> answer = HttpClient.newHttpClient().send(request, HttpResponse.BodyHandlers.ofString());
        Matcher url = Pattern.compile("\"url\": ?\"([^\"]+)\"").matcher(answer.body());
        if (answer.statusCode() != 201 || !url.find()) {
            throw new IOException("no namespace: " + answer.statusCode() + " " + answer.body());
        }
        return url.group(1);
    }
}
