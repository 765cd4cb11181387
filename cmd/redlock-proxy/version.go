package main

import (
	"fmt"
	"runtime"
	"runtime/debug"
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
