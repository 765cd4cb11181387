package engine

import (
	"fmt"
	"strings"

	"redlock-proxy/quorum"
	"redlock-proxy/quorum/marker"
	"redlock-proxy/quorum/master"
)

// What a fake master does with the scripts of a first start.

// first carries out what is one of these scripts.
func (m *fakeMaster) first(args []string) (reply string) {
	switch args[1] {
	case master.FirstScript.Text:
		return m.markFirst(args[4:])
	case master.AdmitFirstScript.Text:
		return m.sinceFirst(args[4:], func(db int) { m.keys[quorum.MarkerKey] = fakeKey{value: args[6+db]} })
	case master.WithdrawFirstScript.Text:
		return m.sinceFirst(args[4:], func(int) { delete(m.keys, quorum.MarkerKey) })
	}
	return ""
}

func (m *fakeMaster) markFirst(texts []string) string {
	holds := ""
	for db := range m.databases() {
		mark := ""
		m.in(db, func() {
			if mark = m.marker(); mark == "" && holds == "" && len(m.alive()) > 0 {
				holds = array(integer(int64(db)), bulk(""))
			}
		})
		if mark != "" {
			return array(integer(int64(db)), bulk(mark))
		}
	}
	if holds != "" {
		return holds
	}
	for db := range m.databases() {
		m.in(db, func() { m.keys[quorum.MarkerKey] = fakeKey{value: texts[db]} })
	}
	return integer(int64(m.databases()))
}

func (m *fakeMaster) sinceFirst(args []string, f func(db int)) string {
	if string(marker.NonceOf(m.marker())) != args[0] {
		return integer(0)
	}
	for db := range m.databases() {
		m.in(db, func() {
			t := m.marker()
			if marker.NonceOf(t).Provisional() && strings.Contains(t, fmt.Sprintf("%q:%q", "loss", args[1])) && strings.Contains(t, `"first":true`) {
				f(db)
			}
		})
	}
	return integer(1)
}
