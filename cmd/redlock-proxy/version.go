package main

import (
	"fmt"
	"runtime"
	"runtime/debug"
	"strings"
)

// version is the released version, if the build says so:
//
//	go build -ldflags "-X main.version=1.2.3"
var version = ""

// programVersion is the version of this build: the release, or else what Go
// knows of the module or the checkout, or else "dev".
func programVersion() string {
	if version != "" {
		return version
	}
	info, ok := debug.ReadBuildInfo()
	if ok && info.Main.Version != "" && info.Main.Version != "(devel)" {
		return info.Main.Version
	}
	return "dev"
}

func versionLine() string {
	return fmt.Sprintf("redlock-proxy %s (%s, %s/%s)", programVersion(), runtime.Version(), runtime.GOOS, runtime.GOARCH)
}

// versionText is versionLine with what else is known of the build.
func versionText() string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		info = &debug.BuildInfo{}
	}
	return versionLine() + "\n" + buildLines(info)
}

// buildLines tell of the checkout and of how it was built, as far as Go has noted that.
func buildLines(info *debug.BuildInfo) string {
	noted := make(map[string]string)
	for _, s := range info.Settings {
		noted[s.Key] = s.Value
	}
	revision := noted["vcs.revision"]
	if revision != "" && noted["vcs.modified"] == "true" {
		revision += ", with changes that are not committed"
	}
	var b strings.Builder
	for _, line := range []struct{ name, value string }{
		{"revision", revision},
		{"committed", noted["vcs.time"]},
		{"package", info.Path},
		{"cgo", noted["CGO_ENABLED"]},
		{"tags", noted["-tags"]},
	} {
		if line.value != "" {
			fmt.Fprintf(&b, "%-10s %s\n", line.name, line.value)
		}
	}
	return b.String()
}
