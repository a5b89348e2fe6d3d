package wirekafka.driver;

import com.fasterxml.jackson.databind.JsonNode;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import org.apache.kafka.common.TopicPartition;

/** What crosses the pipe more than once, read from JSON and written to it. */
final class Values {
    private Values() {
    }

    static byte[] bytes(JsonNode node) throws IOException {
        return node.isNull() ? null : node.binaryValue();
    }

    static TopicPartition partition(JsonNode request) {
        return new TopicPartition(request.get("topic").textValue(), request.get("partition").intValue());
    }

    static List<TopicPartition> partitions(JsonNode pairs) {
        List<TopicPartition> found = new ArrayList<>();
        for (JsonNode pair : pairs) {
            found.add(new TopicPartition(pair.get(0).textValue(), pair.get(1).intValue()));
        }
        return found;
    }

    static List<List<Object>> pairs(Collection<TopicPartition> partitions) {
        return partitions.stream().map(held -> List.<Object>of(held.topic(), held.partition())).toList();
    }

    static List<String> texts(JsonNode nodes) {
        List<String> found = new ArrayList<>();
        for (JsonNode node : nodes) {
            found.add(node.textValue());
        }
        return found;
    }
}
