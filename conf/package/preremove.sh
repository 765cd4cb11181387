#!/bin/sh
# A deb is told "remove" or "upgrade", an rpm how many will be left.
set -e
case $1 in
remove | 0)
	if [ -d /run/systemd/system ]; then
		systemctl disable --now redlock-proxy.socket redlock-proxy.service
	fi
	;;
esac
