// Verifies the signature of a webhook. Copy `Form` and `verify`; the rest is a receiver to try it with. Needs Java 17 or newer, and
// no library.
//
//     PORT=9000 WEBHOOK_SECRET=my-secret java EntrupyWebhook.java
//
// WEBHOOK_SIGNATURE is the form of the subscription: sha256-base64 (the default), sha256-hex or hex.

import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.security.GeneralSecurityException;
import java.security.MessageDigest;
import java.util.Base64;
import java.util.HexFormat;
import java.util.Map;
import java.util.concurrent.Executors;
import javax.crypto.Mac;
import javax.crypto.spec.SecretKeySpec;

public final class EntrupyWebhook {
    /** The forms of a signature. A subscription has one of them. */
    public enum Form {
        SHA256_BASE64,
        SHA256_HEX,
        HEX;

        String of(byte[] code) {
            return switch (this) {
                case SHA256_BASE64 -> "SHA256:" + Base64.getEncoder().encodeToString(code);
                case SHA256_HEX -> "SHA256:" + HexFormat.of().formatHex(code);
                case HEX -> HexFormat.of().formatHex(code);
            };
        }
    }

    /**
     * Whether {@code signature}, the header Entrupy-Signature or null, is that of {@code body}: the bytes as they came, before JSON is
     * parsed. {@code secret} is the subscription's secret_key. Never throws for what a sender can send.
     */
    public static boolean verify(String secret, byte[] body, String signature, Form form) {
        if (signature == null) return false;
        try {
            Mac mac = Mac.getInstance("HmacSHA256");
            mac.init(new SecretKeySpec(secret.getBytes(StandardCharsets.UTF_8), "HmacSHA256"));
            byte[] expected = form.of(mac.doFinal(body)).getBytes(StandardCharsets.UTF_8);
            // isEqual takes the same time wherever the first difference is. String.equals does not.
            return MessageDigest.isEqual(signature.getBytes(StandardCharsets.UTF_8), expected);
        } catch (GeneralSecurityException impossible) {
            throw new IllegalStateException("every Java has HmacSHA256", impossible);
        }
    }

    private static void receive(HttpExchange exchange, String secret, Form form) throws IOException {
        try (exchange) {
            byte[] body = exchange.getRequestBody().readNBytes(1_000_001);
            if (body.length > 1_000_000) {
                exchange.sendResponseHeaders(413, -1);
            } else if (!verify(secret, body, exchange.getRequestHeaders().getFirst("Entrupy-Signature"), form)) {
                exchange.sendResponseHeaders(401, -1);
            } else {
                // From here on the body is the platform's: parse it, and put it into a queue. An answer that takes 10 s is too late.
                System.out.println("verified " + body.length + " bytes");
                exchange.sendResponseHeaders(204, -1);
            }
        }
    }

    public static void main(String[] arguments) throws IOException {
        Map<String, Form> forms = Map.of("sha256-base64", Form.SHA256_BASE64, "sha256-hex", Form.SHA256_HEX, "hex", Form.HEX);
        String secret = System.getenv().getOrDefault("WEBHOOK_SECRET", "");
        String name = System.getenv().getOrDefault("WEBHOOK_SIGNATURE", "sha256-base64");
        Form form = forms.get(name);
        if (secret.isEmpty() || form == null) {
            System.err.println(secret.isEmpty()
                ? "WEBHOOK_SECRET must be the secret_key of the subscription"
                : "WEBHOOK_SIGNATURE must be one of sha256-base64, sha256-hex, hex, not \"" + name + "\"");
            System.exit(1);
        }
        int port = Integer.parseInt(System.getenv().getOrDefault("PORT", "9000"));
        HttpServer server = HttpServer.create(new InetSocketAddress(InetAddress.getByName("127.0.0.1"), port), 0);
        server.createContext("/", exchange -> receive(exchange, secret, form));
        server.setExecutor(Executors.newFixedThreadPool(4));
        server.start();
        System.out.println("listening on http://127.0.0.1:" + server.getAddress().getPort());
    }
}
