package integration

import (
	"fmt"
	"net"
	"strings"
	"testing"
)

// TestOrderOfWhoHasLeftIsToldOf: what frees a lock leaves a trace, whatever becomes of him who
// gave the order.
func TestOrderOfWhoHasLeftIsToldOf(t *testing.T) {
	t.Parallel()
	_, p := startQuorum(t, 3, "--admin-listen", "127.0.0.1:0", "--user", "default on nopass ~* &* +@all")
	address := strings.TrimPrefix(adminOf(t, p).url, "http://")
	c := dial(t, p.Addr)
	const orders = 40
	for i := range orders {
		key := fmt.Sprintf("k%d", i)
		c.want("OK", "SET", key, "t", "NX", "PX", milliseconds(ttl))
		body := fmt.Sprintf(`{"order":"free","db":0,"key":"%s","holder":"%s","reason":"it hangs"}`, key, fieldOf(c.do("LOCK", "INFO", key), "holder"))
		conn, err := net.Dial("tcp", address)
		must(t, err)
		_, err = fmt.Fprintf(conn, "POST /api/order HTTP/1.1\r\nHost: %s\r\nOrigin: http://%s\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n%s",
			address, address, len(body), body)
		must(t, err)
		must(t, conn.Close())
	}
	freed := 0
	for i := range orders {
		key := fmt.Sprintf("k%d", i)
		eventually(t, func() error {
			free := c.do("GET", key) == nil
			told := strings.Contains(p.Log(), "about="+key+" ")
			if free {
				freed++
			}
			if free != told {
				return fmt.Errorf("%s is free: %v, and that is told: %v", key, free, told)
			}
			return nil
		})
	}
	if freed == 0 {
		t.Error("no order was carried out")
	}
}
