// kfake as a server: one broker on the given port, until it is told to end.
//
//	kfake PORT [NAME=VALUE ...]
package main

import (
	"fmt"
	"os"
	"os/signal"
	"strconv"
	"strings"
	"syscall"

	"github.com/twmb/franz-go/pkg/kfake"
)

func main() {
	if len(os.Args) < 2 {
		fail("usage: kfake PORT [NAME=VALUE ...]")
	}
	port, err := strconv.Atoi(os.Args[1])
	if err != nil {
		fail(err)
	}
	settings := make(map[string]string)
	for _, word := range os.Args[2:] {
		name, value, _ := strings.Cut(word, "=")
		settings[name] = value
	}
	cluster, err := kfake.NewCluster(
		kfake.NumBrokers(1),
		kfake.Ports(port),
		kfake.AllowAutoTopicCreation(),
		kfake.BrokerConfigs(settings),
	)
	if err != nil {
		fail(err)
	}
	fmt.Println("kfake listens on", strings.Join(cluster.ListenAddrs(), ","))
	ended := make(chan os.Signal, 1)
	signal.Notify(ended, os.Interrupt, syscall.SIGTERM)
	<-ended
	cluster.Close()
}

func fail(reason any) {
	fmt.Fprintln(os.Stderr, reason)
	os.Exit(1)
}
