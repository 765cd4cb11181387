package main

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"math/big"
	"os"
	"strings"
	"syscall"
	"testing"
	"time"
)

// overwrite gives a file another content.
func overwrite(t *testing.T, path, text string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

// newCertificate is a self-signed certificate with that serial number, and its
// key, in PEM.
func newCertificate(t *testing.T, serial int64) (cert, key string) {
	t.Helper()
	return certificateFor(t, serial, x509.ExtKeyUsageServerAuth, x509.ExtKeyUsageClientAuth)
}

func certificateFor(t *testing.T, serial int64, usages ...x509.ExtKeyUsage) (cert, key string) {
	t.Helper()
	private, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(serial), Subject: pkix.Name{CommonName: "test"},
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour),
		IsCA: true, BasicConstraintsValid: true,
		ExtKeyUsage: usages,
	}
	certDER, err := x509.CreateCertificate(rand.Reader, template, template, &private.PublicKey, private)
	if err != nil {
		t.Fatal(err)
	}
	keyDER, err := x509.MarshalPKCS8PrivateKey(private)
	if err != nil {
		t.Fatal(err)
	}
	return string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: certDER})),
		string(pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: keyDER}))
}

func TestSIGHUPChangesPasswordsAndLogLevel(t *testing.T) {
	password := write(t, "password", "one\n")
	file := write(t, "c.toml", `requirepass-file = "`+password+`"`)
	p := startProgram(t, nil, "--config", file, "--listen", "127.0.0.1:0")
	address := p.await(`listening: address=(\S+)`)
	ping := func(password string, want string) {
		t.Helper()
		e := endpoint{network: "tcp", address: address, password: "x"}
		if reply, err := e.ask(patience, "AUTH", password); err != nil || reply != want {
			t.Errorf("AUTH %s: %q, %v; want %q", password, reply, err, want)
		}
	}
	const wrong = "-WRONGPASS invalid username-password pair or user is disabled."
	ping("one", "OK")

	overwrite(t, password, "two\n")
	overwrite(t, file, `requirepass-file = "`+password+"\"\nlog-level = \"debug\"\nmax-clients = 5\nsplit-retries = 1\n")
	p.signal(syscall.SIGHUP)
	p.await(`the options that may change are reloaded: changed="requirepass-file log-level"`)
	p.await(`these options have changed and wait for a restart: options="max-clients split-retries"`)
	ping("two", "OK")
	ping("one", wrong)
	p.await(`\[DEBUG\]`)

	overwrite(t, password, "")
	overwrite(t, file, `requirepass-file = "`+password+"\"\nmax-clients = true\n")
	p.signal(syscall.SIGHUP)
	line := p.await(`(.*\[ERROR\].*)`)
	for _, part := range []string{"the configuration is wrong and not reloaded", file + " line 2: max-clients: this is true or false", " | ", password + " is empty"} {
		if !strings.Contains(line, part) {
			t.Errorf("no %q in %s", part, line)
		}
	}
	ping("two", "OK")
	p.signal(syscall.SIGTERM)
	if code := p.exitCode(); code != 0 || strings.Count(p.logged(), "[ERROR]") != 1 {
		t.Errorf("exit code %d, %d errors", code, strings.Count(p.logged(), "[ERROR]"))
	}
}

func TestSIGHUPChangesCertificates(t *testing.T) {
	cert, key := newCertificate(t, 1)
	certPath, keyPath := write(t, "cert", cert), write(t, "key", key)
	args := []string{"--listen=", "--tls-cert-file", certPath, "--tls-key-file", keyPath, "--tls-ca-cert-file", certPath}
	p := startProgram(t, nil, append(args, "--tls-listen", "127.0.0.1:0")...)
	address := p.await(`listening: address=(\S+)`)
	serial := func() int64 {
		t.Helper()
		pair, err := tls.X509KeyPair([]byte(cert), []byte(key))
		if err != nil {
			t.Fatal(err)
		}
		conn, err := tls.Dial("tcp", address, &tls.Config{InsecureSkipVerify: true, Certificates: []tls.Certificate{pair}})
		if err != nil {
			t.Fatal(err)
		}
		defer conn.Close()
		return conn.ConnectionState().PeerCertificates[0].SerialNumber.Int64()
	}
	if n := serial(); n != 1 {
		t.Errorf("certificate %d is shown, want 1", n)
	}
	// The health check comes through TLS, and shows the server's certificate.
	if stdout, stderr, code := runProgram(t, nil, append([]string{"ping", "--tls-listen", address}, args...)...); code != 0 {
		t.Errorf("ping: exit code %d\n%s%s", code, stdout, stderr)
	}

	cert, key = newCertificate(t, 2)
	overwrite(t, certPath, cert)
	overwrite(t, keyPath, key)
	p.signal(syscall.SIGHUP)
	p.await(`the options that may change are reloaded: changed="tls-cert-file tls-key-file tls-ca-cert-file"`)
	if n := serial(); n != 2 {
		t.Errorf("certificate %d is shown after SIGHUP, want 2", n)
	}
	p.signal(syscall.SIGTERM)
	if code := p.exitCode(); code != 0 {
		t.Errorf("exit code %d", code)
	}
}

func TestOptionalCertificateIsNotShownToOurselves(t *testing.T) {
	cert, key := certificateFor(t, 1, x509.ExtKeyUsageServerAuth)
	certPath := write(t, "cert", cert)
	args := []string{"--listen=", "--tls-cert-file", certPath, "--tls-key-file", write(t, "key", key), "--tls-ca-cert-file", certPath,
		"--tls-auth-clients", "optional", "--protected-mode", "no"}
	p := startProgram(t, nil, append(args, "--tls-listen", "127.0.0.1:0")...)
	address := p.await(`listening: address=(\S+)`)
	p.await(`every master has been tried: ready=true`)
	for _, command := range []string{"ready", "status"} {
		if stdout, stderr, code := runProgram(t, nil, append([]string{command, "--tls-listen", address}, args...)...); code != 0 {
			t.Errorf("%s: exit code %d\n%s%s", command, code, stdout, stderr)
		}
	}
	p.signal(syscall.SIGTERM)
	if code := p.exitCode(); code != 0 {
		t.Errorf("exit code %d", code)
	}
}
