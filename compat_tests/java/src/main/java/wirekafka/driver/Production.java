package wirekafka.driver;

import com.fasterxml.jackson.databind.JsonNode;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Properties;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerConfig;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.clients.producer.RecordMetadata;
import org.apache.kafka.common.header.Header;
import org.apache.kafka.common.header.internals.RecordHeader;
import org.apache.kafka.common.serialization.ByteArraySerializer;

/** The method `produce`: a producer for each call, closed when all its records are delivered. */
final class Production {
    private Production() {
    }

    static List<List<Long>> produce(JsonNode request) throws Exception {
        List<Future<RecordMetadata>> sent = new ArrayList<>();
        try (var producer = new KafkaProducer<>(
                settings(request), new ByteArraySerializer(), new ByteArraySerializer())) {
            for (JsonNode record : request.get("records")) {
                sent.add(producer.send(record(request, record)));
            }
            producer.flush();
        }
        List<List<Long>> places = new ArrayList<>();
        for (Future<RecordMetadata> future : sent) {
            RecordMetadata place = future.get(Driver.DEADLINE.toMillis(), TimeUnit.MILLISECONDS);
            places.add(List.of((long) place.partition(), place.offset()));
        }
        return places;
    }

    private static Properties settings(JsonNode request) {
        long deadlineMs = Driver.DEADLINE.toMillis();
        Properties settings = new Properties();
        settings.put(ProducerConfig.BOOTSTRAP_SERVERS_CONFIG, request.get("bootstrap").textValue());
        settings.put(ProducerConfig.ACKS_CONFIG, request.get("acks").textValue());
        settings.put(ProducerConfig.COMPRESSION_TYPE_CONFIG, request.get("codec").textValue());
        settings.put(ProducerConfig.ENABLE_IDEMPOTENCE_CONFIG, request.get("idempotent").booleanValue());
        settings.put(ProducerConfig.MAX_REQUEST_SIZE_CONFIG, request.get("max_request_bytes").intValue());
        settings.put(ProducerConfig.MAX_BLOCK_MS_CONFIG, deadlineMs);
        settings.put(ProducerConfig.REQUEST_TIMEOUT_MS_CONFIG, (int) deadlineMs / 2);
        settings.put(ProducerConfig.DELIVERY_TIMEOUT_MS_CONFIG, (int) deadlineMs);
        return settings;
    }

    private static ProducerRecord<byte[], byte[]> record(JsonNode request, JsonNode record) throws IOException {
        JsonNode partition = request.get("partition");
        JsonNode timestampMs = record.get("timestamp_ms");
        List<Header> headers = new ArrayList<>();
        for (JsonNode header : record.get("headers")) {
            headers.add(new RecordHeader(header.get(0).textValue(), Values.bytes(header.get(1))));
        }
        return new ProducerRecord<>(
            request.get("topic").textValue(),
            partition.isNull() ? null : partition.intValue(),
            timestampMs.isNull() ? null : timestampMs.longValue(),
            Values.bytes(record.get("key")),
            Values.bytes(record.get("value")),
            headers);
    }
}
