package wirekafka.driver;

import static wirekafka.driver.Administration.result;

import com.fasterxml.jackson.databind.JsonNode;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.ConsumerGroupDescription;
import org.apache.kafka.clients.admin.GroupListing;
import org.apache.kafka.clients.admin.ListGroupsOptions;
import org.apache.kafka.clients.consumer.OffsetAndMetadata;
import org.apache.kafka.common.GroupState;
import org.apache.kafka.common.GroupType;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.config.ConfigResource;

/** What the admin client does with groups. */
final class GroupAdministration {
    private final Administration administration;
    private final Admin admin;

    GroupAdministration(Administration administration, Admin admin) {
        this.administration = administration;
        this.admin = admin;
    }

    Object answer(String method, JsonNode request) throws Exception {
        if (method.equals("list_groups")) {
            return ids(new ListGroupsOptions());
        }
        if (method.equals("find_groups")) {
            return ids(filters(request));
        }
        String group = request.get("group").textValue();
        return switch (method) {
            case "describe_group" -> describe(group);
            case "delete_group" -> result(admin.deleteConsumerGroups(Set.of(group)).all());
            case "group_offsets" -> offsets(group);
            case "alter_group_offsets" ->
                result(admin.alterConsumerGroupOffsets(group, wanted(request.get("offsets"))).all());
            case "delete_group_offsets" -> {
                Set<TopicPartition> partitions = new HashSet<>(Values.partitions(request.get("partitions")));
                yield result(admin.deleteConsumerGroupOffsets(group, partitions).all());
            }
            case "alter_group_configs" ->
                administration.alter(ConfigResource.Type.GROUP, group, Administration.configsOf(request));
            default -> throw new IllegalArgumentException("no method " + method);
        };
    }

    private List<String> ids(ListGroupsOptions options) throws Exception {
        return result(admin.listGroups(options).all()).stream().map(GroupListing::groupId).toList();
    }

    private static ListGroupsOptions filters(JsonNode request) {
        ListGroupsOptions options = new ListGroupsOptions();
        if (!request.get("state").isNull()) {
            options.inGroupStates(Set.of(GroupState.parse(request.get("state").textValue())));
        }
        if (!request.get("kind").isNull()) {
            options.withTypes(Set.of(GroupType.parse(request.get("kind").textValue())));
        }
        return options;
    }

    private Map<String, Object> describe(String group) throws Exception {
        ConsumerGroupDescription description =
            result(admin.describeConsumerGroups(Set.of(group)).all()).get(group);
        return Map.of(
            "state", description.groupState().toString(), "member_count", description.members().size());
    }

    private List<Object[]> offsets(String group) throws Exception {
        return result(admin.listConsumerGroupOffsets(group).partitionsToOffsetAndMetadata()).entrySet().stream()
            .map(entry -> new Object[] {
                entry.getKey().topic(), entry.getKey().partition(), entry.getValue().offset()})
            .toList();
    }

    private static Map<TopicPartition, OffsetAndMetadata> wanted(JsonNode offsets) {
        Map<TopicPartition, OffsetAndMetadata> wanted = new HashMap<>();
        for (JsonNode entry : offsets) {
            TopicPartition partition = new TopicPartition(entry.get(0).textValue(), entry.get(1).intValue());
            wanted.put(partition, new OffsetAndMetadata(entry.get(2).longValue()));
        }
        return wanted;
    }
}
