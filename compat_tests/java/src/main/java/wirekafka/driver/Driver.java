package wirekafka.driver;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.HashMap;
import java.util.Map;
import java.util.Properties;
import java.util.concurrent.ExecutionException;
import org.apache.kafka.common.errors.ApiException;
import org.apache.kafka.common.errors.TimeoutException;
import org.apache.kafka.common.protocol.Errors;

/**
 * The driver of the Java clients: one JSON request a line in, one reply a line out, until the input ends.
 * The protocol is told in compat_tests/clients/DRIVERS.md.
 */
public final class Driver {
    /** How long any call waits before it gives up. */
    static final Duration DEADLINE = Duration.ofSeconds(20);

    static final ObjectMapper JSON = new ObjectMapper();

    private final Map<Integer, OpenConsumer> consumers = new HashMap<>();
    private final Map<String, Administration> administrations = new HashMap<>();
    private int opened;

    public static void main(String[] arguments) throws IOException {
        Driver driver = new Driver();
        PrintStream out = new PrintStream(System.out, false, StandardCharsets.UTF_8);
        BufferedReader in = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        for (String line = in.readLine(); line != null; line = in.readLine()) {
            out.println(driver.replyTo(JSON.readTree(line)));
            out.flush();
        }
        // Clients' threads are not daemons, and nobody waits for their farewells.
        Runtime.getRuntime().halt(0);
    }

    private ObjectNode replyTo(JsonNode request) {
        ObjectNode reply = JSON.createObjectNode().put("id", request.get("id").intValue());
        try {
            return reply.set("ok", JSON.valueToTree(answer(request.get("method").textValue(), request)));
        } catch (ExecutionException failure) {
            return reply.set("error", error(failure.getCause()));
        } catch (Exception failure) {
            return reply.set("error", error(failure));
        }
    }

    private static ObjectNode error(Throwable failure) {
        ObjectNode error = JSON.createObjectNode();
        error.put("message", failure.toString());
        Errors known = Errors.forException(failure);
        // A client's own time-out has a code, too, but no broker has refused anything.
        boolean refused = failure instanceof ApiException
            && !(failure instanceof TimeoutException)
            && known != Errors.UNKNOWN_SERVER_ERROR;
        return refused ? error.put("code", known.code()) : error.putNull("code");
    }

    private static String version() throws IOException {
        Properties told = new Properties();
        try (InputStream properties = ApiException.class.getResourceAsStream("/kafka/kafka-version.properties")) {
            told.load(properties);
        }
        return "kafka-clients " + told.getProperty("version") + ", Java " + Runtime.version().feature();
    }

    private Object answer(String method, JsonNode request) throws Exception {
        if (request.has("consumer")) {
            int number = request.get("consumer").intValue();
            OpenConsumer consumer = consumers.get(number);
            if (method.equals("close_consumer")) {
                consumers.remove(number);
            }
            return consumer.answer(method, request);
        }
        return switch (method) {
            case "version" -> version();
            case "produce" -> Production.produce(request);
            case "open_consumer" -> {
                opened++;
                consumers.put(opened, new OpenConsumer(request));
                yield opened;
            }
            case "close_client" -> {
                Administration kept = administrations.remove(request.get("bootstrap").textValue());
                if (kept != null) {
                    kept.close();
                }
                yield null;
            }
            default -> administrations
                .computeIfAbsent(request.get("bootstrap").textValue(), Administration::new)
                .answer(method, request);
        };
    }
}
