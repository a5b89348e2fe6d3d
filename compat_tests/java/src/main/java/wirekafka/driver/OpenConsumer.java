package wirekafka.driver;

import com.fasterxml.jackson.databind.JsonNode;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Properties;
import java.util.Set;
import java.util.regex.Pattern;
import org.apache.kafka.clients.consumer.ConsumerConfig;
import org.apache.kafka.clients.consumer.ConsumerRebalanceListener;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.CooperativeStickyAssignor;
import org.apache.kafka.clients.consumer.CloseOptions;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.clients.consumer.OffsetAndMetadata;
import org.apache.kafka.clients.consumer.OffsetAndTimestamp;
import org.apache.kafka.clients.consumer.RangeAssignor;
import org.apache.kafka.clients.consumer.RoundRobinAssignor;
import org.apache.kafka.clients.consumer.StickyAssignor;
import org.apache.kafka.clients.consumer.SubscriptionPattern;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.header.Header;
import org.apache.kafka.common.serialization.ByteArrayDeserializer;

/** One consumer that lives in the driver. */
final class OpenConsumer {
    private static final Map<String, Class<?>> ASSIGNORS = Map.of(
        "range", RangeAssignor.class,
        "roundrobin", RoundRobinAssignor.class,
        "sticky", StickyAssignor.class,
        "cooperative-sticky", CooperativeStickyAssignor.class);

    private final KafkaConsumer<byte[], byte[]> consumer;
    private final boolean goesByServer;
    private final List<Map<String, Object>> rebalances = new ArrayList<>();
    /** A consumer of no group has nothing to say when it goes, but would wait for the fetch in flight. */
    private final Duration farewell;

    OpenConsumer(JsonNode request) {
        goesByServer = request.get("assignor").textValue().equals("consumer");
        farewell = request.get("group").isNull() ? Duration.ZERO : Driver.DEADLINE;
        consumer = new KafkaConsumer<>(
            settings(request), new ByteArrayDeserializer(), new ByteArrayDeserializer());
    }

    private static Properties settings(JsonNode request) {
        Properties settings = new Properties();
        settings.put(ConsumerConfig.BOOTSTRAP_SERVERS_CONFIG, request.get("bootstrap").textValue());
        settings.put(ConsumerConfig.AUTO_OFFSET_RESET_CONFIG, request.get("reset").textValue());
        settings.put(ConsumerConfig.FETCH_MAX_WAIT_MS_CONFIG, request.get("fetch_wait_ms").intValue());
        int deadlineMs = (int) Driver.DEADLINE.toMillis();
        settings.put(ConsumerConfig.DEFAULT_API_TIMEOUT_MS_CONFIG, deadlineMs);
        settings.put(ConsumerConfig.REQUEST_TIMEOUT_MS_CONFIG, request.get("request_timeout_ms").asInt(deadlineMs));
        settings.put(ConsumerConfig.ENABLE_AUTO_COMMIT_CONFIG, request.get("auto_commit").booleanValue());
        if (request.get("group").isNull()) {
            return settings;
        }
        settings.put(ConsumerConfig.GROUP_ID_CONFIG, request.get("group").textValue());
        settings.put(ConsumerConfig.MAX_POLL_INTERVAL_MS_CONFIG, request.get("max_poll_interval_ms").intValue());
        settings.put(ConsumerConfig.METADATA_MAX_AGE_CONFIG, request.get("metadata_max_age_ms").intValue());
        putUnlessNull(settings, ConsumerConfig.GROUP_INSTANCE_ID_CONFIG, request.get("instance_id"));
        String assignor = request.get("assignor").textValue();
        if (assignor.equals("consumer")) {
            settings.put(ConsumerConfig.GROUP_PROTOCOL_CONFIG, "consumer");
            putUnlessNull(settings, ConsumerConfig.GROUP_REMOTE_ASSIGNOR_CONFIG, request.get("server_assignor"));
            return settings;
        }
        settings.put(ConsumerConfig.SESSION_TIMEOUT_MS_CONFIG, request.get("session_timeout_ms").intValue());
        settings.put(ConsumerConfig.HEARTBEAT_INTERVAL_MS_CONFIG, request.get("heartbeat_interval_ms").intValue());
        settings.put(ConsumerConfig.PARTITION_ASSIGNMENT_STRATEGY_CONFIG, List.of(ASSIGNORS.get(assignor)));
        return settings;
    }

    private static void putUnlessNull(Properties settings, String name, JsonNode value) {
        if (!value.isNull()) {
            settings.put(name, value.textValue());
        }
    }

    Object answer(String method, JsonNode request) {
        return switch (method) {
            case "assign" -> assign(request.get("topic").textValue(), request.get("starts"));
            case "assignment" -> Values.pairs(consumer.assignment());
            case "rebalances" -> rebalances;
            case "poll" -> poll(Duration.ofMillis(request.get("timeout_ms").longValue()));
            case "position" -> consumer.position(Values.partition(request), Driver.DEADLINE);
            case "committed" -> committed(Values.partition(request));
            case "beginning_offset" -> {
                TopicPartition asked = Values.partition(request);
                yield consumer.beginningOffsets(Set.of(asked), Driver.DEADLINE).get(asked);
            }
            case "end_offset" -> {
                TopicPartition asked = Values.partition(request);
                yield consumer.endOffsets(Set.of(asked), Driver.DEADLINE).get(asked);
            }
            case "offset_for_time" ->
                offsetForTime(Values.partition(request), request.get("timestamp_ms").longValue());
            default -> {
                act(method, request);
                yield null;
            }
        };
    }

    private void act(String method, JsonNode request) {
        switch (method) {
            case "subscribe" -> consumer.subscribe(Values.texts(request.get("topics")), new Listener());
            case "subscribe_pattern" -> subscribePattern(request.get("pattern").textValue());
            case "seek" -> seek(Values.partition(request), request.get("start"));
            case "pause" -> consumer.pause(Values.partitions(request.get("partitions")));
            case "resume" -> consumer.resume(Values.partitions(request.get("partitions")));
            case "commit" -> commit(request.get("offsets"));
            case "close_consumer" -> consumer.close(CloseOptions.timeout(farewell));
            default -> throw new IllegalArgumentException("no method " + method);
        }
    }

    private void subscribePattern(String pattern) {
        if (goesByServer) {
            consumer.subscribe(new SubscriptionPattern("^" + pattern + "$"), new Listener());
        } else {
            consumer.subscribe(Pattern.compile(pattern), new Listener());
        }
    }

    /** Notes what rebalances give and take. */
    private final class Listener implements ConsumerRebalanceListener {
        @Override
        public void onPartitionsAssigned(Collection<TopicPartition> partitions) {
            note("assigned", partitions);
        }

        @Override
        public void onPartitionsRevoked(Collection<TopicPartition> partitions) {
            note("revoked", partitions);
        }

        private void note(String kind, Collection<TopicPartition> partitions) {
            rebalances.add(Map.of(
                "kind", kind, "partitions", Values.pairs(partitions), "at_ms", System.currentTimeMillis()));
        }
    }

    private Object assign(String topic, JsonNode starts) {
        List<TopicPartition> partitions = new ArrayList<>();
        for (JsonNode start : starts) {
            partitions.add(new TopicPartition(topic, start.get(0).intValue()));
        }
        consumer.assign(partitions);
        for (int index = 0; index < partitions.size(); index++) {
            seek(partitions.get(index), starts.get(index).get(1));
        }
        // Asking for the position is what fixes a start that has only a name.
        partitions.forEach(partition -> consumer.position(partition, Driver.DEADLINE));
        return null;
    }

    private void seek(TopicPartition partition, JsonNode start) {
        if (start.isIntegralNumber()) {
            consumer.seek(partition, start.longValue());
        } else if (start.textValue().equals("beginning")) {
            consumer.seekToBeginning(Set.of(partition));
        } else {
            consumer.seekToEnd(Set.of(partition));
        }
    }

    private List<Map<String, Object>> poll(Duration timeout) {
        List<Map<String, Object>> received = new ArrayList<>();
        for (ConsumerRecord<byte[], byte[]> record : consumer.poll(timeout)) {
            Map<String, Object> entry = new HashMap<>();
            entry.put("topic", record.topic());
            entry.put("partition", record.partition());
            entry.put("offset", record.offset());
            entry.put("key", record.key());
            entry.put("value", record.value());
            entry.put("headers", headers(record));
            entry.put("timestamp_ms", record.timestamp());
            received.add(entry);
        }
        return received;
    }

    private static List<Object[]> headers(ConsumerRecord<byte[], byte[]> record) {
        List<Object[]> headers = new ArrayList<>();
        for (Header header : record.headers()) {
            headers.add(new Object[] {header.key(), header.value()});
        }
        return headers;
    }

    private void commit(JsonNode offsets) {
        Map<TopicPartition, OffsetAndMetadata> wanted = new HashMap<>();
        for (JsonNode entry : offsets) {
            TopicPartition partition = new TopicPartition(entry.get(0).textValue(), entry.get(1).intValue());
            wanted.put(partition, new OffsetAndMetadata(entry.get(2).longValue()));
        }
        consumer.commitSync(wanted, Driver.DEADLINE);
    }

    private Long committed(TopicPartition partition) {
        OffsetAndMetadata found = consumer.committed(Set.of(partition), Driver.DEADLINE).get(partition);
        return found == null ? null : Long.valueOf(found.offset());
    }

    private Long offsetForTime(TopicPartition partition, long timestampMs) {
        OffsetAndTimestamp found =
            consumer.offsetsForTimes(Map.of(partition, timestampMs), Driver.DEADLINE).get(partition);
        return found == null ? null : Long.valueOf(found.offset());
    }
}
