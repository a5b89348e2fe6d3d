// Producing: a client for each call, since each call may ask for other settings.
package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"
)

// franz-go's own default for ProducerBatchMaxBytes, below what brokers take by default.
const usualBatchBytes = 1_000_012

var codecs = map[string]kgo.CompressionCodec{
	"none":   kgo.NoCompression(),
	"gzip":   kgo.GzipCompression(),
	"snappy": kgo.SnappyCompression(),
	"lz4":    kgo.Lz4Compression(),
	"zstd":   kgo.ZstdCompression(),
}

var acknowledgements = map[string]kgo.Acks{
	"0":   kgo.NoAck(),
	"1":   kgo.LeaderAck(),
	"all": kgo.AllISRAcks(),
}

func produce(r *request) (any, error) {
	codec, known := codecs[r.Codec]
	if !known {
		return nil, fmt.Errorf("no codec %s", r.Codec)
	}
	options := []kgo.Opt{
		kgo.SeedBrokers(r.Bootstrap),
		kgo.AllowAutoTopicCreation(),
		kgo.ProducerBatchCompression(codec),
		kgo.RequiredAcks(acknowledgements[r.Acks]),
		kgo.ProducerBatchMaxBytes(batchBytes(r)),
		kgo.ProducerLinger(5 * time.Millisecond),
		kgo.AllowIdempotentProduceCancellation(), // so that the deadline ends the wait
	}
	if !r.Idempotent {
		options = append(options, kgo.DisableIdempotentWrite())
	}
	if r.Partition != nil {
		options = append(options, kgo.RecordPartitioner(kgo.ManualPartitioner()))
	}
	client, err := kgo.NewClient(options...)
	if err != nil {
		return nil, err
	}
	defer client.Close()

	limit, cancel := context.WithTimeout(context.Background(), deadline)
	defer cancel()
	records := asRecords(r)
	if err := firstRefusal(client.ProduceSync(limit, records...)); err != nil {
		return nil, err
	}
	return places(records), nil
}

// batchBytes gives franz-go's usual limit, or the one asked for where a record alone would pass the usual one:
// franz-go has one limit for what it batches and for what it refuses to send.
func batchBytes(r *request) int32 {
	for _, record := range r.Records {
		if len(record.Key)+len(record.Value) > usualBatchBytes-1000 {
			return r.MaxRequestBytes
		}
	}
	return usualBatchBytes
}

func asRecords(r *request) []*kgo.Record {
	records := make([]*kgo.Record, len(r.Records))
	for i, given := range r.Records {
		made := &kgo.Record{Topic: r.Topic, Key: given.Key, Value: given.Value}
		for _, h := range given.Headers {
			made.Headers = append(made.Headers, kgo.RecordHeader{Key: h.name, Value: h.value})
		}
		if given.TimestampMs != nil {
			made.Timestamp = time.UnixMilli(*given.TimestampMs)
		}
		if r.Partition != nil {
			made.Partition = *r.Partition
		}
		records[i] = made
	}
	return records
}

// firstRefusal gives the first error that is not only a consequence of another record's.
func firstRefusal(results kgo.ProduceResults) error {
	var consequence error
	for _, result := range results {
		switch {
		case result.Err == nil:
		case errors.Is(result.Err, kgo.ErrAborting), errors.Is(result.Err, kgo.ErrClientClosed):
			consequence = result.Err
		default:
			return result.Err
		}
	}
	return consequence
}

// places gives each record's place in the order asked; the results come in the order of delivery.
func places(records []*kgo.Record) [][2]int64 {
	found := make([][2]int64, len(records))
	for i, record := range records {
		found[i] = [2]int64{int64(record.Partition), record.Offset}
	}
	return found
}
