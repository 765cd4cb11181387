#!/bin/sh
# A deb is told "configure" and the version that was there before, an rpm how many there are now.
set -e

if ! getent passwd redlock-proxy >/dev/null; then
	useradd --system --user-group --no-create-home --home-dir /nonexistent --shell /usr/sbin/nologin redlock-proxy
fi
case $1:$2 in
configure: | 1:) # new: the file may come to hold passwords
	chgrp redlock-proxy /etc/redlock-proxy/redlock-proxy.toml
	;;
esac

# It is not started before somebody has said which masters it is to ask.
if [ -d /run/systemd/system ]; then
	systemctl daemon-reload
	systemctl try-restart redlock-proxy.service
fi
