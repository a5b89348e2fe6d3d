import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.util.*;
import org.apache.kafka.common.Uuid;
import org.apache.kafka.coordinator.group.api.assignor.*;
import org.apache.kafka.coordinator.group.assignor.RangeAssignor;
import org.apache.kafka.coordinator.group.assignor.UniformAssignor;
import org.apache.kafka.coordinator.group.modern.*;

/** Adds to each case, a line of JSON on stdin, what Apache Kafka's own assignors make of it. */
public class KafkaAssignors {
    static final ObjectMapper JSON = new ObjectMapper();

    public static void main(String[] arguments) throws Exception {
        BufferedReader cases = new BufferedReader(new InputStreamReader(System.in));
        for (String line = cases.readLine(); line != null; line = cases.readLine()) {
            ObjectNode one = (ObjectNode) JSON.readTree(line);
            SubscribedTopicDescriber topics = topics(one.get("topics"));
            GroupSpec group = group(one.get("members"));
            one.set("uniform", result(new UniformAssignor().assign(group, topics)));
            one.set("range", result(new RangeAssignor().assign(group, topics)));
            System.out.println(JSON.writeValueAsString(one));
        }
    }

    static SubscribedTopicDescriber topics(JsonNode topics) {
        Map<Uuid, Integer> counts = new HashMap<>();
        topics.properties().forEach(topic -> counts.put(uuid(topic.getKey()), topic.getValue().get(1).asInt()));
        return new SubscribedTopicDescriber() {
            public int numPartitions(Uuid topicId) {
                return counts.getOrDefault(topicId, -1);
            }

            public Set<String> racksForPartition(Uuid topicId, int partition) {
                return Set.of();
            }
        };
    }

    static GroupSpec group(JsonNode list) {
        Map<String, MemberSubscriptionAndAssignmentImpl> members = new TreeMap<>();
        Map<Uuid, Map<Integer, String>> owners = new HashMap<>();
        Set<Set<Uuid>> subscriptions = new HashSet<>();
        for (JsonNode member : list) {
            String id = member.get("id").asText();
            Set<Uuid> subscribed = new TreeSet<>();
            member.get("subscribed").forEach(topicId -> subscribed.add(uuid(topicId.asText())));
            subscriptions.add(subscribed);
            Map<Uuid, Set<Integer>> assigned = new LinkedHashMap<>();
            member.get("assigned").properties().forEach(topic -> {
                Uuid topicId = uuid(topic.getKey());
                Set<Integer> partitions = assigned.computeIfAbsent(topicId, key -> new TreeSet<>());
                topic.getValue().forEach(partition -> partitions.add(partition.asInt()));
                partitions.forEach(partition ->
                    owners.computeIfAbsent(topicId, key -> new HashMap<>()).put(partition, id));
            });
            Optional<String> instance = Optional.ofNullable(member.get("instance").asText(null));
            members.put(id, new MemberSubscriptionAndAssignmentImpl(Optional.empty(), instance, subscribed,
                new Assignment(Collections.unmodifiableMap(assigned))));
        }
        SubscriptionType type =
            subscriptions.size() <= 1 ? SubscriptionType.HOMOGENEOUS : SubscriptionType.HETEROGENEOUS;
        return new GroupSpecImpl(Collections.unmodifiableMap(members), type, owners);
    }

    static JsonNode result(GroupAssignment assignment) {
        ObjectNode members = JSON.createObjectNode();
        new TreeMap<>(assignment.members()).forEach((memberId, member) -> {
            ObjectNode topics = members.putObject(memberId);
            new TreeMap<>(member.partitions()).forEach((topicId, partitions) ->
                topics.set(hex(topicId), JSON.valueToTree(new TreeSet<>(partitions))));
        });
        return members;
    }

    static Uuid uuid(String hex) {
        String full = "0".repeat(32 - hex.length()) + hex;
        return new Uuid(Long.parseUnsignedLong(full.substring(0, 16), 16),
            Long.parseUnsignedLong(full.substring(16), 16));
    }

    static String hex(Uuid id) {
        String high = Long.toHexString(id.getMostSignificantBits());
        return high.equals("0") ? Long.toHexString(id.getLeastSignificantBits())
            : high + String.format("%016x", id.getLeastSignificantBits());
    }
}
