// Administration of groups by pkg/kadm.
package main

import (
	"context"
	"errors"
	"fmt"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kerr"
)

func (a *admin) callForGroups(limit context.Context, r *request) (any, error) {
	switch r.Method {
	case "list_groups":
		groups, err := a.kadm.ListGroups(limit)
		return groups.Groups(), err
	case "find_groups":
		groups, err := a.kadm.ListGroupsByType(limit, given(r.Kind), given(r.State)...)
		return groups.Groups(), err
	case "describe_group":
		return a.describeGroup(limit, *r.Group)
	case "delete_group":
		answer, err := a.kadm.DeleteGroup(limit, *r.Group)
		if err != nil {
			return nil, err
		}
		return nil, answer.Err
	case "group_offsets":
		return a.groupOffsets(limit, *r.Group)
	case "alter_group_offsets":
		return nil, a.commitAll(limit, *r.Group, r.Offsets)
	case "delete_group_offsets":
		return nil, a.deleteOffsets(limit, *r.Group, r.Partitions)
	}
	return nil, fmt.Errorf("franz-go has no %s", r.Method)
}

func given(filter *string) []string {
	if filter == nil {
		return nil
	}
	return []string{*filter}
}

func (a *admin) describeGroup(limit context.Context, group string) (any, error) {
	newer, err := a.kadm.DescribeConsumerGroups(limit, group)
	if err != nil {
		return nil, err
	}
	// A classic group is none that this request knows of.
	if answer := newer[group]; !errors.Is(answer.Err, kerr.GroupIDNotFound) {
		return map[string]any{"state": answer.State, "member_count": len(answer.Members)}, answer.Err
	}
	answers, err := a.kadm.DescribeGroups(limit, group)
	if err != nil {
		return nil, err
	}
	answer := answers[group]
	return map[string]any{"state": answer.State, "member_count": len(answer.Members)}, answer.Err
}

func (a *admin) groupOffsets(limit context.Context, group string) ([][3]any, error) {
	answers, err := a.kadm.FetchOffsets(limit, group)
	if err != nil {
		return nil, err
	}
	found := [][3]any{}
	answers.Each(func(answer kadm.OffsetResponse) {
		found = append(found, [3]any{answer.Topic, answer.Partition, answer.At})
	})
	return found, answers.Error()
}

func (a *admin) commitAll(limit context.Context, group string, offsets []committed) error {
	wanted := kadm.Offsets{}
	for _, o := range offsets {
		wanted.AddOffset(o.topic, o.partition, o.offset, -1)
	}
	return a.kadm.CommitAllOffsets(limit, group, wanted)
}

func (a *admin) deleteOffsets(limit context.Context, group string, partitions []place) error {
	named := kadm.TopicsSet{}
	for _, p := range partitions {
		named.Add(p.topic, p.partition)
	}
	answers, err := a.kadm.DeleteOffsets(limit, group, named)
	if err != nil {
		return err
	}
	return answers.Error()
}
