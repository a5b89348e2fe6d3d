// The values that cross the lines, in the forms that DRIVERS.md gives them.
package main

import (
	"encoding/json"
	"fmt"

	"github.com/twmb/franz-go/pkg/kgo"
)

// A header is [name, bytes]; JSON has the bytes in base64.
type header struct {
	name  string
	value []byte
}

func (h header) MarshalJSON() ([]byte, error) {
	return json.Marshal([]any{h.name, h.value})
}

func (h *header) UnmarshalJSON(text []byte) error {
	var pair [2]json.RawMessage
	if err := json.Unmarshal(text, &pair); err != nil {
		return err
	}
	if err := json.Unmarshal(pair[0], &h.name); err != nil {
		return err
	}
	return json.Unmarshal(pair[1], &h.value)
}

// A record to be produced, or, with its place, one that was received.
type record struct {
	Topic       string   `json:"topic,omitempty"`
	Partition   int32    `json:"partition"`
	Offset      int64    `json:"offset"`
	Key         []byte   `json:"key"`
	Value       []byte   `json:"value"`
	Headers     []header `json:"headers"`
	TimestampMs *int64   `json:"timestamp_ms"`
}

func received(r *kgo.Record) record {
	stamp := r.Timestamp.UnixMilli()
	headers := make([]header, len(r.Headers))
	for i, h := range r.Headers {
		headers[i] = header{h.Key, h.Value}
	}
	return record{r.Topic, r.Partition, r.Offset, r.Key, r.Value, headers, &stamp}
}

// A start is an offset, "beginning" or "end".
type start struct {
	offset int64
	word   string
}

func (s *start) UnmarshalJSON(text []byte) error {
	if text[0] == '"' {
		return json.Unmarshal(text, &s.word)
	}
	return json.Unmarshal(text, &s.offset)
}

// A place is [topic, partition].
type place struct {
	topic     string
	partition int32
}

func (p place) MarshalJSON() ([]byte, error) {
	return json.Marshal([]any{p.topic, p.partition})
}

func (p *place) UnmarshalJSON(text []byte) error {
	return unmarshalRow(text, &p.topic, &p.partition)
}

// An offset to be committed is [topic, partition, offset].
type committed struct {
	place
	offset int64
}

func (c *committed) UnmarshalJSON(text []byte) error {
	return unmarshalRow(text, &c.topic, &c.partition, &c.offset)
}

func unmarshalRow(text []byte, fields ...any) error {
	var row []json.RawMessage
	if err := json.Unmarshal(text, &row); err != nil {
		return err
	}
	if len(row) != len(fields) {
		return fmt.Errorf("%s should have %d fields", text, len(fields))
	}
	for i, field := range fields {
		if err := json.Unmarshal(row[i], field); err != nil {
			return err
		}
	}
	return nil
}
