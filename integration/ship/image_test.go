package ship

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"syscall"
	"testing"
)

// buildah keeps what it makes in a place of its own.
type buildah []string

// image is what a container is told by its image.
type image struct {
	User            string
	Env, Entrypoint []string
	ExposedPorts    map[string]struct{}
	Labels          map[string]string
	Healthcheck     *struct{ Test []string }
}

func newBuildah(t *testing.T) buildah {
	t.Helper()
	mayMount(t)
	dir := t.TempDir()
	return buildah{"buildah", "--storage-driver", "vfs", "--root", dir + "/root", "--runroot", dir + "/run"}
}

// mayMount skips what needs a root who may mount.
func mayMount(t *testing.T) {
	t.Helper()
	if os.Geteuid() != 0 {
		t.Skip("only root can have a root of his own here")
	}
	if out, err := exec.Command("unshare", "--mount", "true").CombinedOutput(); err != nil {
		t.Skipf("nothing can be mounted on this machine: %v, %s", err, out)
	}
}

func (b buildah) do(t *testing.T, args ...string) string {
	t.Helper()
	return output(t, exec.Command(b[0], append(b[1:], args...)...))
}

// output is what a command prints, which must succeed.
func output(t *testing.T, cmd *exec.Cmd) string {
	t.Helper()
	var problems strings.Builder
	cmd.Stderr = &problems
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%s: %v\n%s%s", cmd, err, out, problems.String())
	}
	return strings.TrimSpace(string(out))
}

// build builds the Dockerfile. Its first image is one that borrows this machine's compiler and what
// it has compiled: none is fetched.
func (b buildah) build(t *testing.T, args ...string) {
	t.Helper()
	base := t.TempDir()
	for _, dir := range []string{"usr", "goroot", "gomod", "gocache", "tmp", "etc/ssl/certs"} {
		must(t, os.MkdirAll(filepath.Join(base, "root", dir), 0o755))
	}
	for _, dir := range []string{"bin", "lib", "lib64"} {
		must(t, os.Symlink("usr/"+dir, filepath.Join(base, "root", dir)))
	}
	must(t, os.WriteFile(base+"/root/etc/ssl/certs/ca-certificates.crt", []byte("the CAs\n"), 0o644))
	must(t, os.WriteFile(base+"/Dockerfile", []byte("FROM scratch\nCOPY root/ /\n"+
		"ENV PATH=/goroot/bin:/usr/bin GOTOOLCHAIN=local GOMODCACHE=/gomod GOCACHE=/gocache\n"), 0o644))
	b.do(t, "build", "--isolation", "chroot", "-t", "docker.io/library/golang:1.26", base)

	volumes := []string{"-v", "/usr:/usr:ro"}
	for name, at := range map[string]string{"GOROOT": "/goroot", "GOMODCACHE": "/gomod", "GOCACHE": "/gocache"} {
		volumes = append(volumes, "-v", output(t, exec.Command("go", "env", name))+":"+at)
	}
	args = append([]string{"build", "--isolation", "chroot", "--pull=never", "--format", "docker", "-t", "redlock-proxy"}, args...)
	b.do(t, append(append(args, volumes...), "../..")...)
}

// command is one that runs as it would in a container of the image.
func (i image) command(t *testing.T, root string, command []string, environ ...string) *exec.Cmd {
	t.Helper()
	user, group, _ := strings.Cut(i.User, ":")
	uid, err := strconv.ParseUint(user, 10, 32)
	must(t, err)
	gid, err := strconv.ParseUint(group, 10, 32)
	must(t, err)
	return &exec.Cmd{
		Path: command[0], Args: command, Dir: "/", Env: append(i.Env, environ...),
		SysProcAttr: &syscall.SysProcAttr{Chroot: root, Credential: &syscall.Credential{Uid: uint32(uid), Gid: uint32(gid)}},
	}
}

func TestImageIsBuiltAndServes(t *testing.T) {
	b := newBuildah(t)
	b.build(t, "--build-arg", "VERSION=1.2.3", "--build-arg", "REVISION=abc123")

	var inspected struct{ Docker struct{ Config image } }
	must(t, json.Unmarshal([]byte(b.do(t, "inspect", "--type", "image", "redlock-proxy")), &inspected))
	i := inspected.Docker.Config
	for name, want := range map[string]string{"version": "1.2.3", "revision": "abc123", "title": "redlock-proxy", "licenses": "MIT", "description": "Redis"} {
		if got := i.Labels["org.opencontainers.image."+name]; !strings.Contains(got, want) {
			t.Errorf("the label %s is %q, want %q", name, got, want)
		}
	}
	if _, exposed := i.ExposedPorts["6380/tcp"]; !exposed || len(i.Entrypoint) != 1 || i.Healthcheck == nil || i.Healthcheck.Test[0] != "CMD" {
		t.Fatalf("the image is %+v", i)
	}

	container := b.do(t, "from", "--pull=never", "redlock-proxy")
	root := b.do(t, "mount", container)
	if got := output(t, i.command(t, root, append(i.Entrypoint, "--version"))); !strings.HasPrefix(got, "redlock-proxy 1.2.3 ") {
		t.Errorf("its version is %q", got)
	}
	if b, err := os.ReadFile(root + "/etc/ssl/certs/ca-certificates.crt"); err != nil || string(b) != "the CAs\n" {
		t.Errorf("its CAs are %q, %v", b, err)
	}

	proxy := i.command(t, root, i.Entrypoint, "REDLOCK_PROXY_LISTEN=127.0.0.1:0")
	log := start(t, proxy)
	address := log.await(t, `listening: address=(\S+)`)
	check := i.Healthcheck.Test[1:]
	output(t, i.command(t, root, check, "REDLOCK_PROXY_LISTEN="+address))
	log.end(t, syscall.SIGTERM)
	if err := i.command(t, root, check, "REDLOCK_PROXY_LISTEN="+address).Run(); err == nil {
		t.Error("the health check says that it lives when it has ended")
	}
}

// What the image is made of is what the compiler needs.
func TestImageIsBuiltOfTheProgramAlone(t *testing.T) {
	ignored, err := os.ReadFile("../../.dockerignore")
	must(t, err)
	let := regexp.MustCompile(`(?m)^!(.*)$`).FindAllStringSubmatch(string(ignored), -1)
	needed := map[string]bool{"go.mod": true, "go.sum": true}
	for _, dir := range strings.Fields(output(t, exec.Command("go", "list", "-C", "../..", "-deps", "-f", "{{if not .Standard}}{{.ImportPath}}{{end}}", "./cmd/redlock-proxy"))) {
		if inside, ok := strings.CutPrefix(dir, "redlock-proxy/"); ok {
			top, _, _ := strings.Cut(inside, "/")
			needed[top] = true
		}
	}
	for _, name := range let {
		if !needed[name[1]] {
			t.Errorf("%s is let into the image's context, and not needed", name[1])
		}
		delete(needed, name[1])
	}
	for name := range needed {
		t.Errorf("%s is needed, and not let into the image's context", name)
	}
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
