package quorum

import "testing"

func TestChannelsOfBothKindsAreToldApart(t *testing.T) {
	spelled := make(map[string]bool)
	names := []string{"", "a", "s", "\x00", "\x00s", "\x00sa", "\x00c", "\x00ca", "\x00c\x00sa"}
	for _, name := range names {
		for shard, s := range map[bool]string{false: Channel(name), true: ShardChannel(name)} {
			if got, is := ChannelOf(s); got != name || is != shard {
				t.Errorf("%q is spelled %q, and that is %q, a shard's %t", name, s, got, is)
			}
			spelled[s] = true
		}
	}
	if len(spelled) != 2*len(names) {
		t.Errorf("%d channels are spelled in %d ways", 2*len(names), len(spelled))
	}
}
