// One consumer: a kgo.Client that is made when it is told what to read.
package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"sync"
	"time"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"
)

var balancers = map[string]func() kgo.GroupBalancer{
	"range":              kgo.RangeBalancer,
	"roundrobin":         kgo.RoundRobinBalancer,
	"sticky":             kgo.StickyBalancer,
	"cooperative-sticky": kgo.CooperativeStickyBalancer,
	// KIP-848: franz-go asks the broker for the assignor of the name that this balancer stands for.
	"consumer":         kgo.RangeBalancer,
	"consumer/range":   kgo.RangeBalancer,
	"consumer/uniform": kgo.StickyBalancer,
}

// A consumer reads partitions of its own choice (assign) or those its group gives it (subscribe).
type consumer struct {
	settings *request
	admin    *admin
	client   *kgo.Client
	isMember bool

	mutex sync.Mutex
	held  map[place]bool
	moves []rebalance
}

// A rebalance is what one gave or took, and when, by the wall clock.
type rebalance struct {
	Kind       string  `json:"kind"`
	Partitions []place `json:"partitions"`
	AtMs       int64   `json:"at_ms"`
}

// franz-go asks for metadata at most this often, unless told otherwise.
const metadataMinAge = 5 * time.Second

func newConsumer(settings *request, admin *admin) *consumer {
	return &consumer{settings: settings, admin: admin, held: map[place]bool{}}
}

func (c *consumer) call(r *request) (any, error) {
	limit, cancel := context.WithTimeout(context.Background(), deadline)
	defer cancel()
	switch r.Method {
	case "assign":
		return nil, c.assign(limit, r)
	case "subscribe":
		return nil, c.subscribe(kgo.ConsumeTopics(r.Topics...))
	case "subscribe_pattern":
		return nil, c.subscribe(kgo.ConsumeTopics("^"+r.Pattern+"$"), kgo.ConsumeRegex())
	case "assignment":
		return c.assignment(), nil
	case "rebalances":
		return c.rebalances(), nil
	case "committed":
		return c.committed(limit, r)
	case "commit":
		return nil, c.commit(limit, r.Offsets)
	case "beginning_offset", "end_offset", "offset_for_time":
		return c.admin.offset(limit, r)
	}
	if c.client == nil {
		return nil, fmt.Errorf("%s comes before assign and subscribe", r.Method)
	}
	switch r.Method {
	case "poll":
		return c.poll(time.Duration(r.TimeoutMs) * time.Millisecond)
	case "seek":
		return nil, c.seek(limit, r)
	case "pause":
		c.client.PauseFetchPartitions(byTopic(r.Partitions))
		return nil, nil
	case "resume":
		c.client.ResumeFetchPartitions(byTopic(r.Partitions))
		return nil, nil
	}
	return nil, fmt.Errorf("franz-go has no %s", r.Method)
}

// open makes the client that reads, with what every way of reading needs.
func (c *consumer) open(options ...kgo.Opt) error {
	if c.client != nil {
		return errors.New("the consumer reads already")
	}
	reset := kgo.NewOffset().AtStart()
	if c.settings.Reset == "latest" {
		reset = kgo.NewOffset().AtEnd()
	}
	if c.settings.RequestTimeoutMs != nil {
		timeout := time.Duration(*c.settings.RequestTimeoutMs) * time.Millisecond
		options = append(options, kgo.RequestTimeoutOverhead(timeout))
	}
	age := time.Duration(c.settings.MetadataMaxAgeMs) * time.Millisecond
	client, err := kgo.NewClient(append(options,
		kgo.MetadataMaxAge(age),
		kgo.MetadataMinAge(min(age, metadataMinAge)),
		kgo.SeedBrokers(c.settings.Bootstrap),
		kgo.ConsumeStartOffset(reset),
		kgo.ConsumeResetOffset(reset),
		kgo.FetchMaxWait(time.Duration(c.settings.FetchWaitMs)*time.Millisecond),
	)...)
	c.client = client
	return err
}

func (c *consumer) assign(limit context.Context, r *request) error {
	starts := map[int32]kgo.Offset{}
	for _, given := range r.Starts {
		partition := int32(given[0].offset)
		offset, err := c.fixed(limit, r.Topic, partition, given[1])
		if err != nil {
			return err
		}
		starts[partition] = kgo.NewOffset().At(offset)
		c.held[place{r.Topic, partition}] = true
	}
	return c.open(kgo.ConsumePartitions(map[string]map[int32]kgo.Offset{r.Topic: starts}))
}

// fixed gives the offset that a start means now.
func (c *consumer) fixed(limit context.Context, topic string, partition int32, from start) (int64, error) {
	switch from.word {
	case "beginning":
		return c.admin.beginningOffset(limit, topic, partition)
	case "end":
		return c.admin.endOffset(limit, topic, partition)
	}
	return from.offset, nil
}

func (c *consumer) subscribe(options ...kgo.Opt) error {
	if c.settings.Group == nil {
		return c.open(options...)
	}
	assignor := c.settings.Assignor
	if c.settings.ServerAssignor != nil {
		assignor += "/" + *c.settings.ServerAssignor
	}
	balancer, known := balancers[assignor]
	if !known {
		return fmt.Errorf("no assignor %s", assignor)
	}
	if c.settings.InstanceID != nil {
		options = append(options, kgo.InstanceID(*c.settings.InstanceID))
	}
	options = append(options,
		kgo.ConsumerGroup(*c.settings.Group),
		kgo.Balancers(balancer()),
		kgo.SessionTimeout(time.Duration(c.settings.SessionTimeoutMs)*time.Millisecond),
		kgo.RebalanceTimeout(time.Duration(c.settings.MaxPollIntervalMs)*time.Millisecond),
		kgo.HeartbeatInterval(time.Duration(c.settings.HeartbeatIntervalMs)*time.Millisecond),
		kgo.OnPartitionsAssigned(func(_ context.Context, _ *kgo.Client, gained map[string][]int32) {
			c.note(gained, true)
		}),
		kgo.OnPartitionsRevoked(func(limit context.Context, client *kgo.Client, given map[string][]int32) {
			c.commitBeforeRevoked(limit, client)
			c.note(given, false)
		}),
		kgo.OnPartitionsLost(func(_ context.Context, _ *kgo.Client, lost map[string][]int32) {
			c.note(lost, false)
		}),
	)
	if c.settings.Assignor == "consumer" {
		options = append(options, kgo.ServerSideBalancer())
	}
	if !c.settings.AutoCommit {
		options = append(options, kgo.DisableAutoCommit())
	}
	c.isMember = true
	return c.open(options...)
}

// commitBeforeRevoked does what franz-go's own callback would do, which ours has replaced.
func (c *consumer) commitBeforeRevoked(limit context.Context, client *kgo.Client) {
	if !c.settings.AutoCommit {
		return
	}
	if err := client.CommitUncommittedOffsets(limit); err != nil {
		fmt.Fprintln(os.Stderr, "commit before partitions are revoked:", err)
	}
}

func (c *consumer) note(partitions map[string][]int32, held bool) {
	c.mutex.Lock()
	defer c.mutex.Unlock()
	kind := "revoked"
	if held {
		kind = "assigned"
	}
	moved := []place{}
	for topic, numbers := range partitions {
		for _, number := range numbers {
			moved = append(moved, place{topic, number})
			if held {
				c.held[place{topic, number}] = true
			} else {
				delete(c.held, place{topic, number})
			}
		}
	}
	c.moves = append(c.moves, rebalance{kind, moved, time.Now().UnixMilli()})
}

func (c *consumer) rebalances() []rebalance {
	c.mutex.Lock()
	defer c.mutex.Unlock()
	return append([]rebalance{}, c.moves...)
}

func (c *consumer) assignment() []place {
	c.mutex.Lock()
	defer c.mutex.Unlock()
	found := []place{}
	for held := range c.held {
		found = append(found, held)
	}
	return found
}

func (c *consumer) poll(wait time.Duration) ([]record, error) {
	limit, cancel := context.WithTimeout(context.Background(), wait)
	defer cancel()
	fetches := c.client.PollFetches(limit)
	found := []record{}
	fetches.EachRecord(func(r *kgo.Record) { found = append(found, received(r)) })
	for _, failed := range fetches.Errors() {
		switch {
		case errors.Is(failed.Err, context.DeadlineExceeded):
		case isNotice(failed.Err):
			fmt.Fprintf(os.Stderr, "%s-%d: %v\n", failed.Topic, failed.Partition, failed.Err)
		default:
			return nil, fmt.Errorf("%s-%d: %w", failed.Topic, failed.Partition, failed.Err)
		}
	}
	return found, nil
}

// isNotice tells what a poll only reports, and franz-go goes on from by itself: an offset that was out of range and
// is reset, a group that could not be reached for a while, and one that this member was put out of and joins again.
// What a broker refused for good is none.
func isNotice(err error) bool {
	var reset *kgo.ErrDataLoss
	var session *kgo.ErrGroupSession
	var answered *kerr.Error
	if errors.As(err, &reset) {
		return true
	}
	if !errors.As(err, &session) {
		return false
	}
	return !errors.As(err, &answered) || answered.Retriable || answered == kerr.UnknownMemberID
}

func (c *consumer) seek(limit context.Context, r *request) error {
	offset, err := c.fixed(limit, r.Topic, *r.Partition, r.Start)
	if err != nil {
		return err
	}
	target := kgo.EpochOffset{Epoch: -1, Offset: offset}
	c.client.SetOffsets(map[string]map[int32]kgo.EpochOffset{r.Topic: {*r.Partition: target}})
	return nil
}

// commit commits as a member of the group, or, where partitions were assigned, as franz-go does without one.
func (c *consumer) commit(limit context.Context, offsets []committed) error {
	if c.settings.Group == nil {
		return errors.New("no group to commit for")
	}
	if !c.isMember {
		return c.admin.commitAll(limit, *c.settings.Group, offsets)
	}
	wanted := map[string]map[int32]kgo.EpochOffset{}
	for _, o := range offsets {
		if wanted[o.topic] == nil {
			wanted[o.topic] = map[int32]kgo.EpochOffset{}
		}
		wanted[o.topic][o.partition] = kgo.EpochOffset{Epoch: -1, Offset: o.offset}
	}
	var failure error
	c.client.CommitOffsetsSync(limit, wanted,
		func(_ *kgo.Client, _ *kmsg.OffsetCommitRequest, answer *kmsg.OffsetCommitResponse, err error) {
			failure = err
			if err == nil {
				failure = refusedCommit(answer)
			}
		})
	return failure
}

func refusedCommit(answer *kmsg.OffsetCommitResponse) error {
	for _, topic := range answer.Topics {
		for _, partition := range topic.Partitions {
			if err := kerr.ErrorForCode(partition.ErrorCode); err != nil {
				return err
			}
		}
	}
	return nil
}

func (c *consumer) committed(limit context.Context, r *request) (any, error) {
	if c.settings.Group == nil {
		return nil, errors.New("no group that could have committed")
	}
	found, err := c.admin.kadm.FetchOffsetsForTopics(limit, *c.settings.Group, r.Topic)
	if err != nil {
		return nil, err
	}
	answer, ok := found.Lookup(r.Topic, *r.Partition)
	if !ok || answer.At < 0 {
		return nil, nil
	}
	return answer.At, answer.Err
}

func (c *consumer) close() {
	if c.client != nil {
		c.client.Close() // leaves the group, which revokes, which commits
	}
	c.admin.close()
}

func byTopic(places []place) map[string][]int32 {
	found := map[string][]int32{}
	for _, p := range places {
		found[p.topic] = append(found[p.topic], p.partition)
	}
	return found
}
