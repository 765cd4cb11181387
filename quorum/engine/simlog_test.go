package engine

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/hashicorp/go-hclog"
)

func (s *simulation) note(format string, args ...any) {
	at := time.Since(s.begun)
	s.history = append(s.history, fmt.Sprintf("%8.1fms ", float64(at)/1e6)+fmt.Sprintf(format, args...))
}

// carriedOut notes what a master was told about a key, if one schedule is repeated.
func (s *simulation) carriedOut(args []string, m *fakeMaster) {
	for _, lock := range s.locks {
		key, db := located(lock)
		if m.using == db && slices.Contains(args, key) {
			k, _ := m.key(key)
			s.mu.Lock()
			s.note(" %s %s: %s, and holds %q for %v", lock, m.name, told(args), k.value, time.Duration(max(k.until-m.now(), 0)))
			s.mu.Unlock()
		}
	}
}

// log is that of the engines: what they say is part of what happened.
func (s *simulation) log() hclog.Logger {
	return hclog.New(&hclog.LoggerOptions{Output: logWriter{s}, DisableTime: true})
}

type logWriter struct{ *simulation }

func (l logWriter) Write(line []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.note("log: %s", strings.TrimSpace(string(line)))
	if strings.Contains(string(line), "master is down") {
		l.linkBroken()
	}
	return len(line), nil
}

// broken reports a broken promise with what happened to that key before it.
func (s *simulation) broken(key, format string, args ...any) {
	if s.t.Failed() {
		return
	}
	var told []string
	asked, most := 0, 150
	if *schedules == 1 {
		most = 1500 // with what each master was told
	}
	for i := len(s.history) - 1; i >= 0 && len(told) < most; i-- {
		switch h := s.history[i]; {
		case strings.Contains(h, "fault: "), strings.Contains(h, "log: "):
		case !strings.Contains(h, " "+key+" "):
			continue
		case strings.Contains(h, ": no ("):
			if asked++; asked > most/7 {
				continue
			}
		}
		told = append(told, s.history[i])
	}
	slices.Reverse(told)
	s.t.Errorf("seed %d: %s\n%s", s.seed, fmt.Sprintf(format, args...), strings.Join(told, "\n"))
}
