package main

import (
	"encoding/json"
	"os"
	"regexp"
	"strings"
	"testing"

	"redlock-proxy/conf"
)

// instruction is the rest of the one line of the Dockerfile that begins so.
func instruction(t *testing.T, dockerfile, begin string) string {
	t.Helper()
	lines := regexp.MustCompile(`(?m)^`+begin+` (.*)$`).FindAllStringSubmatch(dockerfile, -1)
	if len(lines) != 1 {
		t.Fatalf("%d lines begin with %s, want 1", len(lines), begin)
	}
	return lines[0][1]
}

func words(t *testing.T, text string) []string {
	t.Helper()
	var list []string
	if err := json.Unmarshal([]byte(text[strings.Index(text, "["):]), &list); err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	return list
}

func TestImageStartsAndAsksTheProgramAsItMayBe(t *testing.T) {
	b, err := os.ReadFile("../../Dockerfile")
	if err != nil {
		t.Fatal(err)
	}
	file := string(b)
	environ := []string{instruction(t, file, "ENV")}
	entry, check := words(t, instruction(t, file, "ENTRYPOINT")), words(t, instruction(t, file, "HEALTHCHECK"))
	if len(entry) != 1 || check[0] != entry[0] {
		t.Fatalf("entrypoint %q, health check %q", entry, check)
	}
	cfg, err := conf.Load(check[1:], environ)
	if err != nil || cfg.Command != conf.Ping || len(cfg.Warnings) != 0 {
		t.Errorf("the health check is %v, %v, %q", cfg.Command, err, cfg.Warnings)
	}
	if _, err := conf.Load(nil, environ); err == nil || !strings.Contains(err.Error(), "set protected-mode no") {
		t.Errorf("without protection the image starts: %v", err)
	}
	cfg, err = conf.Load([]string{"--master", "a:1,b:1,c:1"}, append(environ, "REDLOCK_PROXY_PROTECTED_MODE=no"))
	if err != nil || cfg.Listeners[0].Local() {
		t.Errorf("with flags and variables: %v, %v", cfg.Listeners, err)
	}
	if user := instruction(t, file, "USER"); !regexp.MustCompile(`^[1-9][0-9]*:[1-9][0-9]*$`).MatchString(user) {
		t.Errorf("the user is %s, want numbers other than 0", user)
	}
	expose := instruction(t, file, "EXPOSE")
	if !strings.HasSuffix(cfg.Listeners[0].Address, ":"+expose) {
		t.Errorf("port %s is exposed, but %s listened to", expose, cfg.Listeners[0])
	}
}

// What is tested is what is shipped.
func TestImageIsBuiltByTheCommandThatIsTested(t *testing.T) {
	build := func(path string) string {
		t.Helper()
		b, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		m := regexp.MustCompile(`CGO_ENABLED=0 go build .*`).FindString(string(b))
		return regexp.MustCompile(`-o \S+`).ReplaceAllString(m, "-o …")
	}
	image, tested := build("../../Dockerfile"), build("../../integration/test")
	if image == "" || image != tested {
		t.Errorf("the image is built by %q, and tested is %q", image, tested)
	}
}
