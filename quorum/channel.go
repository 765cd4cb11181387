package quorum

import "strings"

// There are channels of two kinds, the ordinary ones and shards', which may have the same names and
// have nothing to do with each other. Between proxies, and in them, a channel is spelled so that its
// kind is told: as its name, but for a shard's, and for an ordinary one that would read as such.
// What scripts publish to the prelude spells (package journal).
const (
	spelledFirst    = "\x00"
	spelledOrdinary = spelledFirst + "c"
	spelledShard    = spelledFirst + "s"
)

// Channel is how an ordinary channel is spelled.
func Channel(name string) string {
	if strings.HasPrefix(name, spelledFirst) {
		return spelledOrdinary + name
	}
	return name
}

// ShardChannel is how a shard's channel is spelled.
func ShardChannel(name string) string { return spelledShard + name }

// ChannelOf is the name of a channel that is spelled so, and whether it is a shard's.
func ChannelOf(spelled string) (name string, shard bool) {
	if name, shard = strings.CutPrefix(spelled, spelledShard); shard {
		return name, true
	}
	return strings.TrimPrefix(spelled, spelledOrdinary), false
}
