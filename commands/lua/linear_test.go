package lua

import (
	"runtime"
	"strings"
	"testing"
)

// A text of whatever is as long as it may be, over and over, takes about as much memory to read as any
// other: what is printed is not copied for each statement.
func TestReadingTakesMemoryByTheLengthOfTheText(t *testing.T) {
	const most = 32 << 20 // some 400 bytes a token, and as much again where a text is read twice, with room
	for _, c := range []struct{ begin, again, end string }{
		{"local a,b={} ", "a=b ", ""},
		{"local a,b={} ", "a,b=b ", ""},
		{"local a,b={} ", "a.c=b ", ""},
		{"local a,b={} ", "a.c,b=b ", ""},
		{"local a,b={} ", "a.c,a[b]=b ", ""},
		{"local a,b={} ", "a.c,b," + strings.Repeat("a.c,", 40) + "b=b ", ""},
		{"local a,b={} ", "x,a.c=b ", ""},
		{"local a={} ", "a.b.c.len=a.b.len ", ""},
		{"local a={} ", "a=a..a..a..a..a..a..a..a..a..a..a..a..a..a ", ""},
		{"local a={} ", "a=a<a ", ""},
		{"local a={} ", "a=a and a or not a ", ""},
		{"local a={} ", "a=-a+a*a^a ", ""},
		{"local a={} ", "a=#a==a[a] ", ""},
		{"local a={} ", "a:f(a) ", ""},
		{"local a={} ", "a{a}'' ", ""},
		{"local a={} a={", "a.len,", "}"},
		{"local a={} a={", "a=a.len,", "}"},
		{"local a={} a={", "[a.len]=a;", "}"},
		{"local a={} ", "a=function(...)return ... end ", ""},
		{"local a={} ", "function a.b.c:d()return self end ", ""},
		{"local a={} ", "do local function f()return a()end end ", ""},
		{"local a={} ", "if a then elseif a then else end ", ""},
		{"local a={} ", "for i=1,a do i=a end ", ""},
		{"local a={} ", "for i,j in a do a=i end ", ""},
		{"local a={} ", "repeat local b=a until b ", ""},
		{"local a={} ", "while a do break end ", ""},
		{"local a ", "a=redis.call(string['sub']) ", ""},
		{"local a ", "a='\x01\x02\x03\x04\x05\x06\x07' ", ""},
		{"local a ", "(a)();", ""},
		{"", "x=x ", ""},
		{"", "x,y=x,y ", ""},
	} {
		a, err := Lex(c.again)
		if err != nil {
			t.Fatal(err)
		}
		times := min((maxTokens-50)/(len(a)-1), (maxText-100)/len(c.again))
		text := c.begin + strings.Repeat(c.again, times) + c.end
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		_, err = Read(text)
		runtime.ReadMemStats(&after)
		if err != nil {
			t.Errorf("%s%s: %v", c.begin, c.again, err)
		}
		if bytes := after.TotalAlloc - before.TotalAlloc; bytes > most {
			t.Errorf("%s%s, %d times, takes %d bytes to read", c.begin, c.again, times, bytes)
		}
	}
}
