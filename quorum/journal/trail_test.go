package journal

import (
	"fmt"
	"strings"
	"testing"

	"redlock-proxy/quorum"
)

// Whatever a key is, masters that have done the same have one trail of it, and those that have not do not.
func TestMastersThatHaveDoneTheSameHaveOneTrail(t *testing.T) {
	one, other := redis(t), redis(t)
	for _, command := range []string{"SADD", "RPUSH", "HSET", "ZADD", "APPEND"} {
		s := quorum.NewStep("return redis.call('" + command + "', KEYS[1], unpack(ARGV))")
		step := func(do func(...string) string, i int) (trail string) {
			args := map[string][]string{"HSET": {fmt.Sprint("field", i), "v"}, "ZADD": {fmt.Sprint(i), "member"}}[command]
			if args == nil {
				args = []string{fmt.Sprint("element ", i)}
			}
			if command == "ZADD" {
				args[1] += fmt.Sprint(i)
			}
			argv := append([]string{"EVAL", FormOf(s).Own().Text, "1", command, "1", "0"}, args...)
			said := do(append(argv, Hold, fmt.Sprintf("0123456789abcdef:%d", i), "60000", NoDate)...)
			told := strings.Split(said[strings.LastIndexByte(said, ' ')+1:], "/")
			if len(told) != 3 {
				t.Fatalf("%s tells no trail: %s", command, said)
			}
			return told[1]
		}
		for i := range 600 {
			if here, there := step(one, i), step(other, i); here != there || i > 8 && len(here) != 72 {
				t.Fatalf("%s %d: the trails are %s and %s", command, i, here, there)
			}
		}
		step(one, 600)
		step(one, 601)
		step(other, 601)
		if here, there := step(one, 602), step(other, 602); here[63:] == there[63:] {
			t.Errorf("%s: who has missed a step has gone the same way as who has not", command)
		}
	}
}

// What leaves a key as it was leaves no mark on its trail.
func TestWhatChangesNothingHasNoMark(t *testing.T) {
	do := redis(t)
	do("RPUSH", "l", "a", "b")
	do("SET", "k", "a", "PX", "100000")
	lset := quorum.NewStep("return redis.call('LSET', KEYS[1], 0, ARGV[1])")
	expire := quorum.NewStep("return redis.call('PEXPIRE', KEYS[1], ARGV[1])")
	for i, c := range []struct {
		step       *quorum.Script
		key, value string
		marks      int
	}{{lset, "l", "a", 0}, {lset, "l", "c", 1}, {lset, "l", "c", 0}, {lset, "l", "a", 1}, {expire, "k", "50000", 1}} {
		said := do("EVAL", FormOf(c.step).Own().Text, "1", c.key, "1", "0", c.value, Hold, fmt.Sprintf("0123456789abcdef:%d", i), "60000", NoDate)
		told := said[strings.LastIndexByte(said, ' ')+1:]
		if marks := strings.Count(told, "/") - 1; marks != c.marks {
			t.Errorf("%d: %s has %d marks, want %d", i, told, marks, c.marks)
		}
		do("DEL", Latch(c.key))
	}
}

// Where a step takes long, the next one knows yet that nothing else has changed its key.
func TestStepThatTakesLongLeavesItsKeyCalm(t *testing.T) {
	do := redis(t)
	do("RPUSH", "l", "a")
	do("PEXPIRE", "l", "1000000")
	long := quorum.NewStep("local n = 0 for i = 1, 3000000 do n = n + i % 7 end return redis.call('RPUSH', KEYS[1], n)")
	calm := 0
	for i := range 12 {
		said := do("EVAL", FormOf(long).Own().Text, "1", "l", "1", "0", Hold, fmt.Sprintf("0123456789abcdef:%d", i), "60000", NoDate)
		if told := strings.Split(said[strings.LastIndexByte(said, ' ')+1:], "/"); told[1] != "" {
			calm++
		}
	}
	if calm < 6 { // a machine that is busy may keep one from the processor in between
		t.Errorf("%d of 12 steps know of the one before", calm)
	}
}
