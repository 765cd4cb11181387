# redlock-proxy in a container:
#
#     docker build -t redlock-proxy --build-arg VERSION=1.0.0 --build-arg REVISION=$(git rev-parse HEAD) .
#     docker run -p 6380:6380 -e REDLOCK_PROXY_REQUIREPASS_FILE=/run/secrets/password -v … \
#         redlock-proxy --master redis-1:6379 --master redis-2:6379 --master redis-3:6379
#
# Buildah and podman make an OCI image unless they are told otherwise, and such a one has no place
# for the health check: have them build with --format docker, or name it when the container is
# started, as conf/compose.yaml does. Kubernetes reads it in neither: conf/kubernetes.yaml has probes.

# The compiler runs where the image is built, and not as the system that it is built for.
FROM --platform=$BUILDPLATFORM golang:1.26 AS build
WORKDIR /src
COPY go.mod go.sum ./
RUN go mod download
COPY . .
ARG TARGETOS
ARG TARGETARCH
ARG VERSION
# What CI builds as well. The program is static: it runs in an empty image.
RUN GOOS=$TARGETOS GOARCH=$TARGETARCH CGO_ENABLED=0 go build -trimpath -ldflags="-s -w -X main.version=$VERSION" -o /redlock-proxy ./cmd/redlock-proxy

FROM scratch
# The CAs for rediss:// masters, unless master-tls-ca-cert-file names others.
COPY --from=build /etc/ssl/certs/ca-certificates.crt /etc/ssl/certs/ca-certificates.crt
COPY --from=build /redlock-proxy /redlock-proxy
USER 65532:65532

# Nobody reaches 127.0.0.1 in a container from outside, so it listens on all interfaces.
# Protected mode stays on, as a published port is open to the whole network: the proxy does
# not start before it has a password, or client certificates, or is told with
# REDLOCK_PROXY_PROTECTED_MODE=no that the network in front of it is trusted.
ENV REDLOCK_PROXY_LISTEN=:6380
EXPOSE 6380

# It lives; "ready" is the question whether a quorum of masters can vote, which another
# start of this container would not change. The check knows the variables of the container
# and not the flags after its name: set listen, if another one is wanted, as a variable.
HEALTHCHECK --interval=10s --timeout=3s --start-period=5s CMD ["/redlock-proxy", "ping"]
ENTRYPOINT ["/redlock-proxy"]

ARG VERSION
ARG REVISION
LABEL org.opencontainers.image.title="redlock-proxy" \
      org.opencontainers.image.description="A lock server that speaks Redis's protocol: each lock is held by a quorum of Redis masters" \
      org.opencontainers.image.licenses="MIT" \
      org.opencontainers.image.version="$VERSION" \
      org.opencontainers.image.revision="$REVISION"
