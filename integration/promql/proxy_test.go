package promql

import (
	"bufio"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"

	dto "github.com/prometheus/client_model/go"
	"github.com/prometheus/common/expfmt"
	"github.com/prometheus/common/model"
)

// patience is how long anything may take on a machine that is busy.
const patience = time.Minute

// served is what a proxy serves: of each metric its labels, and the values of each.
type served map[string]map[string]map[string]bool

// scrape starts a proxy over embedded masters, has it asked what clients ask, and scrapes it.
func scrape(t *testing.T) served {
	t.Helper()
	path := filepath.Join(t.TempDir(), "redlock-proxy")
	if out, err := exec.Command("go", "build", "-C", "../..", "-o", path, "./cmd/redlock-proxy").CombinedOutput(); err != nil {
		t.Fatalf("build the proxy: %v\n%s", err, out)
	}
	cmd := exec.Command(path, "--listen", "127.0.0.1:0", "--admin-listen", "127.0.0.1:0")
	for _, e := range os.Environ() {
		if !strings.HasPrefix(e, "REDLOCK_PROXY_") {
			cmd.Env = append(cmd.Env, e)
		}
	}
	log, err := cmd.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	end := time.AfterFunc(patience, func() { cmd.Process.Kill() })
	t.Cleanup(func() {
		defer end.Stop()
		cmd.Process.Signal(syscall.SIGTERM)
		io.Copy(io.Discard, log)
		if err := cmd.Wait(); err != nil {
			t.Errorf("the proxy ended: %v", err)
		}
	})
	lines := bufio.NewReader(log)
	address, url := await(t, lines, `listening: address=(\S+)`), await(t, lines, `the admin listener is open: at=(\S+)`)
	await(t, lines, `every master has been tried: ready=(true)`)
	ask(t, address, "SET k t NX PX 30000", "SET k u NX PX 30000", "GET k", "NOSUCH")
	return read(t, url+"/metrics")
}

// await reads the log on to a line that matches, and gives its group.
func await(t *testing.T, log *bufio.Reader, pattern string) string {
	t.Helper()
	wanted := regexp.MustCompile(pattern)
	for {
		line, err := log.ReadString('\n')
		if err != nil {
			t.Fatalf("the log ends without %q", pattern)
		}
		if m := wanted.FindStringSubmatch(line); m != nil {
			return m[1]
		}
	}
}

// ask sends commands that are answered with one or two lines each.
func ask(t *testing.T, address string, commands ...string) {
	t.Helper()
	nc, err := net.Dial("tcp", address)
	if err != nil {
		t.Fatal(err)
	}
	defer nc.Close()
	nc.SetDeadline(time.Now().Add(patience))
	answers := bufio.NewReader(nc)
	for _, command := range commands {
		io.WriteString(nc, command+"\r\n")
		answer, err := answers.ReadString('\n')
		if strings.HasPrefix(answer, "$") && answer != "$-1\r\n" {
			_, err = answers.ReadString('\n')
		}
		if err != nil {
			t.Fatalf("%s: %v", command, err)
		}
	}
}

func read(t *testing.T, url string) served {
	t.Helper()
	resp, err := (&http.Client{Timeout: patience}).Get(url)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	parser := expfmt.NewTextParser(model.UTF8Validation)
	families, err := parser.TextToMetricFamilies(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	s := make(served)
	for name, family := range families {
		for _, m := range family.Metric {
			if family.GetType() == dto.MetricType_HISTOGRAM {
				s.note(name+"_bucket", m.Label, "le")
				s.note(name+"_sum", m.Label)
				s.note(name+"_count", m.Label)
				continue
			}
			s.note(name, m.Label)
		}
	}
	return s
}

// note notes a metric with its labels, and others of which the values do not matter.
func (s served) note(name string, labels []*dto.LabelPair, more ...string) {
	if s[name] == nil {
		s[name] = make(map[string]map[string]bool)
	}
	for _, l := range labels {
		if s[name][l.GetName()] == nil {
			s[name][l.GetName()] = make(map[string]bool)
		}
		s[name][l.GetName()][l.GetValue()] = true
	}
	for _, name2 := range more {
		s[name][name2] = make(map[string]bool)
	}
}
