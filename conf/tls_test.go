package conf

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"math/big"
	"net"
	"slices"
	"strings"
	"testing"
	"time"
)

// certificate writes a self-signed certificate and its key.
func certificate(t *testing.T, from, to time.Time) (certPath, keyPath string) {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "test"}, NotBefore: from, NotAfter: to,
		IsCA: true, BasicConstraintsValid: true, DNSNames: []string{"localhost"},
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	if err != nil {
		t.Fatal(err)
	}
	keyDER, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		t.Fatal(err)
	}
	certPath = write(t, "cert.pem", string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})))
	keyPath = write(t, "key.pem", string(pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: keyDER})))
	return certPath, keyPath
}

func validCertificate(t *testing.T) (certPath, keyPath string) {
	return certificate(t, time.Now().Add(-time.Hour), time.Now().Add(time.Hour))
}

func TestServerTLSAsksForCertificatesAsConfigured(t *testing.T) {
	cert, key := validCertificate(t)
	for _, c := range []struct {
		args string
		auth tls.ClientAuthType
	}{
		{"--tls-ca-cert-file " + cert, tls.RequireAndVerifyClientCert},
		{"--tls-auth-clients optional --tls-ca-cert-file " + cert, tls.VerifyClientCertIfGiven},
		{"--tls-auth-clients no", tls.NoClientCert},
	} {
		args := append(strings.Fields(c.args), "--tls-listen", "127.0.0.1:6390", "--tls-cert-file", cert, "--tls-key-file", key)
		cfg := load(t, nil, args...).ServerTLS
		if cfg.ClientAuth != c.auth || len(cfg.Certificates) != 1 || cfg.MinVersion != tls.VersionTLS12 {
			t.Errorf("%s: auth %v, %d certificates, from version %x", c.args, cfg.ClientAuth, len(cfg.Certificates), cfg.MinVersion)
		}
		if (cfg.ClientCAs == nil) != (c.auth == tls.NoClientCert) {
			t.Errorf("%s: CAs %v; without any, Go would trust the system's", c.args, cfg.ClientCAs)
		}
	}
}

func TestMasterTLSIsMadeForTLSMastersOnly(t *testing.T) {
	cert, key := validCertificate(t)
	if c := load(t, nil, "--master", "a:1"); c.MasterTLS != nil || c.ServerTLS != nil {
		t.Errorf("TLS without need: %v, %v", c.MasterTLS, c.ServerTLS)
	}
	c := load(t, nil, "--master", "rediss://a:1", "--master-tls-cert-file", cert, "--master-tls-key-file", key,
		"--master-tls-ca-cert-file", cert, "--master-tls-server-name", "redis")
	if m := c.MasterTLS; m.ServerName != "redis" || len(m.Certificates) != 1 || m.RootCAs == nil || m.InsecureSkipVerify {
		t.Errorf("master TLS %+v", m)
	}
}

func TestMistakesWithCertificatesAreNamedWithTheirCure(t *testing.T) {
	cert, key := validCertificate(t)
	_, otherKey := validCertificate(t)
	text := write(t, "text", "no certificate")
	all := "--tls-listen :1 --tls-ca-cert-file " + cert + " --tls-cert-file " + cert + " --tls-key-file " + key
	for _, c := range []struct{ args, want string }{
		{"--tls-cert-file " + cert, `--tls-cert-file: there is no TLS listener that would use it; name one in tls-listen, or set admin-tls yes, or leave it out`},
		{"--tls-auth-clients no", `--tls-auth-clients: there is no TLS listener`},
		{"--tls-listen 127.0.0.1:1 --tls-auth-clients no", `--tls-listen: there is no certificate; name one in tls-cert-file, and its key in tls-key-file`},
		{"--tls-listen 127.0.0.1:1 --tls-auth-clients no --tls-cert-file " + cert, `--tls-cert-file: there is a certificate but no key; name it in tls-key-file`},
		{"--tls-listen 127.0.0.1:1 --tls-auth-clients no --tls-key-file " + key, `--tls-key-file: there is a key but no certificate; name it in tls-cert-file`},
		{"--tls-listen 127.0.0.1:1 --tls-cert-file " + cert + " --tls-key-file " + key, `tls-auth-clients: client certificates are checked, but no CA is named that signs them; name it in tls-ca-cert-file, or set tls-auth-clients no`},
		{all + " --tls-key-file " + otherKey, `tls: private key does not match public key; name a certificate and the key that belongs to it`},
		{all + " --tls-cert-file " + text, `failed to find any PEM data`},
		{all + " --tls-cert-file /none", `--tls-cert-file: open /none: no such file or directory; correct the path`},
		{all + " --tls-key-file /none", `--tls-key-file: open /none: no such file or directory; correct the path`},
		{all + " --tls-ca-cert-file /none", `--tls-ca-cert-file: open /none`},
		{all + " --tls-ca-cert-file " + text, `--tls-ca-cert-file: there is no certificate in ` + text + `; name a file with CA certificates in PEM`},
		{all + " --tls-auth-clients optional", `--tls-listen: other machines can reach :1, and nobody has to prove who he is there`},
		{"--master a:1 --master-tls-ca-cert-file " + cert, `--master-tls-ca-cert-file: there is no master that would use it; write masters with TLS as rediss://host:port, or leave it out`},
		{"--master rediss://a:1 --master-tls-cert-file " + cert, `--master-tls-cert-file: there is a certificate but no key`},
		{"--master rediss://a:1 --master-tls-ca-cert-file " + text, `--master-tls-ca-cert-file: there is no certificate in`},
	} {
		if got := wrong(t, nil, strings.Fields(c.args)...); !strings.Contains(got, c.want) || strings.Contains(got, "\n") {
			t.Errorf("%s\n got %s\nwant %s", c.args, got, c.want)
		}
	}
	if c := load(t, nil, strings.Fields(all)...); len(c.Warnings) != 0 {
		t.Errorf("client certificates are proof enough, but: %q", c.Warnings)
	}
}

func TestCertificateThatIsNotValidNowIsAWarning(t *testing.T) {
	cert, key := certificate(t, time.Now().Add(-2*time.Hour), time.Now().Add(-time.Hour))
	c := load(t, nil, "--tls-listen", "127.0.0.1:1", "--tls-auth-clients", "no", "--tls-cert-file", cert, "--tls-key-file", key)
	if len(c.Warnings) != 1 || !strings.Contains(c.Warnings[0], "which is not now") {
		t.Errorf("warnings %q", c.Warnings)
	}
}

func TestTLSIsSpokenWithoutCBC(t *testing.T) {
	cert, key := validCertificate(t)
	server := load(t, nil, "--tls-listen", "127.0.0.1:6390", "--tls-cert-file", cert, "--tls-key-file", key, "--tls-auth-clients", "no").ServerTLS
	masters := load(t, nil, "--master", "rediss://a:1,rediss://b:1,rediss://c:1").MasterTLS
	shake := func(ours *tls.Config, suite uint16, weAreServer bool) error {
		theirs := &tls.Config{MaxVersion: tls.VersionTLS12, CipherSuites: []uint16{suite}, Certificates: server.Certificates, InsecureSkipVerify: true}
		ours = ours.Clone()
		ours.InsecureSkipVerify = true
		a, b := net.Pipe()
		defer a.Close()
		client, accepting := theirs, ours
		if !weAreServer {
			client, accepting = ours, theirs
		}
		ended := make(chan struct{})
		go func() {
			defer close(ended)
			tls.Server(b, accepting).Handshake()
			b.Close()
		}()
		err := tls.Client(a, client).Handshake()
		a.Close()
		<-ended
		return err
	}
	for _, suite := range append(tls.CipherSuites(), tls.InsecureCipherSuites()...) {
		if !slices.Contains(suite.SupportedVersions, tls.VersionTLS12) || !strings.Contains(suite.Name, "ECDHE_ECDSA") {
			continue // the certificate's key is of that kind
		}
		good := strings.Contains(suite.Name, "GCM") || strings.Contains(suite.Name, "CHACHA20")
		if err := shake(server, suite.ID, true); (err == nil) != good {
			t.Errorf("a client with %s: %v", suite.Name, err)
		}
		if err := shake(masters, suite.ID, false); (err == nil) != good {
			t.Errorf("a master with %s: %v", suite.Name, err)
		}
	}
}
