package resp

import (
	"slices"
	"testing"
)

// commandsIn scans text in pieces, and parses what the scanner finds.
func commandsIn(text []byte, piece int, s *Scanner) (found [][]string, err error) {
	var raw []byte
	var parser Parser
	for len(text) > 0 {
		p := text[:min(piece, len(text))]
		n, end, err := s.Next(p)
		if err != nil {
			return found, err
		}
		raw, text = append(raw, p[:n]...), text[n:]
		if !end {
			continue
		}
		args, err := parser.Parse(raw, s.Limits.MaxArgs)
		if err != nil {
			return found, err
		}
		found = append(found, slices.Clone(args))
		raw = nil // which the arguments are views of
	}
	return found, nil
}

// FuzzScanner: whatever comes, the parser agrees with the scanner, and both say the same
// however the bytes are cut.
func FuzzScanner(f *testing.F) {
	for _, text := range []string{
		"*3\r\n$3\r\nSET\r\n$10\r\n0123456789\r\n$0\r\n\r\n*1\r\n$4\r\nPING\r\n",
		"PING\r\n\r\n*0\r\n*-1\r\nget \"a\\x41\" 'b'\n",
		"get \"open\r\n",
		"*1\r\n$1\r\nab\r\n",
		"*2\r\n$80\r\n",
		"*11\r\n",
	} {
		f.Add([]byte(text), uint8(3), false)
		f.Add([]byte(text), uint8(1), true)
	}
	f.Fuzz(func(t *testing.T, text []byte, piece uint8, guest bool) {
		limits := Limits{MaxBulk: 50, MaxArgs: 12, MaxInline: 60, MaxQuery: 100}
		whole, err := commandsIn(text, max(len(text), 1), &Scanner{Limits: limits, Guest: guest})
		cut, cutErr := commandsIn(text, int(piece)+1, &Scanner{Limits: limits, Guest: guest})
		if err != cutErr || !slices.EqualFunc(whole, cut, slices.Equal) {
			t.Errorf("%q\nwhole: %q (%v)\ncut:   %q (%v)", text, whole, err, cut, cutErr)
		}
	})
}

func BenchmarkParse(b *testing.B) {
	text := []byte("*6\r\n$3\r\nSET\r\n$8\r\nlock:abc\r\n$36\r\n01234567-0123-0123-0123-012345678901\r\n$2\r\nNX\r\n$2\r\nPX\r\n$5\r\n30000\r\n")
	var parser Parser
	b.ReportAllocs()
	for b.Loop() {
		if args, err := parser.Parse(text, DefaultMaxArgs); err != nil || len(args) != 6 {
			b.Fatal(args, err)
		}
	}
}
