package ship

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/goreleaser/goreleaser/v2/pkg/config"
	"github.com/goreleaser/nfpm/v2"
	_ "github.com/goreleaser/nfpm/v2/deb"
	"github.com/goreleaser/nfpm/v2/files"
	_ "github.com/goreleaser/nfpm/v2/rpm"
)

// release is .goreleaser.yaml as goreleaser reads it, in which each name must be one.
func release(t *testing.T) config.Project {
	t.Helper()
	project, err := config.Load("../../.goreleaser.yaml")
	must(t, err)
	return project
}

// pack makes a package of what the release says, as goreleaser has nfpm make it, once.
func pack(t *testing.T, format string) string {
	t.Helper()
	said := release(t).NFPMs[0]
	bin := program(t)
	path := filepath.Join(builds, "package."+format)
	if _, err := os.Stat(path); err == nil {
		return path
	}
	t.Chdir("../..")
	output(t, exec.Command("sh", "conf/package/generate", bin))
	contents := files.Contents{{Source: bin, Destination: said.Bindir + "/redlock-proxy", FileInfo: &files.ContentFileInfo{Mode: 0o755}}}
	for _, c := range said.Contents {
		contents = append(contents, &files.Content{
			Source: c.Source, Destination: c.Destination, Type: c.Type,
			FileInfo: &files.ContentFileInfo{Mode: c.FileInfo.Mode, Owner: c.FileInfo.Owner, Group: c.FileInfo.Group},
		})
	}
	info := nfpm.WithDefaults(&nfpm.Info{
		Name: said.PackageName, Arch: "amd64", Platform: "linux", Version: "1.2.3", Section: said.Section, Priority: said.Priority,
		Maintainer: said.Maintainer, Description: said.Description, Vendor: said.Vendor, License: said.License,
		Overridables: nfpm.Overridables{
			Contents: contents, Depends: said.Overrides[format].Dependencies,
			Scripts: nfpm.Scripts{PostInstall: said.Scripts.PostInstall, PreRemove: said.Scripts.PreRemove, PostRemove: said.Scripts.PostRemove},
		},
	})
	must(t, nfpm.PrepareForPackager(info, format))
	packager, err := nfpm.Get(format)
	must(t, err)
	file, err := os.Create(path)
	must(t, err)
	must(t, packager.Package(info, file))
	must(t, file.Close())
	return path
}

func TestReleaseIsWhatIsTested(t *testing.T) {
	r := release(t)
	if len(r.Builds) != 1 || len(r.NFPMs) != 1 || len(r.DockersV2) != 1 || !slices.Contains(r.NFPMs[0].Formats, "deb") || !slices.Contains(r.NFPMs[0].Formats, "rpm") {
		t.Fatalf("it builds %d programs, %d packages and %d images", len(r.Builds), len(r.NFPMs), len(r.DockersV2))
	}
	b := r.Builds[0]
	dockerfile, err := os.ReadFile("../../Dockerfile")
	must(t, err)
	flags := strings.ReplaceAll(b.Ldflags[0], "{{ .Version }}", "$VERSION")
	if want := b.Env[0] + " go build " + b.Flags[0] + ` -ldflags="` + flags + `"`; !strings.Contains(string(dockerfile), want) {
		t.Errorf("the release is built by %s, and the image is not", want)
	}
	ignored, err := os.ReadFile("../../.dockerignore")
	must(t, err)
	for _, let := range regexp.MustCompile(`(?m)^!(.*)$`).FindAllStringSubmatch(string(ignored), -1) {
		if !slices.Contains(r.DockersV2[0].ExtraFiles, let[1]) {
			t.Errorf("the image of a release is built without %s", let[1])
		}
	}
	for _, archived := range r.Archives[0].Files {
		if _, err := os.Stat(filepath.Join("../..", archived.Source)); err != nil {
			t.Errorf("an archive is to hold what is not there: %v", err)
		}
	}
}

func TestDebHoldsWhatIsInstalled(t *testing.T) {
	deb := pack(t, "deb")
	about := output(t, exec.Command("dpkg-deb", "--info", deb))
	for _, want := range []string{" Package: redlock-proxy\n", " Version: 1.2.3\n", " Depends: passwd\n", " Description: Locks for Redis"} {
		if !strings.Contains(about, want) {
			t.Errorf("it does not say%q of itself:\n%s", want, about)
		}
	}
	list := output(t, exec.Command("dpkg-deb", "--contents", deb))
	for path, mode := range map[string]string{
		"/usr/bin/redlock-proxy": "-rwxr-xr-x", "/etc/redlock-proxy/redlock-proxy.toml": "-rw-r-----",
		"/usr/lib/systemd/system/redlock-proxy.service": "-rw-r--r--", "/usr/lib/systemd/system/redlock-proxy.socket": "-rw-r--r--", "/usr/share/doc/redlock-proxy/copyright": "-rw-r--r--",
	} {
		if !regexp.MustCompile(mode + ` root/root .* \.` + regexp.QuoteMeta(path) + `(\n|$)`).MatchString(list) {
			t.Errorf("%s is not there with %s:\n%s", path, mode, list)
		}
	}
	// What the program can tell of itself is there as well.
	for command, path := range map[string]string{"man": "man1/redlock-proxy.1.gz", "completion bash": "completions/redlock-proxy", "completion zsh": "_redlock-proxy", "completion fish": "redlock-proxy.fish"} {
		tells := exec.Command(program(t), strings.Fields(command)...).Run() == nil
		if there := strings.Contains(list+"\n", path+"\n"); there != tells {
			t.Errorf("%s: told is %v, and installed %v", command, tells, there)
		}
	}
}

// It is installed into a copy of this machine's files, which are all put back by forgetting it.
func TestDebIsInstalledAndTakenAway(t *testing.T) {
	mayMount(t)
	if _, err := exec.LookPath("dpkg"); err != nil {
		t.Skip("a deb is for Debian")
	}
	deb, dir := pack(t, "deb"), t.TempDir()
	script := dir + "/script"
	must(t, os.WriteFile(script, []byte(`
set -ex
config=/etc/redlock-proxy/redlock-proxy.toml
dpkg --install /deb
test "$(stat -c '%U:%G %a' $config)" = 'root:redlock-proxy 640'
redlock-proxy --version | grep 'redlock-proxy 1\.2\.3'
su -s /bin/sh redlock-proxy -c "redlock-proxy check --config $config" >/dev/null
if command -v systemd-analyze && systemd-analyze verify redlock-proxy.service 2>&1 | grep redlock-proxy; then exit 1; fi
if su -s /bin/sh nobody -c "cat $config"; then exit 1; fi
echo '# mine' >>$config
chgrp root $config
dpkg --install /deb
tail -1 $config | grep -q mine
test "$(stat -c %G $config)" = root
dpkg --remove redlock-proxy
test -e $config
test ! -e /usr/bin/redlock-proxy
dpkg --purge redlock-proxy
test ! -e $config
id redlock-proxy
`), 0o600))
	in := exec.Command("unshare", "--mount", "sh", "-ec", `
		mount -t tmpfs none "$1"
		mkdir "$1/upper" "$1/work" "$1/root"
		mount -t overlay none "$1/root" -o lowerdir=/,upperdir="$1/upper",workdir="$1/work" || exit 77
		cp "$2" "$1/root/deb"
		cp "$3" "$1/root/script"
		mount -t proc none "$1/root/proc"
		exec chroot "$1/root" sh /script
	`, "sh", t.TempDir(), deb, script)
	out, err := in.CombinedOutput()
	switch {
	case err != nil && in.ProcessState.ExitCode() == 77:
		t.Skipf("nothing can be laid over this machine's files: %s", out)
	case err != nil:
		t.Errorf("%v\n%s", err, out)
	}
}

// An rpm begins with its own mark, and its name.
func TestRpmIsMade(t *testing.T) {
	b, err := os.ReadFile(pack(t, "rpm"))
	must(t, err)
	if !strings.HasPrefix(string(b), "\xed\xab\xee\xdb") || !strings.HasPrefix(string(b[10:]), "redlock-proxy-1.2.3") {
		t.Errorf("what is made begins with %q", b[:40])
	}
}
