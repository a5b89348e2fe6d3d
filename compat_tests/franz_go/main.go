// The franz-go driver: requests a line on standard input, replies a line on standard output.
//
// Run by compat_tests/clients/franz_go_client.py. The protocol is told in compat_tests/clients/DRIVERS.md.
package main

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime"
	"runtime/debug"
	"time"

	"github.com/twmb/franz-go/pkg/kerr"
)

// How long any call may wait for a broker.
const deadline = 20 * time.Second

// A request with the fields of every method; each method reads its own.
type request struct {
	ID     int64  `json:"id"`
	Method string `json:"method"`

	Bootstrap string `json:"bootstrap"`
	Topic     string `json:"topic"`
	Partition *int32 `json:"partition"`

	Records         []record `json:"records"`
	Codec           string   `json:"codec"`
	Acks            string   `json:"acks"`
	Idempotent      bool     `json:"idempotent"`
	MaxRequestBytes int32    `json:"max_request_bytes"`

	Consumer            int     `json:"consumer"`
	Group               *string `json:"group"`
	Reset               string  `json:"reset"`
	Assignor            string  `json:"assignor"`
	SessionTimeoutMs    int64   `json:"session_timeout_ms"`
	HeartbeatIntervalMs int64   `json:"heartbeat_interval_ms"`
	AutoCommit          bool    `json:"auto_commit"`
	FetchWaitMs         int64   `json:"fetch_wait_ms"`
	InstanceID          *string `json:"instance_id"`
	ServerAssignor      *string `json:"server_assignor"`
	MaxPollIntervalMs   int64   `json:"max_poll_interval_ms"`
	MetadataMaxAgeMs    int64   `json:"metadata_max_age_ms"`
	RequestTimeoutMs    *int64  `json:"request_timeout_ms"`

	Topics      []string          `json:"topics"`
	Pattern     string            `json:"pattern"`
	State       *string           `json:"state"`
	Kind        *string           `json:"kind"`
	Starts      [][2]start        `json:"starts"`
	Start       start             `json:"start"`
	Partitions  []place           `json:"partitions"`
	Offsets     []committed       `json:"offsets"`
	TimeoutMs   int64             `json:"timeout_ms"`
	TimestampMs int64             `json:"timestamp_ms"`
	Name        string            `json:"name"`
	Count       int32             `json:"partition_count"`
	TotalCount  int               `json:"total_count"`
	Configs     map[string]string `json:"configs"`
}

type refusal struct {
	Code    *int16 `json:"code"`
	Message string `json:"message"`
}

// A driver holds the consumers and what is kept for each broker.
type driver struct {
	consumers map[int]*consumer
	opened    int
	admins    map[string]*admin
}

func main() {
	d := &driver{consumers: map[int]*consumer{}, admins: map[string]*admin{}}
	lines := bufio.NewReaderSize(os.Stdin, 1<<20)
	replies := bufio.NewWriter(os.Stdout)
	for {
		line, err := lines.ReadBytes('\n')
		if err != nil {
			if !errors.Is(err, io.EOF) {
				fmt.Fprintln(os.Stderr, "standard input:", err)
			}
			return
		}
		reply, err := json.Marshal(d.reply(line))
		if err != nil {
			fmt.Fprintln(os.Stderr, "a reply that is no JSON:", err)
			return
		}
		replies.Write(append(reply, '\n'))
		if err := replies.Flush(); err != nil {
			return
		}
	}
}

func (d *driver) reply(line []byte) map[string]any {
	var r request
	var result any
	err := json.Unmarshal(line, &r)
	if err == nil {
		result, err = d.call(&r)
	}
	if err != nil {
		return map[string]any{"id": r.ID, "error": refusalOf(err)}
	}
	return map[string]any{"id": r.ID, "ok": result}
}

// refusalOf tells a broker's refusal, which has a code, from any other failure.
func refusalOf(err error) refusal {
	told := refusal{Message: err.Error()}
	var answered *kerr.Error
	if errors.As(err, &answered) {
		told.Code = &answered.Code
	}
	return told
}

func (d *driver) call(r *request) (any, error) {
	switch r.Method {
	case "version":
		return version(), nil
	case "produce":
		return produce(r)
	case "open_consumer":
		return d.openConsumer(r)
	case "close_client":
		if kept, ok := d.admins[r.Bootstrap]; ok {
			kept.close()
			delete(d.admins, r.Bootstrap)
		}
		return nil, nil
	case "close_consumer":
		if open, ok := d.consumers[r.Consumer]; ok {
			delete(d.consumers, r.Consumer)
			open.close()
		}
		return nil, nil
	}
	if r.Consumer != 0 {
		open, ok := d.consumers[r.Consumer]
		if !ok {
			return nil, fmt.Errorf("no consumer %d is open", r.Consumer)
		}
		return open.call(r)
	}
	kept, err := d.admin(r.Bootstrap)
	if err != nil {
		return nil, err
	}
	return kept.call(r)
}

func (d *driver) openConsumer(r *request) (int, error) {
	kept, err := newAdmin(r.Bootstrap)
	if err != nil {
		return 0, err
	}
	d.opened++
	d.consumers[d.opened] = newConsumer(r, kept)
	return d.opened, nil
}

func (d *driver) admin(bootstrap string) (*admin, error) {
	if kept, ok := d.admins[bootstrap]; ok {
		return kept, nil
	}
	kept, err := newAdmin(bootstrap)
	if err == nil {
		d.admins[bootstrap] = kept
	}
	return kept, err
}

// version names the libraries as the build has them.
func version() string {
	told := ""
	if built, ok := debug.ReadBuildInfo(); ok {
		for _, module := range built.Deps {
			switch module.Path {
			case "github.com/twmb/franz-go":
				told += "franz-go " + module.Version + ", "
			case "github.com/twmb/franz-go/pkg/kadm":
				told += "kadm " + module.Version + ", "
			}
		}
	}
	return told + runtime.Version()
}
