package engine

import "io"

// subscribe writes its reply itself, as no message may come before it. The
// master's lock is held.
func (m *fakeMaster) subscribe(channel string, id int64) string {
	if m.subscribers == nil {
		m.subscribers = make(map[int64]string)
	}
	m.subscribers[id] = channel
	io.WriteString(m.conns[id], array(bulk("subscribe"), bulk(channel), integer(1)))
	return silence
}

func (m *fakeMaster) publish(channel, message string) string {
	n := int64(0)
	for id, to := range m.subscribers {
		if conn := m.conns[id]; conn != nil && to == channel {
			n++
			io.WriteString(conn, array(bulk("message"), bulk(channel), bulk(message)))
		}
	}
	return integer(n)
}

// ping answers as Redis answers a subscriber in RESP2.
func (m *fakeMaster) ping(id int64) string {
	if _, ok := m.subscribers[id]; ok {
		return array(bulk("pong"), bulk(""))
	}
	return "+PONG\r\n"
}
