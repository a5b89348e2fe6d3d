package wirekafka.driver;

import com.fasterxml.jackson.databind.JsonNode;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.AdminClientConfig;
import org.apache.kafka.clients.admin.AlterConfigOp;
import org.apache.kafka.clients.admin.ConfigEntry;
import org.apache.kafka.clients.admin.NewPartitions;
import org.apache.kafka.clients.admin.NewTopic;
import org.apache.kafka.clients.admin.TopicDescription;
import org.apache.kafka.common.KafkaFuture;
import org.apache.kafka.common.TopicPartitionInfo;
import org.apache.kafka.common.config.ConfigResource;

/** The admin client kept for one broker. */
final class Administration {
    private final Admin admin;
    private final GroupAdministration groups;

    Administration(String bootstrap) {
        int deadlineMs = (int) Driver.DEADLINE.toMillis();
        admin = Admin.create(Map.of(
            AdminClientConfig.BOOTSTRAP_SERVERS_CONFIG, bootstrap,
            AdminClientConfig.DEFAULT_API_TIMEOUT_MS_CONFIG, deadlineMs,
            AdminClientConfig.REQUEST_TIMEOUT_MS_CONFIG, deadlineMs));
        groups = new GroupAdministration(this, admin);
    }

    void close() {
        admin.close(Driver.DEADLINE);
    }

    Object answer(String method, JsonNode request) throws Exception {
        return switch (method) {
            case "create_topic" -> result(admin.createTopics(Set.of(newTopic(request))).all());
            case "delete_topic" -> result(admin.deleteTopics(Set.of(request.get("name").textValue())).all());
            case "create_partitions" -> {
                NewPartitions total = NewPartitions.increaseTo(request.get("total_count").intValue());
                yield result(admin.createPartitions(Map.of(request.get("name").textValue(), total)).all());
            }
            case "list_topics" -> result(admin.listTopics().names());
            case "describe_topic" -> partitionsWithLeader(request.get("name").textValue());
            case "describe_configs" -> configs(request.get("topic").textValue());
            case "alter_configs" ->
                alter(ConfigResource.Type.TOPIC, request.get("topic").textValue(), configsOf(request));
            default -> groups.answer(method, request);
        };
    }

    static <T> T result(KafkaFuture<T> future) throws Exception {
        return future.get(Driver.DEADLINE.toMillis(), TimeUnit.MILLISECONDS);
    }

    private static NewTopic newTopic(JsonNode request) {
        int partitionCount = request.get("partition_count").intValue();
        return new NewTopic(request.get("name").textValue(), Optional.of(partitionCount), Optional.of((short) 1))
            .configs(configsOf(request));
    }

    static Map<String, String> configsOf(JsonNode request) {
        Map<String, String> configs = new HashMap<>();
        request.get("configs").fields().forEachRemaining(
            entry -> configs.put(entry.getKey(), entry.getValue().textValue()));
        return configs;
    }

    private List<Integer> partitionsWithLeader(String topic) throws Exception {
        TopicDescription description =
            result(admin.describeTopics(Set.of(topic)).allTopicNames()).get(topic);
        return description.partitions().stream()
            .filter(partition -> partition.leader() != null && !partition.leader().isEmpty())
            .map(TopicPartitionInfo::partition)
            .toList();
    }

    private Map<String, String> configs(String topic) throws Exception {
        ConfigResource resource = new ConfigResource(ConfigResource.Type.TOPIC, topic);
        Map<String, String> values = new HashMap<>();
        for (ConfigEntry entry : result(admin.describeConfigs(Set.of(resource)).all()).get(resource).entries()) {
            values.put(entry.name(), entry.value());
        }
        return values;
    }

    Object alter(ConfigResource.Type type, String name, Map<String, String> configs) throws Exception {
        List<AlterConfigOp> changes = configs.entrySet().stream()
            .map(config -> new ConfigEntry(config.getKey(), config.getValue()))
            .map(entry -> new AlterConfigOp(entry, AlterConfigOp.OpType.SET))
            .toList();
        ConfigResource resource = new ConfigResource(type, name);
        return result(admin.incrementalAlterConfigs(Map.of(resource, changes)).all());
    }
}
