package clock

import (
	"testing"
	"time"
)

func TestTimeOfDayIsThatOfAQuorumOfClocks(t *testing.T) {
	const h = time.Hour
	for name, c := range map[string]struct {
		clocks []time.Duration
		quorum int
		want   time.Duration
		known  bool
	}{
		"none":                             {nil, 1, 0, false},
		"one alone":                        {[]time.Duration{h}, 1, h, true},
		"one of three":                     {[]time.Duration{h}, 2, 0, false},
		"two that agree":                   {[]time.Duration{30 * ms, 10 * ms}, 2, 20 * ms, true},
		"two that do not":                  {[]time.Duration{h, 0}, 2, 0, false},
		"one is an hour ahead":             {[]time.Duration{h, 20 * ms, 0}, 2, 10 * ms, true},
		"one is an hour behind":            {[]time.Duration{-h, 20 * ms, 0}, 2, 10 * ms, true},
		"all agree":                        {[]time.Duration{30 * ms, 0, 20 * ms}, 2, 20 * ms, true},
		"two of five":                      {[]time.Duration{0, 0, h, 2 * h, 3 * h}, 3, 0, false},
		"three of five":                    {[]time.Duration{h, 0, 5 * ms, 2 * h, 10 * ms}, 3, 5 * ms, true},
		"the greater part of those":        {[]time.Duration{0, 900 * ms, 1800 * ms, 1850 * ms, 1900 * ms}, 3, 1825 * ms, true},
		"within a second, and not further": {[]time.Duration{0, 1001 * ms}, 2, 0, false},
	} {
		if got, known := TimeOfDay(c.clocks, c.quorum); known != c.known || known && got != c.want {
			t.Errorf("%s: %v, %v", name, got, known)
		}
	}
}

func TestTimeNeverGoesBack(t *testing.T) {
	var latest ToldTime
	for _, c := range []struct {
		now, want time.Duration
		known     bool
	}{
		{10 * time.Second, 10 * time.Second, true},
		{11 * time.Second, 11 * time.Second, true},
		{9 * time.Second, 11*time.Second + time.Microsecond, true},
		{11 * time.Second, 11*time.Second + 2*time.Microsecond, true},
		{8900 * ms, 0, false},
		{12 * time.Second, 12 * time.Second, true},
	} {
		if got, known := latest.Tell(c.now); known != c.known || known && got != c.want {
			t.Errorf("%v is told as %v, %v", c.now, got, known)
		}
	}
}
