package proxy

import (
	"strings"
	"testing"

	"redlock-proxy/quorum"
)

func TestHeftIsOfWhatACallIsGiven(t *testing.T) {
	many := make([]string, 380)
	for _, test := range []struct {
		r    quorum.Request
		want uint8
	}{
		{quorum.Request{}, 1},
		{quorum.Request{Keys: []string{"lock:1"}, Args: []string{"token", "30000"}}, 7},
		{quorum.Request{Keys: []string{"lock:10"}, Args: []string{"another token", "30000"}}, 7},
		{quorum.Request{Keys: many, Args: []string{"token", "30000"}}, 14},
		{quorum.Request{Args: many}, 14},
		{quorum.Request{Args: []string{strings.Repeat("x", 10_000)}}, 14},
	} {
		if got := heftOf(&test.r); got != test.want {
			t.Errorf("%d keys, %d arguments: %d, want %d", len(test.r.Keys), len(test.r.Args), got, test.want)
		}
	}
}

// TestWhatIsKnownOfAScriptIsOfCallsThatAreGivenAsMuch tells calls as their hefts, those that toil in
// upper case, and of what is known then as which hefts are strange (s) and which on probation (p).
func TestWhatIsKnownOfAScriptIsOfCallsThatAreGivenAsMuch(t *testing.T) {
	for _, test := range []struct{ calls, want string }{
		{"", "ssssssssss"},
		{"c", "---sssssss"},
		{"ca", "---sssssss"},
		{"cf", "------ssss"},
		{"cI", "---sssPPPP"},
		{"fI", "------PPPP"},
		{"iI", "------PPPP"},
		{"iIF", "---PPPPPPP"},
		{"iFI", "---PPPPPPP"},
		{"A", "PPPPPPPPPP"},
		{"B", "PPPPPPPPPP"},
		{"cI" + strings.Repeat("c", 100), "---sssPPPP"},
		{"cI" + strings.Repeat("i", 15), "------PPPP"},
		{"cI" + strings.Repeat("i", 16), "---------s"},
		{"cI" + strings.Repeat("i", 15) + "I" + strings.Repeat("i", 15), "------PPPP"},
	} {
		var k conduct
		for _, call := range test.calls {
			heft := uint8(call|0x20) - 'a' + 1
			k = unpacked(k.after(heft, call < 'a').packed())
		}
		var got strings.Builder
		for heft := uint8(1); heft <= 10; heft++ {
			switch {
			case k.toils(heft):
				got.WriteByte('P')
			case k.strange(heft):
				got.WriteByte('s')
			default:
				got.WriteByte('-')
			}
		}
		if got.String() != test.want {
			t.Errorf("%q: %s, want %s", test.calls, &got, test.want)
		}
	}
}
