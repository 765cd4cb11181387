package ship

import (
	"fmt"
	"net"
	"os"
	"os/exec"
	"regexp"
	"strings"
	"testing"
	"time"
)

// check is what the program finds wrong with what a container tells it by its environment.
func check(t *testing.T, environ []string, args ...string) (problems []string) {
	t.Helper()
	var said strings.Builder
	cmd := exec.Command(program(t), append([]string{"check"}, args...)...)
	cmd.Env, cmd.Stderr = append([]string{"PATH=/"}, environ...), &said
	if err := cmd.Run(); err != nil {
		problems = append(problems, err.Error())
	}
	if said.Len() > 0 {
		problems = append(problems, said.String())
	}
	return problems
}

// byDefault is how long an option has something take where it is not told.
func byDefault(t *testing.T, option string) time.Duration {
	t.Helper()
	cmd := exec.Command(program(t), "check")
	cmd.Env = []string{"PATH=/"}
	m := regexp.MustCompile(`(?m)^` + option + ` *= "(.*?)"`).FindStringSubmatch(output(t, cmd))
	if m == nil {
		t.Fatalf("nothing is told of %s", option)
	}
	d, err := time.ParseDuration(m[1])
	must(t, err)
	return d
}

func TestProgramFindsWhatIsNotUnderstood(t *testing.T) {
	for _, variable := range []string{"REDLOCK_PROXY_MAX_TLL=1m", "REDLOCK_PROXY_MAX_TTL=1 minute", "REDLOCK_PROXY_LISTEN=:6380"} {
		if check(t, []string{variable}) == nil {
			t.Errorf("%s is right", variable)
		}
	}
	if problems := check(t, []string{"REDLOCK_PROXY_MAX_TTL=1m"}); problems != nil {
		t.Errorf("a right one is not: %q", problems)
	}
}

// areDurable starts masters as they are told to be, has them marked, and wants them to keep all.
func areDurable(t *testing.T, command []string, password string) {
	t.Helper()
	var list []string
	for range 3 {
		port := freePort(t)
		cmd := exec.Command(command[0], append(command[1:], "--bind", "127.0.0.1", "--port", fmt.Sprint(port), "--dir", t.TempDir())...)
		cmd.Env = append(os.Environ(), "REDISCLI_AUTH="+password)
		start(t, cmd).await(t, "Ready to accept connections")
		list = append(list, fmt.Sprintf("127.0.0.1:%d", port))
	}
	mark := exec.Command(program(t), "bootstrap", "--no-locks-held")
	mark.Env = []string{"REDLOCK_PROXY_MASTER=" + strings.Join(list, ","), "REDLOCK_PROXY_MASTER_PASSWORD=" + password}
	out, err := mark.CombinedOutput()
	if err != nil || !strings.Contains(string(out), "every write is on disk before it is answered") {
		t.Errorf("the masters that are started by %q are not durable: %v\n%s", command, err, out)
	}
}

// freePort is one that nobody has.
func freePort(t *testing.T) int {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	must(t, err)
	defer l.Close()
	return l.Addr().(*net.TCPAddr).Port
}
