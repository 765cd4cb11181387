package integration

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
	"os"
	"path/filepath"
	"time"
)

// Certificates is an authority with one certificate for servers at 127.0.0.1, whose other name is server,
// and one for a client that is named client, as PEM files.
type Certificates struct {
	CA                    string
	ServerCert, ServerKey string
	ClientCert, ClientKey string

	pool   *x509.CertPool
	client tls.Certificate
}

// NewCertificates makes them in dir.
func NewCertificates(dir string) (*Certificates, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, err
	}
	ca := template(1, "test authority")
	ca.IsCA, ca.BasicConstraintsValid = true, true
	ca.KeyUsage = x509.KeyUsageCertSign
	der, err := x509.CreateCertificate(rand.Reader, ca, ca, &key.PublicKey, key)
	if err != nil {
		return nil, err
	}
	root, err := x509.ParseCertificate(der)
	if err != nil {
		return nil, err
	}
	c := &Certificates{CA: filepath.Join(dir, "ca.crt"), pool: x509.NewCertPool()}
	c.pool.AddCert(root)
	if err := writePEM(c.CA, "CERTIFICATE", der); err != nil {
		return nil, err
	}
	if c.ServerCert, c.ServerKey, err = issue(dir, "server", 2, root, key); err != nil {
		return nil, err
	}
	if c.ClientCert, c.ClientKey, err = issue(dir, "client", 3, root, key); err != nil {
		return nil, err
	}
	c.client, err = tls.LoadX509KeyPair(c.ClientCert, c.ClientKey)
	return c, err
}

// Client is the configuration of a client that shows its certificate.
func (c *Certificates) Client() *tls.Config {
	return &tls.Config{RootCAs: c.pool, Certificates: []tls.Certificate{c.client}}
}

// Anonymous is the configuration of a client that has none.
func (c *Certificates) Anonymous() *tls.Config { return &tls.Config{RootCAs: c.pool} }

func template(serial int64, name string) *x509.Certificate {
	return &x509.Certificate{
		SerialNumber: big.NewInt(serial),
		Subject:      pkix.Name{CommonName: name},
		NotBefore:    time.Now().Add(-time.Hour),
		NotAfter:     time.Now().Add(24 * time.Hour),
	}
}

func issue(dir, name string, serial int64, root *x509.Certificate, rootKey *ecdsa.PrivateKey) (certPath, keyPath string, err error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return "", "", err
	}
	t := template(serial, name)
	t.KeyUsage = x509.KeyUsageDigitalSignature
	t.ExtKeyUsage = []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth, x509.ExtKeyUsageClientAuth}
	t.IPAddresses = []net.IP{net.IPv4(127, 0, 0, 1)}
	t.DNSNames = []string{"localhost", name}
	der, err := x509.CreateCertificate(rand.Reader, t, root, &key.PublicKey, rootKey)
	if err != nil {
		return "", "", err
	}
	keyDER, err := x509.MarshalECPrivateKey(key)
	if err != nil {
		return "", "", err
	}
	certPath, keyPath = filepath.Join(dir, name+".crt"), filepath.Join(dir, name+".key")
	if err := writePEM(certPath, "CERTIFICATE", der); err != nil {
		return "", "", err
	}
	return certPath, keyPath, writePEM(keyPath, "EC PRIVATE KEY", keyDER)
}

func writePEM(path, kind string, der []byte) error {
	return os.WriteFile(path, pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: der}), 0o600)
}
