// Administration by pkg/kadm, with one kgo.Client for each broker.
package main

import (
	"context"
	"time"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"
)

type admin struct {
	kadm *kadm.Client
}

func newAdmin(bootstrap string) (*admin, error) {
	// What kadm is told of topics it keeps for MetadataMinAge: briefly, since stories look at what just changed.
	client, err := kgo.NewClient(kgo.SeedBrokers(bootstrap), kgo.MetadataMinAge(50*time.Millisecond))
	if err != nil {
		return nil, err
	}
	return &admin{kadm.NewClient(client)}, nil
}

func (a *admin) close() {
	a.kadm.Close()
}

func (a *admin) call(r *request) (any, error) {
	limit, cancel := context.WithTimeout(context.Background(), deadline)
	defer cancel()
	switch r.Method {
	case "create_topic":
		return nil, a.createTopic(limit, r)
	case "delete_topic":
		_, err := a.kadm.DeleteTopic(limit, r.Name)
		return nil, err
	case "create_partitions":
		return nil, a.createPartitions(limit, r)
	case "list_topics":
		return a.listTopics(limit)
	case "describe_topic":
		return a.describeTopic(limit, r.Name)
	case "describe_configs":
		return a.describeConfigs(limit, r.Topic)
	case "alter_configs":
		return nil, a.alterConfigs(limit, r)
	}
	return a.callForGroups(limit, r)
}

func (a *admin) createTopic(limit context.Context, r *request) error {
	configs := map[string]*string{}
	for name, value := range r.Configs {
		configs[name] = &value
	}
	_, err := a.kadm.CreateTopic(limit, r.Count, 1, configs, r.Name)
	return err
}

func (a *admin) createPartitions(limit context.Context, r *request) error {
	answers, err := a.kadm.UpdatePartitions(limit, r.TotalCount, r.Name)
	if err != nil {
		return err
	}
	answer, err := answers.On(r.Name, nil)
	if err != nil {
		return err
	}
	return answer.Err
}

func (a *admin) listTopics(limit context.Context) ([]string, error) {
	topics, err := a.kadm.ListTopicsWithInternal(limit)
	return topics.Names(), err
}

func (a *admin) describeTopic(limit context.Context, name string) ([]int32, error) {
	topics, err := a.kadm.ListTopics(limit, name)
	if err != nil {
		return nil, err
	}
	topic := topics[name]
	if topic.Err != nil {
		return nil, topic.Err
	}
	led := []int32{}
	for _, partition := range topic.Partitions {
		if partition.Leader >= 0 {
			led = append(led, partition.Partition)
		}
	}
	return led, nil
}

func (a *admin) describeConfigs(limit context.Context, topic string) (map[string]*string, error) {
	answers, err := a.kadm.DescribeTopicConfigs(limit, topic)
	if err != nil {
		return nil, err
	}
	answer, err := answers.On(topic, nil)
	if err != nil {
		return nil, err
	}
	found := map[string]*string{}
	for _, config := range answer.Configs {
		found[config.Key] = config.Value
	}
	return found, answer.Err
}

func (a *admin) alterConfigs(limit context.Context, r *request) error {
	changes := []kadm.AlterConfig{}
	for name, value := range r.Configs {
		changes = append(changes, kadm.AlterConfig{Op: kadm.SetConfig, Name: name, Value: &value})
	}
	answers, err := a.kadm.AlterTopicConfigs(limit, changes, r.Topic)
	if err != nil {
		return err
	}
	answer, err := answers.On(r.Topic, nil)
	if err != nil {
		return err
	}
	return answer.Err
}

func (a *admin) offset(limit context.Context, r *request) (any, error) {
	switch r.Method {
	case "beginning_offset":
		return a.beginningOffset(limit, r.Topic, *r.Partition)
	case "end_offset":
		return a.endOffset(limit, r.Topic, *r.Partition)
	}
	listed, err := a.kadm.ListOffsetsAfterMilli(limit, r.TimestampMs, r.Topic)
	found, err := only(listed, err, r.Topic, *r.Partition)
	// kadm gives the end, without a timestamp, where the broker has no such offset.
	if err != nil || found.Timestamp < 0 {
		return nil, err
	}
	return found.Offset, nil
}

func (a *admin) beginningOffset(limit context.Context, topic string, partition int32) (int64, error) {
	listed, err := a.kadm.ListStartOffsets(limit, topic)
	found, err := only(listed, err, topic, partition)
	return found.Offset, err
}

func (a *admin) endOffset(limit context.Context, topic string, partition int32) (int64, error) {
	listed, err := a.kadm.ListEndOffsets(limit, topic)
	found, err := only(listed, err, topic, partition)
	return found.Offset, err
}

// only gives one partition's answer, or why there is none.
func only(
	listed kadm.ListedOffsets, err error, topic string, partition int32,
) (kadm.ListedOffset, error) {
	if err != nil {
		return kadm.ListedOffset{}, err
	}
	found, ok := listed.Lookup(topic, partition)
	if !ok {
		return found, kerr.UnknownTopicOrPartition
	}
	return found, found.Err
}
