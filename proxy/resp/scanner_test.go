package resp

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
)

// scanAll gives text to a scanner in pieces and says where commands ended.
func scanAll(s *Scanner, text string, piece int) (ends []int, err error) {
	for at := 0; at < len(text); {
		p := []byte(text[at:min(at+piece, len(text))])
		for len(p) > 0 {
			n, end, err := s.Next(p)
			if err != nil {
				return ends, err
			}
			if n > len(p) || (!end && n != len(p)) {
				return ends, fmt.Errorf("took %d of %d bytes, end %t", n, len(p), end)
			}
			p, at = p[n:], at+n
			if end {
				ends = append(ends, at)
			}
		}
	}
	return ends, nil
}

func TestScannerFindsEveryEnd(t *testing.T) {
	const text = "PING\r\n\r\n*1\r\n$4\r\nPING\r\n*0\r\n*-1\r\nget k\n*2\r\n$0\r\n\r\n$3\r\na\r\n\r\n$4\r\n"
	want := []int{6, 8, 22, 26, 31, 37, 56, 60}
	for piece := 1; piece <= len(text); piece++ {
		s := Scanner{Limits: Limits{}.WithDefaults()}
		ends, err := scanAll(&s, text, piece)
		if err != nil || fmt.Sprint(ends) != fmt.Sprint(want) {
			t.Fatalf("in pieces of %d: ends %v (%v), want %v", piece, ends, err, want)
		}
	}
}

func TestScannerRefuses(t *testing.T) {
	limits := Limits{MaxBulk: 100, MaxArgs: 20, MaxInline: 50, MaxQuery: 150}.WithDefaults()
	long := strings.Repeat("x", 60)
	for _, row := range []struct {
		text, want string
		guest      bool
	}{
		{"*x\r\n", "invalid multibulk length", false},
		{"*\r\n", "invalid multibulk length", false},
		{"*+1\r\n", "invalid multibulk length", false},
		{"*01\r\n", "invalid multibulk length", false},
		{"*-0\r\n", "invalid multibulk length", false},
		{"*1\n$4\r\n", "invalid multibulk length", false},
		{"*1\r$", "invalid multibulk length", false},
		{"*21\r\n", "invalid multibulk length", false},
		{"*9223372036854775806\r\n$4", "invalid multibulk length", false},
		{"*99999999999999999999999\r\n", "invalid multibulk length", false},
		{"*1\r\n$9223372036854775807\r\n", "invalid bulk length", false},
		{"*1\r\n$-1\r\n", "invalid bulk length", false},
		{"*1\r\n$:\r\n" + long[:10] + "\r\n", "invalid bulk length", false},
		{"*1\r\n$1:\r\n" + long[:20] + "\r\n", "invalid bulk length", false},
		{"*1\r\n$05\r\n" + long[:5] + "\r\n", "invalid bulk length", false},
		{"*1\r\n$ 5\r\n" + long[:5] + "\r\n", "invalid bulk length", false},
		{"*1\r\n$10\n\n" + long[:10] + "\r\n", "invalid bulk length", false},
		{"*1\r\n$10\r\r" + long[:10] + "\r\n", "invalid bulk length", false},
		{"*1\r\n$10\r\n" + long[:11] + "\n", "invalid bulk length", false},
		{"*1\r\n$101\r\n", "invalid bulk length", false},
		{"*1\r\n$1\r\nxx\r\n", "invalid bulk length", false},
		{"*1\r\n$1\r\nx\rx", "invalid bulk length", false},
		{"*1\r\n+OK\r\n", "expected '$', got '+'", false},
		{"*1\r\n\r\n", "expected '$', got '\r'", false},
		{"*11\r\n", "unauthenticated multibulk length", true},
		{"*2147483647\r\n", "unauthenticated multibulk length", true}, // over MaxArgs too
		{"*2147483648\r\n", "invalid multibulk length", true},
		{"*1\r\n$16385\r\n", "unauthenticated bulk length", true}, // over MaxBulk too
		{"*1\r\n$536870913\r\n", "invalid bulk length", true},
		{"*" + long, "too big mbulk count string", false},
		{"*1\r\n$" + long, "too big bulk count string", false},
		{long, "too big inline request", false},
		{long + "\r\n", "too big inline request", false},
		{"*2\r\n$80\r\n" + strings.Repeat("x", 80) + "\r\n$80\r\n", "query buffer limit", false},
	} {
		for _, piece := range []int{1, 2, 7, 1000} {
			s := Scanner{Limits: limits, Guest: row.guest}
			_, err := scanAll(&s, row.text, piece)
			if err != ProtocolError(row.want) {
				t.Errorf("%q in pieces of %d: %v, want %s", row.text, piece, err, row.want)
			}
		}
	}
	s := Scanner{Limits: Limits{}.WithDefaults(), Guest: true}
	small := Scanner{Limits: Limits{MaxQuery: 40}.WithDefaults()}
	if _, err := scanAll(&small, long, 10); err != QueryLimit {
		t.Errorf("a long line: %v", err)
	}
	if _, err := scanAll(&s, "*1\r\n$16385\r\n", 100); err != ProtocolError("unauthenticated bulk length") {
		t.Errorf("a guest's long bulk: %v", err)
	}
}

// A stream that is whole takes another way through the scanner than one in pieces.
func TestScannerSaysTheSameHoweverTheStreamIsCut(t *testing.T) {
	const seed = "*3\r\n$3\r\nSET\r\n$10\r\n0123456789\r\n$0\r\n\r\n*1\r\n$4\r\nPING\r\nget k\r\n*2\r\n$1\r\na\r\n$12\r\nabcdefghijkl\r\n"
	const bytes = "\r\n*$0123456789:/-+ x"
	limits := Limits{MaxBulk: 11, MaxArgs: 5, MaxInline: 30, MaxQuery: 40}.WithDefaults()
	rnd := rand.New(rand.NewPCG(1, 2))
	for range 100_000 {
		text := []byte(seed)
		for range rnd.IntN(4) {
			at := rnd.IntN(len(text))
			text[at] = bytes[rnd.IntN(len(bytes))]
			if rnd.IntN(4) == 0 {
				text = append(text[:at], text[at+1:]...)
			}
		}
		whole, pieces := Scanner{Limits: limits}, Scanner{Limits: limits}
		if rnd.IntN(2) == 0 {
			whole.Limits, pieces.Limits = Limits{}.WithDefaults(), Limits{}.WithDefaults()
		}
		ends, err := scanAll(&whole, string(text), len(text))
		ends1, err1 := scanAll(&pieces, string(text), 1)
		if !slices.Equal(ends, ends1) || err != err1 {
			t.Fatalf("%q: whole %v (%v), in pieces %v (%v)", text, ends, err, ends1, err1)
		}
	}
}

// A limit is reached in a line that is whole where it is reached in one that comes in pieces:
// whoever sends too much is told the same.
func TestScannerCountsTheSameHoweverTheStreamIsCut(t *testing.T) {
	limits := Limits{MaxBulk: 60, MaxArgs: 5, MaxInline: 30, MaxQuery: 80}.WithDefaults()
	const mbulk, bulk, query = ProtocolError("too big mbulk count string"), ProtocolError("too big bulk count string"), QueryLimit
	long := strings.Repeat("1", 31)
	sixty := "*2\r\n$60\r\n" + strings.Repeat("x", 60) + "\r\n" // 71 bytes
	for _, row := range []struct {
		text string
		want error
	}{
		{"*" + long[:29] + "\r\n", ProtocolError("invalid multibulk length")},
		{"*" + long[:30] + "\r\n", mbulk},
		{"*" + long + "\r\n*1\r\n", mbulk},
		{"*1\r\n$" + long[:29] + "\r\n", ProtocolError("invalid bulk length")},
		{"*1\r\n$" + long[:30] + "\r\n", bulk},
		{"*1\r\nx" + long + "\r\n", bulk},
		{"PING\r\n*2\r\n$1\r\na\r\n$" + long + "\r\n", bulk},
		{sixty + "$1\r\na\r\n", nil},
		{sixty + "$1234567\r\n", ProtocolError("invalid bulk length")}, // ends with the last byte that fits
		{sixty + "$12345678\r\n", query},
		{sixty + "$" + long + "\r\n", query}, // before the line is as long
		{sixty + "$4\r\nabcd\r", nil},
		{sixty + "$4\r\nabcd\r\n", query},
		{sixty + "$5\r\nabcde", nil},
		{sixty + "$5\r\nabcdex", ProtocolError("invalid bulk length")},
		{sixty + "$5\r\nabcde\r", query},
		{sixty + "$6\r\n", query},
		{long, ProtocolError("too big inline request")},
		{long[:30] + "\n", nil},
	} {
		for at := range len(row.text) + 1 {
			s := Scanner{Limits: limits}
			if _, err := scanAll(&s, row.text[:at], max(at, 1)); err != nil && (err != row.want || at == 0) {
				t.Fatalf("%q: %v, want %v", row.text[:at], err, row.want)
			} else if err != nil {
				continue
			}
			if _, err := scanAll(&s, row.text[at:], len(row.text)); err != row.want {
				t.Fatalf("%q, then %q: %v, want %v", row.text[:at], row.text[at:], err, row.want)
			}
		}
	}
}

func BenchmarkScanner(b *testing.B) {
	text := []byte("*6\r\n$3\r\nSET\r\n$8\r\nlock:abc\r\n$36\r\n01234567-0123-0123-0123-012345678901\r\n$2\r\nNX\r\n$2\r\nPX\r\n$5\r\n30000\r\n")
	s := Scanner{Limits: Limits{}.WithDefaults()}
	b.ReportAllocs()
	for b.Loop() {
		if n, end, err := s.Next(text); n != len(text) || !end || err != nil {
			b.Fatal(n, end, err)
		}
	}
}
