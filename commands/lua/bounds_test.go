package lua

import (
	"fmt"
	"strings"
	"testing"
)

// TestBoundsAreKept: so often may a text have something, and no oftener. Redis compiles what
// is printed of it.
func TestBoundsAreKept(t *testing.T) {
	m := newMaster(t)
	const (
		deep    = "chunk has too many syntax levels"
		complex = "function or expression too complex"
	)
	for _, test := range []struct {
		begin, each, middle, last, end string
		most                           int
		want                           string
	}{
		{"return ", "(", "1", ")", "", 98, deep},
		{"return ", "- ", "1", "", "", 98, deep},
		{"", "do ", "", "end ", "", 99, deep},
		{"return ", "function() return ", "1", " end", "", 49, deep},
		{"return 1", " ..1", "", "", "", 97, deep},
		{"local a ", "a,", "a = 1", "", "", 98, deep},
		{"local a return a", ".sub", "", "", "", 177, deep},
		{"local a return a", ":b()", "", "", "", 178, deep},
		{"local a return a", "<a", "", "", "", 177, deep},
		{"local function f() ", "local b ", "", "", " end", 200, "function at line 1 has more than 200 local variables"},
		{"", "local b ", "", "", "", 199, "main function has more than 200 local variables"},
		{"", "for a = 1, 2 do ", "", "end ", "", 49, "main function has more than 200 local variables"},
		{"return 1", ",1", "", "", "", 199, complex},
		{"local a a(1", ",1", "", "", ")", 199, complex},
		{"local a return {1", ",1", "", "", "}", 9996, "the script has more than 20000 tokens"},
		{"local a return ", "a(1,2,3,4,5,", "1", ")", "", 37, complex},
		{"local a return (a)", " and a", "", "", "", 500, complex},
		{"local a return (a", " and a or (a)", "", "", ")", 250, complex},
		{"local a if not a then", " elseif a then", "", "", " end", 500, complex},
		{"local a while a do", " if a then break end", "", "", " end", 500, complex},
		{"return {", "a%d=1,", "", "", "}", 1999, "the script has more than 2000 different names, strings and numbers"},
	} {
		text := func(n int) string {
			each := strings.Repeat(test.each, n)
			for i := range strings.Count(each, "%d") {
				each = strings.Replace(each, "%d", fmt.Sprint(i), 1)
			}
			return test.begin + each + test.middle + strings.Repeat(test.last, n) + test.end
		}
		if p, err := Read(text(test.most)); err != nil {
			t.Errorf("%d of %q: %v", test.most, test.each, err)
		} else if fault := m.compile(t, whole(p)); fault != "" {
			t.Errorf("%d of %q: %s", test.most, test.each, fault)
		}
		if _, err := Read(text(test.most + 1)); err == nil || !strings.HasSuffix(err.Error(), test.want) {
			t.Errorf("%d of %q: %v, want %s", test.most+1, test.each, err, test.want)
		}
	}
}

func TestAFunctionHasSoManyUpvalues(t *testing.T) {
	for n, fine := range map[int]bool{58: true, 59: false} { // beside __t and __x
		names := "a1"
		for i := 2; i <= n; i++ {
			names += fmt.Sprint(",a", i)
		}
		_, err := Read("local " + names + "\nlocal function f() return " + names + " end")
		if fine != (err == nil) || !fine && !strings.HasSuffix(err.Error(), "function at line 2 has more than 60 upvalues") {
			t.Errorf("%d: %v", n, err)
		}
	}
}
